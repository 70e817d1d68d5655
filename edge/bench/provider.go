//go:build !js && !wasip1

package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// A provider is both providers of the conformance app: the OAuth provider "hub", which is asked twice a
// sign-in, and the OpenID provider "idp". It keeps nothing: a code is the PKCE challenge it was asked
// with, so that any number of callbacks can be made of one sign-in, and each is still checked. For the
// OpenID provider the code also says who signs in.
type provider struct {
	url    string
	server *http.Server
	key    *rsa.PrivateKey
	delay  atomic.Int64 // nanoseconds that each of its answers takes
}

// account is who signs in at hub. Her address is the marker of a right answer.
const account = `{"sub":"ada-1","name":"Ada Lovelace","email":"ada@example.com","picture":"https://img.example/ada.png"}`

func startProvider() (*provider, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &provider{url: "http://" + listener.Addr().String(), key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /me", p.me)
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /jwks", p.jwks)
	p.server = &http.Server{Handler: mux}
	go p.server.Serve(listener)
	return p, nil
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	time.Sleep(time.Duration(p.delay.Load()))
	code, person, isOpenID := strings.Cut(r.FormValue("code"), ".")
	challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	switch {
	case id != "conformance" || secret != "conformance-client-secret":
		http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
	case code != base64.RawURLEncoding.EncodeToString(challenge[:]):
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
	default:
		answer := map[string]any{"access_token": "an-access-token", "token_type": "Bearer", "expires_in": 3600}
		if isOpenID {
			answer["id_token"] = p.idToken(person)
		}
		writeJSON(w, answer)
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

func (p *provider) discovery(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, map[string]any{
		"issuer": p.url, "authorization_endpoint": p.url + "/auth", "token_endpoint": p.url + "/token",
		"userinfo_endpoint": p.url + "/me", "jwks_uri": p.url + "/jwks",
		"id_token_signing_alg_values_supported": []string{"RS256"}, "response_types_supported": []string{"code"},
		"subject_types_supported": []string{"public"}, "code_challenge_methods_supported": []string{"S256"},
	})
}

func (p *provider) jwks(w http.ResponseWriter, _ *http.Request) {
	exponent := big.NewInt(int64(p.key.E)).Bytes()
	writeJSON(w, map[string]any{"keys": []any{map[string]string{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "k",
		"n": base64.RawURLEncoding.EncodeToString(p.key.N.Bytes()), "e": base64.RawURLEncoding.EncodeToString(exponent),
	}}})
}

// idToken is that of a person, with RSA, as most providers sign.
func (p *provider) idToken(person string) string {
	now := time.Now().Unix()
	claims, _ := json.Marshal(map[string]any{
		"iss": p.url, "aud": "conformance", "iat": now, "exp": now + 3600, "sub": person,
		"name": "Person " + person, "email": person + "@example.com", "picture": "https://img.example/" + person + ".png",
	})
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"RS256","kid":"k","typ":"JWT"}`)) + "." + encode(claims)
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(nil, p.key, crypto.SHA256, digest[:])
	if err != nil {
		panic(err) // the key was made above
	}
	return signed + "." + encode(signature)
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value)
}
