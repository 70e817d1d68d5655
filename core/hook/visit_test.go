package hook_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/hook"
)

// page makes a browser, signed in as Ada, of an app of one page.
func page(t testing.TB, serve http.HandlerFunc) (b *browser, reads *int) {
	t.Helper()
	config, reads := database(t)
	b = newBrowser(newHook(t, config).Handle(serve))
	b.set(&http.Cookie{Name: sessionCookie, Value: "ada"})
	return b, reads
}

func TestHandleServesTheRoutes(t *testing.T) {
	t.Parallel()
	for name, auth := range map[string]*hook.Hook{
		"New": newHook(t, core.Config{BasePathAliases: []string{"/api/auth"}}),
		"PerRequest": hook.PerRequest(func(*http.Request) (core.Config, error) {
			return inTest(core.Config{BasePathAliases: []string{"/api/auth"}}), nil
		}),
	} {
		app := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		b := newBrowser(auth.Handle(auth.Handle(app))) // twice is once
		for path, want := range map[string]int{
			"/auth/session": http.StatusOK, "/auth/signin": http.StatusOK, "/auth//csrf": http.StatusOK, "/api/auth/providers": http.StatusOK, "/auth/x/../session": http.StatusOK,
			"/auth": http.StatusTeapot, "/auth/": http.StatusTeapot, "/auth/unknown": http.StatusTeapot, "/authsession": http.StatusTeapot, "/": http.StatusTeapot, "/session": http.StatusTeapot,
			"/other/signin": http.StatusTeapot, "/auth/signin/a/b": http.StatusBadRequest,
		} {
			if w := b.get(path); w.Code != want {
				t.Errorf("%s: %s: %d, want %d", name, path, w.Code, want)
			}
		}
	}
}

// The session is read when it is first asked for, and once, by however many.
func TestAuthIsLazyAndOnce(t *testing.T) {
	t.Parallel()
	b, reads := page(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "static") })
	if w := b.get("/"); *reads != 0 || len(w.Header()["Set-Cookie"]) > 0 || w.Header().Get("Cache-Control") != "" || w.Header().Get("Vary") != "" {
		t.Errorf("a page that asks for nothing: %d reads, %q", *reads, w.Header())
	}
	b, reads = page(t, func(w http.ResponseWriter, r *http.Request) {
		var all sync.WaitGroup
		var mu sync.Mutex
		var seen []*core.Session
		for range 20 {
			all.Go(func() {
				session, err := hook.Auth(r.WithContext(context.WithValue(r.Context(), struct{}{}, 1)))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				seen = append(seen, session)
			})
		}
		all.Wait()
		if len(slices.Compact(seen)) != 1 {
			t.Error("not everybody got the same session")
		}
		greet(w, r)
	})
	w := b.get("/")
	if *reads != 1 || w.Body.String() != "Ada" || len(w.Result().Cookies()) != 1 {
		t.Errorf("%d reads, %s, cookies %v", *reads, w.Body, w.Result().Cookies())
	}
}

// However the handler writes, the cookie that extends the session goes out with the header, and
// once, and the response is not for shared caches.
func TestSessionIsExtended(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(w http.ResponseWriter){
		"nothing":     func(http.ResponseWriter) {},
		"Write":       func(w http.ResponseWriter) { _, _ = w.Write([]byte("a")); _, _ = w.Write([]byte("b")) },
		"WriteString": func(w http.ResponseWriter) { _, _ = io.WriteString(w, "a") },
		"WriteHeader": func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) },
		"Copy":        func(w http.ResponseWriter) { _, _ = io.Copy(w, io.LimitReader(strings.NewReader("a"), 1)) },
		"Flush":       func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		"controller":  func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() },
		"redirect":    func(w http.ResponseWriter) { w.Header().Set("Location", "/x"); w.WriteHeader(http.StatusFound) },
		"early hints": func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints); w.WriteHeader(http.StatusOK) },
		"a public page": func(w http.ResponseWriter) {
			w.Header().Set("Cache-Control", "public, max-age=60")
			w.Header().Set("Vary", "Accept")
			_, _ = w.Write([]byte("a"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := page(t, func(w http.ResponseWriter, r *http.Request) {
				if _, err := hook.Auth(r); err != nil {
					t.Error(err)
				}
				write(w)
			})
			server := httptest.NewServer(b.handler)
			defer server.Close()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.AddCookie(&http.Cookie{Name: sessionCookie, Value: "ada"})
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if cookies := resp.Cookies(); len(cookies) != 1 || cookies[0].Value != "ada" || cookies[0].Expires.IsZero() {
				t.Errorf("cookies %v", cookies)
			}
			if control := resp.Header.Get("Cache-Control"); control != "private, no-cache, no-store" || !slices.Contains(resp.Header["Vary"], "Cookie") {
				t.Errorf("Cache-Control %q, Vary %q", control, resp.Header["Vary"])
			}
		})
	}
}

// An app's own word that a response is private is left as it is.
func TestCacheControlOfTheApp(t *testing.T) {
	t.Parallel()
	for _, control := range []string{"private, max-age=60", "no-store"} {
		b, _ := page(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", control)
			greet(w, r)
		})
		if got := b.get("/").Header().Get("Cache-Control"); got != control {
			t.Errorf("%q became %q", control, got)
		}
	}
	signedOut := newBrowser(newHook(t, core.Config{}).Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		greet(w, r)
	})))
	if w := signedOut.get("/"); w.Header().Get("Cache-Control") != "max-age=60" || w.Header().Get("Vary") != "Cookie" {
		t.Errorf("a page for nobody in particular: %q", w.Header())
	}
}

// Who asks after the header is gone gets the session; it is not extended, and the log says so.
func TestAuthAfterTheHeader(t *testing.T) {
	t.Parallel()
	config, _ := database(t)
	var log journal
	config.Logger = log.logger()
	b := newBrowser(newHook(t, config).Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "early ")
		greet(w, r)
	})))
	b.set(&http.Cookie{Name: sessionCookie, Value: "ada"})
	if w := b.get("/"); w.Body.String() != "early Ada" || len(w.Header()["Set-Cookie"]) > 0 || !log.has("session-not-extended") {
		t.Errorf("%s, %q", w.Body, w.Header())
	}
}

func TestAuthErrors(t *testing.T) {
	t.Parallel()
	if session, err := hook.Auth(httptest.NewRequest("GET", site, nil)); session != nil || !errors.Is(err, hook.ErrOutsideHandle) {
		t.Errorf("outside of Handle: %v, %v", session, err)
	}
	var session *core.Session
	var err error
	ask := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		session, err = hook.Auth(r)
		if again, same := hook.Auth(r); again != session || !errors.Is(same, err) {
			t.Errorf("the second answer: %v, %v", again, same)
		}
	})
	b := newBrowser(newHook(t, broken(t)).Handle(ask))
	b.set(&http.Cookie{Name: sessionCookie, Value: "ada"})
	if w := b.get("/"); session != nil || !errors.Is(err, core.ErrSessionToken) || len(w.Header()["Set-Cookie"]) > 0 {
		t.Errorf("the store is down: %v, %v, %q", session, err, w.Header())
	}
	// GHSA-8fpg-xm3f-6cx3: the answer to a mistake in the configuration was taken for a session.
	mistake := errors.New("no settings for this tenant")
	for name, configure := range map[string]func(*http.Request) (core.Config, error){
		"an error":  func(*http.Request) (core.Config, error) { return core.Config{Logger: new(journal).logger()}, mistake },
		"no secret": func(*http.Request) (core.Config, error) { return inTest(core.Config{Secret: []string{}}), nil },
		"no trust":  func(*http.Request) (core.Config, error) { return inTest(core.Config{TrustHost: core.Off}), nil },
		"no way in": func(*http.Request) (core.Config, error) {
			return inTest(core.Config{Providers: []core.Provider{}}), nil
		},
		"no adapter": func(*http.Request) (core.Config, error) {
			return inTest(core.Config{Session: core.SessionOptions{Strategy: core.StrategyDatabase}}), nil
		},
		"no methods": func(*http.Request) (core.Config, error) { return inTest(core.Config{Adapter: &core.Adapter{}}), nil },
	} {
		auth := hook.PerRequest(configure)
		b := newBrowser(auth.Handle(ask))
		b.set(&http.Cookie{Name: sessionCookie, Value: "ada"})
		if b.get("/"); session != nil || err == nil {
			t.Errorf("%s: %v, %v", name, session, err)
		}
		if w := b.get("/auth/session"); w.Code != http.StatusInternalServerError {
			t.Errorf("%s: the session route: %d %s", name, w.Code, w.Body)
		}
		protect, protectErr := auth.Protect("/")
		if protectErr != nil {
			t.Fatal(protectErr)
		}
		for _, h := range []http.Handler{protect(http.HandlerFunc(greet)), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, ok := auth.Require(w, r); ok {
				greet(w, r)
			}
		})} {
			if w := newBrowser(auth.Handle(h)).get("/x"); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "tenant") {
				t.Errorf("%s: protected: %d %s", name, w.Code, w.Body)
			}
		}
	}
}

// A configuration is made for the requests that need it, once each.
func TestPerRequest(t *testing.T) {
	t.Parallel()
	made := 0
	auth := hook.PerRequest(func(r *http.Request) (core.Config, error) {
		made++
		return inTest(core.Config{Secret: []string{"the secret of " + r.Host + ", long enough for anybody"}}), nil
	})
	protect, err := auth.Protect("/members")
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(auth.Handle(protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/static" {
			greet(w, r)
		}
	}))))
	for _, c := range []struct {
		path string
		want int
	}{{"/static", 0}, {"/auth/session", 1}, {"/page", 1}, {"/members", 1}, {"/blog/session", 1}, {"/auth/unknown", 1}} {
		made = 0
		if b.get(c.path); made != c.want {
			t.Errorf("%s: %d configurations, want %d", c.path, made, c.want)
		}
	}
	b.signIn(t, "Ada")
	if w := b.get("/page"); w.Body.String() != "Ada" {
		t.Errorf("signed in: %s", w.Body)
	}
	r := b.request("GET", "/page", "")
	r.Host = "other.example"
	if w := b.do(r); w.Body.String() != "nobody" {
		t.Errorf("one tenant's session at another: %s", w.Body)
	}
}

// Each request has its own visitor, however many there are at once.
func TestVisitorsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHook(t, core.Config{}).Handle(http.HandlerFunc(greet))
	var all sync.WaitGroup
	for _, name := range []string{"Ada", "Grace", "Edsger", ""} {
		b := newBrowser(h)
		want := "nobody"
		if name != "" {
			b.signIn(t, name)
			want = name
		}
		all.Go(func() {
			for range 200 {
				if got := b.get("/").Body.String(); got != want {
					t.Errorf("%s sees %s", want, got)
					return
				}
			}
		})
	}
	all.Wait()
}

// An informational response is not the header yet.
func TestAuthAfterEarlyHints(t *testing.T) {
	t.Parallel()
	b, _ := page(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		greet(w, r)
	})
	server := httptest.NewServer(b.handler)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: sessionCookie, Value: "ada"})
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if len(resp.Cookies()) != 1 {
		t.Errorf("cookies %v", resp.Cookies())
	}
}

// Handle twice in a chain is Handle once.
func TestHandleTwice(t *testing.T) {
	t.Parallel()
	config, reads := database(t)
	auth := newHook(t, config)
	header := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if session, err := hook.Auth(r); err != nil || session == nil {
				t.Errorf("%v, %v", session, err)
			}
			next.ServeHTTP(w, r)
		})
	}
	b := newBrowser(auth.Handle(header(auth.Handle(http.HandlerFunc(greet)))))
	b.set(&http.Cookie{Name: sessionCookie, Value: "ada"})
	if w := b.get("/"); w.Body.String() != "Ada" || *reads != 1 || len(w.Result().Cookies()) != 1 {
		t.Errorf("%s, %d reads, cookies %v", w.Body, *reads, w.Result().Cookies())
	}
}

// What a handler's response can do, it can do behind Handle.
func TestResponseMethods(t *testing.T) {
	t.Parallel()
	auth := newHook(t, core.Config{})
	server := httptest.NewServer(auth.Handle(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, stream, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = stream.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nhijacked")
		_ = stream.Flush()
	})))
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "hijacked" {
		t.Errorf("%q, %v", body, err)
	}
	newBrowser(auth.Handle(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, _, err := w.(http.Hijacker).Hijack(); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("on what can't be hijacked: %v", err)
		}
		if _, ok := w.(interface{ Unwrap() http.ResponseWriter }).Unwrap().(*httptest.ResponseRecorder); !ok {
			t.Error("Unwrap gives something else")
		}
	}))).get("/")
}
