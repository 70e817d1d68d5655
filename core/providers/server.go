package providers

import (
	"errors"
	"net/url"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// What follows are servers whose endpoints don't just follow the issuer. Each function is a
// [core.OAuth.Prepare], called when the issuer is known.

func bungieKey(p core.OAuth) (core.OAuth, error) {
	if p.RequestUserInfo == nil {
		return p, errors.New("providers: no API key: set RequestUserInfo to providers.BungieUserInfo with the app's key")
	}
	return p, nil
}

// fusionAuthTenant asks for the discovery document of a tenant, if there is more than one
// (https://fusionauth.io/docs/lifecycle/authenticate-users/oauth/endpoints#openid-configuration).
func fusionAuthTenant(p core.OAuth) (core.OAuth, error) {
	if tenant := p.Authorization.Params.Get("tenantId"); tenant != "" && p.WellKnown == "" {
		p.WellKnown = strings.TrimSuffix(p.Issuer, "/") + "/.well-known/openid-configuration?tenantId=" + url.QueryEscape(tenant)
	}
	return p, nil
}

// gitHubServer makes the endpoints of github.com, or of a server of one's own
// (https://docs.github.com/en/enterprise-server/rest/authentication).
func gitHubServer(p core.OAuth) (core.OAuth, error) {
	const login = "/login/oauth"
	root := strings.TrimSuffix(strings.TrimSuffix(p.Issuer, "/"), login)
	api := root + "/api/v3"
	if root == "" || root == "https://github.com" {
		root, api = "https://github.com", "https://api.github.com"
	}
	p.Issuer = root + login
	p.Authorization.URL = or(p.Authorization.URL, p.Issuer+"/authorize")
	p.Token.URL = or(p.Token.URL, p.Issuer+"/access_token")
	p.UserInfo.URL = or(p.UserInfo.URL, api+"/user")
	return p, nil
}

// microsoftTenants lets the accounts of all tenants in, unless the issuer is that of one tenant
// (https://learn.microsoft.com/en-us/entra/identity-platform/access-tokens#validate-the-issuer).
func microsoftTenants(p core.OAuth) (core.OAuth, error) {
	const version, guid = "/v2.0", 36
	root, isV2 := strings.CutSuffix(p.Issuer, version)
	last := strings.LastIndex(root, "/")
	if isV2 && p.TenantIssuer == "" && len(root[last+1:]) != guid {
		p.TenantIssuer = root[:last+1] + "{tenantid}" + version
	}
	return p, nil
}

// netSuiteAccount makes the token endpoint, which is on another host of the account.
func netSuiteAccount(p core.OAuth) (core.OAuth, error) {
	if p.UserInfo.URL == "" {
		return p, errors.New("providers: no userinfo endpoint: set UserInfo.URL to the RESTlet that answers with runtime.getCurrentUser()")
	}
	host := strings.Replace(strings.TrimSuffix(p.Issuer, "/"), ".app.netsuite.com", ".suitetalk.api.netsuite.com", 1)
	p.Token.URL = or(p.Token.URL, host+"/services/rest/auth/oauth2/v1/token")
	return p, nil
}

// nextcloudAvatar tells where the server's pictures are.
func nextcloudAvatar(p core.OAuth) (core.OAuth, error) {
	if p.Profile == nil {
		p.Profile = nextcloudUser(strings.TrimSuffix(p.Issuer, "/"))
	}
	return p, nil
}

func or(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}
