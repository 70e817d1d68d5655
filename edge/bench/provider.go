//go:build !js && !wasip1

package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// A provider is the OAuth provider "hub" of the conformance app: two calls a sign-in. It keeps
// nothing: a code is the PKCE challenge it was asked with, so that any number of callbacks can be
// made of one sign-in, and each is still checked.
type provider struct {
	url    string
	server *http.Server
	delay  atomic.Int64 // nanoseconds that each of its answers takes
}

// account is who signs in. Her address is the marker of a right answer.
const account = `{"sub":"ada-1","name":"Ada Lovelace","email":"ada@example.com","picture":"https://img.example/ada.png"}`

func startProvider() (*provider, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &provider{url: "http://" + listener.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /me", p.me)
	p.server = &http.Server{Handler: mux}
	go p.server.Serve(listener)
	return p, nil
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	time.Sleep(time.Duration(p.delay.Load()))
	challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	switch {
	case id != "conformance" || secret != "conformance-client-secret":
		http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
	case r.FormValue("code") != base64.RawURLEncoding.EncodeToString(challenge[:]):
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"an-access-token","token_type":"Bearer","expires_in":3600}`)
	}
}

func (p *provider) me(w http.ResponseWriter, r *http.Request) {
	time.Sleep(time.Duration(p.delay.Load()))
	if r.Header.Get("Authorization") != "Bearer an-access-token" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, account)
}
