//go:build !js && !wasip1

package edge_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// A local is a worker under miniflare.
type local struct {
	*worker
	stdin io.Writer
	lines *bufio.Scanner
	stop  func() // ends it; called at the end of the test, too
}

// all are the bindings that miniflare can have.
var all = []string{"AUTH_KV", "AUTH_DO", "AUTH_DB"}

// miniflare runs a program with some of all bindings, and with text bindings. What is stored stays
// in the folder state.
func miniflare(t testing.TB, program, state string, bound []string, texts map[string]string) *local {
	t.Helper()
	tool(t, "miniflare")
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "node is missing: install Node 20.3 or newer")
	}
	l := &local{worker: &worker{t: t, log: &logBuffer{}}}
	settings, err := json.Marshal(map[string]any{"bound": bound, "texts": texts})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "worker/testdata/miniflare.mjs", build(t, program), state, string(settings))
	cmd.Stderr = l.log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.stdin, l.lines = stdin, bufio.NewScanner(stdout)
	l.stop = sync.OnceFunc(func() { // it ends workerd, its child, when its input ends
		stdin.Close()
		cmd.Wait()
	})
	t.Cleanup(l.stop)
	u, err := url.Parse(strings.TrimPrefix(l.line(), "listening on "))
	if err != nil {
		t.Fatal(err)
	}
	l.addr = u.Host
	return l
}

func (l *local) line() string {
	l.t.Helper()
	if !l.lines.Scan() {
		l.t.Fatalf("miniflare ended:\n%s", l.log)
	}
	return l.lines.Text()
}

// stored decodes what worker/testdata/miniflare.mjs says about what.
func (l *local) stored(what string, into any) {
	l.t.Helper()
	fmt.Fprintln(l.stdin, what)
	for json.Unmarshal([]byte(l.line()), into) != nil { // the worker's log comes this way, too
	}
}
