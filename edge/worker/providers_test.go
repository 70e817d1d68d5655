package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// offered starts the worker with an environment and gives the ids that GET providers names.
func offered(t *testing.T, env map[string]string) (ids []string, leftOut []error) {
	t.Helper()
	config, leftOut, err := fromEnvironment(getenv(env))
	if err != nil {
		t.Fatal(err)
	}
	config.Logger.Warn = func(string, ...any) {}
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/auth/providers", nil))
	var list map[string]json.RawMessage
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		t.Fatalf("GET providers: %s", w.Body)
	}
	for id := range list {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, leftOut
}

// Each provider of the catalogue is reached by its variables.
func TestEveryProviderIsReached(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../core/providers/testdata/providers.json")
	if err != nil {
		t.Fatal(err)
	}
	var catalogue map[string]struct{ ID string }
	if err := json.Unmarshal(raw, &catalogue); err != nil || len(catalogue) < 90 {
		t.Fatalf("%d providers: %v", len(catalogue), err)
	}
	env := complete()
	want := []string{"passkey", "resend", "sendgrid", "postmark", "mailgun", "forwardemail", "loops"}
	for _, entry := range catalogue {
		want = append(want, entry.ID)
	}
	for _, id := range want {
		for suffix, value := range map[string]string{
			"ID": "id", "SECRET": "secret", "ISSUER": "https://tenant.example", "KEY": "key", "FROM": "Login <login@app.example>", "TRANSACTIONAL_ID": "t",
		} {
			env[variable(id, suffix)] = value
		}
	}
	env["AUTH_MAILGUN_REGION"] = "EU"
	env["AUTH_NETSUITE_USERINFO"] = "https://tenant.example/restlet"
	env["AUTH_PROVIDERS"] = strings.Join(want, ",")
	slices.Sort(want)
	if got, leftOut := offered(t, env); !slices.Equal(got, want) || len(leftOut) > 0 {
		t.Errorf("offered %d of %d: %q\nleft out: %v", len(got), len(want), got, leftOut)
	}
}

// A provider that lacks a setting is left out, with the variable's name, and the others stay.
func TestIncompleteProvidersAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id    string
		env   map[string]string
		names string
	}{
		{"github", nil, "AUTH_GITHUB_ID"},
		{"github", map[string]string{"AUTH_GITHUB_ID": "id"}, "AUTH_GITHUB_SECRET"},
		{"auth0", map[string]string{"AUTH_AUTH0_ID": "id", "AUTH_AUTH0_SECRET": "s"}, "AUTH_AUTH0_ISSUER"},
		{"unheard-of", map[string]string{"AUTH_UNHEARD_OF_ID": "id"}, "AUTH_UNHEARD_OF_ISSUER"},
		{"resend", map[string]string{"AUTH_RESEND_KEY": "key"}, "AUTH_RESEND_FROM"},
		{"resend", map[string]string{"AUTH_RESEND_FROM": "login@app.example"}, "AUTH_RESEND_KEY"},
		{"loops", map[string]string{"AUTH_LOOPS_KEY": "key"}, "AUTH_LOOPS_TRANSACTIONAL_ID"},
		{"mailgun", map[string]string{"AUTH_MAILGUN_KEY": "key", "AUTH_MAILGUN_FROM": "a@app.example", "AUTH_MAILGUN_REGION": "Mars"}, "AUTH_MAILGUN_REGION"},
		{"bungie", map[string]string{"AUTH_BUNGIE_ID": "id", "AUTH_BUNGIE_SECRET": "s"}, "AUTH_BUNGIE_KEY"},
		{"netsuite", map[string]string{"AUTH_NETSUITE_ID": "id", "AUTH_NETSUITE_SECRET": "s", "AUTH_NETSUITE_ISSUER": "https://1.app.netsuite.com"}, "AUTH_NETSUITE_USERINFO"},
	} {
		env := complete()
		env["AUTH_PROVIDERS"] = "my-idp," + c.id
		for name, value := range c.env {
			env[name] = value
		}
		ids, leftOut := offered(t, env)
		if !slices.Equal(ids, []string{"my-idp"}) || len(leftOut) != 1 {
			t.Errorf("%s: offered %q, left out %v", c.id, ids, leftOut)
			continue
		}
		var incomplete *IncompleteError
		if err := leftOut[0]; !errors.As(err, &incomplete) || incomplete.Provider != c.id || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %v, want it to name %s", c.id, err, c.names)
		}
	}
}
