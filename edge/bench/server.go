//go:build !js && !wasip1

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A server is a running process that serves one variant.
type server struct {
	variant string
	addr    string
	cmd     *exec.Cmd
	log     *tail
	started time.Time
	scratch string // a folder that ends with it
	pid     int    // of the process that serves; 0: unknown
	end     func() // ends the process; nil: it is killed
}

// settings are those of the conformance app, for one strategy.
func settings(idp string, database bool) map[string]string {
	env := map[string]string{
		"AUTH_SECRET":   strings.Repeat("not-a-secret-", 3),
		"CONF_IDP":      idp,
		"CONF_STRATEGY": "jwt",
	}
	if database {
		env["CONF_STRATEGY"], env["CONF_ADAPTER"] = "database", "kv"
	}
	return env
}

// start starts a variant. It returns when the server accepts connections.
func (b builder) start(ctx context.Context, variant string, env map[string]string) (*server, error) {
	switch variant {
	case underWazero:
		return b.startProgram(ctx, variant, env, "serve", "-uninterruptible", "app.wasm")
	case natively:
		return b.startProgram(ctx, variant, env, "conformance")
	}
	if env["CONF_ADAPTER"] != "" {
		return b.startMiniflare(ctx, variant, "worker.mjs", env)
	}
	return b.startWorkerd(ctx, variant, "worker.mjs", env)
}

// startProgram starts a program that listens on $ADDR. Its stores are in memory.
func (b builder) startProgram(ctx context.Context, variant string, env map[string]string, program string, args ...string) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	dir := b.folder(variant)
	s := &server{variant: variant, addr: addr, cmd: exec.CommandContext(ctx, filepath.Join(dir, program), args...), log: &tail{}}
	s.cmd.Dir, s.cmd.Stderr = dir, s.log
	s.cmd.Env = []string{"ADDR=" + addr}
	for name, value := range env {
		s.cmd.Env = append(s.cmd.Env, name+"="+value)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.pid = s.cmd.Process.Pid
	if said, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || !strings.HasPrefix(said, "listening on ") {
		s.stop()
		return nil, fmt.Errorf("bench: %s does not listen: %q\n%s", variant, said, s.log)
	}
	go io.Copy(io.Discard, stdout)
	return s, nil
}

// startWorkerd starts workerd with the modules in a variant's folder, configured as edge/worker/serve.mjs
// does, but in binary form, as platforms configure it: to parse a text with a module in it takes long. There
// is no database, and nothing but the worker itself has to start.
func (b builder) startWorkerd(ctx context.Context, variant, entry string, env map[string]string) (*server, error) {
	dir := b.folder(variant)
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	modules := []string{entry} // the first one is started
	for _, file := range files {
		name := file.Name()
		isModule := slices.Contains([]string{".js", ".mjs", ".wasm"}, filepath.Ext(name))
		if isModule && name != entry && name != withMemory && name != counting {
			modules = append(modules, name)
		}
	}
	for i, name := range modules {
		kind := "esModule"
		if filepath.Ext(name) == ".wasm" {
			kind = "wasm"
		}
		modules[i] = fmt.Sprintf("(name = %q, %s = embed %[1]q)", name, kind)
	}
	var bindings []string
	for name, value := range env {
		bindings = append(bindings, fmt.Sprintf("(name = %q, text = %q)", name, value))
	}
	scratch, err := os.MkdirTemp(b.dir, "objects-")
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, filepath.Base(scratch)+".capnp") // beside what it embeds
	text := fmt.Sprintf(workerdConfig, strings.Join(modules, ", "), strings.Join(bindings, ", "))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	defer os.Remove(config)
	compiled, err := exec.CommandContext(ctx, b.workerd(), "compile", "--config-only", config).Output()
	if err != nil {
		return nil, fmt.Errorf("bench: workerd compile %s: %w", variant, err)
	}
	binary := filepath.Join(scratch, "config.bin")
	if err := os.WriteFile(binary, compiled, 0o600); err != nil {
		return nil, err
	}

	control, events, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer control.Close()
	s := &server{variant: variant, cmd: exec.CommandContext(ctx, b.workerd(), "serve", "--binary", binary, "--control-fd=3"), log: &tail{}, scratch: scratch}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.ExtraFiles = []*os.File{events}
	s.started = time.Now()
	err = s.cmd.Start()
	events.Close()
	if err != nil {
		return nil, err
	}
	s.pid = s.cmd.Process.Pid
	for lines := bufio.NewScanner(control); lines.Scan(); {
		var event struct {
			Event string
			Port  int
		}
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Event == "listen" {
			s.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(event.Port))
			return s, nil
		}
	}
	s.stop()
	return nil, fmt.Errorf("bench: workerd does not serve %s:\n%s", variant, s.log)
}

// startMiniflare starts a variant with a database, which miniflare.mjs tells about.
func (b builder) startMiniflare(ctx context.Context, variant, entry string, env map[string]string) (*server, error) {
	database := "d1"
	if variant == onObject {
		database = "object"
	}
	options, err := json.Marshal(map[string]any{"entry": entry, "database": database, "texts": env})
	if err != nil {
		return nil, err
	}
	script := filepath.Join(b.root, "edge", "bench", "miniflare.mjs")
	s := &server{variant: variant, cmd: exec.CommandContext(ctx, "node", script, b.folder(variant), string(options)), log: &tail{}}
	s.cmd.Stderr = s.log
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.end = func() { stdin.Close() } // then it ends workerd, its child
	s.cmd.Cancel = stdin.Close
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(stdout)
	said, err := lines.ReadBytes('\n')
	var at struct {
		Addr string
		PID  int
	}
	if err := firstError(err, json.Unmarshal(said, &at)); err != nil {
		s.stop()
		return nil, fmt.Errorf("bench: miniflare does not serve %s: %q: %w\n%s", variant, said, err, s.log)
	}
	go io.Copy(s.log, lines)
	s.addr, s.pid = at.Addr, at.PID
	if variant == authcore {
		if err := makeTables(s.addr); err != nil {
			s.stop()
			return nil, s.wrap(err)
		}
	}
	return s, nil
}

// makeTables makes the tables of @auth/core's adapter. Ours makes its table itself.
func makeTables(addr string) error {
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.do(&exchange{request: fmt.Appendf(nil, "GET /tables HTTP/1.1\r\nHost: %s\r\n\r\n", addr), status: 200, body: "ok"})
}

const workerdConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [%s],
  compatibilityDate = "2026-04-01",
  bindings = [%s],
);
`

func (s *server) stop() {
	if s.end == nil {
		s.cmd.Process.Kill()
	} else {
		s.end()
	}
	s.cmd.Wait()
	if s.scratch != "" {
		os.RemoveAll(s.scratch)
	}
}

// rss is the memory of the process, in bytes; 0 where there is no /proc.
func (s *server) rss() int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		return 0
	}
	for field := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(field, "VmRSS:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

// cpu is the processor time that the process has used so far; 0 where there is no /proc. Unlike
// the time on the clock it is about the same on a machine that does other things as well.
func (s *server) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid))
	if err != nil {
		return 0
	}
	// The second field is the name, in parentheses; user and system time are the 14th and 15th,
	// in hundredths of a second (proc(5)).
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// wrap adds what the server logged.
func (s *server) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("bench: %s: %w\n%s", s.variant, err, s.log)
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// servers are those that are running.
type servers []*server

func (all servers) stop() {
	for _, s := range all {
		s.stop()
	}
}

// A tail keeps the last few kilobytes that were written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text = append(t.text, b...); len(t.text) > 8<<10 {
		t.text = slices.Clone(t.text[len(t.text)-4<<10:])
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
