package core_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

const badRequest = `"Bad request."`

// Facts 1 to 11.
func TestRoutes(t *testing.T) {
	t.Parallel()
	p := newIDP()
	auth := p.auth(t, p.oidc(), anyone)
	const (
		bad   = "400"
		wrong = "302 " + site + "/auth/error?error=Configuration"
	)
	for _, c := range []struct {
		method, target string
		want           string // status, and where a redirect leads
	}{
		{"GET", "/auth/session", "200"},
		{"GET", "/auth/csrf", "200"},
		{"GET", "/auth/providers", "200"},
		{"GET", "/auth/signin", "200"},
		{"GET", "/auth/signout", "200"},
		{"GET", "/auth/verify-request", "200"},
		{"GET", "/auth/error", "200"},

		// Methods come before everything else.
		{"HEAD", "/auth/session", bad}, {"PUT", "/auth/session", bad}, {"DELETE", "/auth/session", bad}, {"OPTIONS", "/auth/session", bad},
		{"PATCH", "/auth/session", bad}, {"TRACE", "/auth/session", bad}, {"get", "/auth/session", bad}, {"HEAD", "/nowhere", bad},

		{"GET", "/auth", bad}, {"GET", "/auth/", bad}, {"GET", "/", bad}, {"GET", "/auth/nothing", bad}, {"POST", "/auth/nothing", bad},
		{"GET", "/other/session", bad}, {"GET", "/AUTH/session", bad}, {"GET", "/x/auth/session", bad},
		{"GET", "/auth/session/x", bad}, {"GET", "/auth/csrf/x", bad}, {"GET", "/auth/error/x", bad}, {"GET", "/auth/signout/idp", bad},
		{"GET", "/auth/signin/idp/x", bad}, {"GET", "/auth/callback/idp/x", bad},

		// Slashes.
		{"GET", "/authsession", "200"}, {"GET", "/auth//session", "200"}, {"GET", "/auth/session/", "200"}, {"GET", "/auth///session//", "200"},

		// Case, escapes, dots.
		{"GET", "/auth/SESSION", bad}, {"GET", "/auth/%73ession", bad}, {"GET", "/auth%2fsession", bad}, {"GET", "/%61uth/session", bad},
		{"GET", "/auth/x/../session", "200"}, {"GET", "/auth/./session", "200"}, {"GET", "/x/../auth/session", "200"},
		{"GET", "/auth/%2e%2e/auth/session", "200"}, {"GET", "/auth/../session", bad}, {"GET", "/auth/session;x=1", bad},

		// Providers.
		{"GET", "/auth/signin/undefined", "200"},
		{"GET", "/auth/signin/idp", wrong}, {"GET", "/auth/signin/credentials", wrong},
		{"GET", "/auth/signin/nope", wrong}, {"POST", "/auth/signin/nope", wrong}, {"GET", "/auth/signin/IDP", wrong},
		{"GET", "/auth/signin/__proto__", wrong}, {"GET", "/auth/signin/constructor", wrong}, {"POST", "/auth/callback/nope", wrong},
		{"GET", "/auth/callback", wrong}, {"POST", "/auth/callback", wrong}, {"GET", "/auth/callback/credentials", wrong},
		{"GET", "/auth/callback/idp", wrong},
		{"GET", "/auth/webauthn-options", wrong}, {"GET", "/auth/webauthn-options/idp", wrong},

		// Actions that are no POST.
		{"POST", "/auth/csrf", wrong}, {"POST", "/auth/providers", wrong}, {"POST", "/auth/error", wrong},
		{"POST", "/auth/verify-request", wrong}, {"POST", "/auth/webauthn-options", wrong},
	} {
		b := newBrowser(t, auth)
		a := b.send(c.method, c.target, nil, "")
		if got := strings.TrimSpace(strconv.Itoa(a.status) + " " + a.location()); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.target, got, c.want)
		}
		if c.want == bad && (a.body != badRequest || a.setsCookie("") || a.header.Get("Allow") != "") {
			t.Errorf("%s %s: %q %v", c.method, c.target, a.body, a.header)
		}
		if c.want == wrong && a.setsCookie("") {
			t.Errorf("%s %s sets cookies", c.method, c.target)
		}
	}
	b := newBrowser(t, auth)
	b.post("/auth/signin/undefined").wantRedirect(t, site+"/auth/signin")
	b.post("/auth/signin").wantRedirect(t, site+"/auth/signin")
	b.post("/auth/signin/credentials").wantRedirect(t, site+"/auth/signin")
}

// Facts 12 to 16: what counts as a body, and what its fields are.
func TestBodies(t *testing.T) {
	t.Parallel()
	const (
		signedIn = "Ada"
		nobody   = "nobody" // the fields were read, and had no name
		refused  = "refused"
	)
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}, SkipCSRFCheck: true})
	checked := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	for _, c := range []struct{ contentType, body, want string }{
		{"application/json", `{"name":"Ada"}`, signedIn},
		{"application/json; charset=utf-8", `{"name":"Ada"}`, signedIn},
		{"text/plain, application/json", `{"name":"Ada"}`, signedIn},
		{"application/json, application/x-www-form-urlencoded", `{"name":"Ada"}`, signedIn},
		{"application/json, application/x-www-form-urlencoded", `name=Ada`, refused},
		{"application/json", "\ufeff" + `{"name":"Ada"}`, signedIn},
		{"application/json", `{"name":"Bob","name":"Ada"}`, signedIn},
		{"application/json", `{"name":"Ada",}`, refused},
		{"application/json", `{"name":"Ada"} // no`, refused},
		{"application/json", `{"name":"Ada"}{}`, refused},
		{"application/json", `{"name":`, refused},
		{"application/json", `null`, nobody},
		{"application/json", `["name"]`, nobody},
		{"application/json", `7`, nobody},
		{"application/json", `"name"`, nobody},
		{"application/json", `{"name":["Ada"]}`, nobody},
		{"application/json", strings.Repeat("[", 100_000), refused},
		{"application/x-www-form-urlencoded", "name=Ada", signedIn},
		{"application/x-www-form-urlencoded; charset=utf-8", "name=%41%64%61", signedIn},
		{"application/x-www-form-urlencoded", "?name=Ada", signedIn},
		{"application/x-www-form-urlencoded", "name=Bob&name=Ada", signedIn},
		{"application/x-www-form-urlencoded", "name;name=Ada", nobody},
		{"application/x-www-form-urlencoded", "&&name=Ada&&=&%", signedIn},
		{"Application/JSON", `{"name":"Ada"}`, nobody},
		{"text/plain", `{"name":"Ada"}`, nobody},
		{"multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAda\r\n--x--\r\n", nobody},
		{"", "name=Ada", nobody},
	} {
		header := http.Header{"Content-Type": {c.contentType}}
		b := newBrowser(t, auth)
		a := b.send(http.MethodPost, "/auth/callback/credentials", header, c.body)
		var got string
		switch {
		case a.status == http.StatusBadRequest && a.body == badRequest:
			got = refused
		case a.status == http.StatusFound && b.hasSession():
			got = b.user()
		case a.location() == site+"/auth/signin?error=CredentialsSignin&code=credentials":
			got = nobody
		}
		if got != c.want {
			t.Errorf("%s %.40q: %s (%d %q), want %s", c.contentType, c.body, got, a.status, a.location(), c.want)
		}
		// Malformed JSON is found out before the CSRF token is missed, on every route.
		a = newBrowser(t, checked).send(http.MethodPost, "/auth/session", header, c.body)
		if want := map[bool]string{true: badRequest, false: "null"}[c.want == refused]; a.status != http.StatusBadRequest || a.body != want {
			t.Errorf("POST session %s %.40q: %d %s", c.contentType, c.body, a.status, a.body)
		}
	}
}

// A GET's body is not read, and an oversized one is refused without being kept: E-4.
func TestBodyLimit(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	fits := `{"x":"` + strings.Repeat("x", core.MaxBodyBytes-8) + `"}`
	for _, c := range []struct {
		name   string
		method string
		body   io.Reader
		status int
	}{
		{"just fits", http.MethodPost, strings.NewReader(fits), http.StatusBadRequest}, // for want of a CSRF token
		{"a byte too much", http.MethodPost, strings.NewReader(fits + " "), http.StatusRequestEntityTooLarge},
		{"endless", http.MethodPost, endless{}, http.StatusRequestEntityTooLarge},
		{"limited by a middleware", http.MethodPost, http.MaxBytesReader(nil, io.NopCloser(strings.NewReader(fits)), 1000), http.StatusRequestEntityTooLarge},
		{"cut off", http.MethodPost, io.MultiReader(strings.NewReader("{"), broken{}), http.StatusBadRequest},
		{"endless, of a GET", http.MethodGet, endless{}, http.StatusOK},
	} {
		r := httptest.NewRequest(c.method, site+"/auth/session", c.body)
		r.Header.Set("Content-Type", "application/json")
		resp := auth.Handle(r)
		if resp.Status != c.status {
			t.Errorf("%s: %d %s, want %d", c.name, resp.Status, resp.Body, c.status)
		}
		if c.status == http.StatusRequestEntityTooLarge && (resp.Err.Kind != core.ErrRequestTooLarge || !bytes.HasPrefix(resp.Body, []byte(`"`))) {
			t.Errorf("%s: %v %s", c.name, resp.Err, resp.Body)
		}
	}
}

// As many parameters as a form has room for cost fifty times what it is long: E-4.
func TestFieldLimit(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	for n, want := range map[int][2]int{
		10_000: {http.StatusOK, http.StatusBadRequest}, // the form for want of a CSRF token
		10_001: {http.StatusBadRequest, http.StatusRequestEntityTooLarge},
	} {
		many := strings.Repeat("a&", n-1) + "a"
		form := httptest.NewRequest(http.MethodPost, site+"/auth/session", strings.NewReader(many))
		form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		query := auth.Handle(httptest.NewRequest(http.MethodGet, site+"/auth/session?"+many, nil))
		if got := [2]int{query.Status, auth.Handle(form).Status}; got != want {
			t.Errorf("%d parameters: %d, want %d", n, got, want)
		}
	}
}

// Where the site is, and so every URL and the names of the cookies, is said by AUTH_URL, or
// by headers that are trusted.
func TestOrigin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, authURL, host string
		header              http.Header
		want                string
	}{
		{"the host", "", "app.example", nil, "http://app.example"},
		{"the host with a port", "", "app.example:8080", nil, "http://app.example:8080"},
		{"forwarded", "", "10.0.0.1", http.Header{"X-Forwarded-Host": {"app.example"}, "X-Forwarded-Proto": {"https"}}, "https://app.example"},
		{"forwarded with the default port", "", "10.0.0.1", http.Header{"X-Forwarded-Host": {"app.example:443"}, "X-Forwarded-Proto": {"https"}}, "https://app.example"},
		{"headers nobody asked for", "", "app.example", http.Header{"Forwarded": {"host=evil.example"}, "X-Original-Host": {"evil.example"}, "X_Forwarded_Host": {"evil.example"}}, "http://app.example"},
		{"AUTH_URL", "https://site.example", "evil.example", http.Header{"X-Forwarded-Host": {"evil.example"}, "X-Forwarded-Proto": {"http"}}, "https://site.example"},
	} {
		auth := newAuth(t, core.Config{
			Providers: []core.Provider{anyone}, Getenv: environment(map[string]string{"AUTH_URL": c.authURL}), BasePath: "/auth",
		})
		r := httptest.NewRequest(http.MethodGet, "/auth/providers", nil)
		r.Host = c.host
		for name, values := range c.header {
			r.Header[name] = values
		}
		resp := auth.Handle(r)
		if !bytes.Contains(resp.Body, []byte(`"`+c.want+`/auth/callback/credentials"`)) {
			t.Errorf("%s: %s, want %s", c.name, resp.Body, c.want)
		}
		secure := strings.HasPrefix(c.want, "https:")
		r.URL.Path = "/auth/csrf"
		if line := auth.Handle(r).Header.Get("Set-Cookie"); strings.HasPrefix(line, "__Host-") != secure {
			t.Errorf("%s: %s", c.name, line)
		}
	}
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	for _, host := range []string{"", "a b", "a\x00b", "%zz", "app.example:99999", "[::1", "<script>"} {
		r := httptest.NewRequest(http.MethodGet, "/auth/session", nil)
		r.Host = host
		if resp := auth.Handle(r); resp.Status != http.StatusBadRequest {
			t.Errorf("host %q: %d", host, resp.Status)
		}
	}
}
