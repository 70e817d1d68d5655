package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func echo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "echo.wasm")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-tags=nethttpomithttp2", "-o", path, "../testdata/echo")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func TestServe(t *testing.T) {
	t.Parallel()
	world := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	t.Cleanup(world.Close)
	ctx, stop := context.WithCancel(t.Context())
	out, stdout := io.Pipe()
	ended := make(chan error, 1)
	environ := []string{"ADDR=localhost:0", "AUTH_SECRET=s=1", "CONF_A=1", "EDGE_B=2", "AUTHOR=nobody", "PATH=/bin"}
	go func() {
		err := serve(ctx, []string{"-uninterruptible", echo(t)}, environ, stdout, io.Discard)
		_ = stdout.CloseWithError(err)
		ended <- err
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	base, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok || !strings.HasPrefix(base, "http://localhost:") || strings.HasSuffix(base, ":0") {
		t.Fatalf("serve said %q, %v", line, err)
	}
	get := func(path string) (*http.Response, string) {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", base+path, nil)
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		return res, string(body)
	}
	_, env := get("/env")
	for _, name := range []string{"ADDR=localhost:0", "AUTH_SECRET=s=1", "CONF_A=1", "EDGE_B=2"} {
		if !strings.Contains(env, `"`+name+`"`) {
			t.Errorf("the program does not see %s: %s", name, env)
		}
	}
	if strings.Contains(env, "AUTHOR") || strings.Contains(env, "PATH") {
		t.Errorf("the program sees too much: %s", env)
	}
	if res, _ := get("/fetch?url=" + world.URL); res.StatusCode != 302 || res.Header.Get("Location") != "/elsewhere" {
		t.Errorf("a redirect of the world arrived as %d %q", res.StatusCode, res.Header.Get("Location"))
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("serve ended with %v", err)
	}
}

func TestServeSaysWhyItCannot(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	text := filepath.Join(t.TempDir(), "text.wasm")
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file":          {nil, "name one .wasm file"},
		"two files":        {[]string{"a.wasm", "b.wasm"}, "name one .wasm file"},
		"a missing file":   {[]string{"-addr=localhost:0", "missing.wasm"}, "there is no file missing.wasm: build it with"},
		"a file of text":   {[]string{"-addr=localhost:0", text}, "can't be compiled"},
		"a port in use":    {[]string{"-addr=" + taken.Addr().String(), text}, "is in use"},
		"no address":       {[]string{"-addr=nowhere", text}, "missing port"},
		"negative pool":    {[]string{"-addr=localhost:0", "-instances=-1", text}, "negative limit"},
		"an unknown flag":  {[]string{"-x"}, "help requested"},
		"asking for usage": {[]string{"-h"}, "help requested"},
	} {
		var stderr bytes.Buffer
		err := serve(t.Context(), c.args, nil, io.Discard, &stderr)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if errors.Is(err, flag.ErrHelp) && !strings.Contains(stderr.String(), "usage: serve") {
			t.Errorf("%s: no usage in %q", name, &stderr)
		}
	}
}
