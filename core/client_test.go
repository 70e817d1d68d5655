package core_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	clientfiles "github.com/edgeauth/edgeauth/core/client" // the examples have a client of their own
)

// The browser's module and its declarations are served under each base path, the same to
// everybody.
func TestClientFiles(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}, BasePathAliases: []string{"/api/auth"}})
	for _, c := range []struct{ target, mime, body string }{
		{"/auth/client.mjs", "text/javascript; charset=utf-8", clientfiles.Module()},
		{"/api/auth/client.mjs", "text/javascript; charset=utf-8", clientfiles.Module()},
		{"/auth/client.mjs?v=2", "text/javascript; charset=utf-8", clientfiles.Module()},
		{"/auth/client.d.ts", "text/plain; charset=utf-8", clientfiles.Types()},
		// What would break any other route.
		{"/auth/client.mjs?callbackUrl=javascript:x", "text/javascript; charset=utf-8", clientfiles.Module()},
	} {
		b := newBrowser(t, auth)
		a := b.get(c.target)
		if a.status != http.StatusOK || a.body != c.body || a.body == "" {
			t.Errorf("%s: %d %.60q", c.target, a.status, a.body)
		}
		for name, want := range map[string]string{
			"Content-Type":           c.mime,
			"X-Content-Type-Options": "nosniff",
			"Cache-Control":          "public, max-age=3600, stale-while-revalidate=86400",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s: %q, want %q", c.target, name, got, want)
			}
		}
		if a.setsCookie("") {
			t.Errorf("%s may be cached by anybody, and sets cookies: %v", c.target, a.header)
		}
	}
}

// A cache that has the module is told so (RFC 9110, section 13.1.2).
func TestClientFilesNotModified(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	b := newBrowser(t, auth)
	tag, other := b.get("/auth/client.mjs").header.Get("ETag"), b.get("/auth/client.d.ts").header.Get("ETag")
	if !strings.HasPrefix(tag, `"`) || tag == other {
		t.Fatalf("the tags are %s and %s", tag, other)
	}
	for _, c := range []struct {
		lines []string
		want  int
	}{
		{[]string{tag}, 304}, {[]string{"W/" + tag}, 304}, {[]string{`"x", ` + tag}, 304}, {[]string{`"x"`, "W/" + tag}, 304}, {[]string{"*"}, 304},
		{[]string{other}, 200}, {[]string{`"x"`}, 200}, {[]string{""}, 200}, {[]string{strings.Trim(tag, `"`)}, 200},
	} {
		a := b.send(http.MethodGet, "/auth/client.mjs", http.Header{"If-None-Match": c.lines}, "")
		if a.status != c.want || a.header.Get("ETag") != tag || a.header.Get("Cache-Control") == "" {
			t.Errorf("If-None-Match %q: %d %v, want %d", c.lines, a.status, a.header, c.want)
		}
		if a.status == http.StatusNotModified && a.body != "" {
			t.Errorf("If-None-Match %q: a 304 with a body", c.lines)
		}
	}
}

// The files are actions, so that an app's router sends them here, but they only answer GET.
func TestClientFilesAreRoutes(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	for _, name := range []string{"client.mjs", "client.d.ts"} {
		if !core.IsAction(name) {
			t.Errorf("%s is no action", name)
		}
		for _, c := range []struct{ method, target string }{
			{"POST", "/auth/" + name}, {"HEAD", "/auth/" + name}, {"GET", "/auth/" + name + "/x"}, {"GET", "/auth/" + strings.ToUpper(name)}, {"GET", "/" + name},
		} {
			a := newBrowser(t, auth).send(c.method, c.target, nil, "")
			if a.status != http.StatusBadRequest || a.body != badRequest || a.setsCookie("") {
				t.Errorf("%s %s: %d %s", c.method, c.target, a.status, a.body)
			}
		}
	}
}
