// Package remote tells who is signed in to an app whose authentication handler runs somewhere
// else: at the edge, deployed by somebody else, on a path of the app's own origin or on a
// subdomain. MOUNTING.md says how the handler's path gets there. Apps in JavaScript have the
// same in remote.mjs.
//
// A complete program, for an app at https://app.example with the handler under /auth:
//
//	package main
//
//	import (
//		"fmt"
//		"html"
//		"log"
//		"net/http"
//
//		"github.com/edgeauth/edgeauth/core/remote"
//	)
//
//	func main() {
//		edge, err := remote.New(remote.Config{URL: "https://app.example/auth"})
//		if err != nil {
//			log.Fatal(err)
//		}
//		mux := http.NewServeMux()
//		mux.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
//			if session, ok := edge.Require(w, r); ok {
//				fmt.Fprint(w, "The account of ", html.EscapeString(session.User.Name))
//			}
//		})
//		log.Fatal(http.ListenAndServe("localhost:8080", edge.Handle(mux)))
//	}
//
// # Two ways to know
//
// Without a secret the edge is asked: GET session with the browser's session cookies, and no
// others. It works with every session strategy, runs the edge's session callback, and hands the
// refreshed cookie on to the browser. An answer counts for Config.CacheFor, five seconds, so a
// session that was ended elsewhere lives that much longer here.
//
// With the edge's secret (Config.Secret) the session token is read here, without any exchange.
// This is for the jwt strategy. The session is made of the token's claims, as the handler makes
// it by default or as Config.FromToken says, and ends when the token does: reading doesn't
// extend it, which the browser's client or any page that asks the edge does. A token that can't
// be read here, or has expired within the last quarter of an hour, is the edge's to judge.
//
// # When something is wrong
//
// [Edge.Session] gives a session, nil for signed out, or an [Error]. An error is never a session
// and never "signed out": nobody is let in for it, and nobody is sent away to sign in.
//
//	the edge is down, or overloaded        ErrDown; 503. A cached answer counts to its end.
//	the edge is slow                       ErrSlow after Config.Timeout; 503.
//	something else answers at its address  ErrAnswer; 500. Error bodies, pages, redirects, an
//	                                       answer over 128 KiB, JSON that is no session.
//	the secret differs, or the cookie's    ErrSecret; 500, if the edge reads the token that can't
//	name, or sessions are in a database    be read here, or can't be asked. If it can't read it
//	                                       either, the cookie is an old one: signed out.
//	this clock is behind by ten minutes    Sessions read with the secret end ten minutes late,
//	                                       cached ones at CacheFor.
//	this clock is ahead by ten minutes     In a token's last ten minutes the edge is asked, and
//	                                       its word counts; the warning "clock" is logged.
//	the edge's path leads to this app      ErrNotMounted for its routes, which are never
//	                                       redirected and never asked about; others see what the
//	                                       app answers there: ErrAnswer.
//	the cookie doesn't reach this app      People sign in and come back as strangers. After five
//	                                       redirects, each within a minute of the last, they see
//	                                       a page with a link instead, and "signin-loop" is logged.
//
// # Caches
//
// A response for which the session was asked has "Vary: Cookie". If somebody is signed in, if
// it is not known, or if cookies are handed on, it also has "Cache-Control: private, no-cache,
// no-store" in place of whatever would let a shared cache store it, since not every cache
// obeys Vary.
//
// # At the edge
//
// The package runs in a worker, too. Config.Transport is then edge.Transport, or the
// [http.RoundTripper] of a service binding: a worker's fetch for its own zone doesn't reach the
// workers of that zone. No request waits on another's: two that ask the same thing at the same
// time each ask.
package remote
