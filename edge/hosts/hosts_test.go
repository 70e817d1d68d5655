//go:build !js && !wasip1

// Package hosts_test runs the worker that is deployed to Workers on Node, Deno and Bun.
package hosts_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/wasmtest/world"
)

// worker is where the worker and its tools are.
const worker = "../worker"

var hosts = map[string][]string{
	"node": {"node", "node.mjs"},
	"deno": {"deno", "run", "-NERW", "deno.mjs"},
	"bun":  {"bun", "bun.mjs"},
}

// In site things go wrong on demand. One host after the other: with a hundred callbacks at once each has the machine to itself.
func TestHosts(t *testing.T) {
	dir := build(t, "../faults/testdata/site")
	for name, command := range hosts {
		t.Run(name, func(t *testing.T) {
			door := newTurnstile(t)
			state := t.TempDir()
			s := start(t, command, dir, state, door.url)

			ada := newBrowser(t, s.url)
			ada.signIn("ada")
			ada.is("ada")

			t.Run("a hundred callbacks at once", func(t *testing.T) {
				door.close(100)
				var crowd sync.WaitGroup
				for i := range 100 {
					crowd.Go(func() {
						b, name := newBrowser(t, s.url), fmt.Sprintf("user%d", i)
						b.signIn(name)
						b.is(name)
					})
				}
				crowd.Wait()
			})

			t.Run("a panic and the end of the program", func(t *testing.T) {
				door.close(2) // for the callback of somebody else, and the test
				var other sync.WaitGroup
				bob := newBrowser(t, s.url)
				other.Go(func() { bob.signIn("bob") })
				door.waitFor(1)
				if status, body := ada.get(t.Context(), "/auth/session", "handler panic"); status != 500 {
					t.Errorf("the panic is answered with %d %q", status, body)
				}
				door.pass()
				other.Wait()
				bob.is("bob")
				if status, body := ada.get(t.Context(), "/auth/session", "handler exit"); status != 500 {
					t.Errorf("the end of the program is answered with %d %q", status, body)
				}
				ada.is("ada") // by another instance
			})

			t.Run("a client that leaves", func(t *testing.T) {
				door.close(2)
				ctx, leave := context.WithCancel(t.Context())
				eve, left := newBrowser(t, s.url), make(chan struct{})
				eve.ctx = ctx
				go func() { defer close(left); eve.trySignIn("evelyn") }()
				door.waitFor(1)
				leave()
				<-left
				if holds(t, state, "evelyn") {
					t.Error("who waits for the provider is stored already")
				}
				door.pass()
				s.idles()
				if !holds(t, state, "evelyn") {
					t.Error("the sign-in was not completed")
				}
				ada.is("ada")
			})

			t.Run("a body that is too large", func(t *testing.T) {
				resp, err := http.Post(s.url+"/auth/signout", "text/plain", io.LimitReader(zeros{}, 1<<20+1))
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if resp.StatusCode != http.StatusRequestEntityTooLarge {
					t.Errorf("it is answered with %d", resp.StatusCode)
				}
			})

			t.Run("a restart", func(t *testing.T) {
				s.stop()
				s = start(t, command, dir, state, door.url)
				ada.move(s.url)
				ada.is("ada")
				ada.post("/auth/signout", nil)
				ada.is("")
			})
		})
	}
}

// stores.mjs keeps the contract of package edge, which the program tests from inside.
func TestStoresKeepTheContract(t *testing.T) {
	t.Parallel()
	dir := build(t, "../worker/testdata/suite")
	for name, command := range hosts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBrowser(t, start(t, command, dir, t.TempDir(), "").url)
			if status, body := b.get(t.Context(), "/store?name=AUTH_DO", ""); status != http.StatusOK || body != "ok" {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// missing skips a test that lacks a tool, or fails it where nothing may be left out.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI_STRICT") == "1" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// build makes a folder with what is deployed, around a program for tests.
func build(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-tags", "nethttpomithttp2", "-ldflags=-s -w", "-trimpath", "-o", filepath.Join(dir, "app.wasm"), program)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := []string{filepath.Join(runtime.GOROOT(), "lib", "wasm", "wasm_exec.js")}
	for _, name := range []string{"worker.mjs", "program.mjs", "calls.mjs", "store.mjs", "records.mjs"} {
		files = append(files, filepath.Join(worker, name))
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A site is the program on a host.
type site struct {
	t    testing.TB
	url  string
	stop func()
}

func start(t *testing.T, command []string, dir, state, provider string) *site {
	t.Helper()
	tool, err := filepath.Abs(filepath.Join(worker, "node_modules", ".bin", command[0]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tool); err != nil {
		missing(t, command[0]+" is missing: run npm ci in edge/worker")
	}
	cmd := exec.Command(tool, append(command[1:len(command):len(command)], dir)...)
	cmd.Env = append(os.Environ(), "ADDR=127.0.0.1:0", "AUTH_STORE="+state, "AUTH_SESSION_STRATEGY=database",
		"AUTH_SECRET="+strings.Repeat("not-a-secret-", 3), "AUTH_IDP_ISSUER="+provider, "AUTH_IDP_ID=demo", "AUTH_IDP_SECRET=demo-secret")
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &site{t: t}
	s.stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		go io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Errorf("asked to stop, it ends with %v", err)
		}
		if t.Failed() {
			t.Logf("the host's log:\n%.8000s", log.String())
		}
	})
	t.Cleanup(s.stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	s.url = strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	if err != nil || s.url == "" {
		t.Fatalf("it says %q, %v", line, err)
	}
	return s
}

// idles waits until no request is pending but its own.
func (s *site) idles() {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		resp, err := http.Get(s.url + "/state")
		if err != nil {
			s.t.Fatal(err)
		}
		var state struct{ Pending int }
		err = json.NewDecoder(resp.Body).Decode(&state)
		resp.Body.Close()
		if err != nil {
			s.t.Fatal(err)
		}
		if state.Pending == 1 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%d requests are pending", state.Pending)
		}
	}
}

// holds is whether a file of the folder has the text in it.
func holds(t *testing.T, folder, text string) bool {
	t.Helper()
	found := false
	files, err := os.ReadDir(folder)
	for _, file := range files {
		raw, e := os.ReadFile(filepath.Join(folder, file.Name()))
		if found = found || bytes.Contains(raw, []byte(text)); e != nil {
			err = e
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A turnstile is an OpenID provider that holds requests for tokens back until so many wait. It
// signs in who is named in login_hint.
type turnstile struct {
	t       testing.TB
	url     string
	mu      sync.Mutex
	waiting int
	parties int
	open    chan struct{}
	changed *sync.Cond
}

func newTurnstile(t *testing.T) *turnstile {
	d := &turnstile{t: t, parties: 1, open: make(chan struct{})}
	d.changed = sync.NewCond(&d.mu)
	provider := &world.Provider{Ask: func(asked url.Values) world.Person {
		return world.Person{ID: asked.Get("login_hint")}
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == string(world.TokenEndpoint) {
			d.pass()
		}
		provider.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

// close makes it wait for so many from now on; then it stays open.
func (d *turnstile) close(parties int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting, d.parties, d.open = 0, parties, make(chan struct{})
}

func (d *turnstile) pass() {
	d.mu.Lock()
	open := d.open
	if d.waiting++; d.waiting == d.parties {
		close(open)
	}
	d.changed.Broadcast()
	d.mu.Unlock()
	select {
	case <-open:
	case <-time.After(time.Minute): // for what hangs
		d.t.Error("not all have come at once")
	}
}

// waitFor waits until so many wait.
func (d *turnstile) waitFor(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.waiting < n {
		d.changed.Wait()
	}
}

// A browser is somebody's, who signs in.
type browser struct {
	t    testing.TB
	ctx  context.Context
	http *http.Client
	site string
}

func newBrowser(t testing.TB, site string) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Error(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{t: t, ctx: context.Background(), http: &http.Client{Jar: jar, Transport: transport, Timeout: time.Minute}, site: site}
}

// move goes to another address of the site; cookies know no ports.
func (b *browser) move(site string) { b.site = site }

// get asks for a fault, unless that is empty.
func (b *browser) get(ctx context.Context, path, fault string) (int, string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.site+path, nil)
	if err != nil {
		b.t.Error(err)
		return 0, ""
	}
	if fault != "" {
		r.Header.Set("X-Fault", fault)
	}
	return b.do(r)
}

func (b *browser) do(r *http.Request) (int, string) {
	resp, err := b.http.Do(r)
	if err != nil {
		if b.ctx.Err() == nil {
			b.t.Error(err)
		}
		return 0, ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil && b.ctx.Err() == nil {
		b.t.Error(err)
	}
	return resp.StatusCode, string(body)
}

// post sends a form of the site, and follows redirects.
func (b *browser) post(path string, form url.Values) int {
	var csrf struct{ CSRFToken string }
	_, body := b.get(b.ctx, "/auth/csrf", "")
	if err := json.Unmarshal([]byte(body), &csrf); err != nil {
		b.t.Errorf("%q: %v", body, err)
	}
	if form == nil {
		form = url.Values{}
	}
	form.Set("csrfToken", csrf.CSRFToken)
	r, err := http.NewRequestWithContext(b.ctx, http.MethodPost, b.site+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Error(err)
		return 0
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	status, _ := b.do(r)
	return status
}

// trySignIn goes to the provider and back; at the end is a page that the site hasn't.
func (b *browser) trySignIn(name string) int { return b.post("/auth/signin/idp?login_hint="+name, nil) }

func (b *browser) signIn(name string) {
	if status := b.trySignIn(name); status != http.StatusNotFound && status != http.StatusBadRequest {
		b.t.Errorf("%s signs in: the way ends with %d", name, status)
	}
}

// is checks who is signed in; the empty name is nobody.
func (b *browser) is(name string) {
	var session struct{ User struct{ Name string } }
	status, body := b.get(b.ctx, "/auth/session", "")
	if err := json.Unmarshal([]byte(body), &session); status != http.StatusOK || err != nil || session.User.Name != name {
		b.t.Errorf("who is signed in, %q or somebody else? %d %s", name, status, body)
	}
}
