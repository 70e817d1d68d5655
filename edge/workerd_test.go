//go:build !js && !wasip1

package edge_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// tool returns the path of a development tool under worker/node_modules. Without
// it the test is skipped, or fails where CI_STRICT=1 says that it must be there.
func tool(t testing.TB, path string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("worker", "node_modules", path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		missing(t, path+" is missing: run npm ci in edge/worker (Node 20.3 or newer)")
	}
	return path
}

func missing(t testing.TB, message string) {
	t.Helper()
	if os.Getenv("CI_STRICT") == "1" {
		t.Fatal(message)
	}
	t.Skip(message)
}

func workerdPath(t testing.TB) string {
	t.Helper()
	arch := map[string]string{"amd64": "64", "arm64": "arm64"}[runtime.GOARCH]
	return tool(t, filepath.Join("@cloudflare", "workerd-"+runtime.GOOS+"-"+arch, "bin", "workerd"))
}

var built sync.Map // of func() (string, error), by program

// reference is the program that is deployed; others are for tests, in worker/testdata.
const reference = "reference"

// build returns a folder with the worker around a program.
func build(t testing.TB, program string) string {
	t.Helper()
	source := "./worker/testdata/" + program
	if program == reference {
		source = "./worker"
	}
	f, _ := built.LoadOrStore(program, sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp(buildRoot, program)
		if err != nil {
			return "", err
		}
		cmd := exec.Command("go", "build", "-tags", "nethttpomithttp2", "-ldflags=-s -w", "-trimpath",
			"-o", filepath.Join(dir, "app.wasm"), source)
		cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v\n%s", err, out)
		}
		goroot, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return "", err
		}
		files, err := filepath.Glob(filepath.Join("worker", "*.mjs"))
		if err != nil {
			return "", err
		}
		doubles, err := filepath.Glob(filepath.Join("worker", "testdata", "*.mjs"))
		if err != nil {
			return "", err
		}
		files = append(append(files, doubles...), filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec.js"))
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), b, 0o600); err != nil {
				return "", err
			}
		}
		return dir, nil
	}))
	dir, err := f.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// buildRoot holds what build made, for all tests.
var buildRoot string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if buildRoot, err = os.MkdirTemp("", "edge-test-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(buildRoot)
		return m.Run()
	}())
}

// A worker is a running workerd with one isolate.
type worker struct {
	t    testing.TB
	addr string
	pid  int
	log  *logBuffer
}

const workerdConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private"])),
    (name = "disk", disk = (path = "%s", writable = true)),
    %s
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [%s],
  bindings = [%s],
  %s
  compatibilityDate = "2026-04-01",
);
`

// objects keeps the records of the class AuthStore, of store.mjs, on the disk.
const objects = `
  durableObjectNamespaces = [(className = "AuthStore", uniqueKey = "AuthStore", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
`

// A setup says what a worker is made of: files in one folder, the first of which is its entry.
type setup struct {
	modules []string // store.mjs among them: the class AuthStore is bound as AUTH_DO, unless it is unbound
	unbound bool
	texts   map[string]string // text bindings
	kv      string            // a module that serves as a KV namespace, bound as AUTH_KV; empty: none
}

// product are the files that are deployed.
func product() []string {
	return []string{"worker.mjs", "program.mjs", "calls.mjs", "store.mjs", "records.mjs", "wasm_exec.js", "app.wasm"}
}

// start runs the worker around a test program under workerd, with text bindings.
func start(t testing.TB, program string, texts map[string]string) *worker {
	t.Helper()
	return startWorkerd(t, workerdPath(t), build(t, program), setup{modules: product(), texts: texts})
}

func startWorkerd(t testing.TB, workerd, dir string, s setup) *worker {
	t.Helper()
	var services, modules, bindings, storage string
	for _, file := range s.modules {
		kind := map[string]string{".wasm": "wasm"}[filepath.Ext(file)]
		modules += fmt.Sprintf("(name = %q, %s = embed %[1]q), ", file, cmp.Or(kind, "esModule"))
	}
	for name, value := range s.texts {
		bindings += fmt.Sprintf("(name = %q, text = %q), ", name, value)
	}
	if slices.Contains(s.modules, "store.mjs") && !s.unbound {
		storage = objects
		bindings += `(name = "AUTH_DO", durableObjectNamespace = (className = "AuthStore")), `
	}
	if s.kv != "" {
		services = fmt.Sprintf(`(name = "kv", worker = (modules = [(name = %q, esModule = embed %[1]q)], compatibilityDate = "2026-04-01"))`, s.kv)
		bindings += `(name = "AUTH_KV", kvNamespace = "kv")`
	}
	config, err := os.CreateTemp(dir, "*.capnp") // beside the files it embeds
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(config, workerdConfig, t.TempDir(), services, modules, bindings, storage); err != nil {
		t.Fatal(err)
	}
	if err := config.Close(); err != nil {
		t.Fatal(err)
	}
	control, events, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	w := &worker{t: t, log: &logBuffer{}}
	cmd := exec.Command(workerd, "serve", config.Name(), "--verbose", "--control-fd=3")
	cmd.Stdout, cmd.Stderr = w.log, w.log
	cmd.ExtraFiles = []*os.File{events}
	err = cmd.Start()
	events.Close()
	if err != nil {
		t.Fatal(err)
	}
	w.pid = cmd.Process.Pid
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("workerd's log:\n%s", w.log)
		}
	})
	for lines := bufio.NewScanner(control); lines.Scan(); {
		var event struct {
			Event string
			Port  int
		}
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Event == "listen" {
			w.addr = fmt.Sprintf("127.0.0.1:%d", event.Port)
			return w
		}
	}
	t.Fatalf("workerd did not start:\n%s", w.log)
	return nil
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// client follows no redirect, keeps no connection in common with other tests and
// asks for nothing by itself.
func client(t testing.TB) *http.Client {
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// get returns the status and body of path.
func (w *worker) get(path string) (int, string) {
	w.t.Helper()
	resp, err := client(w.t).Get("http://" + w.addr + path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// getJSON decodes the answer to path.
func getJSON[T any](w *worker, path string) T {
	w.t.Helper()
	status, body := w.get(path)
	var v T
	if err := json.Unmarshal([]byte(body), &v); status != 200 || err != nil {
		w.t.Fatalf("GET %s: %d %q %v", path, status, body, err)
	}
	return v
}

// logs checks that the log comes to hold text n times; workerd writes it when it
// finds the time.
func (w *worker) logs(text string, n int) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		got := strings.Count(w.log.String(), text)
		if got == n {
			return
		}
		if got > n || time.Now().After(deadline) {
			w.t.Errorf("the log has %q %d times, want %d", text, got, n)
			return
		}
	}
}
