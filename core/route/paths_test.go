package route_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/route"
	"github.com/go-chi/chi/v5"
)

func paths(t testing.TB, patterns ...string) route.Paths {
	t.Helper()
	out, err := route.NewPaths(patterns...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// target is a request as a server would have it after reading this request line.
func target(t testing.TB, path string) *http.Request {
	t.Helper()
	u, err := url.ParseRequestURI(path)
	if err != nil {
		t.Skipf("no server would take %q: %v", path, err)
	}
	return &http.Request{Method: http.MethodGet, URL: u, Host: "app.example", RequestURI: path}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern     string
		match, pass []string
	}{
		{"/admin", []string{
			"/admin", "/admin/", "/admin/users", "/admin?x", "//admin", "///admin//", "/./admin", "/admin/.", "/x/../admin", "/x/y/../../admin",
			"/../admin", "/admin/../public", "/admin/x/../../public", "/%61dmin", "/%2fadmin", "/%2e/admin", "/x/%2e%2e/admin", "/x%2f..%2fadmin",
			"/x/..%2fadmin", "/ADMIN", "/Admin/users", "/%41DMIN", "/admin;x=y", "/admin;/users", "/;x/admin", `/\admin`, `/x\..\admin`, "/%5cadmin",
			"/%2561dmin", "/%252fadmin", "/%252e%252e/admin", "/%25252fadmin", "/admin%2f", "/admin%2fusers", "/admin%5cusers", "/admin%3bx",
			"/%2525252525252561dmin", "http://evil.example/admin", "/%2E%2E/%2E%2E/admin", "/admin%2f..", "/.%2e/admin",
		}, []string{
			"/", "/administrator", "/adminx/", "/public/admin", "/admi", "/x", "/%2561dministrator", "/adm%2fin", "/100%25", "/a%2525b", "/?/admin", "/admin%00", "/x?y=/admin",
		}},
		{"/admin/{$}", []string{"/admin", "/admin/", "//admin", "/admin/.", "/admin/x/..", "/ADMIN", "/%61dmin", "/admin;x"}, []string{"/admin/users", "/", "/admin/../public", "/x"}},
		{"/", []string{"/", "/x", "//", "/x/y"}, nil},
		{"/{$}", []string{"/", "//", "/.", "/x/..", "/%2f", "/;x", "/.."}, []string{"/x", "/x/y", "/%78"}},
		{"/files/secret/", []string{"/files/secret", "/files/secret/x", "/files/./secret", "/files//secret", "/files/x/../secret"}, []string{"/files", "/files/secrets", "/secret"}},
		{"/a b/é", []string{"/a%20b/%c3%a9", "/A%20B/%C3%89"}, []string{"/a+b/%c3%a9", "/ab/e"}},
	} {
		p := paths(t, c.pattern)
		for _, path := range c.match {
			if !p.Match(target(t, path)) {
				t.Errorf("%s: %s gets around it", c.pattern, path)
			}
		}
		for _, path := range c.pass {
			if p.Match(target(t, path)) {
				t.Errorf("%s: %s is taken for it", c.pattern, path)
			}
		}
	}
}

// Some routers go by RawPath. Where a rewrite has changed Path alone, both are looked at.
func TestPathsOfRewrittenRequests(t *testing.T) {
	t.Parallel()
	p := paths(t, "/admin", "!/admin/open")
	for _, u := range []url.URL{
		{Path: "/admin", RawPath: "/x"}, {Path: "/x", RawPath: "/admin"}, {Path: "/x", RawPath: "/%61dmin"}, {Path: "/admin/open", RawPath: "/admin/x"},
	} {
		if !p.Match(&http.Request{URL: &u}) {
			t.Errorf("%+v gets around it", u)
		}
	}
}

// An exception holds for its own spelling only: whatever could be read in two ways is protected.
func TestExceptions(t *testing.T) {
	t.Parallel()
	p := paths(t, "/", "!/assets", "!/{$}", "!/admin/login/{$}")
	for _, path := range []string{"/", "/assets", "/assets/", "/assets/app.css", "/assets/deep/app.css?v=1", "/admin/login", "/admin/login/"} {
		if p.Match(target(t, path)) {
			t.Errorf("%s is protected", path)
		}
	}
	for _, path := range []string{
		"/admin", "/ASSETS", "/assetsx", "/assets/../admin", "/assets/%2e%2e/admin", "/assets/..%2fadmin", "/assets/..;/admin", "/assets//x", "//", "//assets",
		"/assets/x;y", `/assets\..\admin`, "/assets/%5c..%5cadmin", "/assets/%252e%252e/admin", "/%61ssets/%2e%2e/admin", "/%61ssets/app.css", "/admin/login/x", "/admin/./login", "/.", "/x",
	} {
		if !p.Match(target(t, path)) {
			t.Errorf("%s gets in by an exception", path)
		}
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		"", "admin", "!admin", "/admin/*", "/admin/{id}", "/{id}/x", "/admin/{$}/x", "/a//b", "//a", "/./a", "/a/..", "/%61dmin", `/a\b`, "/a;b", "/a?b", "/a#b",
		"/a\nb", "/a\x00", "{$}", "https://app.example/admin", "/a/{$}/", "!",
	} {
		if _, err := route.NewPaths(pattern, "/ok"); !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	if _, err := route.NewPaths(); !errors.Is(err, core.ErrInvalidConfig) {
		t.Errorf("no patterns: %v", err)
	}
	if (route.Paths{}).Match(target(t, "/x")) {
		t.Error("the zero value protects something")
	}
}

// A path that was made to take long takes no longer than another.
func TestLongPaths(t *testing.T) {
	t.Parallel()
	p := paths(t, "/admin", "/x/y")
	for name, path := range map[string]string{
		"escapes of escapes": "/%" + strings.Repeat("25", 1<<17) + "61", "segments": strings.Repeat("/a", 1<<17), "dots": strings.Repeat("/..", 1<<17), "slashes": strings.Repeat("/", 1<<18),
	} {
		start := time.Now()
		p.Match(target(t, path))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: %s", name, took)
		}
	}
}

// FuzzPaths holds the middleware against routers as they are: no request reaches the protected
// handler without a match, whether the router cleans paths (ServeMux), doesn't (chi), or
// is a file server behind http.StripPrefix.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{
		"/admin", "//admin", "/./admin/x", "/x/../admin", "/%61dmin", "/admin%2f", "/x%2f..%2fadmin", "/admin;x", `/\admin`, "/ADMIN", "/admin/../x", "/%2e%2e/admin", "/a%zz",
		"/admin/%2e%2e/x", "http://h/admin", "/.//admin", "/admin?/../x", "*",
	} {
		f.Add(seed)
	}
	p := paths(f, "/admin")
	reached := false
	page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true })
	mux := http.NewServeMux()
	mux.Handle("/admin/", page)
	mux.Handle("/admin", page)
	router := chi.NewRouter()
	router.Handle("/admin", page)
	router.Handle("/admin/*", page)
	prefixed := http.StripPrefix("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if first, _, _ := strings.Cut(r.URL.Path, "/"); strings.EqualFold(first, "admin") {
			page(w, r)
		}
	}))
	f.Fuzz(func(t *testing.T, path string) {
		for name, h := range map[string]http.Handler{"ServeMux": mux, "chi": router, "StripPrefix": prefixed} {
			reached = false
			h.ServeHTTP(httptest.NewRecorder(), target(t, path))
			if reached && !p.Match(target(t, path)) {
				t.Errorf("%s: %q gets around the middleware", name, path)
			}
		}
	})
}
