package adaptertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// long is ten kilobytes of text: more than any fixed column, less than any store's limit.
var long = strings.Repeat("0123456789", 1024)

// person is a user with an address; all numbers are different people.
func person(n int) core.User {
	return core.User{
		ID:    fmt.Sprintf("%08x-1f2e-4d3c-8b4a-5a6978879685", n),
		Email: fmt.Sprintf("person-%d@example.com", n),
	}
}

// somebody has all fields.
func somebody() core.User {
	user := person(1)
	user.Name = "Zoë \U0001d49c 🙂 \"q\" 'x'; -- \\ <b>&amp;</b>\nשלום"
	user.Email = "zoë+tag@exämple.com"
	user.Image = "https://images.example/?a=1&b=%20#" + long
	user.EmailVerified = time.Date(2024, 2, 29, 23, 59, 59, int(987*time.Millisecond), time.UTC)
	user.Extra = extra()
	return user
}

// extra has every kind of JSON value, and names that mean something to some store.
func extra() map[string]any {
	return map[string]any{
		"null": nil, "true": true, "false": false, "text": "Zoë 🙂 </script> \u2028", "empty": "", "long": long,
		"whole":    json.Number("9007199254740993"), // 2⁵³+1: no float64 has this value
		"fraction": json.Number("0.1"),
		"negative": json.Number("-1"),
		"list":     []any{json.Number("1"), "two", nil, []any{}, map[string]any{}},
		"nested":   map[string]any{"a": map[string]any{"b": []any{"c"}}, "null": nil},
		"a.b":      "c", "$set": "d", "__proto__": "e", "ID": "f",
	}
}

// scribble changes everything that is reachable from a map like [extra].
func scribble(extra map[string]any) {
	extra["text"] = "scribbled"
	delete(extra, "true")
	if list, ok := extra["list"].([]any); ok {
		list[1] = "scribbled"
	}
	if nested, ok := extra["nested"].(map[string]any); ok {
		nested["a"].(map[string]any)["b"].([]any)[0] = "scribbled"
	}
}

func scribbleUser(user *core.User) {
	scribble(user.Extra)
	*user = core.User{ID: "scribbled", Name: "scribbled", Email: "scribbled", Image: "scribbled"}
}

// tomorrow is exact to the millisecond, and in a zone where nobody stores times.
func tomorrow() time.Time {
	zone := time.FixedZone("far east", 13*60*60+45*60)
	return time.Now().Truncate(time.Second).Add(24*time.Hour + 123*time.Millisecond).In(zone)
}

func githubAccount(user core.User, id string) core.Account {
	return core.Account{Provider: "github", ProviderAccountID: id, Type: core.TypeOAuth, UserID: user.ID, AccessToken: "access token of " + user.ID}
}

// fullAccount has all fields.
func fullAccount(user core.User) core.Account {
	return core.Account{
		Provider: "idp", ProviderAccountID: "auth0|5f7c8ec7c33c6c004bbafe82", Type: core.TypeOIDC, UserID: user.ID,
		AccessToken: "access " + long, RefreshToken: "refresh/+= 🙂", IDToken: "id " + long, Scope: "openid email offline_access",
		TokenType: "bearer", ExpiresIn: 3600, ExpiresAt: 4102444800, // 2100: more than 32 bits with a sign
		SessionState: "state.1", Extra: extra(),
	}
}

func sessionOf(user core.User, n int) core.AdapterSession {
	return core.AdapterSession{SessionToken: fmt.Sprintf("Session-Token-%d-dfd79b4d", n), UserID: user.ID, Expires: tomorrow()}
}

// invitation is a token for an address. Like those of core it is SHA-256 in hexadecimal.
func invitation(address string, n int) core.VerificationToken {
	return core.VerificationToken{Identifier: address, Token: fmt.Sprintf("%064x", 0xabcdef0000+n), Expires: tomorrow()}
}

func passkey(user core.User, id string) core.Authenticator {
	return core.Authenticator{CredentialID: id, ProviderAccountID: id, UserID: user.ID, CredentialPublicKey: "pQECAyYgASFYIA==", CredentialDeviceType: "singleDevice"}
}

// strangers are keys that nobody has, although some store may take them for this one or for
// a pattern that fits it, or choke on them. Browsers send such keys.
func strangers(key string) []string {
	return []string{
		"", "unknown", ".", "..", "../" + key, "/", "%", "*", ".*", "?", "'", "\"", "\\", "' OR ''='", "null", "undefined", "__proto__",
		"\x00", "\xff", "\ufeff", "🙂", long,
		strings.ToUpper(key), strings.ToLower(key) + "x", " " + key, key + " ", key + "\t", key + "\n", key + "\x00", key + "/", key + "%",
		key[:len(key)-1], key[:len(key)-1] + "_", key[:len(key)-1] + "%", key[1:], key + key,
	}
}
