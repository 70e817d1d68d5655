package hook_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/core/hook"
)

const (
	site          = "http://app.example"
	sessionCookie = "authjs.session-token"
)

// journal keeps all that is logged.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) logger() core.Logger {
	take := func(msg string, _ ...any) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.text.WriteString(msg + "\n")
	}
	return core.Logger{Error: take, Warn: take}
}

func (j *journal) has(msg string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Contains(j.text.String(), msg+"\n")
}

// inTest fills in what a test needs: no environment, and nothing on standard error.
func inTest(config core.Config) core.Config {
	if config.Secret == nil {
		config.Secret = []string{"a secret of at least thirty-two characters"}
	}
	if config.TrustHost == core.Auto {
		config.TrustHost = core.On
	}
	if config.Getenv == nil {
		config.Getenv = func(string) string { return "" }
	}
	if config.Logger.Error == nil {
		config.Logger = new(journal).logger()
	}
	if config.Providers == nil {
		config.Providers = []core.Provider{anyone, hub}
	}
	return config
}

func newHook(t testing.TB, config core.Config) *hook.Hook {
	t.Helper()
	h, err := hook.New(inTest(config))
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return h
}

// anyone signs in whoever gives a name, but not Eve.
var anyone = core.Credentials{Authorize: func(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
	name, _ := fields["name"].(string)
	switch name {
	case "":
		return nil, nil
	case "Eve":
		return nil, core.CredentialsSignin("banned")
	}
	return &core.User{ID: name, Name: name}, nil
}}

// hub is a provider that is only ever started.
var hub = core.OAuth{
	ID: "hub", ClientID: "client", ClientSecret: "client-secret",
	Authorization: core.Endpoint{URL: "https://hub.example/authorize"},
	Token:         core.Endpoint{URL: "https://hub.example/token"},
	UserInfo:      core.Endpoint{URL: "https://hub.example/userinfo"},
}

// database gives a configuration with database sessions, one of which is Ada's with the token
// "ada", and counts how often one is read.
func database(t testing.TB) (config core.Config, reads *int) {
	t.Helper()
	adapter := adaptertest.Memory()
	if _, err := adapter.CreateUser(t.Context(), core.User{ID: "1", Name: "Ada", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	session := core.AdapterSession{SessionToken: "ada", UserID: "1", Expires: time.Now().Add(time.Hour)}
	if _, err := adapter.CreateSession(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	reads = new(int)
	read := adapter.GetSessionAndUser
	adapter.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
		*reads++
		return read(ctx, token)
	}
	return core.Config{Adapter: adapter, Providers: []core.Provider{hub}}, reads
}

// broken is database with a store that is down.
func broken(t testing.TB) core.Config {
	config, _ := database(t)
	config.Adapter.GetSessionAndUser = func(context.Context, string) (*core.AdapterSession, *core.User, error) {
		return nil, nil, errors.New("the store is down")
	}
	return config
}

// browser is a client with a cookie jar.
type browser struct {
	handler http.Handler
	jar     []*http.Cookie
}

func newBrowser(h http.Handler) *browser { return &browser{handler: h} }

func (b *browser) request(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, site+path, strings.NewReader(body))
	for _, c := range b.jar {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	return r
}

func (b *browser) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		b.set(c)
	}
	return w
}

func (b *browser) set(c *http.Cookie) {
	b.jar = slices.DeleteFunc(b.jar, func(old *http.Cookie) bool { return old.Name == c.Name })
	if c.MaxAge >= 0 {
		b.jar = append(b.jar, c)
	}
}

func (b *browser) get(path string) *httptest.ResponseRecorder {
	return b.do(b.request(http.MethodGet, path, ""))
}

// post sends a form as a browser does from a page of the site.
func (b *browser) post(path string, fields ...string) *httptest.ResponseRecorder {
	return b.do(b.form(path, fields...))
}

func (b *browser) form(path string, fields ...string) *http.Request {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	r := b.request(http.MethodPost, path, form.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Origin", site)
	return r
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

// signIn signs in through the routes.
func (b *browser) signIn(t testing.TB, name string) {
	t.Helper()
	if w := b.post("/auth/callback/credentials", "name", name); w.Code != http.StatusFound || b.cookie(sessionCookie) == "" {
		t.Fatalf("signing in: %d %q", w.Code, w.Header())
	}
}

// greet is a page that shows who its visitor is.
func greet(w http.ResponseWriter, r *http.Request) {
	session, err := hook.Auth(r)
	text := "nobody"
	switch {
	case err != nil:
		w.WriteHeader(http.StatusServiceUnavailable)
		text = "unknown"
	case session != nil && session.User != nil:
		text = session.User.Name
	}
	_, _ = w.Write([]byte(text))
}
