//go:build !js && !wasip1

package edge_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestReferenceWorkerKeepsSessions signs somebody in at an OpenID provider and looks at what
// the reference worker stores of it, before and after it was started anew.
func TestReferenceWorkerKeepsSessions(t *testing.T) {
	t.Parallel()
	tool(t, "oidc-provider")
	for name, bound := range map[string][]string{
		"an object and a cache": {"AUTH_DO", "AUTH_KV"}, "an object": {"AUTH_DO"}, "D1": {"AUTH_DB"}, "an object comes before D1": {"AUTH_DO", "AUTH_DB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testReferenceWorker(t, bound)
		})
	}
}

func testReferenceWorker(t *testing.T, bound []string) {
	state, idp := t.TempDir(), freeAddr(t)
	run := func() *local {
		return miniflare(t, reference, state, bound, map[string]string{
			"AUTH_SECRET": strings.Repeat("not-a-secret-", 3), "AUTH_TRUST_HOST": "true", "AUTH_SESSION_STRATEGY": "database",
			"AUTH_PROVIDERS": "idp", "AUTH_IDP_ISSUER": "http://" + idp, "AUTH_IDP_ID": "demo", "AUTH_IDP_SECRET": "demo-secret",
		})
	}
	where := "objects"
	if !slices.Contains(bound, "AUTH_DO") {
		where = "d1"
	}
	w := run()
	startNode(t, idp, []string{"REDIRECT_URIS=http://" + w.addr + "/auth/callback/idp"}, "idp.mjs")
	b := newBrowser(t, w.addr)

	b.signIn("alice")
	if got := b.session(); got.User.Email != "alice@example.com" {
		t.Fatalf("signed in as alice, the session is %+v", got)
	}
	cookie := b.cookie("authjs.session-token")
	if strings.Contains(cookie, ".") {
		t.Errorf("the session's cookie is no plain token: %q", cookie)
	}
	want := []string{"account", "address", "session", "user"}
	if got := w.records(where); !slices.Equal(got, want) {
		t.Errorf("the objects have records of %q, want %q", got, want)
	}
	if slices.Contains(bound, "AUTH_KV") {
		if got := w.copies(); !slices.Equal(got, []string{"copy"}) {
			t.Errorf("KV has %q, want the copy of one session", got)
		}
	}

	w.stop()
	w = run()
	b.move(w.addr)
	if got := b.session(); got.User.Email != "alice@example.com" {
		t.Errorf("after a restart the session is %+v", got)
	}
	b.post("/auth/signout", url.Values{})
	if got := b.cookie("authjs.session-token"); got != "" {
		t.Errorf("signed out, the cookie is %q", got)
	}
	for range 2 {
		b.setCookie("authjs.session-token", cookie)
		if got := b.session(); got.User.Email != "" {
			t.Errorf("signed out, the old cookie gives %+v", got)
		}
		if got, want := w.records(where), []string{"account", "address", "user"}; !slices.Equal(got, want) {
			t.Errorf("signed out, the objects have records of %q, want %q", got, want)
		}
		w.stop()
		w = run()
		b.move(w.addr)
	}
}

func TestReferenceWorkerNamesMissingBindings(t *testing.T) {
	t.Parallel()
	w := startWorkerd(t, workerdPath(t), build(t, reference), setup{modules: product(), kv: "kv.mjs", unbound: true, texts: map[string]string{
		"AUTH_SECRET": strings.Repeat("not-a-secret-", 3), "AUTH_TRUST_HOST": "true", "AUTH_SESSION_STRATEGY": "database",
		"AUTH_PROVIDERS": "idp", "AUTH_IDP_ISSUER": "http://127.0.0.1:9", "AUTH_IDP_ID": "demo", "AUTH_IDP_SECRET": "demo-secret",
	}})
	if status, body := w.get("/auth/signin"); status != 500 || strings.Contains(body, "AUTH_") {
		t.Errorf("the page is %d %s", status, body)
	}
	w.logs(`edge: no Durable Object or D1 database is bound as AUTH_DO; add to wrangler.toml: [[durable_objects.bindings]] name = "AUTH_DO"`, 1)
}

// kinds are what comes before the dot in keys, sorted.
func kinds(keys []string) []string {
	for i, key := range keys {
		keys[i], _, _ = strings.Cut(key, ".")
	}
	slices.Sort(keys)
	return keys
}

// records are the kinds of all records in a store.
func (l *local) records(where string) []string {
	l.t.Helper()
	var keys []string
	l.stored(where, &keys)
	return kinds(keys)
}

// copies are the kinds of all records in Workers KV.
func (l *local) copies() []string {
	l.t.Helper()
	var keys []kvKey
	l.stored("kv", &keys)
	var names []string
	for _, key := range keys {
		names = append(names, key.Name)
	}
	return kinds(names)
}

func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// startNode runs a script of the folder worker that listens on addr.
func startNode(t testing.TB, addr string, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command("node", args...)
	cmd.Dir = "worker"
	cmd.Env = append(append(os.Environ(), "ADDR="+addr), env...)
	log := &logBuffer{}
	cmd.Stderr = log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM) // so that it ends what it has started
		cmd.Wait()
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || !strings.HasPrefix(line, "listening on ") {
		t.Fatalf("%s said %q, %v\n%s", args[0], line, err, log)
	}
}

// A browser is somebody's, who signs in.
type browser struct {
	t    testing.TB
	http *http.Client
	site *url.URL
}

func newBrowser(t testing.TB, addr string) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	b := &browser{t: t, http: &http.Client{Jar: jar, Transport: transport}}
	b.move(addr)
	return b
}

// move goes to another address of the site; cookies know no ports.
func (b *browser) move(addr string) { b.site = &url.URL{Scheme: "http", Host: addr} }

func (b *browser) send(method, target string, form url.Values) (at *url.URL, body string) {
	b.t.Helper()
	r, err := http.NewRequest(method, target, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := b.http.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.Request.URL, string(text)
}

// post sends a form of the site, and gives where that ends.
func (b *browser) post(path string, form url.Values) *url.URL {
	b.t.Helper()
	_, body := b.send(http.MethodGet, b.site.String()+"/auth/csrf", nil)
	var csrf struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(body), &csrf); err != nil {
		b.t.Fatalf("%s: %v", body, err)
	}
	form.Set("csrfToken", csrf.CSRFToken)
	at, _ := b.send(http.MethodPost, b.site.String()+path, form)
	return at
}

// signIn goes through the provider's two pages: who it is, and that they agree.
func (b *browser) signIn(name string) {
	b.t.Helper()
	at := b.post("/auth/signin/idp", url.Values{})
	for _, form := range []url.Values{{"prompt": {"login"}, "login": {name}, "password": {"any"}}, {"prompt": {"consent"}}} {
		if !strings.HasPrefix(at.Path, "/interaction/") {
			b.t.Fatalf("this is no page of the provider: %s", at)
		}
		at, _ = b.send(http.MethodPost, at.String(), form)
	}
	if at.Host != b.site.Host || strings.Contains(at.Path, "error") {
		b.t.Fatalf("signing in ends at %s", at)
	}
}

type session struct {
	User struct{ Email string }
}

func (b *browser) session() (s session) {
	b.t.Helper()
	_, body := b.send(http.MethodGet, b.site.String()+"/auth/session", nil)
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		b.t.Fatalf("%s: %v", body, err)
	}
	return s
}

func (b *browser) cookie(name string) string {
	for _, cookie := range b.http.Jar.Cookies(b.site) {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	return ""
}

func (b *browser) setCookie(name, value string) {
	b.http.Jar.SetCookies(b.site, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}
