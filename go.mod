module github.com/edgeauth/edgeauth

go 1.26.0

require (
	github.com/coreos/go-oidc/v3 v3.21.0
	github.com/emersion/go-smtp v0.24.0
	github.com/go-chi/chi/v5 v5.2.3
	github.com/go-jose/go-jose/v4 v4.1.8
	github.com/jackc/pgx/v5 v5.12.0
	github.com/redis/rueidis v1.0.77
	github.com/syumai/workers v0.33.0
	github.com/tetratelabs/wazero v1.12.0
	github.com/wneessen/go-mail v0.7.2
	go.etcd.io/bbolt v1.5.0
	golang.org/x/oauth2 v0.37.0
	golang.org/x/text v0.42.0
)

require (
	github.com/emersion/go-sasl v0.0.0-20241020182733-b788ff22d5a6 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
