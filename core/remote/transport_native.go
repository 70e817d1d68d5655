//go:build !wasm

package remote

import "net/http"

func defaultTransport() http.RoundTripper { return http.DefaultTransport }
