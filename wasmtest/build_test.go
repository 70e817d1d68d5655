package wasmtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/edgeauth/edgeauth/wasmtest"
)

// builtEcho returns the echo guest as a file, for what takes one.
func builtEcho(t testing.TB) string { return compileGo(t, "-buildmode=c-shared") }

func buildCommand(t testing.TB) string { return compileGo(t, "-buildmode=exe") }

func compileGo(t testing.TB, mode string) string {
	path := filepath.Join(t.TempDir(), "echo.wasm")
	cmd := exec.CommandContext(t.Context(), "go", "build", mode, "-trimpath", "-ldflags=-s -w", "-tags=nethttpomithttp2", "-o", path, echo)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func TestNewTakesPathsAndPackages(t *testing.T) {
	t.Parallel()
	for _, module := range []string{
		builtEcho(t),
		"testdata/echo",
		"./testdata/echo/",
		"github.com/edgeauth/edgeauth/wasmtest/testdata/echo",
	} {
		expect(t, wasmtest.New(t, module, wasmtest.Config{}), "/count", 200, "1")
	}
}

func TestTheCacheIsShared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := builtEcho(t)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			expect(t, wasmtest.New(t, path, wasmtest.Config{CacheDir: dir}), "/count", 200, "1")
		})
	}
	all.Wait()
	var files int
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, _ error) error {
		if !d.IsDir() {
			files++
		}
		return nil
	})
	if files != 1 {
		t.Errorf("%d files in the cache, want 1", files)
	}
}
