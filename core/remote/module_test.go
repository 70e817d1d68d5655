package remote_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/internal/jwe"
	"github.com/edgeauth/edgeauth/core/remote"
)

// tools is where the tests find what npm installs: make test does.
const tools = "../../edge/worker"

// need skips a test for want of a tool, and fails it where all are wanted.
func need(t *testing.T, ok bool, what, fix string) {
	t.Helper()
	if ok {
		return
	}
	if os.Getenv("CI_STRICT") == "1" {
		t.Fatalf("missing: %s: %s", what, fix)
	}
	t.Skipf("needs %s: %s", what, fix)
}

func program(t *testing.T, name, fix string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	need(t, err == nil, name, fix)
	return path
}

// maxModule is the most that the module may weigh after gzip -9, comments included. It is
// bundled into servers and workers, not sent to browsers.
const maxModule = 7000

func TestModuleSize(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("remote.mjs")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if _, err := w.Write(text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	t.Logf("remote.mjs: %d bytes, %d after gzip -9", len(text), out.Len())
	if out.Len() > maxModule {
		t.Errorf("remote.mjs weighs %d bytes after gzip -9, %d more than it may", out.Len(), out.Len()-maxModule)
	}
	if bytes.Contains(text, []byte("import ")) || bytes.Contains(text, []byte("process.")) {
		t.Error("remote.mjs depends on something")
	}
}

// The stories of testdata/stories.mjs, in every runtime there is, with the real handler.
func TestModule(t *testing.T) {
	t.Parallel()
	auth := handler(t, core.Config{Getenv: environment(), BasePath: "/auth", TrustHost: core.On})
	server := httptest.NewServer(auth)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "vectors.json")
	if err := os.WriteFile(file, []byte(toJSON(t, vectors(t))), 0o600); err != nil {
		t.Fatal(err)
	}
	edge := server.URL + "/auth"
	run := func(t *testing.T, command ...string) {
		out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput()
		var result struct {
			Told     int
			Failures []string
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err != nil || json.Unmarshal([]byte(lines[len(lines)-1]), &result) != nil || result.Told < 15 {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, failure := range result.Failures {
			t.Error(failure)
		}
	}
	t.Run("node", func(t *testing.T) {
		t.Parallel()
		run(t, program(t, "node", "install Node 20 or later"), "testdata/run.mjs", edge, file)
	})
	t.Run("workerd", func(t *testing.T) {
		t.Parallel()
		node := program(t, "node", "install Node 20 or later")
		path, err := filepath.Abs(filepath.Join(tools, "package.json"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(filepath.Join(tools, "node_modules", "miniflare"))
		need(t, err == nil, "the tools of edge/worker", "npm ci in edge/worker")
		run(t, node, "testdata/workerd.mjs", path, edge, file)
	})
	for name, args := range map[string][]string{"deno": {"run", "--quiet", "--allow-net", "--allow-read", "--no-lock"}, "bun": {"run"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("%s is not installed; Node and workerd are what is promised on every change", name)
			}
			run(t, append(append([]string{path}, args...), "testdata/run.mjs", edge, file)...)
		})
	}
}

type verdict struct {
	Name    string `json:"name"`
	Cookies string `json:"cookies"`
	Verdict any    `json:"verdict"` // a session, null, or the kind of an error
}

type judged struct {
	Name    string `json:"name"`
	Token   string `json:"token"`
	Edge    string `json:"edge"`
	Verdict any    `json:"verdict"`
	Warning string `json:"warning,omitempty"`
}

// vectors are tokens and cookies, with what this package makes of them.
func vectors(t *testing.T) map[string]any {
	now := time.Now()
	claims := func(iat, exp time.Duration) string {
		return toJSON(t, map[string]any{"name": "Ada", "sub": "1", "iat": now.Add(iat).Unix(), "exp": now.Add(exp).Unix()})
	}
	const day = 24 * time.Hour
	const stranger = "the secret of some other site, quite"
	fine := token(t, secret, claims(-day, day))
	long := token(t, secret, toJSON(t, map[string]any{"name": "Ada", "picture": strings.Repeat("x", 12000), "exp": now.Add(day).Unix()}))
	chunk := func(n int) string { return long[min(n*3936, len(long)):min((n+1)*3936, len(long))] }
	named := func(name, value string) string { return cookieName + name + "=" + value }
	all := func(pairs ...string) string { return strings.Join(pairs, "; ") }
	tokens := map[string]string{
		"fine": fine, "new secret": token(t, "a newer secret of thirty-two characters", claims(-day, day)), "another secret": token(t, stranger, claims(-day, day)),
		"expired": token(t, secret, claims(-2*day, -day)), "expired within tolerance": token(t, secret, claims(-day, -5*time.Second)),
		"expired a moment ago": token(t, secret, claims(-day, -time.Minute)), "issued in the future": token(t, secret, claims(day, 2*day)),
		"not yet valid": token(t, secret, `{"name":"Ada","nbf":9e9}`), "no end": token(t, secret, `{"name":"Ada"}`), "end in 300000": token(t, secret, `{"name":"Ada","exp":9e12}`),
		"infinite end": token(t, secret, `{"name":"Ada","exp":1e400}`), "textual end": token(t, secret, `{"name":"Ada","exp":"9999999999"}`), "null end": token(t, secret, `{"exp":null}`),
		"textual iat": token(t, secret, `{"iat":"1"}`), "list": token(t, secret, `[]`), "null": token(t, secret, `null`), "text": token(t, secret, `"x"`), "nothing": token(t, secret, ``),
		"bad UTF-8": token(t, secret, "{\"name\":\"\xff\"}"), "nulls": token(t, secret, `{"name":null,"email":"","picture":1,"sub":"1"}`), "unicode": token(t, secret, `{"name":"Zoë \ud83d\ude00"}`),
		"other salt": seal(t, "authjs.session-token", claims(-day, day)), "uuid": "0b9f1f6e-3c55-4d1e-8d62-5f1f7ad8a8a1", "four dots": "....", "padded": fine + "=",
		"cut": fine[:len(fine)-1], "longer": fine + "A", "quoted": `"` + fine + `"`,
	}
	for i, part := range []string{"header", "iv", "text", "tag"} {
		at := []int{5, strings.Index(fine, "..") + 4, strings.LastIndex(fine, ".") - 5, len(fine) - 10}[i]
		changed := []byte(fine)
		changed[at] ^= 1
		if changed[at] == '.' || changed[at] == '`' || changed[at] == '@' {
			changed[at] = 'B'
		}
		tokens["changed "+part] = string(changed)
	}
	var cases []verdict
	for name, value := range tokens {
		cases = append(cases, verdict{Name: name, Cookies: named("", value)})
	}
	cases = append(cases,
		verdict{Name: "chunks", Cookies: all(named(".0", chunk(0)), named(".1", chunk(1)), named(".2", chunk(2)), named(".3", chunk(3)), named(".4", chunk(4)))},
		verdict{Name: "chunks in disorder, with others between", Cookies: all(named(".2", chunk(2)), "x=1", named(".0", chunk(0)), named(".4", chunk(4)), named(".3", chunk(3)), named(".1", chunk(1)))},
		verdict{Name: "a chunk is missing", Cookies: all(named(".0", chunk(0)), named(".2", chunk(2)))},
		verdict{Name: "a chunk too many", Cookies: all(named(".0", fine), named(".1", "x"))},
		verdict{Name: "a chunk after a gap", Cookies: all(named(".0", fine), named(".2", "x"))},
		verdict{Name: "chunks from one", Cookies: all(named(".1", fine[:100]), named(".2", fine[100:]))},
		verdict{Name: "plain and left-over chunks", Cookies: all(named(".0", "x"), named("", fine), named(".1", "y"))},
		verdict{Name: "plain continued", Cookies: all(named("", chunk(0)), named(".1", chunk(1)), named(".2", chunk(2)), named(".3", chunk(3)), named(".4", chunk(4)))},
		verdict{Name: "ten chunks", Cookies: tenths(fine, named)},
		verdict{Name: "twice", Cookies: all(named("", fine), named("", "x"))},
		verdict{Name: "twice, the first wrong", Cookies: all(named("", "x"), named("", fine))},
		verdict{Name: "twice, the first empty", Cookies: all(named("", ""), named("", fine))},
		verdict{Name: "the plain site's name", Cookies: "authjs.session-token=" + fine},
		verdict{Name: "none", Cookies: "a=b"},
	)
	e := newEdge(t, remote.Config{Secret: []string{"a newer secret of thirty-two characters", secret}, Transport: &wire{Handler: answering(200, "application/json", "null")}})
	signedIn := 0
	for i, c := range cases {
		r := httptest.NewRequest("GET", app+"/page", nil)
		r.Header.Set("Cookie", c.Cookies)
		session, err := e.Session(r)
		var known *remote.Error
		switch {
		case errors.As(err, &known):
			cases[i].Verdict = known.Kind
		case err != nil:
			t.Fatal(err)
		case session != nil:
			signedIn++
			var ordered struct {
				User struct {
					Name  any `json:"name,omitempty"`
					Email any `json:"email,omitempty"`
					Image any `json:"image,omitempty"`
				} `json:"user"`
				Expires string `json:"expires"`
			}
			if err := json.Unmarshal([]byte(toJSON(t, session)), &ordered); err != nil {
				t.Fatal(err)
			}
			cases[i].Verdict = ordered
			if c.Name == "nulls" { // omitempty would drop it
				cases[i].Verdict = json.RawMessage(`{"user":{"name":null,"email":"","image":1},"expires":"9999-12-31T23:59:59.000Z"}`)
			}
		}
	}
	if signedIn < 12 || signedIn > 22 {
		t.Fatalf("%d of %d cookies are sessions", signedIn, len(cases))
	}
	return map[string]any{
		"secret": secret, "token": fine, "cases": cases,
		"judged": []judged{
			{"ahead", token(t, secret, claims(-day, -9*time.Minute)), "session", "session", "clock"},
			{"expired a moment ago", token(t, secret, claims(-day, -9*time.Minute)), "null", nil, ""},
			{"expired a moment ago, edge down", token(t, secret, claims(-day, -9*time.Minute)), "down", "EdgeDown", ""},
			{"behind", token(t, secret, claims(10*time.Minute, day)), "down", "session", ""},
			{"expired", token(t, secret, claims(-2*day, -day)), "down", nil, ""},
			{"another secret", token(t, stranger, claims(-day, day)), "session", "SecretMismatch", ""},
			{"old secret", token(t, stranger, claims(-day, day)), "null", nil, ""},
			{"another secret, edge down", token(t, stranger, claims(-day, day)), "down", "SecretMismatch", ""},
			{"database session", "0b9f1f6e-3c55-4d1e-8d62-5f1f7ad8a8a1", "session", "SecretMismatch", ""},
		},
	}
}

func tenths(value string, named func(name, value string) string) string {
	var pairs []string
	for size := len(value)/11 + 1; len(value) > 0; {
		n := min(size, len(value))
		pairs = append(pairs, named("."+strconv.Itoa(len(pairs)), value[:n]))
		value = value[n:]
	}
	return strings.Join(pairs, "; ")
}

func seal(t *testing.T, salt, claims string) string {
	t.Helper()
	sealed, err := jwe.NewRing([]string{secret}, salt).Seal([]byte(claims))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// A typed app compiles, and its mistakes don't. TypeScript is used if it is among the tools of
// edge/worker; the names of the exports are compared in any case.
func TestModuleTypes(t *testing.T) {
	t.Parallel()
	exported := regexp.MustCompile(`(?m)^export (?:async )?(?:function|class) (\w+)`)
	var names [2]string
	for i, file := range []string{"remote.mjs", "remote.d.ts"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, match := range exported.FindAllStringSubmatch(string(text), -1) {
			found = append(found, match[1])
		}
		slices.Sort(found)
		names[i] = strings.Join(found, " ")
	}
	if names[0] != "EdgeAuthError edgeAuth" || names[0] != names[1] {
		t.Errorf("the module exports %q, the declarations %q", names[0], names[1])
	}
	node := program(t, "node", "install Node 20 or later")
	tsc := filepath.Join(tools, "node_modules", "typescript", "bin", "tsc")
	if path := os.Getenv("TSC"); path != "" {
		tsc = path
	}
	if _, err := os.Stat(tsc); err != nil {
		t.Skip("TypeScript is not among the tools of edge/worker; set TSC to the path of tsc")
	}
	if out, err := exec.CommandContext(t.Context(), node, tsc, "-p", "testdata").CombinedOutput(); err != nil {
		t.Errorf("tsc: %v\n%s", err, out)
	}
}
