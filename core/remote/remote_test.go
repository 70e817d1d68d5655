package remote_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/remote"
)

const (
	app    = "https://app.example"
	secret = "a secret of at least thirty-two characters"
)

// quiet is a logger that says nothing.
func quiet() core.Logger {
	nothing := func(string, ...any) {}
	return core.Logger{Error: nothing, Warn: nothing}
}

// anyone signs in whoever gives a name, with as long a claim as asked for.
var anyone = core.Credentials{Authorize: func(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
	name, _ := fields["name"].(string)
	image, _ := fields["image"].(string)
	return &core.User{ID: name, Name: name, Email: name + "@app.example", Image: image}, nil
}}

// hub is a provider that nobody comes back from.
var hub = core.OAuth{
	ID: "hub", ClientID: "client", ClientSecret: "client-secret",
	Authorization: core.Endpoint{URL: "https://hub.example/authorize"},
	Token:         core.Endpoint{URL: "https://hub.example/token"},
	UserInfo:      core.Endpoint{URL: "https://hub.example/userinfo"},
}

// handler is the real one, with the jwt strategy, as it is deployed for the app.
func handler(t testing.TB, config core.Config) *core.Auth {
	t.Helper()
	if config.Secret == nil {
		config.Secret = []string{secret}
	}
	if config.Providers == nil {
		config.Providers = []core.Provider{anyone, hub}
	}
	if config.Getenv == nil {
		config.Getenv = environment("AUTH_URL", app+"/auth")
	}
	config.Logger = quiet()
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// wire is a transport that brings requests to a handler in this process, and remembers them.
type wire struct {
	http.Handler
	mu    sync.Mutex
	asked []*http.Request
	count atomic.Int32
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.count.Add(1)
	w.mu.Lock()
	w.asked = append(w.asked, r.Clone(r.Context()))
	w.mu.Unlock()
	in := httptest.NewRequest(r.Method, r.URL.String(), r.Body).WithContext(r.Context())
	in.Header = r.Header.Clone()
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, in)
	return rec.Result(), r.Context().Err()
}

// newEdge makes an Edge for the app whose questions go over a transport.
func newEdge(t testing.TB, config remote.Config) *remote.Edge {
	t.Helper()
	if config.URL == "" {
		config.URL = app + "/auth"
	}
	if config.Logger.Error == nil {
		config.Logger = quiet()
	}
	edge, err := remote.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return edge
}

// browser is a client with a cookie jar, on the app's origin.
type browser struct {
	handler http.Handler
	jar     map[string]string
}

func (b *browser) request(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, app+path, strings.NewReader(body))
	for name, value := range b.jar {
		r.Header.Add("Cookie", name+"="+value)
	}
	if lines := r.Header["Cookie"]; len(lines) > 0 {
		r.Header["Cookie"] = []string{strings.Join(lines, "; ")}
	}
	return r
}

func (b *browser) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		b.jar[c.Name] = c.Value
		if c.MaxAge < 0 || c.Value == "" {
			delete(b.jar, c.Name)
		}
	}
	return w
}

// load loads a page as a browser does.
func (b *browser) load(path string) *httptest.ResponseRecorder {
	r := b.request(http.MethodGet, path, "")
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	r.Header.Set("Accept", "text/html")
	return b.do(r)
}

// signedIn is a browser that has signed in at the handler.
func signedIn(t testing.TB, auth http.Handler, name, image string) *browser {
	t.Helper()
	b := &browser{handler: auth, jar: map[string]string{}}
	var answer struct{ CSRFToken string }
	if err := json.Unmarshal(b.do(b.request(http.MethodGet, "/auth/csrf", "")).Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"csrfToken": {answer.CSRFToken}, "name": {name}, "image": {image}}
	r := b.request(http.MethodPost, "/auth/callback/credentials", form.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if w := b.do(r); w.Code != http.StatusFound || !strings.Contains(strings.Join(names(b.jar), " "), "session-token") {
		t.Fatalf("signing in: %d %s", w.Code, w.Header().Get("Location"))
	}
	return b
}

func names(jar map[string]string) []string {
	var out []string
	for name := range jar {
		out = append(out, name)
	}
	return out
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
