package world_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/edgeauth/edgeauth/wasmtest/world"
)

func quote(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func withClient(a *app) context.Context {
	return context.WithValue(a.t.Context(), oauth2.HTTPClient, a.client())
}

func (a *app) userinfo(token string) (claims map[string]any) {
	a.t.Helper()
	r, _ := http.NewRequest("GET", "https://idp.example/userinfo", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := a.client().Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&claims); err != nil {
		a.t.Fatal(err)
	}
	return claims
}

func TestAHandlerSeesWhatAServerGets(t *testing.T) {
	t.Parallel()
	network := world.Hosts{"app.example:8443": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintln(w, r.Method, r.Host, r.RequestURI, r.URL, r.TLS != nil, r.RemoteAddr, string(body))
	})}
	for scheme, want := range map[string]string{
		"https": "POST app.example:8443 /a%2Fb?c=d /a%2Fb?c=d true 192.0.2.1:1234 hello\n",
		"http":  "POST app.example:8443 /a%2Fb?c=d /a%2Fb?c=d false 192.0.2.1:1234 hello\n",
	} {
		r, _ := http.NewRequest("POST", scheme+"://app.example:8443/a%2Fb?c=d", strings.NewReader("hello"))
		before := r.URL.String()
		resp, err := network.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(resp.Body); string(body) != want || r.URL.String() != before || resp.Request != r {
			t.Errorf("%s: %s", scheme, body)
		}
	}
}

func TestNetworksThatFail(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	network := world.Hosts{
		"abort.example": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
		"slow.example":  http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }),
	}
	get := func(url string) error {
		r, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
		_, err := network.RoundTrip(r)
		return err
	}
	err := get("https://nobody.example/secret")
	if unknown, ok := errors.AsType[*world.HostError](err); !ok || unknown.Host != "nobody.example" || strings.Contains(err.Error(), "secret") {
		t.Errorf("an unknown host: %v", err)
	}
	if err := get("https://abort.example"); err == nil {
		t.Error("an aborted answer arrived")
	}
	for range 2 {
		if err := get("https://slow.example"); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that is gone: %v", err)
		}
	}
}

// A test of a native handler, which imports this package alone, must not wait for a WebAssembly runtime to be compiled.
func TestThePackageIsLight(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(path, "github.com/go-jose/go-jose/v4") && !strings.HasSuffix(path, "/wasmtest/world") {
			t.Errorf("it imports %s", path)
		}
	}
}
