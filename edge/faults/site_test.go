//go:build !js && !wasip1

package faults_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/wasmtest"
)

const (
	workerd = "workerd"
	wazero  = "wazero"
	program = "./testdata/site"
	secret  = "not-a-secret-not-a-secret-not-a-secret-"
)

// A setup says how a site is run. The zero value keeps sessions in tokens.
type setup struct {
	database bool
	env      map[string]string

	wasm      wasmtest.Config // on wazero
	isGuarded bool            // on workerd: in testdata/worker.mjs, which has X-World
}

// A site is the program at testdata/site, on one runtime.
type site struct {
	*world
	t       testing.TB
	runtime string
	url     string
	client  *http.Client
	workers int // the process id of what runs workerd
	log     *journal
}

// everywhere runs a test on both runtimes, in a world of its own each.
func everywhere(t *testing.T, test func(t *testing.T, runtime string, w *world)) {
	for _, runtime := range []string{workerd, wazero} {
		t.Run(runtime, func(t *testing.T) { test(t, runtime, newWorld(t)) })
	}
}

// together is everywhere for a test that is not disturbed by others.
func together(t *testing.T, test func(t *testing.T, runtime string, w *world)) {
	t.Parallel()
	everywhere(t, func(t *testing.T, runtime string, w *world) {
		t.Parallel()
		test(t, runtime, w)
	})
}

func (w *world) open(t testing.TB, target string, s setup) *site {
	t.Helper()
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			err = conn.(*net.TCPConn).SetLinger(0) // a server learns at once that somebody has gone
		}
		return conn, err
	}
	transport := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 1000, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	site := &site{world: w, t: t, runtime: target, log: new(journal), client: &http.Client{
		Transport:     transport,
		Timeout:       time.Minute, // for what hangs
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	env := map[string]string{
		"AUTH_SECRET": secret, "AUTH_IDP_ISSUER": w.provider, "AUTH_IDP_ID": "demo", "AUTH_IDP_SECRET": "demo-secret",
		"CONF_STORE": w.door,
	}
	if s.database {
		env["AUTH_SESSION_STRATEGY"] = "database"
	}
	for name, value := range s.env {
		env[name] = value
	}
	if target == wazero {
		out := &http.Transport{MaxIdleConnsPerHost: 1000}
		t.Cleanup(out.CloseIdleConnections)
		s.wasm.Transport, s.wasm.Env, s.wasm.Log = out, env, site.log
		s.wasm.Store = func(string) kv.Store { return store{w} }
		server := httptest.NewServer(wasmtest.New(t, program, s.wasm))
		t.Cleanup(server.Close)
		site.url = server.URL
	} else {
		site.serve(env, s.isGuarded)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the site's log:\n%.8000s", site.log)
		}
	})
	return site
}

// worker is where the worker and its tools are.
const worker = "../worker"

// built is a folder with the program for js, made once for all tests.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(root, "built")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-tags", "nethttpomithttp2", "-ldflags=-s -w", "-trimpath", "-o", filepath.Join(dir, "app.wasm"), program)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "wasm_exec.js"), glue, 0o600)
})

// root holds what the tests make outside of their own folders.
var root string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if root, err = os.MkdirTemp("", "faults-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(root)
		return m.Run()
	}())
}

// missing skips a test that lacks a tool, or fails it where nothing may be left out.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI_STRICT") == "1" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// serve runs the site under workerd.
func (s *site) serve(env map[string]string, isGuarded bool) {
	s.t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		missing(s.t, "node is missing: install Node 20.3 or newer")
	}
	if _, err := os.Stat(filepath.Join(worker, "node_modules", "workerd")); err != nil {
		missing(s.t, "workerd is missing: run npm ci in edge/worker")
	}
	from, err := built()
	if err != nil {
		s.t.Fatal(err)
	}
	dir := s.t.TempDir()
	files := map[string]string{
		"app.wasm":     filepath.Join(from, "app.wasm"),
		"wasm_exec.js": filepath.Join(from, "wasm_exec.js"),
		"worker.mjs":   filepath.Join(worker, "worker.mjs"),
		"program.mjs":  filepath.Join(worker, "program.mjs"),
		"calls.mjs":    filepath.Join(worker, "calls.mjs"),
		"records.mjs":  filepath.Join(worker, "records.mjs"),
		"store.mjs":    "testdata/store.mjs",
	}
	if isGuarded {
		files["product.mjs"], files["worker.mjs"], files["world.mjs"] = files["worker.mjs"], "testdata/worker.mjs", "testdata/world.mjs"
	}
	for name, source := range files {
		copyFile(s.t, filepath.Join(dir, name), source)
	}
	addr := freeAddr(s.t)
	cmd := exec.Command(node, filepath.Join(worker, "serve.mjs"), dir)
	cmd.Env = append(os.Environ(), "ADDR="+addr)
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	said, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // so that it ends what it has started
		_ = cmd.Wait()
		write.Close()
	})
	s.url, s.workers = "http://"+addr, cmd.Process.Pid
	listening := make(chan bool, 1)
	go func() {
		for lines := bufio.NewScanner(said); lines.Scan(); {
			fmt.Fprintln(s.log, lines.Text())
			if strings.HasPrefix(lines.Text(), "listening on ") {
				listening <- true
			}
		}
		_, _ = io.Copy(io.Discard, said) // a line was too long to scan
	}()
	select {
	case <-listening:
	case <-time.After(time.Minute):
		s.t.Fatalf("workerd does not listen after a minute:\n%s", s.log)
	}
}

func copyFile(t testing.TB, to, from string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
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

// journal is a log that tests may read while it is written.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// A state is what the program says of an instance.
type state struct {
	Goroutines, Pending int
	Memory              uint64
	Booted              string
}

func (s *site) state() (st state) {
	s.t.Helper()
	resp, err := s.client.Get(s.url + "/state")
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&st); err != nil {
		s.t.Fatalf("state: %d %v", resp.StatusCode, err)
	}
	return st
}

// settles waits until no request but its own is pending in the instance it meets, and demands
// that so many goroutines are left; 0: any number.
func (s *site) settles(goroutines int) state {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		st := s.state()
		if st.Pending == 1 && st.Goroutines <= cmp.Or(goroutines, st.Goroutines) {
			return st
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("a minute later %d requests are pending and %d goroutines live, want 1 and %d", st.Pending, st.Goroutines, goroutines)
		}
	}
}

// process is the id of the process that the program runs in, where /proc knows it.
func (s *site) process() string {
	if s.runtime == wazero {
		return "self"
	}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", s.workers))
	pid, _, _ := strings.Cut(strings.TrimSpace(string(children)), " ")
	return pid
}

// resident is the memory of that process, in bytes; 0 where /proc doesn't tell.
func (s *site) resident() (bytes int) {
	status, err := os.ReadFile("/proc/" + s.process() + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	_, _ = fmt.Sscan(rest, &bytes)
	return bytes << 10
}
