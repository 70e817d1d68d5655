package providers

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/core"
)

// The paths of fields, each as JavaScript would read it.
func TestLookUp(t *testing.T) {
	t.Parallel()
	const profile = `{"a":"x","zero":0,"empty":"","no":null,"yes":true,"deep":{"a":{"b":"y"},"no":null},"list":["l",{"a":"m"}],"first":"Jane","last":"Doe"}`
	for _, c := range []struct {
		path, want string // JSON; empty: nothing is there
		fails      bool
	}{
		{"a", `"x"`, false},
		{"zero", `0`, false},
		{"missing", ``, false},
		{"no", `null`, false},
		{"deep.a.b", `"y"`, false},
		{"deep.missing", ``, false},
		{"missing.a", ``, true},
		{"no.a", ``, true},
		{"deep.no.a", ``, true},
		{"missing?.a", ``, false},
		{"missing?.a.b.c", ``, false},
		{"no?.a", ``, false},
		{"deep?.a?.b", `"y"`, false},
		{"deep?.no.b", ``, true},
		{"a.b", ``, false},
		{"a.b.c", ``, true},
		{"zero.a", ``, false},
		{"list.0", `"l"`, false},
		{"list.1.a", `"m"`, false},
		{"list.2", ``, false},
		{"list.-1", ``, false},
		{"list.2?.a", ``, false},
		{"list.length", ``, false},
		{"a.0", ``, false},
		{"missing|a", `"x"`, false},
		{"no|a", `"x"`, false},
		{"empty|a", `""`, false},
		{"zero|a", `0`, false},
		{"missing|no", `null`, false},
		{"no|missing", ``, false},
		{"missing|null", `null`, false},
		{"a|missing.b", `"x"`, false},
		{"missing|missing.b", ``, true},
		{"first+last", `"Jane Doe"`, false},
		{"first+missing", `"Jane"`, false},
		{"no+empty+last", `"Doe"`, false},
		{"first+zero", `"Jane 0"`, false},
		{"first+yes+deep", `"Jane"`, false},
		{"missing+no", `""`, false},
		{"missing|first+last", `"Jane Doe"`, false},
		{"first+missing.a", ``, true},
	} {
		var p core.Profile
		if err := decode([]byte(profile), &p); err != nil {
			t.Fatal(err)
		}
		value, present, err := lookUp(p, c.path)
		got := ""
		if present {
			raw, _ := json.Marshal(value)
			got = string(raw)
		}
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %s, %v", c.path, got, err)
		}
	}
}

// Whatever a provider says, a mapping makes a user with an id and an address that is text, or none.
func FuzzFields(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"name":"x","email":"a@b","images":[{"url":"u"}]}`, `{"id":1e400,"images":{}}`, `{"id":{},"first":[]}`, `{}`, `[]`, `null`,
		`{"id":"x","data":null}`, `{"id":12345678901234567890,"images":[[]]}`,
	} {
		for _, path := range []string{"name|data?.name|first+last", "data.name", "images?.0?.url", "||", "+.?|null", "id+id"} {
			f.Add([]byte(seed), path)
		}
	}
	functions := []func(context.Context, core.Profile, *core.Account) (*core.User, error){
		standard.user, appleUser, azureDevOpsUser, beyondIdentityUser, bungieUser, clickUpUser, discordUser, eventbriteUser, eveOnlineUser,
		foursquareUser, threadsUser, yandexUser, nextcloudUser("https://cloud.example"),
	}
	f.Fuzz(func(t *testing.T, raw []byte, path string) {
		var profile core.Profile
		if decode(raw, &profile) != nil {
			return
		}
		for _, read := range append(functions, fields{id: "id", name: path, email: path, image: path}.user) {
			user, err := read(t.Context(), profile, &core.Account{})
			switch {
			case err != nil:
			case user == nil || user.ID == "":
				t.Errorf("no user, and no error: %+v", user)
			case !utf8.ValidString(user.Name + user.Image):
				t.Errorf("no text: %+v", user)
			}
		}
	})
}

// Whatever a token endpoint says, mending it gives JSON, or leaves it alone.
func FuzzMend(f *testing.F) {
	for _, seed := range []string{
		`{"access_token":"x"}`, `{"access_token":"x","scope":["a","b"]}`, `{"access_token":"x","scope":null,"expires_in":0}`, `{"error":"x"}`,
		`{"access_token":"x","scope":"a b"}`, `{"access_token":"x","scope":{}}`, `{"errcode":40029}`, `x`, ``, `null`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, mend := range []func(context.Context, int, []byte) (int, []byte, error){addTokenType, joinScopes, microsoftError} {
			status, body, err := mend(t.Context(), 200, raw)
			if err != nil {
				if !errors.Is(err, core.ErrOAuthCallback) {
					t.Error(err)
				}
				continue
			}
			if status != 200 || json.Valid(raw) && !json.Valid(body) {
				t.Errorf("%d %q", status, body)
			}
		}
	})
}

// What becomes of the token endpoints' answers that need it.
func TestMend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		mend       func(context.Context, int, []byte) (int, []byte, error)
		body, want string
	}{
		{"no token type", addTokenType, `{"access_token":"x","user_id":12345678901234567890}`, `{"access_token":"x","token_type":"bearer","user_id":12345678901234567890}`},
		{"null for nothing", addTokenType, `{"access_token":"x","scope":null,"token_type":"bearer"}`, `{"access_token":"x","token_type":"bearer"}`},
		{"another token type", addTokenType, `{"access_token":"x","token_type":"mac"}`, `{"access_token":"x","token_type":"mac"}`},
		{"an error", addTokenType, `{"errcode":40029,"errmsg":"invalid code"}`, `{"errcode":40029,"errmsg":"invalid code"}`},
		{"a list of scopes", joinScopes, `{"access_token":"x","scope":["a","b"]}`, `{"access_token":"x","scope":"a b"}`},
		{"a text of scopes", joinScopes, `{"access_token":"x","scope":"a b"}`, `{"access_token":"x","scope":"a b"}`},
		{"no scopes", joinScopes, `{"access_token":"x","scope":[]}`, `{"access_token":"x"}`},
		{"something else for scopes", joinScopes, `{"access_token":"x","scope":7}`, `{"access_token":"x"}`},
		{"no JSON", joinScopes, `x`, `x`},
	} {
		status, body, err := c.mend(t.Context(), 200, []byte(c.body))
		if status != 200 || string(body) != c.want || err != nil {
			t.Errorf("%s: %d %s %v", c.name, status, body, err)
		}
	}
}
