package wasmtest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The tests here drive whole programs on every runtime: the demo natively, as a wasip1
// module under the local server, and as a worker under workerd, always with the same body.

const worker = "../edge/worker"

// need skips a test that lacks a tool, or fails it where nothing may be left out.
func need(t *testing.T, ok bool, what, how string) {
	t.Helper()
	if ok {
		return
	}
	if os.Getenv("CI_STRICT") == "1" {
		t.Fatalf("%s is missing: %s", what, how)
	}
	t.Skipf("%s is missing: %s", what, how)
}

func needNode(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("node")
	need(t, err == nil, "node", "install Node 20 or later")
	_, err = os.Stat(filepath.Join(worker, "node_modules", "oidc-provider"))
	need(t, err == nil, "the tools of edge/worker", "npm ci in edge/worker")
}

func needChromium(t *testing.T) {
	t.Helper()
	_, err := os.Stat(chromium())
	need(t, err == nil, "chromium", "apt-get install chromium, or set CHROMIUM to its path")
}

func chromium() string {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	return "/usr/bin/chromium"
}

// build compiles a package and gives the path of the result.
func build(t *testing.T, dir, name, pkg string, env ...string) string {
	t.Helper()
	out := filepath.Join(dir, name)
	args := []string{"build", "-o", out, "-tags", "nethttpomithttp2", "-ldflags=-s -w"}
	if strings.Contains(strings.Join(env, " "), "wasip1") {
		args = append(args, "-buildmode=c-shared")
	}
	cmd := exec.Command("go", append(args, pkg)...)
	cmd.Env = append(os.Environ(), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, text)
	}
	return out
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A process is a server that is running.
type process struct {
	pid  int
	kill func()        // ends it at once
	said func() string // everything so far
}

// start runs a server until the test ends, and returns once it says that it listens.
func start(t *testing.T, env []string, command string, args ...string) process {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan struct{})
	var mu sync.Mutex
	var log strings.Builder
	said := func() string {
		mu.Lock()
		defer mu.Unlock()
		return log.String()
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		ready := false
		for lines := bufio.NewScanner(read); lines.Scan(); {
			mu.Lock()
			fmt.Fprintln(&log, lines.Text())
			mu.Unlock()
			if !ready && strings.HasPrefix(lines.Text(), "listening on ") {
				ready = true
				close(listening)
			}
		}
	}()
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		write.Close()
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		<-drained
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(command), said())
		}
	})
	kill := func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
	}
	select {
	case <-listening:
	case <-ended:
		<-drained
		t.Fatalf("%s ended:\n%s", command, said())
	case <-time.After(time.Minute):
		t.Fatalf("%s does not listen after a minute", command)
	}
	return process{cmd.Process.Pid, kill, said}
}

// demo starts the demo on a runtime, and gives its process id.
func demo(t *testing.T, target, addr string, env []string) (pid int) {
	t.Helper()
	return run(t, "./demo", target, addr, env).pid
}

// run starts a program on a runtime.
func run(t *testing.T, pkg, target, addr string, env []string) (p process) {
	t.Helper()
	dir := t.TempDir()
	env = append(env, "ADDR="+addr, "AUTH_SECRET="+strings.Repeat("not-a-secret-", 3))
	switch target {
	case "native":
		p = start(t, env, build(t, dir, "program", pkg))
	case "wazero":
		p = start(t, env, build(t, dir, "serve", "./serve"), build(t, dir, "program.wasm", pkg, "GOOS=wasip1", "GOARCH=wasm"))
	case "workerd":
		build(t, dir, "app.wasm", pkg, "GOOS=js", "GOARCH=wasm")
		for _, module := range []string{"worker.mjs", "program.mjs", "calls.mjs", "store.mjs", "records.mjs"} {
			copyFile(t, filepath.Join(dir, module), filepath.Join(worker, module))
		}
		copyFile(t, filepath.Join(dir, "wasm_exec.js"), filepath.Join(goroot(t), "lib", "wasm", "wasm_exec.js"))
		p = start(t, env, "node", filepath.Join(worker, "serve.mjs"), dir)
	}
	return p
}

func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, raw, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
