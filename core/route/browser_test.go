package route_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/core/route"
)

const site = "http://app.example"

// inTest fills in what a test needs: no environment, and nothing on standard error.
func inTest(config route.Config) route.Config {
	if config.Secret == nil {
		config.Secret = []string{"a secret of at least thirty-two characters"}
	}
	config.TrustHost = core.On
	config.Getenv = func(string) string { return "" }
	if config.Logger.Error == nil {
		quiet := func(string, ...any) {}
		config.Logger = core.Logger{Error: quiet, Warn: quiet}
	}
	if config.Providers == nil {
		config.Providers = []core.Provider{anyone}
	}
	return config
}

func newRoutes(t testing.TB, config route.Config) *route.Routes {
	t.Helper()
	routes, err := route.New(inTest(config))
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return routes
}

// anyone signs in whoever gives a name.
var anyone = core.Credentials{Authorize: func(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
	name, _ := fields["name"].(string)
	if name == "" {
		return nil, nil
	}
	return &core.User{ID: name, Name: name}, nil
}}

// browser is a client with a cookie jar.
type browser struct {
	handler http.Handler
	origin  string
	jar     map[string]string
}

func newBrowser(h http.Handler) *browser {
	return &browser{handler: h, origin: site, jar: map[string]string{}}
}

func (b *browser) request(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, b.origin+path, strings.NewReader(body))
	for name, value := range b.jar {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	return r
}

func (b *browser) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		b.jar[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(b.jar, c.Name)
		}
	}
	return w
}

func (b *browser) get(path string) *httptest.ResponseRecorder {
	return b.do(b.request(http.MethodGet, path, ""))
}

func (b *browser) post(path string, form url.Values) *httptest.ResponseRecorder {
	r := b.request(http.MethodPost, path, form.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(r)
}

// signIn signs in with the token of the csrf route, as the client of integration A does.
func (b *browser) signIn(t testing.TB, prefix, name string) {
	t.Helper()
	var answer struct{ CSRFToken string }
	if err := json.Unmarshal(b.get(prefix+"/csrf").Body.Bytes(), &answer); err != nil {
		t.Fatalf("GET csrf: %v", err)
	}
	w := b.post(prefix+"/callback/credentials", url.Values{"csrfToken": {answer.CSRFToken}, "name": {name}, "callbackUrl": {"/"}})
	if w.Code != http.StatusFound || b.jar["authjs.session-token"] == "" {
		t.Fatalf("signing in: %d %s", w.Code, w.Header().Get("Location"))
	}
}

// hub is a provider that nobody signs in with: database sessions want one that is not credentials.
var hub = core.OAuth{
	ID: "hub", ClientID: "client", ClientSecret: "client-secret",
	Authorization: core.Endpoint{URL: "https://hub.example/authorize"},
	Token:         core.Endpoint{URL: "https://hub.example/token"},
	UserInfo:      core.Endpoint{URL: "https://hub.example/userinfo"},
}

// database gives a configuration with database sessions, one of which is Ada's with the token "ada".
func database(t testing.TB) route.Config {
	t.Helper()
	adapter := adaptertest.Memory()
	if _, err := adapter.CreateUser(t.Context(), core.User{ID: "1", Name: "Ada", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	session := core.AdapterSession{SessionToken: "ada", UserID: "1", Expires: time.Now().Add(time.Hour)}
	if _, err := adapter.CreateSession(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	return route.Config{Config: core.Config{Adapter: adapter, Providers: []core.Provider{hub}}}
}

// broken is database with a store that is down.
func broken(t testing.TB) route.Config {
	config := database(t)
	config.Adapter.GetSessionAndUser = func(context.Context, string) (*core.AdapterSession, *core.User, error) {
		return nil, nil, errors.New("the store is down")
	}
	return config
}
