// Command api is a JSON API for a page in the browser, by package route. It runs wherever
// edge.Serve does:
//
//	AUTH_SECRET=$(openssl rand -hex 32) AUTH_TRUST_HOST=true go run ./edge/examples/api
//
// The user is ada, with the password engine.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"os"
	"strings"

	"github.com/edgeauth/edgeauth/core/route"
	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/edge/examples/demo"
)

//go:embed index.html
var index string

func main() {
	auth, err := route.New(route.Config{Config: demo.Config(), RedirectTo: "/api/auth/signin"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	protect, err := auth.Protect("/account")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/auth/", auth.GET)
	mux.HandleFunc("POST /api/auth/", auth.POST)
	mux.HandleFunc("GET /api/me", func(w http.ResponseWriter, r *http.Request) { me(auth, w, r) })
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		session, err := auth.Session(w, r)
		switch {
		case err != nil:
			show(w, "Try again later.")
		case session == nil:
			show(w, "Nobody is signed in.")
		default:
			show(w, session.User.Name)
		}
	})
	mux.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		if session, err := auth.GetSession(r); err == nil && session != nil { // as protect has seen to
			show(w, session.User.Name)
		}
	})
	edge.Serve(protect(mux))
}

// me answers an API's most common question: who am I?
func me(auth *route.Routes, w http.ResponseWriter, r *http.Request) {
	session, err := auth.Session(w, r)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case err != nil: // neither signed in nor signed out
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":"try again later"}`)
	case session == nil:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"sign in first"}`)
	default:
		_ = json.NewEncoder(w).Encode(session.User) // the client has gone if this fails
	}
}

// show sends the page. name is what the server knows of who looks at it.
func show(w http.ResponseWriter, name string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, strings.Replace(index, "{{server}}", html.EscapeString(name), 1))
}
