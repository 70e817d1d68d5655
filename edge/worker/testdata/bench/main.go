// Bench answers every request with a small JSON document, as a session endpoint
// would: the cost of a request is the cost of the bridge.
package main

import (
	"net/http"
	"strings"

	"github.com/edgeauth/edgeauth/edge"
)

func main() {
	body := []byte(`{"user":{"name":"` + strings.Repeat("x", 270) + `"}}`)
	edge.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "private, no-cache, no-store")
		h.Set("Expires", "0")
		h.Set("Pragma", "no-cache")
		h.Add("Set-Cookie", "a=1; Path=/; HttpOnly; SameSite=Lax")
		h.Add("Set-Cookie", "b=2; Path=/; HttpOnly; SameSite=Lax")
		w.Write(body)
	}))
}
