//go:build js

// Command usual is a login as Go programs on Workers usually have it: github.com/syumai/workers, go-oidc and
// oauth2, a cookie of gorilla/sessions, and pages of html/template, each with its documented defaults.
// Nothing of edgeauth is in it. With the build tag webauthn it has passkeys of go-webauthn as well.
package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"html/template"
	"log"
	"net/http"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/gorilla/sessions"
	"github.com/syumai/workers"
	"github.com/syumai/workers/cloudflare"
	"github.com/syumai/workers/cloudflare/fetch"
	"golang.org/x/oauth2"
)

var store = sessions.NewCookieStore([]byte(cloudflare.Getenv("AUTH_SECRET")))

var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Sign in</title>
{{with .Name}}<p>You are signed in as {{.}}.</p>{{end}}
<form method="post" action="/auth/{{if .Name}}signout{{else}}signin{{end}}">
<input type="hidden" name="csrfToken" value="{{.Token}}">
<button>{{if .Name}}Sign out{{else}}Sign in{{end}}</button>
</form></html>
`))

func main() {
	store.Options.HttpOnly = true
	store.Options.SameSite = http.SameSiteLaxMode
	http.HandleFunc("GET /auth/csrf", func(w http.ResponseWriter, r *http.Request) {
		s, _ := store.Get(r, "session") // a cookie that can't be read is a new session
		answer(w, r, s, map[string]string{"csrfToken": token(s)})
	})
	http.HandleFunc("GET /auth/signin", func(w http.ResponseWriter, r *http.Request) {
		s, _ := store.Get(r, "session")
		data := map[string]any{"Name": s.Values["name"], "Token": token(s)}
		if err := s.Save(r, w); err != nil {
			fail(w, err, http.StatusInternalServerError)
			return
		}
		page.Execute(w, data)
	})
	http.HandleFunc("POST /auth/signin", signIn)
	http.HandleFunc("GET /auth/callback", callback)
	http.HandleFunc("GET /auth/session", func(w http.ResponseWriter, r *http.Request) {
		s, _ := store.Get(r, "session")
		answer(w, r, s, map[string]any{"sub": s.Values["sub"], "name": s.Values["name"], "email": s.Values["email"]})
	})
	http.HandleFunc("POST /auth/signout", func(w http.ResponseWriter, r *http.Request) {
		s, _ := store.Get(r, "session")
		if !isToken(s, r) {
			http.Error(w, "forbidden", http.StatusForbidden)
			return
		}
		s.Options.MaxAge = -1
		redirect(w, r, s, "/auth/signin")
	})
	workers.Serve(nil)
}

// config discovers the provider. It is asked for when it is needed: an instance serves one request.
func config(r *http.Request) (context.Context, *oidc.Provider, *oauth2.Config, error) {
	ctx := oidc.ClientContext(r.Context(), fetch.NewClient().HTTPClient(fetch.RedirectModeFollow))
	provider, err := oidc.NewProvider(ctx, cloudflare.Getenv("CONF_IDP"))
	if err != nil {
		return ctx, nil, nil, err
	}
	return ctx, provider, &oauth2.Config{
		ClientID:     "conformance",
		ClientSecret: "conformance-client-secret",
		Endpoint:     provider.Endpoint(),
		RedirectURL:  r.URL.Scheme + "://" + r.URL.Host + "/auth/callback",
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email"},
	}, nil
}

func signIn(w http.ResponseWriter, r *http.Request) {
	s, _ := store.Get(r, "session")
	if !isToken(s, r) {
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	_, _, c, err := config(r)
	if err != nil {
		fail(w, err, http.StatusBadGateway)
		return
	}
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	s.Values["state"], s.Values["nonce"], s.Values["verifier"] = state, nonce, verifier
	redirect(w, r, s, c.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)))
}

func callback(w http.ResponseWriter, r *http.Request) {
	s, _ := store.Get(r, "session")
	state, _ := s.Values["state"].(string)
	verifier, _ := s.Values["verifier"].(string)
	if state == "" || r.FormValue("state") != state {
		http.Error(w, "the state is another one", http.StatusBadRequest)
		return
	}
	ctx, provider, c, err := config(r)
	if err != nil {
		fail(w, err, http.StatusBadGateway)
		return
	}
	tokens, err := c.Exchange(ctx, r.FormValue("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		fail(w, err, http.StatusBadGateway)
		return
	}
	raw, _ := tokens.Extra("id_token").(string)
	id, err := provider.Verifier(&oidc.Config{ClientID: c.ClientID}).Verify(ctx, raw)
	if err != nil || id.Nonce != s.Values["nonce"] {
		fail(w, err, http.StatusForbidden)
		return
	}
	var claims struct{ Name, Email string }
	if err := id.Claims(&claims); err != nil {
		fail(w, err, http.StatusBadGateway)
		return
	}
	clear(s.Values)
	s.Values["sub"], s.Values["name"], s.Values["email"] = id.Subject, claims.Name, claims.Email
	redirect(w, r, s, "/auth/signin")
}

// token is the CSRF token of the session.
func token(s *sessions.Session) string {
	if t, ok := s.Values["csrf"].(string); ok {
		return t
	}
	t := rand.Text()
	s.Values["csrf"] = t
	return t
}

func isToken(s *sessions.Session, r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(token(s)), []byte(r.PostFormValue("csrfToken"))) == 1
}

func redirect(w http.ResponseWriter, r *http.Request, s *sessions.Session, to string) {
	if err := s.Save(r, w); err != nil {
		fail(w, err, http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, to, http.StatusFound)
}

func answer(w http.ResponseWriter, r *http.Request, s *sessions.Session, value any) {
	if err := s.Save(r, w); err != nil {
		fail(w, err, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value)
}

func fail(w http.ResponseWriter, err error, status int) {
	log.Print(err)
	http.Error(w, http.StatusText(status), status)
}
