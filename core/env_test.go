package core_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// envVectors are testdata/env.json: what the reference makes of an environment.
type envVectors struct {
	URLs []struct {
		Action   core.Action       `json:"action"`
		Protocol string            `json:"protocol"`
		Headers  map[string]string `json:"headers"`
		Env      map[string]string `json:"env"`
		BasePath string            `json:"basePath"`
		URL      string            `json:"url"` // empty: it threw
	} `json:"urls"`
	Defaults []struct {
		Env    map[string]string `json:"env"`
		Config envConfig         `json:"config"`
		Result envConfig         `json:"result"`
	} `json:"defaults"`
}

type envConfig struct {
	BasePath         string   `json:"basePath"`
	Secret           []string `json:"secret"`
	RedirectProxyURL string   `json:"redirectProxyUrl"`
	TrustHost        bool     `json:"trustHost"`
	ClientID         string   `json:"clientId"`
	ClientSecret     string   `json:"clientSecret"`
	Issuer           string   `json:"issuer"`
}

func readEnvVectors(t *testing.T) (v envVectors) {
	raw, err := os.ReadFile("testdata/env.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil || len(v.URLs) == 0 || len(v.Defaults) == 0 {
		t.Fatalf("testdata/env.json: %v, %d and %d cases", err, len(v.URLs), len(v.Defaults))
	}
	return v
}

// nonsense is an AUTH_URL that is no URL. The reference throws, or trusts every host because
// of it; here it counts as unset (fact 118).
const nonsense = "site.example"

// ActionURL is the reference's createActionURL.
func TestActionURL(t *testing.T) {
	t.Parallel()
	for _, c := range readEnvVectors(t).URLs {
		if c.Env["AUTH_URL"] == nonsense {
			continue
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		for name, value := range c.Headers {
			r.Header.Set(name, value)
		}
		r.Host = c.Headers["host"]
		got, err := core.ActionURL(c.Action, c.Protocol, r, environment(c.Env), c.BasePath)
		if got != c.URL || (err == nil) != (c.URL != "") || err != nil && !errors.Is(err, core.ErrUntrustedHost) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	for name, c := range map[string]struct {
		host, protocol string
		env            map[string]string
		want           string
	}{
		"nonsense in AUTH_URL":           {"a.example", "http", map[string]string{"AUTH_URL": nonsense}, "http://a.example/auth/session"},
		"no host":                        {"", "http", nil, ""},
		"a protocol that is none":        {"a.example", "javascript", nil, ""},
		"a protocol that opens files":    {"a.example", "file", nil, ""},
		"an AUTH_URL of another scheme":  {"a.example", "http", map[string]string{"AUTH_URL": "data:text/html,x"}, ""},
		"an AUTH_URL, and a broken host": {"a b", "javascript", map[string]string{"AUTH_URL": site}, site + "/auth/session"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = c.host
		if got, err := core.ActionURL(core.ActionSession, c.protocol, r, environment(c.env), "/auth"); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// SetEnvDefaults is the reference's setEnvDefaults.
func TestSetEnvDefaults(t *testing.T) {
	t.Parallel()
	for _, c := range readEnvVectors(t).Defaults {
		config := core.Config{
			BasePath: c.Config.BasePath, Secret: c.Config.Secret, RedirectProxyURL: c.Config.RedirectProxyURL,
			Providers: []core.Provider{core.OAuth{ID: "my-idp", ClientID: c.Config.ClientID, Issuer: c.Config.Issuer}},
		}
		before := config.Providers[0].(core.OAuth)
		out := core.SetEnvDefaults(environment(c.Env), config)
		client := out.Providers[0].(core.OAuth)
		got := envConfig{out.BasePath, out.Secret, out.RedirectProxyURL, out.TrustHost == core.On, client.ClientID, client.ClientSecret, client.Issuer}
		want := c.Result
		want.TrustHost = want.TrustHost && c.Env["AUTH_URL"] != nonsense
		if len(got.Secret) == 0 {
			got.Secret = []string{}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v, %+v: %+v, want %+v", c.Env, c.Config, got, want)
		}
		if after := config.Providers[0].(core.OAuth); after.ClientID != before.ClientID || config.BasePath != c.Config.BasePath {
			t.Errorf("%v: the argument was changed", c.Env)
		}
	}
}

// The outcome is what New makes of the same: an Auth of either behaves alike.
func TestSetEnvDefaultsAndNew(t *testing.T) {
	t.Parallel()
	p := newIDP()
	env := environment(map[string]string{
		"AUTH_SECRET": secret, "AUTH_URL": site + "/api/auth", "AUTH_IDP_ID": "client", "AUTH_IDP_SECRET": p.clientSecret, "AUTH_IDP_ISSUER": p.issuer,
	})
	config := core.Config{Providers: []core.Provider{core.OAuth{ID: "idp", OIDC: true}}, Transport: p, Logger: new(journal).logger()}
	filled := core.SetEnvDefaults(env, config)
	filled.Getenv = environment(nil)
	config.Getenv = env
	for _, one := range []core.Config{config, filled} {
		auth, err := core.New(one)
		if err != nil {
			t.Fatal(err)
		}
		b := newBrowser(t, auth)
		b.base = "/api/auth"
		p.signIn(b, "idp").wantRedirect(t, site)
		if b.user() != "Jane" {
			t.Errorf("signed in as %q", b.user())
		}
	}
	// Without a getenv it is the process's environment, as in New.
	if out := core.SetEnvDefaults(nil, config); out.Getenv == nil || out.Getenv("PATH") != os.Getenv("PATH") {
		t.Error("the environment is not the process's")
	}
}

// The vectors are what the generator gives today.
func TestEnvVectorsAreCurrent(t *testing.T) {
	t.Parallel()
	fresh, err := exec.Command(needNode(t), "testdata/env.mjs", reference).Output()
	if err != nil {
		t.Fatal(err)
	}
	if kept, _ := os.ReadFile("testdata/env.json"); !slices.Equal(fresh, kept) {
		t.Error("testdata/env.json is not what testdata/env.mjs writes")
	}
}
