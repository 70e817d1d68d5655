package core_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

const (
	site       = "http://app.example"
	secureSite = "https://app.example"
	secret     = "a secret of at least thirty-two characters"

	sessionCookie     = "authjs.session-token"
	callbackURLCookie = "authjs.callback-url"
	csrfCookie        = "authjs.csrf-token"
	pkceCookie        = "authjs.pkce.code_verifier"
	stateCookie       = "authjs.state"
	nonceCookie       = "authjs.nonce"
)

// newAuth makes an Auth of a configuration whose surroundings are those of a test: no
// environment, no network, nothing on standard error.
func newAuth(t testing.TB, config core.Config) *core.Auth {
	t.Helper()
	auth, err := core.New(inTest(config))
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return auth
}

func inTest(config core.Config) core.Config {
	if config.Secret == nil {
		config.Secret = []string{secret}
	}
	if config.TrustHost == core.Auto {
		config.TrustHost = core.On
	}
	if config.Getenv == nil {
		config.Getenv = environment(nil)
	}
	if config.Transport == nil {
		config.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("no network in tests: %s %s", r.Method, r.URL.Redacted())
		})
	}
	if config.Logger.Error == nil {
		config.Logger = new(journal).logger()
	}
	return config
}

// environment is a Getenv that knows these variables.
func environment(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// journal keeps all that is logged.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) logger() core.Logger {
	take := func(level string) func(string, ...any) {
		return func(msg string, args ...any) {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.lines = append(j.lines, level+" "+msg+" "+fmt.Sprint(args...))
		}
	}
	return core.Logger{Error: take("error"), Warn: take("warn"), Debug: take("debug")}
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, "\n")
}

// has reports whether something of this kind was logged as an error.
func (j *journal) has(kind core.Kind) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.ContainsFunc(j.lines, func(line string) bool { return strings.HasPrefix(line, "error "+string(kind)+" ") })
}

// A browser has a cookie jar, and holds every answer to the rules for cookies.
type browser struct {
	t       testing.TB
	handler http.Handler
	origin  string
	base    string         // the base path it knows the handler by
	isLax   bool           // takes cookies whose attributes the configuration or the protocol has changed
	jar     []*http.Cookie // in the order they were set, values as on the wire
}

func newBrowser(t testing.TB, h http.Handler) *browser {
	return &browser{t: t, handler: h, origin: site, base: "/auth"}
}

// answer is a response as the browser received it.
type answer struct {
	status int
	header http.Header
	body   string
}

// send makes a request. A body is sent with the content type in the header.
func (b *browser) send(method, target string, header http.Header, body string) *answer {
	b.t.Helper()
	if strings.HasPrefix(target, "/") {
		target = b.origin + target
	}
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for name, values := range header {
		r.Header[name] = values
	}
	if cookies := b.cookieHeader(); cookies != "" {
		r.Header.Set("Cookie", cookies)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	out := &answer{status: w.Code, header: w.Result().Header, body: w.Body.String()}
	for _, line := range out.header.Values("Set-Cookie") {
		b.store(line)
	}
	return out
}

func (b *browser) get(target string) *answer {
	b.t.Helper()
	return b.send(http.MethodGet, target, nil, "")
}

// post sends a form with the browser's CSRF token and these names and values.
func (b *browser) post(target string, fields ...string) *answer {
	b.t.Helper()
	form := url.Values{"csrfToken": {b.csrf()}}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return b.send(http.MethodPost, target, formType(), form.Encode())
}

func formType() http.Header {
	return http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
}

func jsonType() http.Header {
	return http.Header{"Content-Type": {"application/json"}}
}

// csrf is the browser's CSRF token; it asks for one if it has none.
func (b *browser) csrf() string {
	b.t.Helper()
	a := b.get(b.base + "/csrf")
	var out struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(a.body), &out); err != nil && a.status == http.StatusOK {
		b.t.Fatalf("GET csrf: %d %q", a.status, a.body)
	}
	return out.CSRFToken
}

// session is what GET session tells, nil for null.
func (b *browser) session() map[string]any {
	b.t.Helper()
	a := b.get(b.base + "/session")
	if a.status != http.StatusOK {
		b.t.Fatalf("GET session: %d %q", a.status, a.body)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		b.t.Fatalf("GET session: %q", a.body)
	}
	return out
}

// user is the name of who is signed in, "" for nobody.
func (b *browser) user() string {
	b.t.Helper()
	user, _ := b.session()["user"].(map[string]any)
	name, _ := user["name"].(string)
	return name
}

// store keeps a cookie, or forgets it. What a browser would refuse fails the test.
func (b *browser) store(line string) {
	b.t.Helper()
	c, err := http.ParseSetCookie(line)
	if err != nil {
		b.t.Errorf("a Set-Cookie that can't be read: %v", err)
		return
	}
	secure := strings.HasPrefix(b.origin, "https:")
	switch {
	case b.isLax && (c.SameSite != http.SameSiteNoneMode || c.Secure):
	case !c.HttpOnly, c.SameSite != http.SameSiteLaxMode, c.Path != "/", c.Domain != "":
		b.t.Errorf("cookie %s lacks an attribute, or has one too many: %s", c.Name, line)
	case c.Secure != secure || secure != strings.HasPrefix(c.Name, "__Secure-") && secure != strings.HasPrefix(c.Name, "__Host-"):
		b.t.Errorf("cookie %s on %s: %s", c.Name, b.origin, line)
	case len(c.Name)+len(c.Value) > 4096:
		// Browsers ignore it. That may happen to where somebody wanted to go, but not to a session.
		if !strings.HasSuffix(c.Name, callbackURLCookie) {
			b.t.Errorf("cookie %s has %d bytes", c.Name, len(c.Name)+len(c.Value))
		}
		return
	}
	b.forget(c.Name)
	if c.MaxAge >= 0 && (c.Expires.IsZero() || c.Expires.After(time.Now())) {
		b.jar = append(b.jar, c)
	}
}

func (b *browser) forget(name string) {
	b.jar = slices.DeleteFunc(b.jar, func(c *http.Cookie) bool { return c.Name == name })
}

// set puts a cookie into the jar.
func (b *browser) set(name, value string) {
	b.forget(name)
	b.jar = append(b.jar, &http.Cookie{Name: name, Value: value})
}

// cookie gives a cookie's value, "" without it.
func (b *browser) cookie(name string) string {
	for _, c := range b.jar {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (b *browser) cookieHeader() string {
	var pairs []string
	for _, c := range b.jar {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	return strings.Join(pairs, "; ")
}

// hasSession reports whether the jar has a session cookie, plain or in chunks.
func (b *browser) hasSession() bool {
	return slices.ContainsFunc(b.jar, func(c *http.Cookie) bool { return strings.Contains(c.Name, sessionCookie) })
}

// copy is another browser with the same cookies.
func (b *browser) copy() *browser {
	out := *b
	out.jar = slices.Clone(b.jar)
	return &out
}

// setsCookie reports whether the answer sets a cookie, "" for any, or clears it.
func (a *answer) setsCookie(name string) bool {
	return slices.ContainsFunc(a.header.Values("Set-Cookie"), func(line string) bool { return strings.HasPrefix(line, name) })
}

func (a *answer) location() string { return a.header.Get("Location") }

// wantRedirect expects a 302 to exactly this place.
func (a *answer) wantRedirect(t testing.TB, to string) {
	t.Helper()
	if a.status != http.StatusFound || a.location() != to {
		t.Errorf("got %d %q (%s), want 302 %q", a.status, a.location(), a.body, to)
	}
}

// wantError expects a redirect to the error page, or the sign-in page, without cookies.
func (a *answer) wantError(t testing.TB, page string) {
	t.Helper()
	a.wantRedirect(t, site+"/auth/"+page)
	if a.setsCookie("") {
		t.Errorf("an error sets cookies: %q", a.header.Values("Set-Cookie"))
	}
}

const configurationError = "error?error=Configuration"

// anyone signs in whoever gives a name.
var anyone = core.Credentials{Authorize: func(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
	name, _ := fields["name"].(string)
	if name == "" {
		return nil, nil
	}
	return &core.User{ID: "id-of-" + name, Name: name, Email: name + "@example.com"}, nil
}}

// signInAs signs in with the provider anyone.
func (b *browser) signInAs(name string) {
	b.t.Helper()
	b.post(b.base+"/callback/credentials", "name", name).wantRedirect(b.t, b.origin)
	if !b.hasSession() {
		b.t.Fatal("signing in set no session cookie")
	}
}
