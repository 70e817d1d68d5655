package examples_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// tools has the runtime, the OpenID provider and the browser's driver.
const tools = "../worker"

// need skips a test that lacks something, or fails it where nothing may be left out.
func need(t *testing.T, ok bool, what, fix string) {
	t.Helper()
	if ok {
		return
	}
	if os.Getenv("CI_STRICT") == "1" {
		t.Fatalf("%s is missing: %s", what, fix)
	}
	t.Skipf("%s is missing: %s", what, fix)
}

func needTools(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("npm")
	need(t, err == nil, "npm", "install Node 20.19 or later")
	_, err = os.Stat(filepath.Join(tools, "node_modules", "playwright-core"))
	need(t, err == nil, "the tools of edge/worker", "npm ci in edge/worker")
	_, err = os.Stat(chromium())
	need(t, err == nil, "chromium", "apt-get install chromium, or set CHROMIUM to its path")
}

func chromium() string {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	return "/usr/bin/chromium"
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

// run gives what a command prints, once it has ended well.
func run(t *testing.T, dir string, env []string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	t.Logf("%s in %s: %.1f s", strings.Join(command[:2], " "), dir, time.Since(begun).Seconds())
	return string(out)
}

// A server runs until the test ends or end is called.
type server struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// ready is how the servers say that they accept connections.
var ready = regexp.MustCompile(`(?i)\blistening on\b|\bready in\b`)

// start runs a server in a folder, and returns once it says that it is ready.
func start(t *testing.T, dir string, env []string, command ...string) *server {
	t.Helper()
	s := &server{cmd: exec.Command(command[0], command[1:]...), ended: make(chan struct{})}
	s.cmd.Dir, s.cmd.Env = dir, append(os.Environ(), env...)
	read, write := io.Pipe()
	s.cmd.Stdout, s.cmd.Stderr = write, write
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder // read once drained
	isReady := make(chan struct{})
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		var once sync.Once
		for lines := bufio.NewScanner(read); lines.Scan(); {
			fmt.Fprintln(&log, lines.Text())
			if ready.MatchString(lines.Text()) {
				once.Do(func() { close(isReady) })
			}
		}
	}()
	go func() {
		_ = s.cmd.Wait()
		write.Close()
		close(s.ended)
	}()
	t.Cleanup(func() {
		s.end()
		<-drained
		if t.Failed() {
			t.Logf("%s in %s said:\n%s", strings.Join(command, " "), dir, log.String())
		}
	})
	select {
	case <-isReady:
	case <-s.ended:
		t.Fatalf("%s ended", strings.Join(command, " "))
	case <-time.After(5 * time.Minute):
		t.Fatalf("%s is not ready after five minutes", strings.Join(command, " "))
	}
	return s
}

// end asks the server to end, and waits until it has.
func (s *server) end() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}
