package providers

import (
	"github.com/edgeauth/edgeauth/core"
	"golang.org/x/oauth2/endpoints"
)

// The providers with plain OAuth 2.0, from 42 School to Mattermost, ordered by id.

// FortyTwoSchool is documented at https://api.intra.42.fr/apidoc/guides/web_application_flow.
func FortyTwoSchool(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "42-school", Name: "42 School",
		Authorization: authorize("https://api.intra.42.fr/oauth/authorize?scope=public"),
		Token:         at("https://api.intra.42.fr/oauth/token"),
		UserInfo:      at("https://api.intra.42.fr/v2/me"),
		Profile:       fields{id: "id", name: "usual_full_name", email: "email", image: "image.link"}.user,
	})
}

// Atlassian is documented at https://developer.atlassian.com/cloud/jira/software/oauth-2-3lo-apps/.
func Atlassian(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "atlassian", Name: "Atlassian", Checks: withState, BrandColor: "#fff",
		Authorization: authorize("https://auth.atlassian.com/authorize?audience=api.atlassian.com&scope=read:me"),
		Token:         at("https://auth.atlassian.com/oauth/token"),
		UserInfo:      at("https://api.atlassian.com/me"),
		Profile:       fields{id: "account_id", name: "name", email: "email", image: "picture"}.user,
	})
}

// AzureDevOps is documented at https://learn.microsoft.com/en-us/azure/devops/integrate/get-started/authentication/azure-devops-oauth.
// Microsoft registers no new apps there; [MicrosoftEntraID] is what it asks for instead.
func AzureDevOps(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "azure-devops", Name: "Azure DevOps",
		Authorization: authorize("https://app.vssps.visualstudio.com/oauth2/authorize?response_type=Assertion&scope=vso.profile"),
		Token:         at("https://app.vssps.visualstudio.com/oauth2/token"),
		UserInfo:      at("https://app.vssps.visualstudio.com/_apis/profile/profiles/me?details=true&coreAttributes=Avatar&api-version=6.0"),
		ClientAuth:    core.ClientSecretPost, ConformTokenRequest: assertCode, Profile: azureDevOpsUser,
	})
}

// Bitbucket is documented at https://support.atlassian.com/bitbucket-cloud/docs/use-oauth-on-bitbucket-cloud/.
func Bitbucket(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "bitbucket", Name: "Bitbucket", BrandColor: "#205081",
		Authorization: authorize(endpoints.Bitbucket.AuthURL + "?scope=account"),
		Token:         at(endpoints.Bitbucket.TokenURL),
		UserInfo:      at("https://api.bitbucket.org/2.0/user"),
		Profile:       fields{id: "account_id", name: "display_name|username", image: "links.avatar?.href"}.user,
	})
}

// Box is documented at https://developer.box.com/guides/authentication/oauth2/.
func Box(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "box", Name: "Box", BrandColor: "#0075C9",
		Authorization: authorize("https://account.box.com/api/oauth2/authorize"),
		Token:         at("https://api.box.com/oauth2/token"),
		UserInfo:      at("https://api.box.com/2.0/users/me"),
		Profile:       fields{id: "id", name: "name", email: "login", image: "avatar_url"}.user,
	})
}

// BoxyHQSAML is documented at https://boxyhq.com/docs/jackson/saml-flow. Its issuer is the URL of a
// SAML Jackson server.
func BoxyHQSAML(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "boxyhq-saml", Name: "BoxyHQ SAML", BrandColor: "#25c2a0",
		Authorization: authorize("{issuer}/api/oauth/authorize?provider=saml"),
		Token:         at("{issuer}/api/oauth/token"),
		UserInfo:      at("{issuer}/api/oauth/userinfo"),
		Profile:       fields{id: "id", name: "firstName+lastName", email: "email", image: "null"}.user,
	})
}

// Bungie is documented at https://github.com/Bungie-net/api/wiki/OAuth-Documentation. It answers
// only requests with the app's API key: RequestUserInfo must be set to what [BungieUserInfo] gives.
func Bungie(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "bungie", Name: "Bungie",
		Authorization: authorize("https://www.bungie.net/en/OAuth/Authorize?reauth=true"),
		Token:         at("https://www.bungie.net/platform/app/oauth/token/"),
		UserInfo:      at("https://www.bungie.net/platform/User/GetBungieAccount/{membershipId}/254/"),
		Profile:       bungieUser, Prepare: bungieKey,
	})
}

// ClickUp is documented at https://developer.clickup.com/docs/authentication.
func ClickUp(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "click-up", Name: "ClickUp", Checks: withState, BrandColor: "#24292f",
		Authorization: authorize("https://app.clickup.com/api"),
		Token:         at("https://api.clickup.com/api/v2/oauth/token"),
		UserInfo:      at("https://api.clickup.com/api/v2/user"),
		ConformToken:  addTokenType, Profile: clickUpUser,
	})
}

// Coinbase is documented at https://docs.cdp.coinbase.com/coinbase-app/docs/coinbase-app-integration.
func Coinbase(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "coinbase", Name: "Coinbase", BrandColor: "#0052ff",
		Authorization: authorize(endpoints.Coinbase.AuthURL + "?scope=wallet:user:email+wallet:user:read"),
		Token:         at(endpoints.Coinbase.TokenURL),
		UserInfo:      at("https://api.coinbase.com/v2/user"),
		Profile:       fields{id: "data.id", name: "data.name", email: "data.email", image: "data.avatar_url"}.user,
	})
}

// Concept2 is documented at https://log.concept2.com/developers/documentation/.
func Concept2(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "concept2", Name: "Concept2",
		Authorization: authorize("https://log.concept2.com/oauth/authorize?scope=user:read,results:write"),
		Token:         at("https://log.concept2.com/oauth/access_token"),
		UserInfo:      at("https://log.concept2.com/api/users/me"),
		Profile:       fields{id: "data.id", name: "data.username", email: "data.email", image: "data.profile_image"}.user,
	})
}

// Discord is documented at https://discord.com/developers/docs/topics/oauth2.
func Discord(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "discord", Name: "Discord", BrandColor: "#5865F2",
		Authorization: authorize("https://discord.com/api/oauth2/authorize?scope=identify+email"),
		Token:         at("https://discord.com/api/oauth2/token"),
		UserInfo:      at("https://discord.com/api/users/@me"),
		Profile:       discordUser,
	})
}

// Dribbble is documented at https://developer.dribbble.com/v2/oauth/.
func Dribbble(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "dribbble", Name: "Dribbble", BrandColor: "#000",
		Authorization: authorize("https://dribbble.com/oauth/authorize?scope=public"),
		Token:         at("https://dribbble.com/oauth/token"),
		UserInfo:      at("https://api.dribbble.com/v2/user"),
		Profile:       fields{id: "id", name: "name", email: "email", image: "avatar_url"}.user,
	})
}

// Dropbox is documented at https://developers.dropbox.com/oauth-guide.
func Dropbox(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "dropbox", Name: "Dropbox", BrandColor: "#0061fe",
		Authorization:   authorize(endpoints.Dropbox.AuthURL + "?token_access_type=offline&scope=account_info.read"),
		Token:           at(endpoints.Dropbox.TokenURL),
		UserInfo:        at("https://api.dropboxapi.com/2/users/get_current_account"),
		RequestUserInfo: postUserInfo,
		Profile:         fields{id: "account_id", name: "name.display_name", email: "email", image: "profile_photo_url"}.user,
	})
}

// Eventbrite is documented at https://www.eventbrite.com/platform/api#/introduction/authentication.
func Eventbrite(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "eventbrite", Name: "Eventbrite", ClientAuth: core.ClientSecretPost, BrandColor: "#f05537",
		Authorization: authorize("https://www.eventbrite.com/oauth/authorize?scope=user.profile"),
		Token:         at("https://www.eventbrite.com/oauth/token"),
		UserInfo:      at("https://www.eventbriteapi.com/v3/users/me/"),
		Profile:       eventbriteUser,
	})
}

// EVEOnline is documented at https://developers.eveonline.com/blog/article/sso-to-authenticated-calls.
func EVEOnline(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "eveonline", Name: "EVE Online", Checks: withState,
		Authorization: authorize("https://login.eveonline.com/v2/oauth/authorize?scope=publicData"),
		Token:         at("https://login.eveonline.com/v2/oauth/token"),
		UserInfo:      at("https://login.eveonline.com/oauth/verify"),
		Profile:       eveOnlineUser,
	})
}

// Facebook is documented at https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow.
func Facebook(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "facebook", Name: "Facebook", BrandColor: "#006aff",
		Authorization: authorize("https://www.facebook.com/v19.0/dialog/oauth?scope=email"),
		Token:         at("https://graph.facebook.com/oauth/access_token"),
		UserInfo:      at("https://graph.facebook.com/me?fields=id,name,email,picture"),
		Profile:       fields{id: "id", name: "name", email: "email", image: "picture.data.url"}.user,
	})
}

// FACEIT is documented at https://cdn.faceit.com/third_party/docs/FACEIT_Connect_3.0.pdf.
func FACEIT(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "faceit", Name: "FACEIT",
		Authorization: authorize("https://accounts.faceit.com/accounts?redirect_popup=true"),
		Token:         at("https://api.faceit.com/auth/v1/oauth/token"),
		UserInfo:      at("https://api.faceit.com/auth/v1/resources/userinfo"),
		Profile:       fields{id: "guid", name: "name", email: "email", image: "picture"}.user,
	})
}

// Figma is documented at https://www.figma.com/developers/api#oauth2.
func Figma(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "figma", Name: "Figma", Checks: withState, BrandColor: "#ff7237",
		Authorization: authorize("https://www.figma.com/oauth?scope=files:read"),
		Token:         at("https://api.figma.com/v1/oauth/token"),
		UserInfo:      at("https://api.figma.com/v1/me"),
		Profile:       fields{id: "id", name: "handle", email: "email", image: "img_url"}.user,
	})
}

// Foursquare is documented at https://docs.foursquare.com/developer/reference/authentication. The
// version of its API is a parameter of the userinfo endpoint's URL.
func Foursquare(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "foursquare", Name: "Foursquare", BrandColor: "#000",
		Authorization:   authorize("https://foursquare.com/oauth2/authenticate"),
		Token:           at(endpoints.Foursquare.TokenURL),
		UserInfo:        at("https://api.foursquare.com/v2/users/self?v=20230131"),
		RequestUserInfo: foursquareUserInfo, ConformToken: addTokenType, Profile: foursquareUser,
	})
}

// FreshBooks is documented at https://www.freshbooks.com/api/authenticating-with-oauth-2-0-on-the-new-freshbooks-api.
func FreshBooks(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "freshbooks", Name: "Freshbooks", BrandColor: "#0075dd",
		Authorization: authorize("https://auth.freshbooks.com/service/auth/oauth/authorize"),
		Token:         at("https://api.freshbooks.com/auth/oauth/token"),
		UserInfo:      at("https://api.freshbooks.com/auth/api/v1/users/me"),
		Profile: fields{
			id: "response.id", name: "response.first_name+response.last_name", email: "response.email", image: "null",
		}.user,
	})
}

// GitHub is documented at https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps.
// The issuer of GitHub Enterprise is the server's URL: https://github.example.com.
func GitHub(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "github", Name: "GitHub", BrandColor: "#24292f",
		Authorization: authorize("?scope=read:user+user:email"),
		Prepare:       gitHubServer, RequestUserInfo: gitHubUserInfo,
		Profile: fields{id: "id", name: "name|login", email: "email", image: "avatar_url"}.user,
	})
}

// GitLab is documented at https://docs.gitlab.com/api/oauth2/. The issuer of a server of one's own is
// its URL.
func GitLab(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "gitlab", Name: "GitLab", Issuer: "https://gitlab.com", BrandColor: "#FC6D26",
		Authorization: authorize("{issuer}/oauth/authorize?scope=read_user"),
		Token:         at("{issuer}/oauth/token"),
		UserInfo:      at("{issuer}/api/v4/user"),
		Profile:       fields{id: "sub|id", name: "name|username", email: "email", image: "avatar_url"}.user,
	})
}

// HubSpot is documented at https://developers.hubspot.com/docs/api/oauth-quickstart-guide.
func HubSpot(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "hubspot", Name: "HubSpot", ClientAuth: core.ClientSecretPost, BrandColor: "#ff7a59",
		Authorization:   authorize("https://app.hubspot.com/oauth/authorize?scope=oauth"),
		Token:           at("https://api.hubapi.com/oauth/v1/token"),
		UserInfo:        at("https://api.hubapi.com/oauth/v1/access-tokens"),
		RequestUserInfo: hubSpotUserInfo,
		Profile:         fields{id: "user_id", name: "user", email: "user", image: "null"}.user,
	})
}

// Instagram is documented at https://developers.facebook.com/docs/instagram-basic-display-api/getting-started.
func Instagram(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "instagram", Name: "Instagram", ClientAuth: core.ClientSecretPost, BrandColor: "#fff",
		Authorization: authorize(endpoints.Instagram.AuthURL + "?scope=user_profile"),
		Token:         at(endpoints.Instagram.TokenURL),
		UserInfo:      at("https://graph.instagram.com/me?fields=id,username,account_type,name"),
		ConformToken:  addTokenType,
		Profile:       fields{id: "id", name: "username", image: "null"}.user,
	})
}

// Kakao is documented at https://developers.kakao.com/docs/latest/en/kakaologin/common.
func Kakao(c Client) core.OAuth {
	const account = "kakao_account?."
	return c.with(core.OAuth{
		ID: "kakao", Name: "Kakao", ClientAuth: core.ClientSecretPost,
		Authorization: authorize(endpoints.KaKao.AuthURL + "?scope="),
		Token:         at(endpoints.KaKao.TokenURL),
		UserInfo:      at("https://kapi.kakao.com/v2/user/me"),
		Profile: fields{
			id: "id", name: account + "profile?.nickname", email: account + "email", image: account + "profile?.profile_image_url",
		}.user,
	})
}

// Mailchimp is documented at https://mailchimp.com/developer/marketing/guides/access-user-data-oauth-2/.
func Mailchimp(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "mailchimp", Name: "Mailchimp", BrandColor: "#000",
		Authorization: authorize(endpoints.Mailchimp.AuthURL),
		Token:         at(endpoints.Mailchimp.TokenURL),
		UserInfo:      at("https://login.mailchimp.com/oauth2/metadata"),
		ConformToken:  addTokenType,
		Profile:       fields{id: "login.login_id", name: "accountname", email: "login.email", image: "null"}.user,
	})
}

// MailRu is documented at https://o2.mail.ru/docs.
func MailRu(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "mailru", Name: "Mail.ru",
		Authorization: authorize("https://oauth.mail.ru/login?scope=userinfo"),
		Token:         at("https://oauth.mail.ru/token"),
		UserInfo:      at("https://oauth.mail.ru/userinfo"),
		Profile:       standard.user,
	})
}

// Mastodon is documented at https://docs.joinmastodon.org/client/token/. Its issuer is the server's
// URL: https://mastodon.social.
func Mastodon(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "mastodon", Name: "Mastodon",
		Authorization: authorize("{issuer}/oauth/authorize?scope=read"),
		Token:         at("{issuer}/oauth/token"),
		UserInfo:      at("{issuer}/api/v1/accounts/verify_credentials"),
		Profile:       fields{id: "id", name: "username", image: "avatar_static"}.user,
	})
}

// Mattermost is documented at https://developers.mattermost.com/integrate/apps/authentication/oauth2/.
// Its issuer is the server's URL.
func Mattermost(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "mattermost", Name: "Mattermost", ClientAuth: core.ClientSecretPost, BrandColor: "#000",
		Authorization: authorize("{issuer}/oauth/authorize"),
		Token:         at("{issuer}/oauth/access_token"),
		UserInfo:      at("{issuer}/api/v4/users/me"),
		Profile:       fields{id: "id", name: "username|first_name+last_name", email: "email", image: "null"}.user,
	})
}
