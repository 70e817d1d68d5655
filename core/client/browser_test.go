package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// TestBrowser has Chromium use the module on a site with a strict policy and the real handler.
// The stories are in testdata/browser.mjs.
func TestBrowser(t *testing.T) {
	t.Parallel()
	node := needNode(t)
	_, err := os.Stat(filepath.Join(tools, "node_modules", "playwright-core"))
	need(t, err == nil, "the tools of edge/worker", "npm ci in edge/worker")
	_, err = os.Stat(chromium())
	need(t, err == nil, "chromium", "apt-get install chromium, or set CHROMIUM to its path")

	s := newSite(t)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "testdata/browser.mjs", s.url, absolute(t, filepath.Join(tools, "package.json")))
	cmd.Env = append(os.Environ(), "CHROMIUM="+chromium())
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, report := range s.reports {
		t.Errorf("blocked by the page's policy: %s", report)
	}
}

func chromium() string {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	return "/usr/bin/chromium"
}

// policy is that of the site's pages: scripts and styles from its own files, nothing inline, and
// no text that becomes markup or script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'; report-uri /report"

// site is an app with the handler under /auth, and a stub of an OAuth provider.
type site struct {
	url     string
	auth    *core.Auth
	broken  *core.Auth    // cannot look a session up
	holding chan struct{} // an answer is held back
	release chan struct{} // send it

	mu      sync.Mutex
	reports []string // of the policy
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{holding: make(chan struct{}, 8), release: make(chan struct{})}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	config := core.Config{
		Providers: []core.Provider{
			core.Credentials{
				Fields:    []core.Field{{Name: "username"}, {Name: "password", Type: "password"}},
				Authorize: login,
			},
			core.OAuth{
				ID: "stub", Name: "Stub", ClientID: "client", ClientSecret: "secret",
				Authorization: core.Endpoint{URL: server.URL + "/idp/authorize"},
				Token:         core.Endpoint{URL: "http://idp.example/token"},
				UserInfo:      core.Endpoint{URL: "http://idp.example/userinfo"},
			},
		},
		Secret:    []string{"a secret of at least thirty-two characters"},
		TrustHost: core.On,
		Transport: roundTripper(stub),
		Getenv:    func(string) string { return "" },
		Logger:    core.Logger{Error: quiet, Warn: quiet},
		Callbacks: core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (core.JWT, error) {
			if data, ok := p.Session.(map[string]any); ok && p.Trigger == core.TriggerUpdate {
				p.Token["name"] = data["name"]
			}
			return p.Token, nil
		}},
	}
	s.auth = newAuth(t, config)
	config.Adapter = kvadapter.New(memory.New(time.Now), kvadapter.Options{})
	config.Adapter.GetSessionAndUser = func(context.Context, string) (*core.AdapterSession, *core.User, error) {
		return nil, nil, errors.New("the store is down")
	}
	s.broken = newAuth(t, config)
	return s
}

func newAuth(t *testing.T, config core.Config) *core.Auth {
	t.Helper()
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

func quiet(string, ...any) {}

// login lets everybody in who knows the word, but for the one who is locked out.
func login(_ context.Context, credentials map[string]any, _ *http.Request) (*core.User, error) {
	name, _ := credentials["username"].(string)
	switch {
	case credentials["password"] != "demo":
		return nil, nil
	case name == "locked":
		return nil, core.CredentialsSignin("locked_out")
	}
	return &core.User{ID: name, Name: name, Email: name + "@example.com"}, nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// stub is the side of the OAuth provider that the handler talks to.
func stub(r *http.Request) (*http.Response, error) {
	body := `{"access_token":"a","token_type":"bearer"}`
	if r.URL.Path == "/userinfo" {
		body = `{"id":"1","name":"Stub","email":"stub@example.com"}`
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// ServeHTTP answers as the site. What is wrong with it is for a story to say, with a cookie of
// the browser that the story is told in: outage, hold.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/report":
		report, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.reports = append(s.reports, string(report))
		s.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	case path == "/holding":
		select {
		case <-s.holding:
		case <-r.Context().Done():
		}
	case path == "/release":
		select {
		case s.release <- struct{}{}:
		default: // the browser doesn't wait for it any more
		}
	case path == "/auth/session" && has(r, "outage"):
		s.broken.ServeHTTP(w, r)
	case path == "/auth/session" && r.Method == http.MethodGet && has(r, "hold"):
		s.hold(w, r)
	case strings.HasPrefix(path, "/auth/"):
		s.auth.ServeHTTP(w, r)
	case path == "/idp/authorize":
		// The provider's page.
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Stub</title><a href="/idp/allow?%s">Allow</a>`, strings.ReplaceAll(r.URL.RawQuery, "&", "&amp;"))
	case path == "/idp/allow":
		http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?code=1", http.StatusFound)
	default:
		w.Header().Set("Content-Security-Policy", policy)
		if filepath.Ext(path) == "" {
			r.URL.Path += ".html"
		}
		http.FileServer(http.Dir("testdata/site")).ServeHTTP(w, r)
	}
}

func has(r *http.Request, cookie string) bool {
	_, err := r.Cookie(cookie)
	return err == nil
}

// hold makes the answer at once and sends it when a story says so, unless the browser has stopped waiting.
func (s *site) hold(w http.ResponseWriter, r *http.Request) {
	held := httptest.NewRecorder()
	s.auth.ServeHTTP(held, r)
	s.holding <- struct{}{}
	select {
	case <-s.release:
	case <-r.Context().Done():
		return
	}
	for name, values := range held.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(held.Code)
	_, _ = w.Write(held.Body.Bytes())
}
