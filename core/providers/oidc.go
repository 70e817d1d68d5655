package providers

import "github.com/edgeauth/edgeauth/core"

// Apple is documented at
// https://developer.apple.com/documentation/sign_in_with_apple/sign_in_with_apple_rest_api.
// Client.Secret is a token that is valid for six months at most; [AppleSecret] makes it. Apple tells
// the name only at somebody's first sign-in.
func Apple(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "apple", Name: "Apple", OIDC: true, Issuer: "https://appleid.apple.com",
		Authorization: authorize("?scope=name+email&response_mode=form_post"),
		UserInfo:      at("https://appleid.apple.com/auth/userinfo"), // not there, and never asked
		Checks:        []core.Check{core.CheckNonce, core.CheckState},
		ClientAuth:    core.ClientSecretPost, Profile: appleUser, BrandColor: "#000",
	})
}

// Asgardeo is documented at https://wso2.com/asgardeo/docs/guides/authentication/oidc/discover-oidc-configs/.
// Its issuer is https://api.asgardeo.io/t/ and the organization, with or without /oauth2/token.
func Asgardeo(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "asgardeo", Name: "Asgardeo", OIDC: true, Issuer: "{issuer}/oauth2/token", BrandColor: "#000"})
}

// Auth0 is documented at https://auth0.com/docs/authenticate. Its issuer is the tenant's domain:
// https://example.eu.auth0.com.
func Auth0(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "auth0", Name: "Auth0", OIDC: true, BrandColor: "#EB5424"})
}

// Authentik is documented at https://docs.goauthentik.io/docs/add-secure-apps/providers/oauth2/. Its
// issuer is that of an application: https://authentik.example.com/application/o/my-app/.
func Authentik(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "authentik", Name: "Authentik", OIDC: true})
}

// AzureAD is [MicrosoftEntraID] under its former name. It is documented at
// https://learn.microsoft.com/en-us/entra/identity-platform/v2-protocols-oidc.
func AzureAD(c Client) core.OAuth {
	p := MicrosoftEntraID(c)
	p.ID, p.Name = "azure-ad", "Azure Active Directory"
	return p
}

// AzureADB2C is documented at https://learn.microsoft.com/en-us/azure/active-directory-b2c/openid-connect.
// Its issuer is that of a tenant and a user flow, as the flow's discovery document has it.
func AzureADB2C(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "azure-ad-b2c", Name: "Azure AD B2C", OIDC: true, BrandColor: "#0072c6",
		Profile: fields{id: "sub", name: "name|preferred_username", email: "emails?.0", image: "null"}.user,
	})
}

// BankIDNorway is documented at https://developer.bankid.no/bankid-with-biometrics/.
func BankIDNorway(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "bankid-no", Name: "BankID Norge", OIDC: true, Issuer: "https://auth.bankid.no/auth/realms/prod",
		Authorization: authorize("?ui_locales=no&login_hint=BIS"),
		Checks:        withAll, ClientAuth: core.ClientSecretPost, UserInfoProfile: true, BrandColor: "#39134c",
		Profile: fields{id: "sub", name: "name", email: "email", image: "null"}.user,
	})
}

// BattleNet is documented at https://develop.battle.net/documentation/guides/using-oauth. Its issuer
// is https://oauth.battle.net, in China https://oauth.battlenet.com.cn.
func BattleNet(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "battlenet", Name: "Battle.net", OIDC: true, BrandColor: "#148eff",
		Profile: fields{id: "sub", name: "battle_tag", image: "null"}.user,
	})
}

// BeyondIdentity is documented at https://developer.beyondidentity.com/. Its issuer is that of an
// application.
func BeyondIdentity(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "beyondidentity", Name: "Beyond Identity", OIDC: true, Profile: beyondIdentityUser, BrandColor: "#5077c5",
	})
}

// Cognito is documented at
// https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-userpools-server-contract-reference.html.
// Its issuer is that of a user pool: https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_a1b2c3.
func Cognito(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "cognito", Name: "Cognito", OIDC: true, BrandColor: "#C17B9E"})
}

// Descope is documented at https://docs.descope.com/auth-methods/oidc. Its issuer is that of the
// project, which is the client's id.
func Descope(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "descope", Name: "Descope", OIDC: true, Issuer: "https://api.descope.com/{client_id}",
		Checks: withBoth, BrandColor: "#1C1C23",
	})
}

// DuendeIdentityServer6 is documented at https://docs.duendesoftware.com/identityserver/v6. Its
// issuer is the server's URL.
func DuendeIdentityServer6(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "duende-identity-server6", Name: "DuendeIdentityServer6", OIDC: true})
}

// Frontegg is documented at https://docs.frontegg.com/docs/how-to-use-our-docs. Its issuer is the
// account's domain: https://example.frontegg.com.
func Frontegg(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "frontegg", Name: "Frontegg", OIDC: true,
		WellKnown:     "{issuer}/oauth/.well-known/openid-configuration",
		Authorization: authorize("{issuer}/oauth/authorize"),
		Token:         at("{issuer}/oauth/token"),
		UserInfo:      at("{issuer}/identity/resources/users/v2/me"),
	})
}

// FusionAuth is documented at https://fusionauth.io/docs/lifecycle/authenticate-users/oauth/. Its
// issuer is the server's URL. A server with several tenants needs the authorization parameter
// tenantId.
func FusionAuth(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "fusionauth", Name: "FusionAuth", OIDC: true,
		Authorization: authorize("?scope=openid+offline_access+email+profile"),
		Token:         at("{issuer}/oauth2/token"),
		UserInfo:      at("{issuer}/oauth2/userinfo"),
		Checks:        withBoth, Prepare: fusionAuthTenant,
		Profile: fields{id: "sub", name: "name|preferred_username|given_name+middle_name+family_name", email: "email", image: "picture"}.user,
	})
}

// Google is documented at https://developers.google.com/identity/openid-connect/openid-connect.
func Google(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "google", Name: "Google", OIDC: true, Issuer: "https://accounts.google.com", BrandColor: "#1a73e8"})
}

// HuggingFace is documented at https://huggingface.co/docs/hub/en/oauth.
func HuggingFace(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "huggingface", Name: "Hugging Face", OIDC: true, Issuer: "https://huggingface.co", Checks: withBoth, BrandColor: "#FFD21E",
	})
}

// OryHydra is documented at https://www.ory.sh/docs/hydra/5min-tutorial. Its id is "hydra", and its
// issuer the server's or the project's URL.
func OryHydra(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "hydra", Name: "Hydra", OIDC: true, BrandColor: "#fff"})
}

// IdentityServer4 is documented at https://identityserver4.readthedocs.io/en/latest/. Its issuer is
// the server's URL.
func IdentityServer4(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "identity-server4", Name: "IdentityServer4", OIDC: true})
}

// Keycloak is documented at https://www.keycloak.org/docs/latest/server_admin/#_oidc_clients. Its
// issuer is that of a realm: https://keycloak.example.com/realms/main.
func Keycloak(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "keycloak", Name: "Keycloak", OIDC: true, BrandColor: "#428bca"})
}

// Kinde is documented at https://docs.kinde.com/. Its issuer is the account's domain:
// https://example.kinde.com.
func Kinde(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "kinde", Name: "Kinde", OIDC: true, Checks: withBoth, BrandColor: "#fff"})
}

// LINE is documented at https://developers.line.biz/en/docs/line-login/integrate-line-login/. It
// signs ID tokens with the channel's secret.
func LINE(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "line", Name: "LINE", OIDC: true, Issuer: "https://access.line.me", IDTokenAlg: "HS256",
		Checks: withState, BrandColor: "#00C300",
	})
}

// LinkedIn is documented at
// https://learn.microsoft.com/en-us/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2.
func LinkedIn(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "linkedin", Name: "LinkedIn", OIDC: true, Issuer: "https://www.linkedin.com/oauth",
		Checks: withState, ClientAuth: core.ClientSecretPost, BrandColor: "#069",
	})
}

// Logto is documented at https://docs.logto.io/quick-starts/next-auth. Its issuer is that of a
// tenant: https://example.logto.app/oidc.
func Logto(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "logto", Name: "Logto", OIDC: true,
		Authorization: authorize("?scope=offline_access+openid+email+profile"),
		Profile:       fields{id: "sub", name: "name|username", email: "email", image: "picture"}.user,
	})
}

// MicrosoftEntraID is documented at
// https://learn.microsoft.com/en-us/entra/identity-platform/v2-protocols-oidc. Without an issuer any
// work, school or personal account can sign in; that of a tenant has its id in place of common:
// https://login.microsoftonline.com/common/v2.0.
//
// The picture is fetched from Microsoft Graph and is a data URL. Its URL there is the userinfo
// endpoint's, so that another size can be chosen.
func MicrosoftEntraID(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "microsoft-entra-id", Name: "Microsoft Entra ID", OIDC: true, Issuer: "https://login.microsoftonline.com/common/v2.0",
		Authorization:   authorize("?scope=openid+profile+email+User.Read"),
		UserInfo:        at("https://graph.microsoft.com/v1.0/me/photos/48x48/$value"),
		UserInfoProfile: true, RequestUserInfo: microsoftPhoto, ConformToken: microsoftError, Prepare: microsoftTenants,
		Profile: fields{id: "sub", name: "name", email: "email", image: "photo|null"}.user, BrandColor: "#0072c6",
	})
}

// Okta is documented at https://developer.okta.com/docs/reference/api/oidc. Its issuer is that of an
// organization or of one of its authorization servers: https://example.okta.com/oauth2/default.
func Okta(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "okta", Name: "Okta", OIDC: true, Checks: withBoth, BrandColor: "#000"})
}

// OneLogin is documented at https://developers.onelogin.com/openid-connect. Its issuer is the
// account's domain, with or without /oidc/2: https://example.onelogin.com.
func OneLogin(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "onelogin", Name: "OneLogin", OIDC: true, Issuer: "{issuer}/oidc/2"})
}

// Passage is documented at https://docs.passage.id/hosted-login/oidc-client-configuration. Its issuer
// is that of an app.
func Passage(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "passage", Name: "Passage", OIDC: true, ClientAuth: core.ClientSecretBasic, BrandColor: "#3d53f6",
	})
}

// PingID is documented at https://docs.pingidentity.com/pingone/applications/p1_applications_add_applications.html.
// Its issuer is that of an environment: https://auth.pingone.eu/0a1b2c3d/as.
func PingID(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "ping-id", Name: "Ping Identity", OIDC: true})
}

// Roblox is documented at https://create.roblox.com/docs/cloud/open-cloud/oauth2-overview.
func Roblox(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "roblox", Name: "Roblox", OIDC: true, Issuer: "https://apis.roblox.com/oauth/",
		Authorization: authorize("?scope=openid+profile"), Checks: withBoth, BrandColor: "#5865F2",
	})
}

// Salesforce is documented at
// https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_web_server_flow.htm. A sandbox or
// a domain of one's own has an issuer of its own: https://test.salesforce.com.
func Salesforce(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "salesforce", Name: "Salesforce", OIDC: true, Issuer: "https://login.salesforce.com",
		Checks: withAll, UserInfoProfile: true, BrandColor: "#00a1e0",
	})
}

// SimpleLogin is documented at https://simplelogin.io/docs/siwsl/intro/.
func SimpleLogin(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "simplelogin", Name: "SimpleLogin", OIDC: true, Issuer: "https://app.simplelogin.io", BrandColor: "#e3156a",
		Profile: fields{id: "sub", name: "name", email: "email", image: "avatar_url"}.user,
	})
}

// Slack is documented at https://api.slack.com/authentication/sign-in-with-slack.
func Slack(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "slack", Name: "Slack", OIDC: true, Issuer: "https://slack.com", Checks: withNonce, BrandColor: "#611f69"})
}

// Twitch is documented at https://dev.twitch.tv/docs/authentication/getting-tokens-oidc/.
func Twitch(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "twitch", Name: "Twitch", OIDC: true, Issuer: "https://id.twitch.tv/oauth2",
		Authorization: authorize(`?scope=openid+user:read:email&claims={"id_token":{"email":null,"picture":null,"preferred_username":null}}`),
		ClientAuth:    core.ClientSecretPost, ConformToken: joinScopes, BrandColor: "#65459B",
	})
}

// UnitedEffects is documented at https://docs.unitedeffects.com/integrations/nextauthjs. Its issuer is
// that of an auth group.
func UnitedEffects(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "united-effects", Name: "United Effects", OIDC: true,
		Authorization: authorize("?scope=openid+email+profile&resource={issuer}"),
	})
}

// Vipps is documented at https://developer.vippsmobilepay.com/docs/APIs/login-api/.
func Vipps(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "vipps", Name: "Vipps", OIDC: true, Issuer: "https://api.vipps.no/access-management-1.0/access/",
		Authorization: authorize("?scope=openid+name+email"), Checks: withAll, UserInfoProfile: true, BrandColor: "#f05c18",
	})
}

// ZITADEL is documented at https://zitadel.com/docs/apis/openidoauth/endpoints. Its issuer is the
// instance's domain: https://example.zitadel.cloud.
func ZITADEL(c Client) core.OAuth {
	return c.with(core.OAuth{ID: "zitadel", Name: "ZITADEL", OIDC: true})
}
