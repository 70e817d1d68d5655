package remote_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// mounted serves an app with the edge's handler under /auth.
func mounted(edge *url.URL, app http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", app)
	mux.Handle("/auth/", &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(edge)    // and its Host: the edge is found by its own name
			r.SetXForwarded() // its public one, over what a visitor made up
		},
	})
	return mux
}

// shared is the configuration of a handler on auth.site.example for the apps beside it.
func shared(config core.Config) core.Config {
	config.Cookies.SessionToken.Domain = "site.example"
	config.Callbacks.Redirect = func(_ context.Context, p core.RedirectParams) (string, error) {
		to, err := url.Parse(p.URL)
		if err == nil && to.Scheme == "https" && to.Host == "app.site.example" && to.User == nil {
			return p.URL, nil
		}
		return p.BaseURL, nil
	}
	return config
}

// edgeServer is the handler at the edge, which learns its public address last.
type edgeServer struct {
	*httptest.Server
	auth atomic.Pointer[core.Auth]
}

func newEdgeServer(t *testing.T, start func(*httptest.Server)) *edgeServer {
	t.Helper()
	e := &edgeServer{}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/auth/providers" && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			e.auth.Load().ServeHTTP(&zipped{w, z}, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/auth/") {
			e.auth.Load().ServeHTTP(w, r)
			return
		}
		http.Error(w, "the edge was asked for "+r.URL.Path, http.StatusTeapot)
	}))
	start(e.Server)
	t.Cleanup(e.Close)
	return e
}

// zipped is a response as a CDN compresses it.
type zipped struct {
	http.ResponseWriter
	z io.Writer
}

func (w *zipped) Write(b []byte) (int, error) { return w.z.Write(b) }

func (e *edgeServer) url(t *testing.T) *url.URL {
	u, err := url.Parse(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

var theApp = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the app") })

// client is a browser on the network.
type client struct {
	t      *testing.T
	public string
	header http.Header
	jar    map[string]string
}

func (c *client) do(method, path string, form url.Values) (*http.Response, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.public+path, strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = c.header.Clone()
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	var pairs []string
	for name, value := range c.jar {
		pairs = append(pairs, name+"="+value)
	}
	if len(pairs) > 0 {
		r.Header.Set("Cookie", strings.Join(pairs, "; "))
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, cookie := range resp.Cookies() {
		c.jar[cookie.Name] = cookie.Value
		if cookie.MaxAge < 0 {
			delete(c.jar, cookie.Name)
		}
	}
	return resp, string(body)
}

func (c *client) csrf() string {
	c.t.Helper()
	_, body := c.do("GET", "/auth/csrf", nil)
	var answer struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		c.t.Fatalf("csrf: %q", body)
	}
	return answer.CSRFToken
}

// isMounted holds a way to mount the edge's path against what the protocol needs of it, with a
// handler that knows its public address and with one that goes by the forwarding headers, which
// a visitor must not be able to make up unless the way is for developers only.
func isMounted(t *testing.T, public string, edge *edgeServer, isForDevelopers bool) {
	t.Helper()
	for name, env := range map[string]func(string) string{"AUTH_URL": environment("AUTH_URL", public+"/auth"), "headers": environment("AUTH_TRUST_HOST", "true")} {
		edge.auth.Store(handler(t, core.Config{Getenv: env, BasePath: "/auth"}))
		visitor := func() *client {
			return &client{t: t, public: public, jar: map[string]string{}, header: http.Header{}}
		}
		ada, bob := visitor(), visitor()
		for _, c := range []*client{ada, bob} {
			resp, body := c.do("GET", "/auth/session", nil)
			if resp.StatusCode != 200 || body != "null" || !strings.Contains(resp.Header.Get("Cache-Control"), "no-store") || len(resp.Header["Set-Cookie"]) < 2 {
				t.Fatalf("%s: GET session: %d %q %v", name, resp.StatusCode, body, resp.Header)
			}
		}
		for user, c := range map[string]*client{"Ada": ada, "Bob": bob} {
			form := url.Values{"csrfToken": {c.csrf()}, "name": {user}, "image": {strings.Repeat("x", 9000)}, "callbackUrl": {"/after?a=b&c=%26"}}
			resp, body := c.do("POST", "/auth/callback/credentials", form)
			if resp.StatusCode != 302 || resp.Header.Get("Location") != public+"/after?a=b&c=%26" || len(resp.Header["Set-Cookie"]) < 4 {
				t.Fatalf("%s: signing in: %d %q, %d cookies, %q", name, resp.StatusCode, resp.Header.Get("Location"), len(resp.Header["Set-Cookie"]), body)
			}
		}
		for range 2 {
			for user, c := range map[string]*client{"Ada": ada, "Bob": bob} {
				resp, body := c.do("GET", "/auth/session", nil)
				if !strings.Contains(body, `"name":"`+user+`"`) || len(resp.Header["Set-Cookie"]) < 4 {
					t.Fatalf("%s: the session of %s: %d %.300q", name, user, resp.StatusCode, body)
				}
			}
			if _, body := visitor().do("GET", "/auth/session", nil); body != "null" {
				t.Errorf("%s: a stranger's session is %.300q", name, body)
			}
		}
		for _, header := range []http.Header{{}, {"X-Forwarded-Host": {"evil.example"}, "X-Forwarded-Proto": {"https"}, "Forwarded": {"host=evil.example;proto=https"}}} {
			if isForDevelopers && name == "headers" && len(header) > 0 {
				continue
			}
			c := visitor()
			c.header = header
			resp, _ := c.do("POST", "/auth/signin/hub", url.Values{"csrfToken": {c.csrf()}, "callbackUrl": {"/after"}})
			to, err := resp.Location()
			if err != nil || to.Host != "hub.example" || to.Query().Get("redirect_uri") != public+"/auth/callback/hub" {
				t.Errorf("%s: with %v the provider is asked to come back at %v", name, header, to)
			}
			if got, _ := url.QueryUnescape(c.jar["authjs.callback-url"]); got != public+"/after" {
				t.Errorf("%s: with %v the callback URL is %q", name, header, got)
			}
		}
		if resp, body := visitor().do("GET", "/auth/providers", nil); !strings.Contains(body, `"hub"`) {
			t.Errorf("%s: the providers are %d %.200q", name, resp.StatusCode, body)
		}
		for _, path := range []string{"/", "/authors/signin", "/x/auth/session"} {
			if resp, body := visitor().do("GET", path, nil); body != "the app" {
				t.Errorf("%s: %s leads to %d %.200q", name, path, resp.StatusCode, body)
			}
		}
	}
}
