package providers

import "github.com/edgeauth/edgeauth/core"

// listed is one provider of the catalogue.
type listed struct {
	id          string
	constructor func(Client) core.OAuth
}

// ByID gives the provider of that id to a client, and whether the catalogue has it. Ids are
// case-sensitive: they are those of Auth.js. It links the whole catalogue.
func ByID(id string, c Client) (core.OAuth, bool) {
	for _, table := range [...][]listed{oauthTable[:], oidcTable[:]} {
		for _, one := range table {
			if one.id == id {
				return one.constructor(c), true
			}
		}
	}
	return core.OAuth{}, false
}

// oauthTable has the providers with plain OAuth 2.0, ordered by id.
var oauthTable = [...]listed{
	{"42-school", FortyTwoSchool},
	{"atlassian", Atlassian},
	{"azure-devops", AzureDevOps},
	{"bitbucket", Bitbucket},
	{"box", Box},
	{"boxyhq-saml", BoxyHQSAML},
	{"bungie", Bungie},
	{"click-up", ClickUp},
	{"coinbase", Coinbase},
	{"concept2", Concept2},
	{"discord", Discord},
	{"dribbble", Dribbble},
	{"dropbox", Dropbox},
	{"eventbrite", Eventbrite},
	{"eveonline", EVEOnline},
	{"facebook", Facebook},
	{"faceit", FACEIT},
	{"figma", Figma},
	{"foursquare", Foursquare},
	{"freshbooks", FreshBooks},
	{"github", GitHub},
	{"gitlab", GitLab},
	{"hubspot", HubSpot},
	{"instagram", Instagram},
	{"kakao", Kakao},
	{"mailchimp", Mailchimp},
	{"mailru", MailRu},
	{"mastodon", Mastodon},
	{"mattermost", Mattermost},
	{"medium", Medium},
	{"naver", Naver},
	{"netlify", Netlify},
	{"netsuite", NetSuite},
	{"nextcloud", Nextcloud},
	{"notion", Notion},
	{"osso", Osso},
	{"osu", Osu},
	{"patreon", Patreon},
	{"pinterest", Pinterest},
	{"pipedrive", Pipedrive},
	{"reddit", Reddit},
	{"spotify", Spotify},
	{"strava", Strava},
	{"threads", Threads},
	{"tiktok", TikTok},
	{"todoist", Todoist},
	{"trakt", Trakt},
	{"twitter", Twitter},
	{"vk", VK},
	{"webex", Webex},
	{"wechat", WeChat},
	{"wikimedia", Wikimedia},
	{"wordpress", WordPress},
	{"workos", WorkOS},
	{"yandex", Yandex},
	{"zoho", Zoho},
	{"zoom", Zoom},
}

// oidcTable has those with OpenID Connect, ordered by id.
var oidcTable = [...]listed{
	{"apple", Apple},
	{"asgardeo", Asgardeo},
	{"auth0", Auth0},
	{"authentik", Authentik},
	{"azure-ad", AzureAD},
	{"azure-ad-b2c", AzureADB2C},
	{"bankid-no", BankIDNorway},
	{"battlenet", BattleNet},
	{"beyondidentity", BeyondIdentity},
	{"cognito", Cognito},
	{"descope", Descope},
	{"duende-identity-server6", DuendeIdentityServer6},
	{"frontegg", Frontegg},
	{"fusionauth", FusionAuth},
	{"google", Google},
	{"huggingface", HuggingFace},
	{"hydra", OryHydra},
	{"identity-server4", IdentityServer4},
	{"keycloak", Keycloak},
	{"kinde", Kinde},
	{"line", LINE},
	{"linkedin", LinkedIn},
	{"logto", Logto},
	{"microsoft-entra-id", MicrosoftEntraID},
	{"okta", Okta},
	{"onelogin", OneLogin},
	{"passage", Passage},
	{"ping-id", PingID},
	{"roblox", Roblox},
	{"salesforce", Salesforce},
	{"simplelogin", SimpleLogin},
	{"slack", Slack},
	{"twitch", Twitch},
	{"united-effects", UnitedEffects},
	{"vipps", Vipps},
	{"zitadel", ZITADEL},
}
