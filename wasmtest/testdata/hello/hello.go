// Package hello is a handler that both a guest and a native benchmark serve.
package hello

import (
	"encoding/json"
	"net/http"
)

// ServeHTTP reads a cookie, sets one, and answers a small JSON object.
func ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := "world"
	if c, err := r.Cookie("name"); err == nil {
		name = c.Value
	}
	http.SetCookie(w, &http.Cookie{Name: "name", Value: name, HttpOnly: true})
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"hello": name, "host": r.Host})
}
