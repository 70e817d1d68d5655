//go:build !js && !wasip1

package main

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// TestUsual: what ours is compared with is a login that works: sign-in, callback, session and sign-out.
func TestUsual(t *testing.T) {
	t.Parallel()
	needTools(t)
	root, err := findRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := builder{root: root, dir: t.TempDir()}
	if err := b.build(t.Context(), usual); err != nil {
		t.Fatal(err)
	}
	s, err := b.start(t.Context(), usual, settings(issuer(t), false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: unsecured{jar}, Timeout: 30 * time.Second}
	get := func(resp *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s %v\n%s", resp.Request.URL, resp.Status, body, err, s.log)
		}
		return string(body)
	}
	at := "http://" + s.addr + "/auth/"
	token := func() url.Values {
		t.Helper()
		var answer struct{ CSRFToken string }
		if err := json.Unmarshal([]byte(get(client.Get(at+"csrf"))), &answer); err != nil {
			t.Fatal(err)
		}
		return url.Values{"csrfToken": {answer.CSRFToken}}
	}
	if page := get(client.Get(at + "signin")); !strings.Contains(page, "<button>Sign in</button>") {
		t.Errorf("the page is %s", page)
	}
	if page := get(client.PostForm(at+"signin", token())); !strings.Contains(page, "signed in as Ada Lovelace.") {
		t.Errorf("after the callback the page is %s", page)
	}
	if session := get(client.Get(at + "session")); !strings.Contains(session, `"email":"ada@example.com"`) {
		t.Errorf("the session is %s", session)
	}
	resp, err := client.PostForm(at+"signout", nil)
	if err != nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("without the token: %v, %v", resp, err)
	}
	get(client.PostForm(at+"signout", token()))
	if session := get(client.Get(at + "session")); strings.Contains(session, "ada") {
		t.Errorf("signed out, the session is %s", session)
	}
}

// issuer is an OpenID provider that signs everybody in as the same person.
func issuer(t *testing.T) string {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := jose.JSONWebKey{Key: private, KeyID: "k", Algorithm: "RS256", Use: "sig"}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	answer := func(w http.ResponseWriter, value any) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(value)
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"issuer": server.URL, "authorization_endpoint": server.URL + "/auth", "token_endpoint": server.URL + "/token",
			"jwks_uri": server.URL + "/jwks", "id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("GET /auth", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query() // the code is the nonce
		back := url.Values{"state": q["state"], "code": q["nonce"]}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		claims := fmt.Sprintf(`{"iss":%q,"aud":"conformance","exp":%d,"nonce":%q,%s`, server.URL, time.Now().Add(time.Hour).Unix(), r.PostFormValue("code"), account[1:])
		signed, err := signer.Sign([]byte(claims))
		if err != nil {
			t.Error(err)
			return
		}
		id, err := signed.CompactSerialize()
		if err != nil {
			t.Error(err)
		}
		answer(w, map[string]any{"access_token": "a", "token_type": "Bearer", "expires_in": 3600, "id_token": id})
	})
	mux.HandleFunc("GET /jwks", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.Public()}})
	})
	return server.URL
}

// unsecured is a jar that gives Secure cookies to http as well, as browsers do on localhost.
type unsecured struct{ http.CookieJar }

func (j unsecured) SetCookies(u *url.URL, cookies []*http.Cookie) {
	for _, c := range cookies {
		c.Secure = false
	}
	j.CookieJar.SetCookies(u, cookies)
}
