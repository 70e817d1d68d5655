//go:build !js && !wasip1

package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// A browser is somebody's at a site. Only one goroutine may use it.
type browser struct {
	site    *site
	ctx     context.Context // of its requests
	base    string          // another way to the site; empty: its own address
	header  http.Header     // of its requests
	cookies map[string]string
	csrf    string
}

func (s *site) browser() *browser {
	return &browser{site: s, ctx: context.Background(), header: http.Header{}, cookies: map[string]string{}}
}

// clone is another browser with the same cookies.
func (b *browser) clone() *browser {
	c := *b
	c.header, c.cookies = b.header.Clone(), maps.Clone(b.cookies)
	return &c
}

// with is a clone whose requests have a header.
func (b *browser) with(name, value string) *browser {
	c := b.clone()
	c.header.Set(name, value)
	return c
}

type answer struct {
	status   int
	location string
	body     string
	sets     int // cookies with a value
}

// isFailure is an answer that says that the site has failed.
func (a answer) isFailure() bool {
	return a.status == http.StatusInternalServerError || a.status == http.StatusFound && strings.Contains(a.location, "error=")
}

func (b *browser) send(method, path, kind, body string) (a answer, err error) {
	base := b.base
	if base == "" {
		base = b.site.url
	}
	r, err := http.NewRequestWithContext(b.ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return a, err
	}
	r.Header = b.header.Clone()
	r.Close = r.Header.Get("Connection") == "close"
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := b.site.client.Do(r)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, err
	}
	for _, c := range resp.Cookies() {
		if c.MaxAge < 0 || c.Value == "" {
			delete(b.cookies, c.Name)
			continue
		}
		b.cookies[c.Name] = c.Value
		a.sets++
	}
	a.status, a.location, a.body = resp.StatusCode, resp.Header.Get("Location"), string(text)
	return a, nil
}

func (b *browser) get(path string) (answer, error) { return b.send(http.MethodGet, path, "", "") }

// post sends a form with the CSRF token.
func (b *browser) post(path string, form url.Values) (answer, error) {
	if b.csrf == "" {
		a, err := b.get("/auth/csrf")
		if err != nil {
			return a, err
		}
		var csrf struct{ CSRFToken string }
		if err := json.Unmarshal([]byte(a.body), &csrf); err != nil {
			return a, fmt.Errorf("csrf: %d %q", a.status, a.body)
		}
		b.csrf = csrf.CSRFToken
	}
	if form == nil {
		form = url.Values{}
	}
	form.Set("csrfToken", b.csrf)
	return b.send(http.MethodPost, path, "application/x-www-form-urlencoded", form.Encode())
}

// begin starts a sign-in at the provider.
func (b *browser) begin() error {
	a, err := b.post("/auth/signin/idp", nil)
	if err == nil && !strings.HasPrefix(a.location, b.site.provider+"/auth?") {
		err = fmt.Errorf("starting to sign in: %d %q", a.status, a.location)
	}
	return err
}

const callback = "/auth/callback/idp?code="

// signIn goes to the provider and back as somebody.
func (b *browser) signIn(name string) error {
	if err := b.begin(); err != nil {
		return err
	}
	a, err := b.get(callback + name)
	if err == nil && (a.status != http.StatusFound || strings.Contains(a.location, "/error") || !b.hasSession()) {
		err = fmt.Errorf("signing in: %d %q", a.status, a.location)
	}
	return err
}

// signInHere signs in with the form, which needs nothing but the site.
func (b *browser) signInHere(name string) error {
	a, err := b.post("/auth/callback/credentials", url.Values{"username": {name}})
	if err == nil && !b.hasSession() {
		err = fmt.Errorf("signing in: %d %q", a.status, a.location)
	}
	return err
}

// forget loses the session, of which the site isn't told.
func (b *browser) forget() {
	for name := range b.cookies {
		if strings.HasPrefix(name, sessionCookie) {
			delete(b.cookies, name)
		}
	}
}

const sessionCookie = "authjs.session-token" // or begins its chunks' names

func (b *browser) hasSession() bool {
	for name := range b.cookies {
		if strings.HasPrefix(name, sessionCookie) {
			return true
		}
	}
	return false
}

// is demands that somebody is signed in; the empty name, that nobody is.
func (b *browser) is(name string) error {
	a, err := b.get("/auth/session")
	if err != nil {
		return err
	}
	var s struct{ User struct{ Name string } }
	if err := json.Unmarshal([]byte(a.body), &s); err != nil || a.status != http.StatusOK || s.User.Name != name {
		return fmt.Errorf("the session is %d %.200q, not %q's", a.status, a.body, name)
	}
	return nil
}

var errGone = errors.New("the client has gone")
