//go:build !js && !wasip1

package main_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

func TestOnePersonSignsIn(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(load(t))
	t.Cleanup(site.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(path string) string {
		t.Helper()
		resp, err := c.Get(site.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
		}
		return string(body)
	}
	post := func(path string, form url.Values) string {
		t.Helper()
		var csrf struct{ CSRFToken string }
		if err := json.Unmarshal([]byte(get("/auth/csrf")), &csrf); err != nil {
			t.Fatal(err)
		}
		form.Set("csrfToken", csrf.CSRFToken)
		resp, err := c.PostForm(site.URL+path, form)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.Header.Get("Location")
	}

	if page := get("/auth/signin"); !strings.Contains(page, `name="username"`) {
		t.Errorf("the page has no form: %s", page)
	}
	for _, c := range []struct{ name, password, session string }{
		{"ada", "wrong", "null"},
		{"bob", "the-password-of-ada", "null"},
		{"ada", "the-password-of-ada", `"name":"ada"`},
	} {
		at := post("/auth/callback/credentials", url.Values{"username": {c.name}, "password": {c.password}})
		if session := get("/auth/session"); !strings.Contains(session, c.session) {
			t.Errorf("%+v: at %s the session is %s", c, at, session)
		}
	}
	post("/auth/signout", url.Values{})
	if session := get("/auth/session"); session != "null" {
		t.Errorf("signed out, the session is %s", session)
	}
	begun := time.Now()
	for range 20 {
		get("/auth/session")
	}
	t.Logf("%v for a request, an instance each", (time.Since(begun) / 20).Round(time.Microsecond))
}

// A host runs a module as a CGI program: RFC 3875, and nothing that only this program needs.
type host struct {
	t       *testing.T
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

func load(t *testing.T) *host {
	t.Helper()
	file := filepath.Join(t.TempDir(), "auth.wasm")
	cmd := exec.Command("go", "build", "-tags", "nethttpomithttp2", "-ldflags=-s -w", "-trimpath", "-o", file, ".")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, runtime: wazero.NewRuntime(t.Context())}
	t.Cleanup(func() { h.runtime.Close(t.Context()) })
	wasi_snapshot_preview1.MustInstantiate(t.Context(), h.runtime)
	if h.module, err = h.runtime.CompileModule(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, port, _ := strings.Cut(r.Host, ":")
	env := map[string]string{
		"GATEWAY_INTERFACE": "CGI/1.1", "SERVER_PROTOCOL": r.Proto, "SERVER_SOFTWARE": "test", "REQUEST_METHOD": r.Method,
		"SCRIPT_NAME": "", "PATH_INFO": r.URL.Path, "QUERY_STRING": r.URL.RawQuery,
		"SERVER_NAME": name, "SERVER_PORT": port, "REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": r.Host,
		"CONTENT_TYPE": r.Header.Get("Content-Type"), "CONTENT_LENGTH": strconv.FormatInt(r.ContentLength, 10),
	}
	for name, values := range r.Header {
		env["HTTP_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))] = strings.Join(values, "; ")
	}
	maps.Copy(env, map[string]string{
		"AUTH_SECRET": strings.Repeat("not-a-secret-", 3), "AUTH_NAME": "ada", "AUTH_PASSWORD": "the-password-of-ada",
	})
	var out, log bytes.Buffer
	config := wazero.NewModuleConfig().WithName("").WithArgs("auth").WithStdin(r.Body).WithStdout(&out).WithStderr(&log).
		WithRandSource(rand.Reader).WithSysWalltime().WithSysNanotime()
	for name, value := range env {
		config = config.WithEnv(name, value)
	}
	instance, err := h.runtime.InstantiateModule(r.Context(), h.module, config)
	if err != nil {
		h.t.Errorf("the program has ended: %v\n%s", err, log.String())
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	instance.Close(r.Context())
	answer := bufio.NewReader(&out)
	header, err := textproto.NewReader(answer).ReadMIMEHeader()
	if err != nil {
		h.t.Errorf("the answer is %v: %q", err, out.String())
	}
	status := http.StatusOK
	if text := header.Get("Status"); text != "" {
		if status, err = strconv.Atoi(strings.Fields(text)[0]); err != nil {
			h.t.Errorf("the status is %q", text)
		}
		header.Del("Status")
	}
	maps.Copy(w.Header(), header)
	w.WriteHeader(status)
	_, _ = io.Copy(w, answer)
}
