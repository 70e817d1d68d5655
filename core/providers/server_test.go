package providers_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/providers"
)

// The servers of those who have one for everybody, and another one for a client that names it.
func TestIssuers(t *testing.T) {
	t.Parallel()
	const restlet = "https://1234567.restlets.api.netsuite.com/app/site/hosting/restlet.nl?script=1&deploy=1"
	for _, c := range []struct {
		id, issuer string
		want       []string // issuer, authorization, token, userinfo, discovery document
	}{
		{"asgardeo", "https://api.asgardeo.io/t/acme", []string{"https://api.asgardeo.io/t/acme/oauth2/token"}},
		{"asgardeo", "https://api.asgardeo.io/t/acme/oauth2/token", []string{"https://api.asgardeo.io/t/acme/oauth2/token"}},
		{"onelogin", "https://acme.onelogin.com/", []string{"https://acme.onelogin.com/oidc/2"}},
		{"descope", "", []string{"https://api.descope.com/CLIENT_ID"}},
		{"descope", "https://auth.acme.example", []string{"https://auth.acme.example"}},
		{"google", "", []string{"https://accounts.google.com"}},
		{"salesforce", "https://test.salesforce.com", []string{"https://test.salesforce.com"}},
		{"github", "https://github.example.com", []string{"https://github.example.com/login/oauth", "https://github.example.com/login/oauth/authorize",
			"https://github.example.com/login/oauth/access_token", "https://github.example.com/api/v3/user"}},
		{"github", "https://github.com/login/oauth", []string{"https://github.com/login/oauth", "https://github.com/login/oauth/authorize",
			"https://github.com/login/oauth/access_token", "https://api.github.com/user"}},
		{"gitlab", "", []string{"https://gitlab.com", "https://gitlab.com/oauth/authorize", "https://gitlab.com/oauth/token", "https://gitlab.com/api/v4/user"}},
		{"gitlab", "https://git.example.com/", []string{"https://git.example.com/", "https://git.example.com/oauth/authorize",
			"https://git.example.com/oauth/token", "https://git.example.com/api/v4/user"}},
		{"workos", "", []string{"https://api.workos.com/", "https://api.workos.com/sso/authorize", "https://api.workos.com/sso/token", "https://api.workos.com/sso/profile"}},
		{"osso", "https://demo.ossoapp.com", []string{"https://demo.ossoapp.com", "https://demo.ossoapp.com/oauth/authorize",
			"https://demo.ossoapp.com/oauth/token", "https://demo.ossoapp.com/oauth/me"}},
		{"netsuite", "https://1.app.netsuite.com", []string{"https://1.app.netsuite.com", "https://1.app.netsuite.com/app/login/oauth2/authorize.nl",
			"https://1.suitetalk.api.netsuite.com/services/rest/auth/oauth2/v1/token", restlet}},
		{"frontegg", "https://acme.frontegg.com", []string{"https://acme.frontegg.com", "https://acme.frontegg.com/oauth/authorize",
			"https://acme.frontegg.com/oauth/token", "https://acme.frontegg.com/identity/resources/users/v2/me",
			"https://acme.frontegg.com/oauth/.well-known/openid-configuration"}},
	} {
		p := prepared(t, c.id, providers.Client{ID: "CLIENT_ID", Secret: "CLIENT_SECRET", Issuer: c.issuer})
		got := []string{p.Issuer, p.Authorization.URL, p.Token.URL, p.UserInfo.URL, p.WellKnown}
		if want := append(c.want, "", "", "", "")[:5]; !slices.Equal(got, want) {
			t.Errorf("%s at %q: %q\nwant %q", c.id, c.issuer, got, want)
		}
		again, err := p.Prepare(p)
		if err != nil || again.Issuer != p.Issuer || again.Authorization.URL != p.Authorization.URL ||
			!reflect.DeepEqual(again.Authorization.Params, p.Authorization.Params) {
			t.Errorf("%s: prepared twice, it is %+v, %v", c.id, again, err)
		}
	}
}

// Whose accounts Microsoft lets in.
func TestMicrosoftTenants(t *testing.T) {
	t.Parallel()
	for issuer, want := range map[string]string{
		"": "https://login.microsoftonline.com/{tenantid}/v2.0",
		"https://login.microsoftonline.com/organizations/v2.0":                        "https://login.microsoftonline.com/{tenantid}/v2.0",
		"https://login.microsoftonline.us/common/v2.0":                                "https://login.microsoftonline.us/{tenantid}/v2.0",
		"https://login.microsoftonline.com/9122040d-6c67-4c5b-b112-36a304b66dad/v2.0": "",
		"https://sts.windows.net/9122040d-6c67-4c5b-b112-36a304b66dad/":               "",
	} {
		p := prepared(t, "microsoft-entra-id", providers.Client{Issuer: issuer})
		if p.TenantIssuer != want {
			t.Errorf("%q: %q, want %q", issuer, p.TenantIssuer, want)
		}
	}
}

// What a constructor gives may be changed, and nobody else sees it.
func TestChanges(t *testing.T) {
	t.Parallel()
	p := providers.GitHub(client)
	p.Authorization.Params.Set("scope", "read:user")
	p.UserInfo.URL = "https://proxy.example/user"
	q, err := p.Prepare(p)
	if err != nil || q.UserInfo.URL != "https://proxy.example/user" || q.Authorization.Params.Get("scope") != "read:user" {
		t.Errorf("%+v, %v", q, err)
	}
	if scope := providers.GitHub(client).Authorization.Params.Get("scope"); scope != "read:user user:email" {
		t.Errorf("the next one has the scope %q", scope)
	}
	shared := providers.TikTok(client)
	if _, err := shared.Prepare(shared); err != nil || shared.Authorization.Params.Get("client_key") != "{client_id}" {
		t.Errorf("Prepare has changed its argument: %v", shared.Authorization.Params)
	}
}

// What is missing is named, with the fix, by core.New. With all variables set nothing is missing,
// and the environment is in the endpoints.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, list := range sources(t) {
		for _, c := range list {
			empty, _ := providers.ByID(c.id, providers.Client{})
			upper := "AUTH_" + strings.ToUpper(strings.ReplaceAll(c.id, "-", "_"))
			_, err := core.New(configOf(empty, nil))
			text := ""
			if err != nil {
				text = err.Error()
			}
			wanted := []string{upper + "_ID", upper + "_SECRET"}
			if needsIssuer(c.id) && c.id != "netsuite" {
				wanted = append(wanted, upper+"_ISSUER")
			}
			for _, name := range wanted {
				if !strings.Contains(text, name) {
					t.Errorf("%s: %s is not named: %s", c.id, name, text)
				}
			}
			env := map[string]string{upper + "_ID": "CLIENT_ID", upper + "_SECRET": secret, upper + "_ISSUER": "https://issuer.example"}
			_, err = core.New(configOf(empty, env))
			switch c.id {
			case "bungie":
				if err == nil || !strings.Contains(err.Error(), "BungieUserInfo") {
					t.Errorf("bungie: %v", err)
				}
			case "netsuite":
				if err == nil || !strings.Contains(err.Error(), "UserInfo.URL") {
					t.Errorf("netsuite: %v", err)
				}
			default:
				if err != nil {
					t.Errorf("%s, with everything set: %v", c.id, err)
				}
			}
		}
	}
	_, err := core.New(configOf(providers.Mastodon(client), map[string]string{}))
	if err != nil {
		t.Error(err)
	}
	_, err = core.New(configOf(providers.Mastodon(providers.Client{ID: "x", Secret: "x"}), nil))
	if !errors.Is(err, core.ErrInvalidEndpoints) || !strings.Contains(err.Error(), `provider "mastodon": providers: no issuer: set Client.Issuer or AUTH_MASTODON_ISSUER`) {
		t.Error(err)
	}
	_, err = core.New(configOf(providers.Mastodon(providers.Client{ID: "x", Secret: "x", Issuer: "mastodon.social"}), nil))
	if !errors.Is(err, core.ErrInvalidEndpoints) || !strings.Contains(err.Error(), "Issuer is not an http or https URL") {
		t.Error(err)
	}
}

func configOf(p core.OAuth, env map[string]string) core.Config {
	return core.Config{
		Providers: []core.Provider{p}, TrustHost: core.On, Secret: []string{"0123456789abcdef0123456789abcdef"},
		Getenv: func(name string) string { return env[name] },
	}
}
