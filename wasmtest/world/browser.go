package world

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A Browser is one person's at one site: it keeps cookies, by the clock of this process, and follows redirects, to the provider and
// back. What goes wrong on the way ends the test, so its methods are for the test's own goroutine; what the site answers doesn't.
type Browser struct {
	Client *http.Client // for everything else

	tb   testing.TB
	auth *url.URL
}

// NewBrowser opens a new one, without cookies. auth is the URL of the site's auth endpoint ("https://app.example/auth"),
// network what the browser can reach: Hosts, or any transport.
func NewBrowser(tb testing.TB, network http.RoundTripper, auth string) *Browser {
	tb.Helper()
	base, err := url.Parse(strings.TrimSuffix(auth, "/") + "/")
	if err != nil || !base.IsAbs() || base.Host == "" {
		tb.Fatalf("world: %s is not the URL of a site's auth endpoint", auth)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return &Browser{Client: &http.Client{Transport: network, Jar: jar}, tb: tb, auth: base}
}

// A Page is where a browser has ended up.
type Page struct {
	URL    string // after all redirects
	Status int
	Header http.Header
	Body   string
}

// Get opens a URL, or a path below the auth endpoint ("session", "providers"), or one of the site ("/account").
func (b *Browser) Get(target string) Page {
	b.tb.Helper()
	return b.send(http.MethodGet, target, nil)
}

// Submit sends a form of the auth endpoint with its CSRF token: "signin/github", "callback/credentials", "signout".
// fields are what has been filled in; nil: nothing.
func (b *Browser) Submit(action string, fields url.Values) Page {
	b.tb.Helper()
	var csrf struct{ CSRFToken string }
	if page := b.Get("csrf"); json.Unmarshal([]byte(page.Body), &csrf) != nil || csrf.CSRFToken == "" {
		b.tb.Fatalf("world: GET %s: %d without a token", page.URL, page.Status)
	}
	form := url.Values{"csrfToken": {csrf.CSRFToken}}
	for name, values := range fields {
		form[name] = values
	}
	return b.send(http.MethodPost, action, form)
}

func (b *Browser) send(method, target string, form url.Values) Page {
	b.tb.Helper()
	to, err := b.auth.Parse(target)
	if err != nil {
		b.tb.Fatalf("world: %v", err)
	}
	r, err := http.NewRequestWithContext(b.tb.Context(), method, to.String(), strings.NewReader(form.Encode()))
	if err != nil {
		b.tb.Fatalf("world: %v", err)
	}
	if method == http.MethodGet {
		r.Body, r.GetBody, r.ContentLength = nil, nil, 0
	} else {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := b.Client.Do(r)
	if err != nil {
		b.tb.Fatalf("world: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.tb.Fatalf("world: %v", err)
	}
	return Page{resp.Request.URL.String(), resp.StatusCode, resp.Header, string(body)}
}

// A Session is what the session route tells about who is signed in.
type Session struct {
	User    struct{ ID, Name, Email, Image string } // without what the site's session callback leaves out
	Expires time.Time

	JSON string // the whole answer
}

// Session asks who is signed in. Nil: nobody.
func (b *Browser) Session() *Session {
	b.tb.Helper()
	page := b.Get("session")
	var session *Session
	if err := json.Unmarshal([]byte(page.Body), &session); err != nil || page.Status != http.StatusOK {
		b.tb.Fatalf("world: GET %s: %d %s", page.URL, page.Status, page.Body)
	}
	if session != nil {
		session.JSON = strings.TrimSpace(page.Body)
	}
	return session
}

// SignIn makes the browser one that is signed in, with the session cookie of t.
func (b *Browser) SignIn(t Token) {
	b.tb.Helper()
	cookies, err := t.Cookies(b.auth.String())
	if err != nil {
		b.tb.Fatal(err)
	}
	b.SetCookies(cookies...)
}

// SetCookies adds cookies as if the site had set them.
func (b *Browser) SetCookies(cookies ...*http.Cookie) { b.Client.Jar.SetCookies(b.auth, cookies) }
