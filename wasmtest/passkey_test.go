package wasmtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPasskeys has Chromium register and sign in with virtual authenticators on wazero and
// workerd. The stories are those of package passkey, whose own test tells them natively.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	needNode(t)
	needChromium(t)
	for _, target := range []string{"wazero", "workerd"} {
		t.Run(target, func(t *testing.T) {
			site := func(env ...string) string {
				addr := freeAddr(t)
				run(t, "./testdata/passkeys", target, addr, env)
				return "http://" + strings.Replace(addr, "127.0.0.1", "localhost", 1) // an address is no relying party
			}
			cmd := exec.Command("node", filepath.Join("..", "core", "passkey", "testdata", "browser.mjs"), site(), site("EDGE_MIXED=1"), worker)
			cmd.Env = append(os.Environ(), "CHROMIUM="+chromium())
			out, err := cmd.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
