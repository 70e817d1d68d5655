//go:build !js && !wasip1

package hosts_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wrangler builds with wrangler.toml as it does for a deployment, and uploads nothing.
func TestDeploymentBundlesTheWorker(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	wrangler := filepath.Join(root, "edge", "worker", "node_modules", ".bin", "wrangler")
	if _, err := os.Stat(wrangler); err != nil {
		missing(t, "wrangler is missing: run npm ci in edge/worker")
	}
	bundle := t.TempDir()
	cmd := exec.Command(wrangler, "deploy", "--dry-run", "--outdir", bundle)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "WRANGLER_SEND_METRICS=false", "WRANGLER_HIDE_BANNER=true", "XDG_CONFIG_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := "env.AUTH_DO (AuthStore)"; !strings.Contains(string(out), want) {
		t.Errorf("there is no %s in:\n%s", want, out)
	}
	t.Logf("%s", regexp.MustCompile(`Total Upload: .*`).Find(out))

	script, err := os.ReadFile(filepath.Join(bundle, "worker.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"AuthStore", "edge_request", "globalThis.Go", "CREATE TABLE"} {
		if !bytes.Contains(script, []byte(want)) {
			t.Errorf("the bundle lacks %q", want)
		}
	}
	modules, err := filepath.Glob(filepath.Join(bundle, "*.wasm"))
	if err != nil || len(modules) != 1 {
		t.Fatalf("the bundle has the modules %q, %v", modules, err)
	}
	if !bytes.Contains(script, []byte(filepath.Base(modules[0]))) {
		t.Errorf("the bundle doesn't import %s", modules[0])
	}
	uploaded, err := os.ReadFile(modules[0])
	if err != nil {
		t.Fatal(err)
	}
	built, err := os.ReadFile(filepath.Join(root, "build", "worker", "app.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(uploaded, built) {
		t.Errorf("the module has %d bytes, and what was built %d", len(uploaded), len(built))
	}
	if len(uploaded)+len(script) > 64<<20 {
		t.Errorf("%d bytes are more than Workers takes", len(uploaded)+len(script))
	}
}
