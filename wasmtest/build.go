package wasmtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// buildFlags are those of a deployed module.
var buildFlags = []string{"-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-tags=nethttpomithttp2"}

// builds remembers what this process has built, and keeps its tests, which run in parallel, from building it again at the
// same time. Sources don't change while their tests run.
var builds struct {
	sync.Mutex
	done map[string]bool // by path
}

// build makes a guest of a Go package and returns its path. The file stays in the cache, where the go command finds it up to
// date the next time and need not link again. Its name depends on the working folder as well, since "go test" runs
// the tests of several packages at once, each in its own.
func build(ctx context.Context, pkg, cache string, tempDir func() string) (string, error) {
	if info, err := os.Stat(pkg); err == nil && info.IsDir() && !filepath.IsAbs(pkg) {
		pkg = "./" + filepath.ToSlash(filepath.Clean(pkg))
	}
	builds.Lock()
	defer builds.Unlock()
	dir, err := cacheDir(cache, "built")
	if err != nil {
		return "", err
	}
	temporary := ""
	if dir == "" {
		temporary = tempDir()
		dir = temporary
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("wasmtest: %w", err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%x.wasm", sha256.Sum256([]byte(here+"\x00"+pkg))))
	if builds.done[path] {
		return path, nil
	}
	if _, err := goCommand(ctx, append(append([]string{"build", "-o", path}, buildFlags...), pkg)...); err != nil {
		return "", err
	}
	if err := touchSources(ctx, pkg); err != nil {
		return "", err
	}
	if dir != temporary { // which goes with the test that built it
		if builds.done == nil {
			builds.done = map[string]bool{}
		}
		builds.done[path] = true
		prune(dir, builtModules)
	}
	return path, nil
}

// touchSources asks for the status of every source file of pkg outside the standard library. "go test" notes what files of
// the module a test has looked at and runs it again when they change; what the go command started here reads, it can't see.
func touchSources(ctx context.Context, pkg string) error {
	const files = `{{if not .Standard}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{end}}`
	list, err := goCommand(ctx, "list", "-deps", "-tags=nethttpomithttp2", "-f", files, pkg)
	if err != nil {
		return err
	}
	for path := range strings.Lines(string(list)) {
		_, _ = os.Stat(strings.TrimSuffix(path, "\n")) // the build has just read it
	}
	return nil
}

func goCommand(ctx context.Context, arguments ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", arguments...)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=") // flags for the test, such as -race, are not for the guest
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("wasmtest: go %s: %w\n%s", strings.Join(arguments, " "), err, stderr.Bytes())
	}
	return out, nil
}
