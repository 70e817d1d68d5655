package wasmtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// goLog names the file in which the go command of TestAPackageIsBuiltOnce notes what it is called for.
const goLog = "WASMTEST_GO_LOG"

// TestAPackageIsBuiltOnce runs this test binary again, with many tests of one package and with a go command that counts.
func TestAPackageIsBuiltOnce(t *testing.T) {
	if os.Getenv(goLog) != "" {
		for i := range 20 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				expect(t, wasmtest.New(t, []string{echo, "testdata/echo", "./testdata/echo/"}[i%3], wasmtest.Config{MaxInstances: 1}), "/count", 200, "1")
			})
		}
		return
	}
	t.Parallel()
	real, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$1\" >>\"$" + goLog + "\"\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "log")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAPackageIsBuiltOnce$", "-test.parallel=20")
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), goLog+"="+log)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	called, err := os.ReadFile(log)
	if got := strings.Count(string(called), "build\n"); err != nil || got != 1 {
		t.Errorf("20 tests have built their package %d times: %v\n%s", got, err, called)
	}
}
