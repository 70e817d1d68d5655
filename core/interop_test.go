package core_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// reference is the folder of @auth/core.
const reference = "../edge/worker/node_modules/@auth/core"

// needNode gives the path of Node. Without it or the reference the test is skipped, unless CI_STRICT=1.
func needNode(t *testing.T) string {
	t.Helper()
	missing := func(what string) {
		t.Helper()
		if os.Getenv("CI_STRICT") == "1" {
			t.Fatal(what)
		}
		t.Skip(what)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing("this test needs Node 20 or later")
	}
	if _, err := os.Stat(reference); err != nil {
		missing("this test needs @auth/core: run npm ci in edge/worker")
	}
	return node
}

// inNode has @auth/core do what testdata/interop.mjs offers, one result for each task.
func inNode(t *testing.T, tasks []map[string]any) []map[string]any {
	t.Helper()
	node := needNode(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "testdata/interop.mjs", reference)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(mustJSON(tasks)), &stderr
	raw, err := cmd.Output()
	var results []map[string]any
	if err != nil || json.Unmarshal(raw, &results) != nil || len(results) != len(tasks) {
		t.Fatalf("node: %v\n%s%.500s", err, stderr.String(), raw)
	}
	return results
}

// A session cookie of @auth/core signs in here, and one made here is read there: on http and
// https, in one cookie and in several, with one secret and while it is being replaced.
func TestInterop(t *testing.T) {
	t.Parallel()
	const chunk = 3936 // characters: fact 55
	const old = "an old secret of at least thirty-two characters"
	type cell struct {
		origin, cookie string
		size           int // characters more in the token
		secrets        []string
	}
	var cells []cell
	for _, origin := range []string{site, secureSite} {
		for _, size := range []int{0, 3_000, 12_000} {
			for _, secrets := range [][]string{{secret}, {secret, old}} {
				name := sessionCookie
				if origin == secureSite {
					name = "__Secure-" + name
				}
				cells = append(cells, cell{origin, name, size, secrets})
			}
		}
	}
	app := func(c cell) *browser {
		auth := newAuth(t, core.Config{
			Providers: []core.Provider{anyone}, Secret: c.secrets,
			Callbacks: core.Callbacks{
				JWT: func(_ context.Context, p core.JWTParams) (core.JWT, error) {
					if p.Trigger == core.TriggerSignIn {
						p.Token["pad"], p.Token["text"], p.Token["big"] = strings.Repeat("x", c.size), "é 日本 😀 \u2028", json.Number("9007199254740991")
					}
					return p.Token, nil
				},
				Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
					p.Session.Extra = map[string]any{"pad": p.Token["pad"], "text": p.Token["text"], "big": p.Token["big"]}
					return p.Session, nil
				},
			},
		})
		b := newBrowser(t, auth)
		b.origin = c.origin
		return b
	}

	// There.
	var tasks []map[string]any
	for _, c := range cells {
		claims := map[string]any{"name": "Ada", "sub": "1", "pad": strings.Repeat("x", c.size), "text": "é 日本 😀 \u2028", "big": 9007199254740991}
		secrets := []string{c.secrets[len(c.secrets)-1]} // sealed before the newest secret came
		tasks = append(tasks, map[string]any{"action": "encode", "token": claims, "secret": secrets, "salt": c.cookie})

		b := app(c)
		b.signInAs("Ada")
		cookies := b.cookieHeader()
		tasks = append(tasks, map[string]any{"action": "getToken", "cookie": cookies, "secret": c.secrets, "secureCookie": c.origin == secureSite})
		tasks = append(tasks, map[string]any{"action": "decode", "token": whole(b, c.cookie), "secret": c.secrets, "salt": c.cookie})
		// A token that was read here once more, and so sealed again.
		b.session()
		tasks = append(tasks, map[string]any{"action": "decode", "token": whole(b, c.cookie), "secret": c.secrets, "salt": c.cookie})
	}
	results := inNode(t, tasks)

	// And back.
	for i, c := range cells {
		name := fmt.Sprintf("%s with %d characters more and %d secrets", c.cookie, c.size, len(c.secrets))
		token, ok := results[4*i]["value"].(string)
		if !ok {
			t.Fatalf("%s: encode: %v", name, results[4*i])
		}
		b := app(c)
		if len(token) <= chunk {
			b.set(c.cookie, token)
		} else {
			for n := 0; n*chunk < len(token); n++ {
				b.set(fmt.Sprintf("%s.%d", c.cookie, n), token[n*chunk:min(len(token), (n+1)*chunk)])
			}
		}
		session := b.session()
		user, _ := session["user"].(map[string]any)
		if user["name"] != "Ada" || session["text"] != "é 日本 😀 \u2028" || session["big"] != 9007199254740991.0 || len(session["pad"].(string)) != c.size {
			t.Errorf("%s: made there, here: %.300v", name, session)
		}
		for _, result := range results[4*i+1 : 4*i+4] {
			claims, _ := result["value"].(map[string]any)
			if claims["name"] != "Ada" || claims["sub"] != "id-of-Ada" || claims["email"] != "Ada@example.com" ||
				claims["text"] != "é 日本 😀 \u2028" || claims["big"] != 9007199254740991.0 || claims["jti"] == nil {
				t.Errorf("%s: made here, there: %.300v", name, result)
			}
		}
	}
}

// whole is the value of a cookie, put together from its chunks.
func whole(b *browser, name string) string {
	if value := b.cookie(name); value != "" {
		return value
	}
	var out strings.Builder
	for n := 0; ; n++ {
		part := b.cookie(fmt.Sprintf("%s.%d", name, n))
		if part == "" {
			return out.String()
		}
		out.WriteString(part)
	}
}

// R15: the URL Standard's own parser agrees that no redirect leads out of the site, and with
// browserOrigin, which the other tests rely on.
func TestRedirectsInNode(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	var tasks []map[string]any
	base := site + "/auth/signout"
	for _, hostile := range hostileURLs {
		if a := newBrowser(t, auth).post("/auth/signout", "callbackUrl", hostile); a.status == http.StatusFound {
			var latin1 []rune // as the Fetch Standard reads a header
			for _, c := range []byte(a.location()) {
				latin1 = append(latin1, rune(c))
			}
			tasks = append(tasks, map[string]any{"action": "origin", "location": string(latin1), "base": base})
		}
	}
	decided := len(tasks)
	for _, hostile := range hostileURLs {
		tasks = append(tasks, map[string]any{"action": "origin", "location": hostile, "base": base})
	}
	results := inNode(t, tasks)
	for i, result := range results {
		location := tasks[i]["location"].(string)
		if i < decided {
			if result["value"] != site {
				t.Errorf("Location %.80q: %v", location, result)
			}
			continue
		}
		// Whatever it takes for ours is ours, and whatever leads elsewhere it finds.
		if ours := browserOrigin(location, base) == site; ours && result["value"] != nil && result["value"] != site {
			t.Errorf("%.80q leads to %v, and browserOrigin doesn't see it", location, result["value"])
		}
	}
}
