package kvadapter_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter"
)

// What version 1 has stored is read for as long as it lives, and so is what a later version
// will have stored when this one comes back. testdata/v1.json is what this version wrote, and
// is never written again: a schema that can't read it signs people out.
func TestRecordsOfEveryVersion(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var stored []struct {
		Key, Ref string
		Value    json.RawMessage
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	for _, later := range []string{"", `"version":2,"invented":{"deep":[1,2]},`} {
		l := newLab()
		a := kvadapter.New(l, kvadapter.Options{})
		for _, w := range stored {
			value := string(w.Value)
			if later != "" {
				value = strings.Replace(value, `"version": 1,`, later, 1)
			}
			if ok, err := l.Store.Commit(t.Context(), nil, []kvadapter.Write{{Key: w.Key, Ref: w.Ref, Value: []byte(value)}}); !ok || err != nil {
				t.Fatal(err)
			}
		}
		s, u, err := a.GetSessionAndUser(t.Context(), "session")
		if err != nil || s == nil || u.Name != "Ada" || u.Extra["role"] != "admin" || u.EmailVerified.UnixMilli() != 1767225600000 {
			t.Fatalf("%s: session %v, user %v, %v", later, s, u, err)
		}
		if err := readAndExtend(t.Context(), a, "session", 24*365*200*time.Hour); err != nil {
			t.Error(err)
		}
		if u, err := a.GetUserByEmail(t.Context(), ada.Email); err != nil || u == nil || u.ID != "ada" {
			t.Errorf("by address: %v, %v", u, err)
		}
		if a, err := a.GetAccount(t.Context(), "583231", "github"); err != nil || a == nil || a.AccessToken != "gho_secret" {
			t.Errorf("account: %v, %v", a, err)
		}
		if p, err := a.UpdateAuthenticatorCounter(t.Context(), "QUFB", 8); err != nil || p.CredentialPublicKey != "cGs" {
			t.Errorf("passkey: %v, %v", p, err)
		}
		if v, err := a.UseVerificationToken(t.Context(), ada.Email, "link"); err != nil || v == nil {
			t.Errorf("link: %v, %v", v, err)
		}
		if later != "" {
			for key, w := range dump(t, l) {
				if text := string(w.Value); !strings.Contains(text, `"invented"`) || !strings.Contains(text, `"version":2`) {
					t.Errorf("%s has lost what a later version wrote: %s", key, text)
				}
			}
		}
		if err := a.DeleteUser(t.Context(), "ada"); err != nil {
			t.Error(err)
		}
		for key := range dump(t, l) {
			if !strings.HasPrefix(key, "token.") {
				t.Errorf("left: %s", key)
			}
		}
	}
}
