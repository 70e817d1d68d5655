//go:build !js && !wasip1

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The variants of the conformance app, by the folders they are built in, and what cold starts are
// compared with.
const (
	ours        = "ours"       // on workerd: all others are compared with it
	authcore    = "authcore"   // @auth/core on workerd
	onObject    = "object"     // ours on workerd with its records in a Durable Object, where the two above have D1
	perRequest  = "perrequest" // ours on workerd, one wasm instance per request
	underWazero = "wazero"
	natively    = "native"

	empty         = "empty"          // a worker without anything
	complete      = "complete"       // the reference worker, with the catalogue, mail and passkeys
	plain         = "plain"          // the template of github.com/syumai/workers
	usual         = "usual"          // a login of the usual libraries, on the same
	usualPasskeys = "usual-passkeys" // with passkeys as well
)

// Entries other than worker.mjs: one that tells its memory as well, in the folder of ours, and one that
// counts its calls to a database, in that of @auth/core, too.
const (
	withMemory = "memory.mjs"
	counting   = "counting.mjs"
)

var titles = map[string]string{
	ours:        "edgeauth on workerd",
	authcore:    "@auth/core on workerd",
	onObject:    "edgeauth on a Durable Object",
	perRequest:  "our core, an instance per request",
	underWazero: "edgeauth under wazero, uninterruptible",
	natively:    "edgeauth, native",
	empty:       "empty worker",
	complete:    "edgeauth's reference worker",
	plain:       "syumai/workers template",

	usual:         "usual Go worker",
	usualPasskeys: "usual Go worker, with passkeys",
}

// A builder makes the variants from the module's root, each in a folder of its own.
type builder struct {
	root, dir string
}

// folder is where a variant is built.
func (b builder) folder(variant string) string {
	if variant == onObject {
		variant = ours
	}
	return filepath.Join(b.dir, variant)
}

// findRoot is the folder of the module.
func findRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

func (b builder) build(ctx context.Context, variant string) error {
	if variant == onObject {
		return nil // it is that of ours
	}
	dir := b.folder(variant)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	app := filepath.Join(dir, "app.wasm")
	switch variant {
	case ours, complete:
		wasmExec := filepath.Join(runtime.GOROOT(), "lib", "wasm", "wasm_exec.js")
		program := map[string]string{ours: "./wasmtest/conformance", complete: "./edge/worker"}[variant]
		return firstError(
			b.goBuild(ctx, "js", app, program),
			b.copy(dir, "edge/worker/worker.mjs", "edge/worker/program.mjs", "edge/worker/calls.mjs", "edge/worker/store.mjs", "edge/worker/records.mjs",
				"edge/bench/"+withMemory, "edge/bench/"+counting, wasmExec))
	case authcore:
		cmd := exec.CommandContext(ctx, b.tool(".bin/esbuild"), "--bundle", "edge/bench/reference.mjs", "--minify", "--format=esm", "--target=es2022",
			"--platform=browser", "--conditions=workerd,worker,browser", "--outfile="+filepath.Join(dir, "worker.mjs"), "--log-level=warning")
		cmd.Env = append(os.Environ(), "NODE_PATH="+b.tool(""))
		return firstError(b.run(cmd), b.copy(dir, "edge/bench/"+counting))
	case perRequest, plain:
		return firstError(
			b.shim(ctx, dir),
			b.goBuild(ctx, "js", app, "./edge/bench/"+variant))
	case usual, usualPasskeys:
		args := []string{"build", "-C", "edge/bench/usual", "-ldflags=-s -w", "-trimpath", "-o", app}
		if variant == usualPasskeys {
			args = append(args, "-tags", "webauthn")
		}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		return firstError(b.shim(ctx, dir), b.run(cmd))
	case underWazero:
		return firstError(
			b.goBuild(ctx, "wasip1", app, "./wasmtest/conformance"),
			b.run(exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "serve"), "./wasmtest/serve")))
	case natively:
		return b.run(exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "conformance"), "./wasmtest/conformance"))
	case empty:
		source := `export default { fetch() { return new Response("ok") } }`
		return os.WriteFile(filepath.Join(dir, "worker.mjs"), []byte(source), 0o644)
	}
	return fmt.Errorf("bench: there is no variant %s", variant)
}

// shim writes the JavaScript of github.com/syumai/workers, as its template does. It empties the folder.
func (b builder) shim(ctx context.Context, dir string) error {
	return b.run(exec.CommandContext(ctx, "go", "run", "github.com/syumai/workers/cmd/workers-assets-gen", "-mode=go", "-o", dir))
}

// goBuild builds with the flags of a deployed worker.
func (b builder) goBuild(ctx context.Context, goos, out, program string) error {
	args := []string{"build", "-tags", "nethttpomithttp2", "-ldflags=-s -w", "-trimpath", "-o", out}
	if goos == "wasip1" {
		args = append(args, "-buildmode=c-shared")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, program)...)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=wasm")
	return b.run(cmd)
}

func (b builder) run(cmd *exec.Cmd) error {
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("bench: %s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

func (b builder) copy(dir string, files ...string) error {
	for _, file := range files {
		if !filepath.IsAbs(file) {
			file = filepath.Join(b.root, file)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tool is a development tool of the worker.
func (b builder) tool(path string) string {
	return filepath.Join(b.root, "edge", "worker", "node_modules", filepath.FromSlash(path))
}

func (b builder) workerd() string {
	arch := map[string]string{"amd64": "64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	return b.tool("@cloudflare/workerd-" + runtime.GOOS + "-" + arch + "/bin/workerd")
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
