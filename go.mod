module github.com/edgeauth/edgeauth

go 1.26.0

require (
	github.com/coreos/go-oidc/v3 v3.21.0 // indirect
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	github.com/syumai/workers v0.33.0 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/sys v0.44.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)
