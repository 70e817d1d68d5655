package remote_test

import (
	"bufio"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/remote"
)

func TestReverseProxy(t *testing.T) {
	t.Parallel()
	edge := newEdgeServer(t, (*httptest.Server).Start)
	server := httptest.NewServer(mounted(edge.url(t), theApp))
	t.Cleanup(server.Close)
	isMounted(t, server.URL, edge, false)
}

// rule reads a file of the folder mount with parts of it replaced, each of which must be there.
func rule(t *testing.T, file string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("mount", file))
	if err != nil {
		t.Fatal(err)
	}
	out := string(text)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(out, replace[i]) {
			t.Fatalf("mount/%s has no %q", file, replace[i])
		}
		out = strings.ReplaceAll(out, replace[i], replace[i+1])
	}
	return out
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// runs starts a proxy and waits until it listens; it ends with the test.
func runs(t *testing.T, address string, cmd *exec.Cmd) {
	t.Helper()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return
		}
		select {
		case <-ended:
			t.Fatalf("%s ended:\n%s", cmd.Path, out.String())
		case <-tick.C:
		}
	}
	t.Fatalf("%s does not listen on %s", cmd.Path, address)
}

// nginx with mount/nginx.conf, and with TLS to the edge, whose certificate must be right.
func TestNginx(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("nginx")
	if err != nil {
		path = "/usr/sbin/nginx"
		_, err = os.Stat(path)
	}
	need(t, err == nil, "nginx", "apt-get install nginx-light")
	edge := newEdgeServer(t, (*httptest.Server).StartTLS)
	app := httptest.NewServer(theApp)
	t.Cleanup(app.Close)
	dir := t.TempDir()
	address := freeAddress(t)
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: edge.Certificate().Raw}))
	server := rule(t, "nginx.conf",
		"listen 443 ssl;", "listen "+address+";",
		"server_name app.example;", "server_name 127.0.0.1;",
		"    ssl_certificate /etc/ssl/app.example.crt;\n", "",
		"    ssl_certificate_key /etc/ssl/app.example.key;\n", "",
		"https://edge.example;", "https://example.com;", // the name in the certificate
		"/etc/ssl/certs/ca-certificates.crt", writeFile(t, filepath.Join(dir, "edge.crt"), certificate),
		"http://127.0.0.1:3000", app.URL,
	)
	temporary := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "scgi", "uwsgi"} {
		temporary += fmt.Sprintf("%s_temp_path %s;\n", kind, filepath.Join(dir, kind))
	}
	config := writeFile(t, filepath.Join(dir, "nginx.conf"), fmt.Sprintf(
		"daemon off;\nmaster_process off;\npid %s/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n%supstream example.com { server %s; }\n%s}\n",
		dir, temporary, edge.Listener.Addr(), server))
	runs(t, address, exec.Command(path, "-p", dir, "-c", config))
	isMounted(t, "http://"+address, edge, false)
}

func TestCaddy(t *testing.T) {
	t.Parallel()
	path := program(t, "caddy", "apt-get install caddy")
	edge := newEdgeServer(t, (*httptest.Server).Start)
	app := httptest.NewServer(theApp)
	t.Cleanup(app.Close)
	dir := t.TempDir()
	address := freeAddress(t)
	site := rule(t, "Caddyfile", "app.example {", "http://"+address+" {", "https://edge.example", edge.URL, "127.0.0.1:3000", strings.TrimPrefix(app.URL, "http://"))
	config := writeFile(t, filepath.Join(dir, "Caddyfile"), "{\n\tadmin off\n}\n"+site)
	cmd := exec.Command(path, "run", "--adapter", "caddyfile", "--config", config)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	runs(t, address, cmd)
	isMounted(t, "http://"+address, edge, false)
}

// node starts a server in Node and gives its address, which it prints.
func node(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(program(t, "node", "install Node 20 or later"), args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}

func TestForward(t *testing.T) {
	t.Parallel()
	edge := newEdgeServer(t, (*httptest.Server).Start)
	file := writeFile(t, filepath.Join(t.TempDir(), "forward.mjs"), rule(t, "forward.mjs", `"https://edge.example"`, `"`+edge.URL+`"`))
	isMounted(t, node(t, "testdata/forward.mjs", file), edge, false)
}

// Vite is run where it is installed: set VITE to the package.json of a project that has it. The
// rule keeps an X-Forwarded-Host that a visitor made up, which in development is the developer.
func TestVite(t *testing.T) {
	t.Parallel()
	project := os.Getenv("VITE")
	if project == "" {
		t.Skip("set VITE to the package.json of a project with vite; TestConfigs reads the rule in any case")
	}
	edge := newEdgeServer(t, (*httptest.Server).Start)
	file := writeFile(t, filepath.Join(t.TempDir(), "vite.config.mjs"), rule(t, "vite.config.mjs", `"https://edge.example"`, `"`+edge.URL+`"`))
	isMounted(t, node(t, "testdata/vite.mjs", project, file), edge, true)
}

// The rules for Next.js and Vite say what they should, as Node reads them.
func TestConfigs(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), program(t, "node", "install Node 20 or later"), "testdata/config.mjs").CombinedOutput()
	var said struct {
		Rewrites []struct{ Source, Destination string }
		Proxy    map[string]struct {
			Target             string
			ChangeOrigin, XFwd bool
		}
	}
	if err != nil || json.Unmarshal(out, &said) != nil || len(said.Rewrites) != 1 || len(said.Proxy) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	if r := said.Rewrites[0]; r.Source != "/auth/:path*" || r.Destination != "https://edge.example"+r.Source {
		t.Errorf("Next.js rewrites %q to %q", r.Source, r.Destination)
	}
	for pattern, r := range said.Proxy {
		if r.Target != "https://edge.example" || !r.ChangeOrigin || !r.XFwd {
			t.Errorf("Vite's rule is %+v", r)
		}
		for path, want := range map[string]bool{"/auth/signin?x": true, "/authors": false, "/x/auth/session": false} {
			if matches := regexp.MustCompile(pattern).MatchString(path); matches != want {
				t.Errorf("Vite's rule takes %s: %v", path, matches)
			}
		}
	}
}

// On Workers the route of the auth worker wins over the app's.
func TestWorkersRoutes(t *testing.T) {
	t.Parallel()
	program := program(t, "node", "install Node 20 or later")
	manifest, err := filepath.Abs(filepath.Join(tools, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(tools, "node_modules", "miniflare"))
	need(t, err == nil, "the tools of edge/worker", "npm ci in edge/worker")
	pattern := regexp.MustCompile(`(?m)^routes = \[\{ pattern = "([^"]+)", zone_name = "app\.example" \}\]$`)
	args := []string{"testdata/routes.mjs", manifest}
	for _, file := range []string{"wrangler.toml", "app.wrangler.toml"} {
		found := pattern.FindStringSubmatch(rule(t, file))
		if found == nil {
			t.Fatalf("mount/%s has no route", file)
		}
		args = append(args, found[1])
	}
	want := map[string]string{
		app + "/auth/session": "auth", app + "/auth/callback/hub?code=1": "auth", app + "/auth/": "auth",
		app + "/": "app", app + "/authors": "app", app + "/x/auth/session": "app",
	}
	for url := range want {
		args = append(args, url)
	}
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	var got map[string]string
	if err != nil || json.Unmarshal(out, &got) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for url := range want {
		if got[url] != want[url] {
			t.Errorf("%s goes to %q, want %q", url, got[url], want[url])
		}
	}
	if !strings.Contains(rule(t, "wrangler.toml"), `AUTH_URL = "`+app+`/auth"`) {
		t.Error("the auth worker does not know its public address")
	}
}

// On a subdomain the session cookie has the domain that both share, and people come back.
func TestSubdomain(t *testing.T) {
	t.Parallel()
	const authOrigin, appOrigin = "https://auth.site.example", "https://app.site.example"
	auth := handler(t, shared(core.Config{Getenv: environment("AUTH_URL", authOrigin+"/auth")}))
	e := newEdge(t, remote.Config{URL: authOrigin + "/auth", Origin: appOrigin, Transport: &wire{Handler: auth}})
	world := &wire{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "auth.site.example" {
			auth.ServeHTTP(w, r)
			return
		}
		e.Handle(secretPage(e)).ServeHTTP(w, r)
	})}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Transport: world, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(target string) (*http.Response, string) {
		r, _ := http.NewRequest("GET", target, nil)
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		resp, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		return resp, string(body)
	}
	resp, _ := get(appOrigin + "/page")
	signIn := resp.Header.Get("Location")
	if signIn != authOrigin+"/auth/signin?callbackUrl=https%3A%2F%2Fapp.site.example%2Fpage" {
		t.Fatalf("sent to %q", signIn)
	}
	_, _ = get(signIn)
	_, body := get(authOrigin + "/auth/csrf")
	var answer struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	resp, err = browser.PostForm(authOrigin+"/auth/callback/credentials", url.Values{"csrfToken": {answer.CSRFToken}, "name": {"Ada"}})
	if err != nil || resp.Header.Get("Location") != appOrigin+"/page" {
		t.Fatalf("after signing in: %v, %q", err, resp.Header.Get("Location"))
	}
	for range 2 {
		if _, body := get(appOrigin + "/page"); body != "the secret of Ada" {
			t.Errorf("the page says %q", body)
		}
	}
	for _, foreign := range []string{"https://evil.example/", "https://app.site.example.evil.example/", "https://x@app.site.example/", "http://app.site.example/"} {
		resp, _ := get(authOrigin + "/auth/signin?callbackUrl=" + url.QueryEscape(foreign))
		for _, c := range resp.Cookies() {
			if value, _ := url.QueryUnescape(c.Value); strings.HasSuffix(c.Name, "callback-url") && value == foreign {
				t.Errorf("%s is accepted", foreign)
			}
		}
	}
}

// The page quotes the rules that these tests run.
func TestPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("MOUNTING.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	files, err := os.ReadDir("mount")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d rules, %v", len(files), err)
	}
	for _, file := range files {
		if !strings.Contains(page, "\n"+rule(t, file.Name())+"```\n") {
			t.Errorf("the page does not quote mount/%s", file.Name())
		}
	}
	source, err := os.ReadFile("mount_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mounted", "shared"} {
		found := regexp.MustCompile(`(?ms)^func ` + name + `\(.*?^}\n`).FindString(string(source))
		if found == "" || !strings.Contains(page, "\n"+found+"```\n") {
			t.Errorf("the page does not quote the function %s", name)
		}
	}
}
