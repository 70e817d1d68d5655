package wasmtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestTheCacheIsNamedAfterItsCompiler(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", "github.com/tetratelabs/wazero").Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != wazeroVersion {
		t.Errorf("go.mod has wazero %s (%v), wazeroVersion is %s: change it", got, err, wazeroVersion)
	}
}

func TestPruneKeepsTheNewest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for n := range 5 {
		path := filepath.Join(dir, strconv.Itoa(n))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Unix(int64(1000+n), 0)); err != nil {
			t.Fatal(err)
		}
	}
	for _, keep := range []int{9, 2} {
		prune(dir, keep)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "3" || filepath.Base(left[1]) != "4" {
		t.Errorf("left %q, want the two newest", left)
	}
	prune(filepath.Join(dir, "missing"), 0)
}
