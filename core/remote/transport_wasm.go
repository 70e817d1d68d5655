package remote

import "net/http"

// defaultTransport is none: a wasm build reaches the network through its platform only, and
// naming Go's transport here would link what can't work.
func defaultTransport() http.RoundTripper { return nil }
