package providers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/providers"
)

// deviations are the facts about @auth/core's providers that are otherwise here, with the reason.
// One that doesn't differ fails the test.
var deviations = map[string]map[string]string{
	"apple":              {"userinfo": "core asks for the endpoint of every provider; the reference adds one to the discovery document"},
	"azure-ad":           {"userinfo": inHooks, "userinfo.request": inHooks, "token.conform": inHooks, "idToken": inHooks},
	"microsoft-entra-id": {"userinfo": inHooks, "userinfo.request": inHooks, "token.conform": inHooks, "idToken": inHooks},
	"azure-devops": {
		"token":            "the reference's URL is that of the authorization endpoint",
		"client":           "the token request of Azure DevOps is made of the fields of client_secret_post",
		"userinfo.request": isDefault,
	},
	"bungie":     {"userinfo.request": "Bungie needs the API key and the member's number, which the reference doesn't send"},
	"click-up":   {"token.conform": noTokenType},
	"dribbble":   {"authorization": "the reference sends the scope undefined"},
	"facebook":   {"userinfo.request": isDefault},
	"foursquare": {"token.conform": noTokenType},
	"fusionauth": {"token.conform": "the function drops a header that nothing looks at here"},
	"instagram":  {"token.conform": noTokenType},
	"mailchimp":  {"token.conform": noTokenType},
	"mailru":     {"profile": ownStandard},
	"netsuite":   {"userinfo": "the reference has none, and can't work without one; core.New asks for it"},
	"osso":       {"profile": ownStandard, "authorization": noSlash, "token": noSlash, "userinfo": noSlash},
	"reddit":     {"profile": ownStandard},
	"threads":    {"token.conform": noTokenType},
	"todoist":    {"userinfo": "the reference has the URL in its function"},
	"vk":         {"token.conform": noTokenType},
	"workos":     {"authorization": noSlash, "token": noSlash, "userinfo": noSlash},
}

const (
	inHooks     = "the reference's profile function fetches the picture, and its callback knows Microsoft's errors; here hooks do"
	isDefault   = "what the function does is the default"
	noTokenType = "the provider's answer has no token_type, which RFC 6749 demands"
	noSlash     = "the facts have an issuer without the slash that the reference needs; here it may be missing"
	ownStandard = "the default mapping, which here refuses a profile without an id"
)

// fact is a provider as @auth/core has it: testdata/providers.json.
type fact map[string]any

// comparable gives what a fact says in the words of describe.
func (f fact) comparable(t *testing.T) map[string]any {
	out := map[string]any{}
	for name, value := range f {
		switch name {
		case "id", "name", "type", "issuer", "wellKnown", "profile", "idToken":
			out[name] = value
		case "authorization", "token", "userinfo":
			e, isObject := value.(map[string]any)
			if !isObject {
				e = map[string]any{"url": value}
			}
			address, _ := e["url"].(string)
			params, _ := e["params"].(map[string]any)
			out[name] = endpoint(t, address, params)
			for _, hook := range []string{"request", "conform"} {
				if e[hook] != nil {
					out[name+"."+hook] = true
				}
			}
		case "checks":
			out[name] = sorted(value.([]any))
		case "client":
			client := value.(map[string]any)
			if method := client["token_endpoint_auth_method"]; method != nil {
				out["client"] = method
			}
			if alg := client["id_token_signed_response_alg"]; alg != nil {
				out["idTokenAlg"] = alg
			}
			// userinfo_signed_response_alg needs no setting: core takes a signed answer.
		case "style":
			style := value.(map[string]any)
			out["style"] = style["bg"]
			if style["brandColor"] != nil {
				out["style"] = style["brandColor"] // the sign-in page prefers it
			}
		case "clientId", "clientSecret", "headers": // those of whoever took the facts; headers are used nowhere
		case "symbol:conform-internal", "symbol:custom-fetch": // what they do, other tests show
		default:
			t.Errorf("%v: unknown fact %s", f["id"], name)
		}
	}
	return out
}

// describe gives what the catalogue says in the words of the facts.
func describe(t *testing.T, p core.OAuth) map[string]any {
	out := map[string]any{"id": p.ID, "name": p.Name, "type": "oauth"}
	add := func(name string, value any, isThere bool) {
		if isThere {
			out[name] = value
		}
	}
	if p.OIDC {
		out["type"] = "oidc"
	}
	add("issuer", p.Issuer, p.Issuer != "")
	add("wellKnown", or(p.WellKnown, p.Issuer+"/.well-known/openid-configuration"), p.OIDC)
	add("authorization", endpoint(t, p.Authorization.URL, first(p.Authorization.Params)), p.Authorization.URL != "" || len(p.Authorization.Params) > 0)
	add("token", endpoint(t, p.Token.URL, first(p.Token.Params)), p.Token.URL != "" || p.ID == "twitch") // Twitch's has a hook only
	add("userinfo", endpoint(t, p.UserInfo.URL, nil), p.UserInfo.URL != "")
	add("userinfo.request", true, p.RequestUserInfo != nil)
	add("token.conform", true, p.ConformToken != nil)
	add("token.request", true, p.ConformTokenRequest != nil && p.ID != "tiktok") // a custom fetch in the facts
	add("profile", "<function>", p.Profile != nil)
	var checks []any
	for _, check := range p.Checks {
		checks = append(checks, string(check))
	}
	add("checks", sorted(checks), checks != nil)
	add("client", string(p.ClientAuth), p.ClientAuth != "")
	add("idTokenAlg", p.IDTokenAlg, p.IDTokenAlg != "")
	add("idToken", false, p.UserInfoProfile)
	add("style", p.BrandColor, p.BrandColor != "")
	return out
}

func first(params url.Values) map[string]any {
	out := map[string]any{}
	for name, list := range params {
		out[name] = list[0]
	}
	return out
}

func sorted(list []any) string {
	var words []string
	for _, word := range list {
		words = append(words, word.(string))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// endpoint is a URL with all its parameters as text, but for those that every request has.
func endpoint(t *testing.T, address string, params map[string]any) string {
	u, err := url.Parse(strings.NewReplacer("{", "%7B", "}", "%7D").Replace(address))
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	for name, value := range params {
		text, isText := value.(string)
		if !isText {
			text = string(mustJSON(value))
		}
		query.Set(name, text)
	}
	if query.Get("response_type") == "code" {
		query.Del("response_type")
	}
	query.Del("client_id")
	u.RawQuery = query.Encode()
	return u.String()
}

// asFact gives a provider as the facts were taken.
func asFact(t *testing.T, f fact) (core.OAuth, providers.Client) {
	id := f["id"].(string)
	c := providers.Client{ID: "CLIENT_ID", Secret: "CLIENT_SECRET"}
	if needsIssuer(id) || strings.Contains(string(mustJSON(f)), "issuer.example") {
		c.Issuer = "https://issuer.example"
	}
	switch id {
	case "gitlab":
		c.Issuer = "https://base.example"
	case "netsuite":
		c.Issuer = "https://undefined.app.netsuite.com"
	}
	p, _ := providers.ByID(id, c)
	switch id {
	case "fusionauth":
		p.Authorization.Params.Set("tenantId", "TENANT")
	case "bungie":
		p.RequestUserInfo = providers.BungieUserInfo("key")
	case "netsuite":
		p.UserInfo.URL = "https://restlet.example/"
	}
	p, err := p.Prepare(p)
	if err != nil {
		t.Errorf("%s: %v", id, err)
	}
	return p, c
}

// The catalogue is that of @auth/core: nothing is missing, nothing is added, and what is otherwise
// has its reason.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	var facts map[string]fact
	readJSON(t, "providers.json", &facts)
	if len(facts) != 93 {
		t.Fatalf("%d facts", len(facts))
	}
	var ids, here []string
	for module, f := range facts {
		p, c := asFact(t, f)
		ids = append(ids, p.ID)
		got, want := describe(t, p), f.comparable(t)
		// The client's issuer is no fact of the catalogue; the defaults of options are in TestIssuers.
		if want["issuer"] == nil && (c.Issuer != "" || slices.Contains([]string{"descope", "azure-ad", "microsoft-entra-id"}, p.ID)) {
			delete(got, "issuer")
		}
		if want["wellKnown"] == nil {
			delete(got, "wellKnown")
		}
		names := maps.Clone(got)
		maps.Copy(names, want)
		for name := range names {
			reason, isDeviation := deviations[p.ID][name]
			switch isSame := reflect.DeepEqual(got[name], want[name]); {
			case isSame && isDeviation:
				t.Errorf("%s: %s is as in the facts: %v", module, name, reason)
			case !isSame && !isDeviation:
				t.Errorf("%s: %s is %v, in the facts %v", module, name, got[name], want[name])
			}
		}
		for name := range deviations[p.ID] {
			if _, known := names[name]; !known {
				t.Errorf("%s: neither side has %s", module, name)
			}
		}
	}
	for _, list := range sources(t) {
		for _, c := range list {
			here = append(here, c.id)
		}
	}
	slices.Sort(ids)
	slices.Sort(here)
	if !slices.Equal(ids, here) {
		t.Errorf("the facts have %v\nthe catalogue %v", ids, here)
	}
}

// constructor is a function of the catalogue, as its source has it.
type constructor struct{ name, id, doc string }

var idInSource = regexp.MustCompile(`(?:\bID: |p\.ID, p\.Name = )"([^"]+)"`)

// sources reads the constructors of each protocol, in the order of their files.
func sources(t *testing.T) map[string][]constructor {
	t.Helper()
	out := map[string][]constructor{}
	for _, file := range []string{"oauth_a.go", "oauth_m.go", "oidc.go"} {
		protocol, _, _ := strings.Cut(strings.TrimSuffix(file, ".go"), "_")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, file, raw, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			id := idInSource.FindSubmatch(raw[files.Position(f.Pos()).Offset:files.Position(f.End()).Offset])
			if id == nil {
				t.Fatalf("%s has no id", f.Name.Name)
			}
			out[protocol] = append(out[protocol], constructor{f.Name.Name, string(id[1]), f.Doc.Text()})
		}
	}
	return out
}

// Each table is ordered by id, each entry names the vendor's documentation, and the lookup by name
// has the same providers.
func TestTables(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("catalogue.go")
	if err != nil {
		t.Fatal(err)
	}
	lookup := string(raw)
	for protocol, list := range sources(t) {
		for i, c := range list {
			if i > 0 && list[i-1].id >= c.id {
				t.Errorf("%s stands before %s", list[i-1].id, c.id)
			}
			doc := strings.Join(strings.Fields(c.doc), " ")
			if !strings.HasPrefix(doc, c.name+" is ") || !strings.Contains(doc, "documented at https://") {
				t.Errorf("%s: no address of its documentation: %s", c.name, c.doc)
			}
			line := "\t{\"" + c.id + "\", " + c.name + "},\n"
			if !strings.Contains(lookup, line) {
				t.Errorf("catalogue.go lacks %s", line)
			}
			lookup = strings.Replace(lookup, line, "", 1)
			p, ok := providers.ByID(c.id, client)
			if !ok || p.ID != c.id || p.OIDC != (protocol == "oidc") {
				t.Errorf("ByID(%q): %v %+v", c.id, ok, p)
			}
			if p.ClientID != client.ID || p.ClientSecret != client.Secret || p.Issuer != client.Issuer {
				t.Errorf("%s has not the client that was given: %+v", c.id, p)
			}
			if p.Authorization.Params == nil && p.Authorization.URL != "" {
				t.Errorf("%s: the parameters can't be changed", c.id)
			}
		}
	}
	if strings.Contains(lookup, "\t{\"") {
		t.Errorf("catalogue.go has others, too: %s", lookup)
	}
	for _, id := range []string{"", "GitHub", "github ", "undefined", "credentials", "nodemailer"} {
		if p, ok := providers.ByID(id, client); ok || p.ID != "" {
			t.Errorf("ByID(%q) gives %+v", id, p)
		}
	}
}
