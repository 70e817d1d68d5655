// Package examples_test runs the example apps and signs people in to them with Chromium.
package examples_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// An app is an example with its own tools, pointed at a handler.
type app struct {
	name  string   // its folder
	base  string   // where its client looks for the handler
	start []string // what serves the built app on $HOST and $PORT
}

var apps = []app{
	{name: "sveltekit", base: "/auth", start: []string{"node", "build"}},
	{name: "solidstart", base: "/api/auth", start: []string{"node", ".output/server/index.mjs"}},
	{name: "next", base: "/api/auth", start: []string{"node", "node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1"}},
}

func TestApps(t *testing.T) {
	t.Parallel()
	needTools(t)
	worker := buildWorker(t, "./worker")
	for _, app := range apps {
		t.Run(app.name, func(t *testing.T) {
			t.Parallel()
			addr, edge := freeAddr(t), freeAddr(t)
			origin := "http://" + addr
			host, port, _ := strings.Cut(addr, ":")
			env := []string{
				"ORIGIN=" + origin, "EDGE_URL=http://" + edge,
				"HOST=" + host, "PORT=" + port, "NEXT_TELEMETRY_DISABLED=1",
			}
			install(t, app.name)
			run(t, app.name, env, "npm", "run", "build")

			handler := serve(t, worker, edge, origin, app.base, "AUTH_URL="+origin)
			start(t, app.name, env, app.start...)

			s := story{"up", app.name, origin, app.base, filepath.Join(t.TempDir(), "state.json")}
			tell(t, s)
			handler.end()
			s.Edge = "down"
			tell(t, s)
		})
	}
}

// TestGoApps has the sites in Go, which hold the handler themselves, on workerd. They can't lose it.
func TestGoApps(t *testing.T) {
	t.Parallel()
	needTools(t)
	for _, app := range []app{{name: "site", base: "/auth"}, {name: "api", base: "/api/auth"}} {
		t.Run(app.name, func(t *testing.T) {
			t.Parallel()
			addr := freeAddr(t)
			origin := "http://" + addr
			serve(t, buildWorker(t, "./"+app.name), addr, origin, app.base, "AUTH_TRUST_HOST=true")
			tell(t, story{"up", app.name, origin, app.base, filepath.Join(t.TempDir(), "state.json")})
		})
	}
}

// serve runs a worker on workerd, and an OpenID provider beside it. Origin is what browsers see,
// and host says how the handler knows it.
func serve(t *testing.T, worker, addr, origin, base, host string) *server {
	t.Helper()
	idp := freeAddr(t)
	start(t, tools, []string{"ADDR=" + idp, "REDIRECT_URIS=" + origin + base + "/callback/idp"}, "node", "idp.mjs")
	return start(t, tools, []string{
		"ADDR=" + addr, host, "AUTH_SECRET=" + strings.Repeat("not-a-secret-", 3),
		"AUTH_IDP_ISSUER=http://" + idp, "AUTH_IDP_ID=demo", "AUTH_IDP_SECRET=demo-secret",
	}, "node", "serve.mjs", worker)
}

// A story is told by testdata/stories.mjs. State is a file with the cookies of somebody who is
// signed in: stories of a handler that is up leave it to those of one that is down.
type story struct{ Edge, Name, Origin, Base, State string }

func tell(t *testing.T, s story) {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "stories.mjs"), string(raw))
	cmd.Env = append(os.Environ(), "CHROMIUM="+chromium())
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// Lock files name no registry but npm's own.
func TestLockFiles(t *testing.T) {
	t.Parallel()
	for _, app := range apps {
		raw, err := os.ReadFile(filepath.Join(app.name, "package-lock.json"))
		if err != nil {
			t.Fatal(err)
		}
		var lock struct {
			Packages map[string]struct{ Resolved string }
		}
		if err := json.Unmarshal(raw, &lock); err != nil || len(lock.Packages) < 20 {
			t.Fatalf("%s: %d packages, %v", app.name, len(lock.Packages), err)
		}
		for path, p := range lock.Packages {
			if p.Resolved != "" && !strings.HasPrefix(p.Resolved, "https://registry.npmjs.org/") {
				t.Errorf("%s: %s is from %s", app.name, path, p.Resolved)
			}
		}
	}
}

// buildWorker compiles an example in Go, with the files that run it on workerd beside it.
func buildWorker(t *testing.T, pkg string) string {
	t.Helper()
	dir := t.TempDir()
	run(t, ".", []string{"GOOS=js", "GOARCH=wasm"}, "go", "build", "-tags", "nethttpomithttp2", "-ldflags=-s -w", "-trimpath",
		"-o", filepath.Join(dir, "app.wasm"), pkg)
	goroot := strings.TrimSpace(run(t, ".", nil, "go", "env", "GOROOT"))
	for _, file := range []string{
		filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"),
		filepath.Join(tools, "worker.mjs"), filepath.Join(tools, "program.mjs"), filepath.Join(tools, "calls.mjs"), filepath.Join(tools, "store.mjs"), filepath.Join(tools, "records.mjs"),
	} {
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

// installing is held by the one test that installs: npm's cache and both cores are busy with it.
var installing sync.Mutex

// install gets an app's packages, unless they are those of its lock file already.
func install(t *testing.T, dir string) {
	t.Helper()
	installing.Lock()
	defer installing.Unlock()
	lock, err := os.Stat(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	installed, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json"))
	if err == nil && !installed.ModTime().Before(lock.ModTime()) {
		return
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	need(t, err == nil, "what "+dir+" is made of", "npm ci says "+string(out))
}
