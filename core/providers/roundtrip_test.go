package providers_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// reference is what the functions of @auth/core gave: testdata/reference.mjs.
type reference struct {
	User                 map[string]any
	Variants             []variant
	Userinfo             *userinfo
	UserinfoWithoutEmail *userinfo
}

type variant struct {
	path, change string
	user         map[string]any // nil: the function failed
}

func (v *variant) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(&[]any{&v.path, &v.change, &v.user})
}

type userinfo struct {
	Requests []asked
	Profile  map[string]any
}

func references(t *testing.T) map[string]reference {
	var out map[string]reference
	readJSON(t, "reference.json", &out)
	return out
}

// Everybody can sign in everywhere: the authorization request, the token request and the client's
// authentication are as the catalogue says, and the user is the one of @auth/core.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	want := references(t)
	all := vendors(t)
	if !slices.Equal(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(all))) {
		t.Fatal("reference.json has other providers than profiles.json")
	}
	for id, v := range all {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, v)
			got := a.signIn(t)
			if got.location != site || !got.hasSession || got.user == nil {
				t.Fatalf("sent to %s, session %v: %s", got.location, got.hasSession, a.log)
			}
			checkAuthorization(t, v, got.authorization)
			checkTokenRequest(t, v)
			if user := got.json(); !sameUser(user, want[id].User) {
				t.Errorf("the user is %s, that of @auth/core %s", user, mustJSON(want[id].User))
			}
			if got.account.AccessToken != "access-token" || got.account.TokenType != "bearer" || got.account.Provider != id {
				t.Errorf("account %+v", got.account)
			}
			kind := core.TypeOAuth
			if v.OIDC {
				kind = core.TypeOIDC
			}
			if got.account.Type != kind {
				t.Errorf("type %q", got.account.Type)
			}
		})
	}
}

func checkAuthorization(t *testing.T, v *vendor, u *url.URL) {
	t.Helper()
	if address := u.Scheme + "://" + u.Host + u.Path; address != or(v.Authorization.URL, v.root()+"/authorize") {
		t.Errorf("sent to %s", address)
	}
	sent := u.Query()
	for name, want := range v.Authorization.Params {
		if !slices.Equal(sent[name], want) {
			t.Errorf("%s: %q, want %q", name, sent[name], want)
		}
	}
	if !v.Authorization.Params.Has("scope") && sent.Get("scope") != "openid profile email" {
		t.Errorf("scope %q", sent.Get("scope"))
	}
	if sent.Get("client_id") != client.ID || sent.Get("response_type") != or(v.Authorization.Params.Get("response_type"), "code") {
		t.Errorf("sent %v", sent)
	}
	checks := v.Checks
	if len(checks) == 0 {
		checks = []core.Check{core.CheckPKCE}
	}
	for check, name := range map[core.Check]string{core.CheckPKCE: "code_challenge", core.CheckState: "state", core.CheckNonce: "nonce"} {
		if sent.Has(name) != slices.Contains(checks, check) {
			t.Errorf("%s: sent %v, checks %v", name, sent.Has(name), checks)
		}
	}
	if v.token.PostForm.Has("code_verifier") != sent.Has("code_challenge") {
		t.Errorf("code_verifier: %v", v.token.PostForm)
	}
}

func checkTokenRequest(t *testing.T, v *vendor) {
	t.Helper()
	form := v.token.PostForm
	id, password, basic := v.token.BasicAuth()
	callback := site + "/auth/callback/" + v.ID
	if v.token.Method != "POST" || form.Get("redirect_uri") != callback {
		t.Errorf("%s %v", v.token.Method, form)
	}
	switch {
	case v.ID == "azure-devops":
		want := url.Values{
			"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {"the-code"}, "client_assertion": {secret},
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
			"redirect_uri":          {callback}, "code_verifier": form["code_verifier"],
		}
		if basic || !reflect.DeepEqual(form, want) {
			t.Errorf("form %v", form)
		}
		return
	case v.ClientAuth == core.ClientSecretPost:
		if basic || form.Get("client_id") != client.ID || form.Get("client_secret") != secret {
			t.Errorf("the client is not in the form: %v %v", basic, form)
		}
	case id != client.ID || password != secret || form.Has("client_id") || form.Has("client_secret"):
		t.Errorf("the client is not in the header: %q %v", id, form)
	}
	if form.Get("grant_type") != "authorization_code" || form.Get("code") != "the-code" {
		t.Errorf("form %v", form)
	}
	if hasKey := v.ID == "tiktok"; hasKey != (form.Get("client_key") == client.ID) {
		t.Errorf("client_key %q", form.Get("client_key"))
	}
	if query := v.token.URL.RawQuery; v.ID == "wechat" && query != "appid=CLIENT_ID&secret="+secret {
		t.Errorf("the token request's query is %q", query)
	}
}

// What becomes of the user when a member of the profile is missing, or is something else, is what
// becomes of it in @auth/core, but for what expected says.
func TestOddProfiles(t *testing.T) {
	t.Parallel()
	want := references(t)
	for id, v := range vendors(t) {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			if len(want[id].Variants) < 5 {
				t.Fatalf("only %d variants", len(want[id].Variants))
			}
			a := newApp(t, v)
			profile := v.profile
			for _, c := range want[id].Variants {
				v.profile = changed(profile, strings.Split(c.path, "."), c.change).(map[string]any)
				got := a.signIn(t)
				switch user, ok := expected(v, c); {
				case ok && !sameUser(got.json(), user):
					t.Errorf("%s %s: the user is %s, want %s", c.path, c.change, got.json(), mustJSON(user))
				case !ok && got.user != nil && !slices.Contains(accepted[:], leniency{id, c.path, c.change}):
					t.Errorf("%s %s: signed in as %s", c.path, c.change, got.json())
				case got.hasSession != (got.user != nil):
					t.Errorf("%s %s: session %v", c.path, c.change, got.hasSession)
				}
			}
		})
	}
}

type leniency struct{ id, path, change string }

// accepted are profiles at which @auth/core fails, and that make a user here.
var accepted = [...]leniency{
	{"eventbrite", "emails.0", "null"}, // an address that isn't there is not the primary one
	{"eventbrite", "emails.1", "null"},
}

// expected gives the user that is expected here, or that nobody is signed in.
func expected(v *vendor, c variant) (map[string]any, bool) {
	switch {
	case v.ID == "apple" && strings.HasPrefix(c.path, "user"):
		return appleExpected(c), true
	case v.ID == "wechat" && c.path == "unionid" && (c.change == "missing" || c.change == "null"):
		// In @auth/core the person is somebody new at every sign-in.
		return map[string]any{"id": "o6_bmjrPTlm6", "name": "Jane", "image": "https://thirdwx.qlogo.cn/jane"}, true
	case c.user == nil:
		return nil, false
	case c.path == "sub" && v.OIDC:
		return nil, false // the sub of an ID token is text, and not empty
	}
	// An id that is neither text nor a number is refused, and the words that JavaScript makes of it.
	switch id := c.user["id"].(type) {
	case json.Number:
	case string:
		if id == "" || nonsense.MatchString(id) {
			return nil, false
		}
	default:
		return nil, false
	}
	user := maps.Clone(c.user)
	if image, ok := user["image"].(string); ok && nonsense.MatchString(image) {
		user["image"] = noImage
	}
	return user, true
}

const noImage = "none"

// appleExpected is the user where Apple's post is odd: the name is the browser's word, and missing
// at all sign-ins but the first, so nothing there may keep somebody out.
func appleExpected(c variant) map[string]any {
	user := map[string]any{"id": "000123.abc.0456", "name": "Jane Doe", "email": "jane@privaterelay.appleid.com", "image": nil}
	switch {
	case strings.HasPrefix(c.path, "user.name.firstName"):
		user["name"] = "Doe"
	case strings.HasPrefix(c.path, "user.name.lastName"):
		user["name"] = "Jane"
	case c.path == "user" || c.path == "user.name":
		user["name"] = "Jane@privaterelay.appleid.com"
	}
	if c.change == "number" && strings.Contains(c.path, "Name") {
		user["name"] = map[string]string{"user.name.firstName": "7 Doe", "user.name.lastName": "Jane 7"}[c.path]
	}
	return user
}

// nonsense is what JavaScript makes of what isn't there, and of half a picture's address.
var nonsense = regexp.MustCompile(`undefined|null|\[object Object\]|^original|original$|base64,$`)

// sameUser compares users but for how the words of a name are put together: @auth/core writes
// "undefined" for one that isn't there, and leaves a blank.
func sameUser(got string, want map[string]any) bool {
	var user map[string]any
	d := json.NewDecoder(strings.NewReader(got))
	d.UseNumber()
	if d.Decode(&user) != nil || user == nil {
		return want == nil
	}
	want = maps.Clone(want)
	if number, ok := want["id"].(json.Number); ok {
		want["id"] = number.String()
	}
	if _, isText := user["image"].(string); want["image"] == noImage && !isText {
		delete(user, "image") // missing or null
		delete(want, "image")
	}
	if name, ok := want["name"].(string); ok {
		want["name"] = strings.Join(strings.Fields(nonsense.ReplaceAllString(name, "")), " ")
	}
	return reflect.DeepEqual(user, want)
}

// changed gives a copy of a profile with one member changed, as testdata/reference.mjs does it.
func changed(value any, path []string, change string) any {
	if len(path) == 0 {
		return map[string]any{"null": nil, "number": json.Number("7"), "empty": "", "object": map[string]any{}}[change]
	}
	name, last := path[0], len(path) == 1 && change == "missing"
	switch of := value.(type) {
	case map[string]any:
		of = maps.Clone(of)
		if last {
			delete(of, name)
		} else {
			of[name] = changed(of[name], path[1:], change)
		}
		return of
	case []any:
		i := int(name[0] - '0')
		if of = slices.Clone(of); last {
			return slices.Delete(of, i, i+1)
		}
		of[i] = changed(of[i], path[1:], change)
		return of
	}
	panic("no " + name)
}

// The requests for a profile are those of @auth/core, and so is what is made of the answers.
func TestUserInfoRequests(t *testing.T) {
	t.Parallel()
	all := vendors(t)
	seen := 0
	for id, want := range references(t) {
		for _, u := range []*userinfo{want.Userinfo, want.UserinfoWithoutEmail} {
			if u == nil {
				continue
			}
			seen++
			t.Run(id, func(t *testing.T) {
				v := all[id]
				if id == "vk" {
					v.tokens = map[string]any{"email": "Jane@Example.com"}
				}
				if u == want.UserinfoWithoutEmail {
					delete(v.profile, "email")
					v.emails = `[{"email":"second@example.com"},{"email":"Primary@Example.com","primary":true}]`
				}
				got := newApp(t, v).signIn(t)
				for i := range u.Requests {
					one := &u.Requests[i]
					one.URL = ordered(t, one.URL)
					if one.Method == "GET" {
						delete(one.Headers, "content-type") // of no body
					}
				}
				for i := range v.asked {
					v.asked[i].URL = ordered(t, v.asked[i].URL)
				}
				if !reflect.DeepEqual(v.asked, u.Requests) {
					t.Errorf("asked %+v\nwant %+v", v.asked, u.Requests)
				}
				if !reflect.DeepEqual(map[string]any(got.profile), u.Profile) {
					t.Errorf("the profile is %s\nwant %s", mustJSON(got.profile), mustJSON(u.Profile))
				}
			})
		}
	}
	if seen != 13 {
		t.Errorf("%d providers have requests of their own", seen)
	}
}

// ordered is a URL with its parameters in the order of their names.
func ordered(t *testing.T, text string) string {
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	u.RawQuery = u.Query().Encode()
	return strings.ReplaceAll(u.String(), "https://issuer.example", client.Issuer)
}
