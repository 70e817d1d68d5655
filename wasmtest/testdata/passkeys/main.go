// Command passkeys is the site on which passkeys are tried in a browser: alone, or, with
// EDGE_MIXED, between other ways to sign in.
package main

import (
	"context"
	"fmt"
	"html"
	"log"
	"net/http"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/passkey"
	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/kvadapter"
)

func main() {
	providers := []core.Provider{passkey.New()}
	if edge.Getenv("EDGE_MIXED") != "" {
		hub := core.Endpoint{URL: "https://hub.example"}
		providers = []core.Provider{
			core.OAuth{ID: "hub", Name: "Hub", ClientID: "x", ClientSecret: "x", Authorization: hub, Token: hub, UserInfo: hub, BrandColor: "#0ea5e9"},
			passkey.New(),
			core.Email{Send: func(context.Context, core.VerificationRequest) error { return nil }},
		}
	}
	auth, err := core.New(core.Config{
		Providers:    providers,
		Adapter:      kvadapter.New(edge.Store("AUTH_DO"), kvadapter.Options{}),
		TrustHost:    core.On,
		Experimental: core.Experimental{EnableWebAuthn: true},
		Transport:    edge.Transport,
		Getenv:       edge.Getenv,
	})
	if err != nil {
		log.Fatal(err)
	}
	edge.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			auth.ServeHTTP(w, r)
			return
		}
		resp, err := auth.Session(r)
		if err != nil {
			http.Error(w, "no session", http.StatusServiceUnavailable)
			return
		}
		text := "You are signed out."
		if resp.Session != nil {
			text = "Signed in as " + resp.Session.User.Email
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!DOCTYPE html><title>App</title><link rel="icon" href="data:,"><p>`+html.EscapeString(text))
	}))
}
