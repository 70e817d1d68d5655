package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/hook"
)

// Rule 1: the root layout's loader returns what auth() says under the key session, and every
// page reads it from the page's data.
func TestIntegrationB_Rule1_SessionInPageData(t *testing.T) {
	t.Parallel()
	auth := newHook(t, core.Config{})
	load := func(r *http.Request) (map[string]any, error) {
		session, err := hook.Auth(r)
		return map[string]any{"session": session}, err
	}
	b := newBrowser(auth.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := load(r)
		if err != nil {
			t.Error(err)
		}
		if err := json.NewEncoder(w).Encode(data); err != nil {
			t.Error(err)
		}
	})))
	if body := b.get("/any/page").Body.String(); body != "{\"session\":null}\n" {
		t.Errorf("signed out: %s", body)
	}
	b.signIn(t, "Ada")
	w := b.get("/any/page")
	var data struct {
		Session struct {
			User    struct{ Name string }
			Expires string
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &data); err != nil || data.Session.User.Name != "Ada" || data.Session.Expires == "" {
		t.Errorf("signed in: %s, %v", w.Body, err)
	}
	if route := b.get("/auth/session").Body.String(); !strings.Contains(route, `"name":"Ada"`) {
		t.Errorf("the session route says %s", route)
	}
}

// Rule 2: one page is protected in its loader: without a session, or without a user in it, 303
// to the sign-in page.
func TestIntegrationB_Rule2_OnePage(t *testing.T) {
	t.Parallel()
	var session func(*core.Session) *core.Session
	callbacks := core.Callbacks{Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) { return session(p.Session), nil }}
	for _, c := range []struct {
		config core.Config
		base   string
		path   string
		want   string
	}{
		{core.Config{}, "/auth", "/members?tab=2", "/auth/signin?callbackUrl=%2Fmembers%3Ftab%3D2"},
		{core.Config{BasePath: "/api/auth/"}, "/api/auth", "/members", "/api/auth/signin?callbackUrl=%2Fmembers"},
		{core.Config{Pages: core.Pages{SignIn: "/login"}}, "/auth", "/members", "/login?callbackUrl=%2Fmembers"},
		{core.Config{Pages: core.Pages{SignIn: "/login?theme=dark"}}, "/auth", "/members", "/login?theme=dark&callbackUrl=%2Fmembers"},
		{core.Config{}, "/auth", "//evil.example/x", "/auth/signin?callbackUrl=%2Fevil.example%2Fx"},
		{core.Config{}, "/auth", "/a%2Fb%20c", "/auth/signin?callbackUrl=%2Fa%252Fb%2520c"},
	} {
		c.config.Callbacks = callbacks
		auth := newHook(t, c.config)
		b := newBrowser(auth.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if session, ok := auth.Require(w, r); ok {
				fmt.Fprint(w, "page of ", session.User.Name)
			}
		})))
		denied := func(name string) {
			t.Helper()
			w := b.get(c.path)
			if w.Code != http.StatusSeeOther || w.Header().Get("Location") != c.want || w.Body.Len() > 0 {
				t.Errorf("%s, %s: %d %q", c.path, name, w.Code, w.Header().Get("Location"))
			}
		}
		denied("no session")
		if b.post(c.base+"/callback/credentials", "name", "Ada"); b.cookie(sessionCookie) == "" {
			t.Fatalf("%s: not signed in", c.path)
		}
		session = func(*core.Session) *core.Session { return &core.Session{} }
		denied("a session without a user")
		session = func(s *core.Session) *core.Session { return s }
		if w := b.get(c.path); w.Code != http.StatusOK || w.Body.String() != "page of Ada" {
			t.Errorf("%s, signed in: %d %s", c.path, w.Code, w.Body)
		}
	}
}

// Rule 3: a hook that runs after the auth hook redirects, 303, from paths with a protected
// prefix to the sign-in page, when there is no session.
func TestIntegrationB_Rule3_PathPrefix(t *testing.T) {
	t.Parallel()
	auth := newHook(t, core.Config{})
	protect, err := auth.Protect("/authenticated")
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(auth.Handle(protect(http.HandlerFunc(greet))))
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/authenticated", "/auth/signin?callbackUrl=%2Fauthenticated"},
		{"GET", "/authenticated/page?x=y", "/auth/signin?callbackUrl=%2Fauthenticated%2Fpage%3Fx%3Dy"},
		{"HEAD", "/authenticated/page", "/auth/signin?callbackUrl=%2Fauthenticated%2Fpage"},
		{"POST", "/authenticated/form", "/auth/signin"}, // a form can't be sent again after signing in
		{"DELETE", "/authenticated/api", "/auth/signin"},
		{"GET", "//authenticated", "/auth/signin?callbackUrl=%2Fauthenticated"},
		{"GET", "/x/..%2fAuthenticated", "/auth/signin?callbackUrl=%2Fx%2F..%252fAuthenticated"},
	} {
		w := b.do(b.request(c.method, c.path, ""))
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != c.want || !strings.Contains(w.Header().Get("Cache-Control"), "no-store") {
			t.Errorf("%s %s: %d %q", c.method, c.path, w.Code, w.Header())
		}
	}
	for _, path := range []string{"/", "/authenticatedelse", "/other/authenticated"} {
		if w := b.get(path); w.Body.String() != "nobody" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	b.signIn(t, "Ada")
	if w := b.get("/authenticated/page"); w.Body.String() != "Ada" || len(w.Result().Cookies()) != 1 {
		t.Errorf("signed in: %d %s, cookies %v", w.Code, w.Body, w.Result().Cookies())
	}
}

// Rule 4: a layout is no place for authorization, since a page may be reached without it. What
// protects here is called by the page, or stands before all of them, and both read the one
// session that the layout shows.
func TestIntegrationB_Rule4_NotInLayouts(t *testing.T) {
	t.Parallel()
	config, reads := database(t)
	auth := newHook(t, config)
	protect, err := auth.Protect("/files")
	if err != nil {
		t.Fatal(err)
	}
	layout := func(page http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			session, err := hook.Auth(r)
			if err != nil || session == nil {
				fmt.Fprint(w, "<header>")
			} else {
				fmt.Fprintf(w, "<header>%s", session.User.Name)
			}
			page(w, r)
		}
	}
	account := func(w http.ResponseWriter, r *http.Request) {
		if session, ok := auth.Require(w, r); ok {
			fmt.Fprint(w, " account of ", session.User.Name)
		}
	}
	file := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, " a file") }
	mux := http.NewServeMux()
	mux.HandleFunc("/account", layout(account))
	mux.HandleFunc("/account/data", account) // the page's data, asked for without the layout
	mux.HandleFunc("/files/a", layout(file))
	mux.HandleFunc("/files/a/data", file)
	h := auth.Handle(protect(mux))
	for path, want := range map[string]string{"/account": "<header>Ada account of Ada", "/account/data": " account of Ada", "/files/a": "<header>Ada a file", "/files/a/data": " a file"} {
		if w := newBrowser(h).get(path); strings.Contains(w.Body.String(), " a") {
			t.Errorf("%s, signed out: %s", path, w.Body)
		}
		b := newBrowser(h)
		b.set(&http.Cookie{Name: sessionCookie, Value: "ada"})
		*reads = 0
		if w := b.get(path); w.Body.String() != want || *reads != 1 {
			t.Errorf("%s: %s after %d reads", path, w.Body, *reads)
		}
	}
}

// Rule 5: with prerendering, a plain link to the sign-in page fails to build; pages with the
// components build. A crawler makes an app into files, where there is no secret.
func TestIntegrationB_Rule5_Prerendering(t *testing.T) {
	t.Parallel()
	configured := 0
	auth := hook.PerRequest(func(*http.Request) (core.Config, error) {
		configured++
		return core.Config{Logger: new(journal).logger()}, errors.New("there is no platform while building")
	})
	build := func(front string) map[string]int {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /signin", auth.SignInAction)
		mux.HandleFunc("POST /signout", auth.SignOutAction)
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, front, `<a href="/about">About</a>`) })
		mux.HandleFunc("GET /about", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `<a href="/">Home</a>`) })
		return crawl(auth.Handle(mux))
	}
	front := hook.SignInForm{}.HTML() + hook.SignInForm{Provider: "github", RedirectTo: "/about"}.HTML() + hook.SignOutForm{}.HTML()
	if pages := build(string(front)); len(pages) != 2 || pages["/"] != http.StatusOK || pages["/about"] != http.StatusOK || configured != 0 {
		t.Errorf("with the components: %v, %d configurations", pages, configured)
	}
	if pages := build(`<a href="/auth/signin">Sign in</a>`); pages["/auth/signin"] == http.StatusOK || pages["/auth/signin"] == 0 {
		t.Errorf("with a plain link: %v", pages)
	}
}

// crawl gets a site's front page and all that it has links to, and gives the statuses by path.
func crawl(h http.Handler) map[string]int {
	links := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	pages := map[string]int{}
	for queue := []string{"/"}; len(queue) > 0; queue = queue[1:] {
		if _, known := pages[queue[0]]; known {
			continue
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, site+queue[0], nil))
		pages[queue[0]] = w.Code
		for _, link := range links.FindAllStringSubmatch(w.Body.String(), -1) {
			queue = append(queue, link[1])
		}
	}
	return pages
}

// Rule 6: the host is trusted where AUTH_TRUST_HOST is true or TrustHost is on, on platforms
// that are known to set it safely, and nowhere else.
func TestIntegrationB_Rule6_TrustHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, variable, value string
		toggle                core.Toggle
		ok                    bool
	}{
		{"nothing", "", "", core.Auto, false},
		{"AUTH_TRUST_HOST", "AUTH_TRUST_HOST", "true", core.Auto, true},
		{"AUTH_TRUST_HOST=false", "AUTH_TRUST_HOST", "false", core.Auto, false},
		{"TrustHost", "", "", core.On, true},
		{"TrustHost off", "AUTH_TRUST_HOST", "true", core.Off, false},
		{"AUTH_URL", "AUTH_URL", site, core.Auto, true},
		{"one platform", "VERCEL", "1", core.Auto, true},
		{"another platform", "CF_PAGES", "1", core.Auto, true},
	} {
		config := inTest(core.Config{Getenv: func(name string) string {
			if name == c.variable {
				return c.value
			}
			return ""
		}})
		config.TrustHost = c.toggle
		_, err := hook.New(config)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, core.ErrUntrustedHost) {
			t.Errorf("%s: %v", c.name, err)
		}
		h := hook.PerRequest(func(*http.Request) (core.Config, error) { return config, nil })
		if w := newBrowser(h.Handle(http.HandlerFunc(greet))).get("/"); (w.Code == http.StatusOK) != c.ok {
			t.Errorf("%s, per request: %d %s", c.name, w.Code, w.Body)
		}
	}
}

// The base path of integration B is /auth, whatever AUTH_URL says: there is no "/" of a bare origin.
func TestBasePath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ basePath, authURL, want string }{
		{"", "", "/auth"}, {"", site, "/auth"}, {"", site + "/elsewhere", "/auth"}, {"/api/auth", "", "/api/auth"},
	} {
		auth := newHook(t, core.Config{BasePath: c.basePath, Getenv: func(name string) string {
			if name == "AUTH_URL" {
				return c.authURL
			}
			return ""
		}})
		b := newBrowser(auth.Handle(http.NotFoundHandler()))
		if w := b.get(c.want + "/providers"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), site+c.want+"/callback/hub") {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
		if w := b.get("/session"); w.Code != http.StatusNotFound {
			t.Errorf("%+v: the app's own /session: %d", c, w.Code)
		}
	}
}

// Scripts post to the routes without a CSRF token, and are told from those of other sites by
// what their browser says.
func TestRoutesTakeTheBrowsersWord(t *testing.T) {
	t.Parallel()
	b := newBrowser(newHook(t, core.Config{}).Handle(http.NotFoundHandler()))
	b.signIn(t, "Ada")
	r := b.form("/auth/signout")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	r.Header.Set("Origin", "https://evil.example")
	if b.do(r); b.cookie(sessionCookie) == "" {
		t.Error("another site signs out")
	}
	if b.post("/auth/signout"); b.cookie(sessionCookie) != "" {
		t.Error("the site itself can't sign out")
	}
}
