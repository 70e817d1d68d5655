// Package hook gives a whole app one middleware: it answers the authentication routes, and every
// other request knows who is signed in. With it come form actions to sign in and out, the forms
// themselves, and protection of pages; scripts import what they need from the
// handler itself, at /auth/client.mjs. Package route is for apps that mount
// the routes only.
//
// A complete program, with GitHub and the secret in the environment (AUTH_SECRET, AUTH_GITHUB_ID,
// AUTH_GITHUB_SECRET, and AUTH_URL or AUTH_TRUST_HOST):
//
//	package main
//
//	import (
//		"fmt"
//		"html"
//		"log"
//		"net/http"
//
//		"github.com/edgeauth/edgeauth/core"
//		"github.com/edgeauth/edgeauth/core/hook"
//		"github.com/edgeauth/edgeauth/core/providers"
//	)
//
//	func main() {
//		auth, err := hook.New(core.Config{
//			Providers: []core.Provider{providers.GitHub(providers.Client{})},
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//		mux := http.NewServeMux()
//		mux.HandleFunc("POST /signin", auth.SignInAction)
//		mux.HandleFunc("POST /signout", auth.SignOutAction)
//		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
//			session, err := hook.Auth(r)
//			switch {
//			case err != nil:
//				http.Error(w, "Try again later.", http.StatusServiceUnavailable)
//			case session == nil:
//				fmt.Fprint(w, hook.SignInForm{Provider: "github"}.HTML())
//			default:
//				fmt.Fprint(w, "Hello, ", html.EscapeString(session.User.Name), hook.SignOutForm{}.HTML())
//			}
//		})
//		mux.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
//			if session, ok := auth.Require(w, r); ok {
//				fmt.Fprint(w, "The account of ", html.EscapeString(session.User.Name))
//			}
//		})
//		log.Fatal(http.ListenAndServe("localhost:8080", auth.Handle(mux)))
//	}
//
// # The session
//
// [Auth] reads the session of a request when it is first asked for, and once. What all pages
// show of it, a name in the header, they get from there, too; a layout is no place to protect
// anything, since not every page goes through it.
//
// # Protection
//
// [Hook.Require] protects a page in its handler. [Hook.Protect] protects paths with everything
// below them and stands in the chain after [Hook.Handle]:
//
//	auth.Handle(protect(mux))
//
// Both answer 303 to the sign-in page. Both deny when the session can't be read.
//
// # Pages made ahead of time
//
// A crawler that makes an app's pages into files follows their links, and a link to the sign-in
// page leads to what can't be a file. [SignInForm] and [SignOutForm] have no link. They need no
// configuration, so that they can be made where there is no secret; nor does any page that
// doesn't ask for the session, with [PerRequest].
package hook
