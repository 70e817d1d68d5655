package kvadapter_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/kvadapter"
)

// K-25: what version 1 has stored is read for as long as it lives, and so is what a later
// version will have stored when this one comes back. testdata/v1.json is what this
// version wrote, and is never written again: a schema that can't read it signs people out.
func TestRecordsOfEveryVersion(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var dump map[string]json.RawMessage
	if err := json.Unmarshal(text, &dump); err != nil {
		t.Fatal(err)
	}
	for _, later := range []string{"", `"version":2,"invented":{"deep":[1,2]},`} {
		b := layouts["one atomic store"](kvadapter.Options{})
		for key, value := range dump {
			if later != "" {
				value = json.RawMessage(strings.Replace(string(value), `"version": 1,`, later, 1))
			}
			b.rest.values[key] = labValue{value: value}
		}
		s, u, err := b.GetSessionAndUser(t.Context(), "session")
		if err != nil || s == nil || u.Name != "Ada" || u.Extra["role"] != "admin" || u.EmailVerified.UnixMilli() != 1767225600000 {
			t.Fatalf("%s: session %v, user %v, %v", later, s, u, err)
		}
		if err := readAndExtend(t.Context(), b, "session"); err != nil {
			t.Error(err)
		}
		if u, err := b.GetUserByEmail(t.Context(), ada.Email); err != nil || u == nil || u.ID != "ada" {
			t.Errorf("by address: %v, %v", u, err)
		}
		if a, err := b.GetAccount(t.Context(), "583231", "github"); err != nil || a == nil || a.AccessToken != "gho_secret" {
			t.Errorf("account: %v, %v", a, err)
		}
		if p, err := b.UpdateAuthenticatorCounter(t.Context(), "QUFB", 8); err != nil || p.CredentialPublicKey != "cGs" {
			t.Errorf("passkey: %v, %v", p, err)
		}
		if later != "" {
			for key, v := range b.rest.values {
				if !strings.Contains(string(v.value), `"invented"`) || !strings.Contains(string(v.value), `"version":2`) {
					t.Errorf("%s has lost what a later version wrote: %s", key, v.value)
				}
			}
		}
		if v, err := b.UseVerificationToken(t.Context(), ada.Email, "link"); err != nil || v == nil {
			t.Errorf("link: %v, %v", v, err)
		}
		if err := b.DeleteUser(t.Context(), "ada"); err != nil {
			t.Error(err)
		}
		if left := b.alive(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}
