//go:build !js && !wasip1

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A work is a kind of request that is measured.
type work struct {
	name     string // in flags and results
	title    string
	database bool          // asked of the server with the database strategy
	delay    time.Duration // of each of the provider's answers
	people   int64         // how many have signed up, with a database; they are numbered from 0
	prepare  func(*browser) (exchange, error)
}

var works = []work{
	{name: "session-jwt", title: "GET session, jwt", prepare: session},
	{name: "session-database", title: "GET session, database", database: true, prepare: sessionOfOne},
	{name: "first", title: "First sign-in, database", database: true, prepare: firstSignIn},
	{name: "returning", title: "Returning person, database", database: true, prepare: returning},
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
	target, err := b.begin("hub")
	if err != nil {
		return exchange{}, err
	}
	return b.check(target, "ada")
}

// check signs in with the answer of a provider and checks the session.
func (b *browser) check(target, name string) (exchange, error) {
	if err := b.signIn(target); err != nil {
		return exchange{}, err
	}
	// Both rewrite the cookie each time.
	return exchange{request: b.request("GET", "/auth/session", ""), status: 200,
		head: []string{"authjs.session-token="}, body: fmt.Sprintf(`"email":"%s@example.com"`, name)}, nil
}

// newcomers is how many have been new, and comebacks how often one of the people has returned.
var newcomers, comebacks atomic.Int64

// sessionOfOne is a session check of one of the people.
func sessionOfOne(b *browser) (exchange, error) {
	target, err := b.begin("idp")
	if err != nil {
		return exchange{}, err
	}
	name := fmt.Sprint(comebacks.Add(1) % b.people)
	return b.check(target+"."+name, name)
}

// firstSignIn is the sign-in of somebody new each time.
func firstSignIn(b *browser) (exchange, error) {
	return openIDCallback(b, func() int64 { return b.people + newcomers.Add(1) })
}

// returning is that of one of the people each time.
func returning(b *browser) (exchange, error) {
	return openIDCallback(b, func() int64 { return comebacks.Add(1) % b.people })
}

func openIDCallback(b *browser, person func() int64) (exchange, error) {
	target, err := b.begin("idp")
	if err != nil {
		return exchange{}, err
	}
	const mark = ".WHO"
	before, after, _ := bytes.Cut(b.request("GET", target+mark, ""), []byte(mark))
	return exchange{next: func() []byte { return fmt.Appendf(nil, "%s.%d%s", before, person(), after) },
		status: 302, head: []string{"authjs.session-token="}}, nil
}

// signUp signs up the people at a server with a database.
func signUp(addr string, people int64) error {
	var person atomic.Int64
	person.Store(-1)
	const n = 16
	exchanges, err := work{prepare: func(b *browser) (exchange, error) {
		return openIDCallback(b, func() int64 { return person.Add(1) % people })
	}}.prepareAll(addr, n)
	if err != nil {
		return err
	}
	conns, err := dialAll(addr, n)
	if err != nil {
		return err
	}
	defer closeAll(conns)
	return each(conns, func(i int, c *conn) error {
		for turn := int64(i); turn < people; turn += n {
			if err := c.do(&exchanges[i]); err != nil {
				return err
			}
		}
		return nil
	})
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
	target, err := b.begin("hub")
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
			b := newBrowser(addr)
			b.people = w.people
			exchanges[i], errs[i] = w.prepare(b)
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
	people int64 // of the work that it is for
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

// begin begins a sign-in at a provider and gives the path that it sends the browser back to. It ends with
// the code.
func (b *browser) begin(provider string) (string, error) {
	form, err := b.form()
	if err != nil {
		return "", err
	}
	resp, err := b.client.PostForm(b.site.String()+"/auth/signin/"+provider, form)
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		return "", fmt.Errorf("POST signin answered %s: %w", resp.Status, err)
	}
	asked := to.Query()
	back := "?"
	if asked.Has("state") {
		back += url.Values{"state": asked["state"]}.Encode() + "&"
	}
	return "/auth/callback/" + provider + back + "code=" + url.QueryEscape(asked.Get("code_challenge")), nil
}

// signIn follows a provider back to the site.
func (b *browser) signIn(target string) error {
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
