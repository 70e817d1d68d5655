package remote_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/remote"
)

// secretPage is a page that only somebody signed in may see.
func secretPage(e *remote.Edge) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if session, ok := e.Require(w, r); ok {
			_, _ = io.WriteString(w, "the secret of "+session.User.Name)
		}
	})
}

// Who is not signed in is sent to the edge's sign-in page, or told in JSON.
func TestDenied(t *testing.T) {
	t.Parallel()
	asked := func(mode, accept string) http.Header {
		h := http.Header{}
		if mode != "" {
			h.Set("Sec-Fetch-Mode", mode)
		}
		if accept != "" {
			h.Set("Accept", accept)
		}
		return h
	}
	other := remote.Config{URL: "https://auth.example/auth", Origin: app}
	own := remote.Config{SignInPage: "/login?lang=de"}
	for _, c := range []struct {
		config         remote.Config
		method, target string
		header         http.Header
		status         int
		location       string // or the URL in the JSON
	}{
		{remote.Config{}, "GET", "/page?a=b&c=%26", asked("navigate", "text/html"), 303, "/auth/signin?callbackUrl=" + url.QueryEscape("/page?a=b&c=%26")},
		{remote.Config{}, "GET", "/page", asked("", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"), 303, "/auth/signin?callbackUrl=%2Fpage"},
		{remote.Config{}, "HEAD", "/page", asked("navigate", ""), 303, "/auth/signin?callbackUrl=%2Fpage"},
		{remote.Config{}, "POST", "/page", asked("navigate", "text/html"), 303, "/auth/signin"},
		{remote.Config{}, "GET", "//evil.example/x", asked("navigate", ""), 303, "/auth/signin?callbackUrl=%2Fevil.example%2Fx"},
		{remote.Config{}, "GET", `/%5Cevil.example`, asked("navigate", ""), 303, "/auth/signin?callbackUrl=%2F%255Cevil.example"},
		{remote.Config{}, "GET", "/api", asked("cors", "text/html"), 401, "/auth/signin?callbackUrl=%2Fapi"},
		{remote.Config{}, "GET", "/api", asked("same-origin", "*/*"), 401, "/auth/signin?callbackUrl=%2Fapi"},
		{remote.Config{}, "GET", "/api", asked("", "application/json"), 401, "/auth/signin?callbackUrl=%2Fapi"},
		{remote.Config{}, "GET", "/api", asked("", "*/*"), 401, "/auth/signin?callbackUrl=%2Fapi"},
		{remote.Config{}, "DELETE", "/api", asked("", ""), 401, "/auth/signin"},
		{other, "GET", "/page", asked("navigate", ""), 303, "https://auth.example/auth/signin?callbackUrl=https%3A%2F%2Fapp.example%2Fpage"},
		{own, "GET", "/page", asked("navigate", ""), 303, "/login?lang=de&callbackUrl=%2Fpage"},
		{own, "GET", "/login", asked("navigate", ""), 401, ""},
	} {
		e := newEdge(t, c.config)
		r := httptest.NewRequest(c.method, app+c.target, nil)
		r.Header = c.header
		r.Host = "evil.example" // no header decides where people are sent
		r.Header.Set("X-Forwarded-Host", "evil.example")
		for _, h := range []http.Handler{secretPage(e), e.Handle(secretPage(e)), e.Handle(http.StripPrefix("/", secretPage(e)))} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			location := w.Header().Get("Location")
			if w.Code == 401 && strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
				var body struct{ URL, Message string }
				if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Message == "" {
					t.Errorf("%s %s: %q", c.method, c.target, w.Body)
				}
				location = body.URL
			}
			if w.Code != c.status || location != c.location || w.Header().Get("Cache-Control") != "private, no-cache, no-store" || w.Header().Get("Vary") != "Cookie" {
				t.Errorf("%s %s %v: %d %q, want %d %q, with %v", c.method, c.target, c.header, w.Code, location, c.status, c.location, w.Header())
			}
		}
	}
}

// The way back is that of the request as it came to Handle.
func TestSignInURL(t *testing.T) {
	t.Parallel()
	e := newEdge(t, remote.Config{})
	w := httptest.NewRecorder()
	e.Handle(http.StripPrefix("/app", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, e.SignInURL(r))
	}))).ServeHTTP(w, httptest.NewRequest("GET", app+"/app/page", nil))
	if w.Body.String() != "/auth/signin?callbackUrl=%2Fapp%2Fpage" {
		t.Errorf("%s", w.Body)
	}
}

// A session without a user is nobody.
func TestNoUser(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"expires":"2999-01-31T12:00:00Z"}`, `{"user":null,"expires":"2999-01-31T12:00:00Z"}`} {
		e := newEdge(t, remote.Config{Transport: &wire{Handler: answering(200, "application/json", body)}})
		w := httptest.NewRecorder()
		secretPage(e).ServeHTTP(w, withCookie("x"))
		if w.Code != 401 {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}

// Require without Handle marks the response and hands the cookies on as well.
func TestRequireAlone(t *testing.T) {
	t.Parallel()
	auth := handler(t, core.Config{})
	e := newEdge(t, remote.Config{Transport: &wire{Handler: auth}})
	b := signedIn(t, auth, "Ada", "")
	b.handler = secretPage(e)
	w := b.load("/page")
	if w.Body.String() != "the secret of Ada" || len(w.Header()["Set-Cookie"]) != 1 || w.Header().Get("Cache-Control") != "private, no-cache, no-store" {
		t.Errorf("%q %v", w.Body, w.Header())
	}
}

// While it is not known who is signed in, nobody is let in and nobody is sent away.
func TestUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		edge   http.Handler
		secret string
		status int
	}{
		{answering(503, "application/json", "null"), "", 503},
		{answering(200, "text/html", "<!doctype html>"), "", 500},
		{answering(200, "application/json", good), "the secret of some other site, quite", 500},
	} {
		for _, mode := range []string{"navigate", "cors"} {
			config := remote.Config{Transport: &wire{Handler: c.edge}}
			if c.secret != "" {
				config.Secret = []string{c.secret}
			}
			e := newEdge(t, config)
			protect, err := e.Protect("/")
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range []http.Handler{secretPage(e), e.Handle(protect(http.NotFoundHandler()))} {
				w := httptest.NewRecorder()
				r := withCookie(token(t, secret, `{"name":"Ada"}`))
				r.Header.Set("Sec-Fetch-Mode", mode)
				h.ServeHTTP(w, r)
				if w.Code != c.status || w.Header().Get("Location") != "" || w.Header().Get("Cache-Control") != "private, no-cache, no-store" ||
					(c.status == 503) != (w.Header().Get("Retry-After") != "") || strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") != (mode == "cors") {
					t.Errorf("%d %s: %d %v", c.status, mode, w.Code, w.Header())
				}
			}
		}
	}
}

func TestProtect(t *testing.T) {
	t.Parallel()
	e := newEdge(t, remote.Config{SignInPage: "/login"})
	for _, patterns := range [][]string{nil, {"x"}, {"/login"}, {"!/x"}} {
		if _, err := e.Protect(patterns...); !errors.Is(err, remote.ErrConfig) && !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("%q: %v", patterns, err)
		}
	}
	protect, err := e.Protect("/", "!/public")
	if err != nil {
		t.Fatal(err)
	}
	h := e.Handle(protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	for path, want := range map[string]int{"/": 401, "/x": 401, "/public": 200, "/login": 200, "/auth/session": 200, "/auth/signin/hub": 200, "/auth/other": 401} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", app+path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

// hastyEdge is a handler whose sign-in page asks nobody, the worst there is for circles.
func hastyEdge(t *testing.T, config core.Config) http.Handler {
	auth := handler(t, config)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/auth/signin" {
			auth.ServeHTTP(w, r)
			return
		}
		sealed := token(t, secret, toJSON(t, map[string]any{"name": "Ada", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}))
		http.SetCookie(w, &http.Cookie{Name: cookieName, Value: sealed, Path: "/"})
		http.Redirect(w, r, r.URL.Query().Get("callbackUrl"), http.StatusFound)
	})
}

// Whatever is wrong, a visitor comes to an end, and not to a page that is for others.
func TestNoCircle(t *testing.T) {
	t.Parallel()
	slow := roundTripper(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() })
	other := []string{"the secret of some other site, quite"}
	for _, c := range []struct {
		name      string
		config    remote.Config
		edge      core.Config
		isOpen    bool // the handler's path is not mounted
		transport http.RoundTripper
		want      int
	}{
		{"all right", remote.Config{}, core.Config{}, false, nil, 200},
		{"all right, read here", remote.Config{Secret: []string{secret}}, core.Config{}, false, nil, 200},
		{"secret differs here", remote.Config{Secret: other}, core.Config{}, false, nil, 500},
		{"secret differs at the edge, so that it forgets whom it signs in", remote.Config{}, core.Config{Secret: other}, false, nil, 401},
		{"secret differs here, edge down", remote.Config{Secret: other}, core.Config{}, false, &wire{Handler: answering(502, "text/html", "")}, 500},
		{"edge down", remote.Config{}, core.Config{}, false, &wire{Handler: answering(502, "text/html", "")}, 503},
		{"edge slow", remote.Config{Timeout: time.Millisecond}, core.Config{}, false, slow, 503},
		{"the cookie does not reach us", remote.Config{CookieName: "sid"}, core.Config{}, false, nil, 401},
		{"the cookie has another name", remote.Config{CookieName: "__Host-authjs.session-token", Secret: []string{secret}}, core.Config{}, false, nil, 500},
		{"path not mounted", remote.Config{}, core.Config{}, true, nil, 404},
		{"path not mounted, nor where we ask", remote.Config{InternalURL: app + "/elsewhere/auth"}, core.Config{}, true, nil, 404},
		{"sign-in page is protected", remote.Config{SignInPage: "/login"}, core.Config{}, false, nil, 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			auth := hastyEdge(t, c.edge)
			var site http.Handler
			public := &wire{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { site.ServeHTTP(w, r) })}
			c.config.Transport = public
			if c.transport != nil {
				c.config.Transport = c.transport
			}
			e := newEdge(t, c.config)
			protect, err := e.Protect("/")
			if err != nil {
				t.Fatal(err)
			}
			inner := http.NewServeMux()
			inner.Handle("/page", secretPage(e))
			behind := e.Handle(protect(inner))
			site = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/auth/") && !c.isOpen {
					auth.ServeHTTP(w, r)
					return
				}
				behind.ServeHTTP(w, r)
			})
			b := &browser{handler: site, jar: map[string]string{}}
			at := "/page"
			for range 20 {
				w := b.load(at)
				if location := w.Header().Get("Location"); location != "" {
					at = strings.TrimPrefix(location, app)
					continue
				}
				if w.Code != c.want || strings.Contains(w.Body.String(), "the secret of") != (c.want == 200) {
					t.Errorf("the end is %d %q, want %d", w.Code, w.Body, c.want)
				}
				if count := b.jar["edgeauth.redirects"]; c.want == 200 && count != "" {
					t.Errorf("the count of redirects stays, at %q", count)
				}
				if asked := public.count.Load(); asked > 10 {
					t.Errorf("the edge was asked %d times", asked)
				}
				return
			}
			t.Error("redirected for ever")
		})
	}
}

// The page at the end of a circle leads on, and a nonsensical count is none.
func TestCircleEnds(t *testing.T) {
	t.Parallel()
	var warned []string
	log := quiet()
	log.Warn = func(msg string, _ ...any) { warned = append(warned, msg) }
	e := newEdge(t, remote.Config{Logger: log})
	for count, want := range map[string]int{"": 303, "4": 303, "5": 401, "99": 401, "-5": 303, "x": 303} {
		b := &browser{handler: e.Handle(secretPage(e)), jar: map[string]string{"edgeauth.redirects": count}}
		w := b.load("/page?a=b&c=<d>")
		if w.Code != want {
			t.Errorf("%q: %d, want %d", count, w.Code, want)
		}
		if want == 401 && !strings.Contains(w.Body.String(), `<a href="/auth/signin?callbackUrl=%2Fpage%3Fa%3Db%26c%3D%3Cd%3E">`) {
			t.Errorf("%q: %s", count, w.Body)
		}
	}
	e = newEdge(t, remote.Config{SignInPage: "/login?lang=de"})
	if w := (&browser{handler: secretPage(e), jar: map[string]string{"edgeauth.redirects": "9"}}).load("/page"); !strings.Contains(w.Body.String(), `"/login?lang=de&amp;callbackUrl=%2Fpage"`) {
		t.Errorf("%s", w.Body)
	}
	if len(warned) != 2 || warned[0] != "signin-loop" {
		t.Errorf("warned of %q", warned)
	}
}
