package wasmtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrowser signs a person in with Chromium at a real OpenID provider, on each runtime.
func TestBrowser(t *testing.T) {
	t.Parallel()
	needNode(t)
	needChromium(t)
	targets := []string{"native", "wazero", "workerd"}
	addrs := map[string]string{}
	var redirects []string
	for _, target := range targets {
		addrs[target] = freeAddr(t)
		redirects = append(redirects, "http://"+addrs[target]+"/auth/callback/idp")
	}
	idp := freeAddr(t)
	start(t, []string{"ADDR=" + idp, "REDIRECT_URIS=" + strings.Join(redirects, ",")}, "node", filepath.Join(worker, "idp.mjs"))
	env := []string{"AUTH_IDP_ISSUER=http://" + idp, "AUTH_IDP_ID=demo", "AUTH_IDP_SECRET=demo-secret"}
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			demo(t, target, addrs[target], env)
			cmd := exec.Command("node", filepath.Join(worker, "browser.mjs"), "http://"+addrs[target])
			cmd.Env = append(os.Environ(), "CHROMIUM="+chromium())
			out, err := cmd.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
