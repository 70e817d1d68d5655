// Package route mounts a [core.Auth] as the GET and POST handlers of one catch-all route, and
// protects pages. It fits any router over net/http; package hook is for apps that give every
// request to one middleware instead.
//
// A complete program, with GitHub and the secret in the environment (AUTH_SECRET,
// AUTH_GITHUB_ID, AUTH_GITHUB_SECRET, and AUTH_URL or AUTH_TRUST_HOST):
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//		"net/http"
//
//		"github.com/edgeauth/edgeauth/core"
//		"github.com/edgeauth/edgeauth/core/providers"
//		"github.com/edgeauth/edgeauth/core/route"
//	)
//
//	func main() {
//		auth, err := route.New(route.Config{
//			Config: core.Config{Providers: []core.Provider{providers.GitHub(providers.Client{})}},
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//		protect, err := auth.Protect("/account", "/admin")
//		if err != nil {
//			log.Fatal(err)
//		}
//		mux := http.NewServeMux()
//		mux.HandleFunc("GET /api/auth/", auth.GET)
//		mux.HandleFunc("POST /api/auth/", auth.POST)
//		mux.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
//			session, ok := auth.Require(w, r)
//			if !ok {
//				return // it has been answered
//			}
//			fmt.Fprintf(w, "Hello, %s", session.User.Name)
//		})
//		log.Fatal(http.ListenAndServe("localhost:8080", protect(mux)))
//	}
//
// # Protection
//
// A page is protected in its loader, by [Routes.Require], or by its path, by [Routes.Protect].
// The first can't be got around, since it runs where the page is made. The second covers pages
// that know nothing of sessions, and files; it decides by the path in every spelling that a
// router might take for the protected one (see [Paths]), and by no header.
//
// Both deny when the session can't be read: an error is neither a session nor "signed out".
package route
