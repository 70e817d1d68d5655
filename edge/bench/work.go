//go:build !js && !wasip1

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"time"
)

// A work is a kind of request that is measured.
type work struct {
	name     string // in flags and results
	title    string
	database bool          // asked of the server with the database strategy
	delay    time.Duration // of each of the provider's answers
	prepare  func(*browser) (exchange, error)
}

var works = []work{
	{name: "session-jwt", title: "GET session, jwt", prepare: session},
	{name: "session-database", title: "GET session, database", database: true, prepare: session},
	{name: "csrf", title: "GET csrf", prepare: func(b *browser) (exchange, error) {
		return exchange{request: b.request("GET", "/auth/csrf", ""), status: 200, head: []string{"authjs.csrf-token="}, body: `{"csrfToken":"`}, nil
	}},
	{name: "providers", title: "GET providers", prepare: func(b *browser) (exchange, error) {
		return exchange{request: b.request("GET", "/auth/providers", ""), status: 200, body: `"hub":{"id":"hub"`}, nil
	}},
	{name: "signin", title: "POST signin", prepare: signin},
	{name: "callback-0", title: "OAuth callback, provider 0 ms", prepare: callback},
	{name: "callback-50", title: "OAuth callback, provider 2 × 50 ms", delay: 50 * time.Millisecond, prepare: callback},
	{name: "callback-300", title: "OAuth callback, provider 2 × 300 ms", delay: 300 * time.Millisecond, prepare: callback},
}

// session is a check of a session, with all cookies that the browser has after a sign-in.
func session(b *browser) (exchange, error) {
	if err := b.signIn(); err != nil {
		return exchange{}, err
	}
	// Both rewrite the cookie each time.
	return exchange{request: b.request("GET", "/auth/session", ""), status: 200,
		head: []string{"authjs.session-token="}, body: `"email":"ada@example.com"`}, nil
}

func signin(b *browser) (exchange, error) {
	form, err := b.form()
	if err != nil {
		return exchange{}, err
	}
	return exchange{request: b.request("POST", "/auth/signin/hub", form.Encode()), status: 302,
		head: []string{"/auth?", "code_challenge=", "authjs.pkce.code_verifier=", "authjs.state="}}, nil
}

// callback is the answer of the provider to a sign-in that was begun beforehand.
func callback(b *browser) (exchange, error) {
	target, err := b.begin()
	if err != nil {
		return exchange{}, err
	}
	return exchange{request: b.request("GET", target, ""), status: 302, head: []string{"authjs.session-token="}}, nil
}

// prepareAll makes n exchanges, each of a browser of its own, for the server at addr.
func (w work) prepareAll(addr string, n int) ([]exchange, error) {
	exchanges, errs := make([]exchange, n), make([]error, n)
	turns := make(chan struct{}, 16)
	var wg sync.WaitGroup
	for i := range n {
		turns <- struct{}{}
		wg.Go(func() {
			exchanges[i], errs[i] = w.prepare(newBrowser(addr))
			<-turns
		})
	}
	wg.Wait()
	return exchanges, firstError(errs...)
}

// A browser is somebody's cookies for one server.
type browser struct {
	site   *url.URL
	client *http.Client
}

func newBrowser(addr string) *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{
		site: &url.URL{Scheme: "http", Host: addr},
		client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
	}
}

// request is what the browser would send, with its cookies, byte by byte.
func (b *browser) request(method, target, form string) []byte {
	var cookies []string // whose path is /, all of them
	for _, c := range b.client.Jar.Cookies(b.site) {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	var r strings.Builder
	fmt.Fprintf(&r, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, target, b.site.Host)
	r.WriteString("User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36\r\n" +
		"Accept: */*\r\nAccept-Language: en-US,en;q=0.9\r\nAccept-Encoding: gzip, br\r\n" +
		"Referer: http://" + b.site.Host + "/\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Site: same-origin\r\n")
	if len(cookies) > 0 {
		fmt.Fprintf(&r, "Cookie: %s\r\n", strings.Join(cookies, "; "))
	}
	if method == "POST" {
		fmt.Fprintf(&r, "Origin: http://%s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n", b.site.Host, len(form))
	}
	r.WriteString("\r\n" + form)
	return []byte(r.String())
}

// form has a CSRF token of its own.
func (b *browser) form() (url.Values, error) {
	resp, err := b.client.Get(b.site.String() + "/auth/csrf")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer struct{ CSRFToken string }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("GET csrf answered %s: %w", resp.Status, err)
	}
	return url.Values{"csrfToken": {answer.CSRFToken}, "callbackUrl": {b.site.String() + "/"}}, nil
}

// begin begins a sign-in at the provider and gives the path that it sends the browser back to.
func (b *browser) begin() (string, error) {
	form, err := b.form()
	if err != nil {
		return "", err
	}
	resp, err := b.client.PostForm(b.site.String()+"/auth/signin/hub", form)
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		return "", fmt.Errorf("POST signin answered %s: %w", resp.Status, err)
	}
	asked := to.Query()
	back := url.Values{"code": {asked.Get("code_challenge")}, "state": {asked.Get("state")}}
	return "/auth/callback/hub?" + back.Encode(), nil
}

func (b *browser) signIn() error {
	target, err := b.begin()
	if err != nil {
		return err
	}
	resp, err := b.client.Get(b.site.String() + target)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for _, c := range resp.Cookies() {
		if c.Name == "authjs.session-token" {
			return nil
		}
	}
	body, _ := io.ReadAll(resp.Body)
	return fmt.Errorf("the callback answered %s to %s without a session\n%.300s", resp.Status, resp.Header.Get("Location"), body)
}
