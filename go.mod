module github.com/edgeauth/edgeauth

go 1.26.0

require (
	github.com/coreos/go-oidc/v3 v3.21.0
	github.com/go-jose/go-jose/v4 v4.1.8
	github.com/redis/rueidis v1.0.77
	github.com/syumai/workers v0.33.0
	github.com/tetratelabs/wazero v1.12.0
	go.etcd.io/bbolt v1.5.0
	golang.org/x/oauth2 v0.37.0
	golang.org/x/text v0.42.0
)

require golang.org/x/sys v0.47.0 // indirect
