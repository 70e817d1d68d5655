package providers

import (
	"github.com/edgeauth/edgeauth/core"
	"golang.org/x/oauth2/endpoints"
)

// The providers with plain OAuth 2.0, from Medium to Zoom, ordered by id.

// Medium is documented at https://github.com/Medium/medium-api-docs.
func Medium(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "medium", Name: "Medium",
		Authorization: authorize("https://medium.com/m/oauth/authorize?scope=basicProfile"),
		Token:         at("https://api.medium.com/v1/tokens"),
		UserInfo:      at("https://api.medium.com/v1/me"),
		Profile:       fields{id: "data.id", name: "data.name", image: "data.imageUrl"}.user,
	})
}

// Naver is documented at https://developers.naver.com/docs/login/api/api.md.
func Naver(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "naver", Name: "Naver",
		Authorization: authorize(endpoints.Naver.AuthURL),
		Token:         at(endpoints.Naver.TokenURL),
		UserInfo:      at("https://openapi.naver.com/v1/nid/me"),
		Profile:       fields{id: "response.id", name: "response.nickname", email: "response.email", image: "response.profile_image"}.user,
	})
}

// Netlify is documented at https://docs.netlify.com/api/get-started/#authentication.
func Netlify(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "netlify", Name: "Netlify", BrandColor: "#32e6e2",
		Authorization: authorize("https://app.netlify.com/authorize?scope="),
		Token:         at("https://api.netlify.com/oauth/token"),
		UserInfo:      at("https://api.netlify.com/api/v1/user"),
		Profile:       fields{id: "id", name: "full_name", email: "email", image: "avatar_url"}.user,
	})
}

// NetSuite is documented at
// https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/section_157771281570.html. Its issuer is
// the account's domain: https://1234567.app.netsuite.com. The userinfo endpoint must be set: the
// account's own RESTlet or Suitelet that answers with runtime.getCurrentUser().
func NetSuite(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "netsuite", Name: "NetSuite", Checks: withState, BrandColor: "#181a1b",
		Authorization: authorize("{issuer}/app/login/oauth2/authorize.nl?scope=restlets+rest_webservices"),
		Prepare:       netSuiteAccount,
		Profile:       fields{id: "id", name: "name", email: "email", image: "null"}.user,
	})
}

// Nextcloud is documented at
// https://docs.nextcloud.com/server/latest/admin_manual/configuration_server/oauth2.html. Its issuer is
// the server's URL.
func Nextcloud(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "nextcloud", Name: "Nextcloud", BrandColor: "#fff",
		Authorization:   authorize("{issuer}/apps/oauth2/authorize"),
		Token:           at("{issuer}/apps/oauth2/api/v1/token"),
		UserInfo:        at("{issuer}/ocs/v1.php/cloud/users"),
		RequestUserInfo: nextcloudUserInfo, Prepare: nextcloudAvatar,
	})
}

// Notion is documented at https://developers.notion.com/docs/authorization.
func Notion(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "notion", Name: "Notion", BrandColor: "#fff",
		Authorization:   authorize("https://api.notion.com/v1/oauth/authorize?owner=user"),
		Token:           at("https://api.notion.com/v1/oauth/token"),
		UserInfo:        at("https://api.notion.com/v1/users"),
		RequestUserInfo: notionUserInfo,
		Profile:         fields{id: "id", name: "name", email: "person.email", image: "avatar_url"}.user,
	})
}

// Osso is documented at https://ossoapp.com/docs/configure/overview. Its issuer is the server's URL.
func Osso(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "osso", Name: "Osso",
		Authorization: authorize("{issuer}/oauth/authorize"),
		Token:         at("{issuer}/oauth/token"),
		UserInfo:      at("{issuer}/oauth/me"),
		Profile:       standard.user,
	})
}

// Osu is documented at https://osu.ppy.sh/docs/index.html#authentication.
func Osu(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "osu", Name: "osu!",
		Authorization: authorize("https://osu.ppy.sh/oauth/authorize?scope=identify"),
		Token:         at("https://osu.ppy.sh/oauth/token"),
		UserInfo:      at("https://osu.ppy.sh/api/v2/me"),
		Profile:       fields{id: "id", name: "username", image: "avatar_url"}.user,
	})
}

// Patreon is documented at https://docs.patreon.com/#oauth.
func Patreon(c Client) core.OAuth {
	const user = "data.attributes."
	return c.with(core.OAuth{
		ID: "patreon", Name: "Patreon", BrandColor: "#e85b46",
		Authorization: authorize(endpoints.Patreon.AuthURL + "?scope=identity+identity[email]"),
		Token:         at(endpoints.Patreon.TokenURL),
		UserInfo:      at("https://www.patreon.com/api/oauth2/api/current_user"),
		Profile:       fields{id: "data.id", name: user + "full_name", email: user + "email", image: user + "image_url"}.user,
	})
}

// Pinterest is documented at https://developers.pinterest.com/docs/getting-started/authentication/.
func Pinterest(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "pinterest", Name: "Pinterest", BrandColor: "#bd081c",
		Authorization: authorize(endpoints.Pinterest.AuthURL + "?scope=user_accounts:read"),
		Token:         at(endpoints.Pinterest.TokenURL),
		UserInfo:      at("https://api.pinterest.com/v5/user_account"),
		Profile:       fields{id: "username", name: "username", image: "profile_image"}.user,
	})
}

// Pipedrive is documented at https://pipedrive.readme.io/docs/marketplace-oauth-authorization.
func Pipedrive(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "pipedrive", Name: "Pipedrive",
		Authorization: authorize(endpoints.Pipedrive.AuthURL),
		Token:         at(endpoints.Pipedrive.TokenURL),
		UserInfo:      at("https://api.pipedrive.com/users/me"),
		Profile:       fields{id: "data.id", name: "data.name", email: "data.email", image: "data.icon_url"}.user,
	})
}

// Reddit is documented at https://github.com/reddit-archive/reddit/wiki/OAuth2.
func Reddit(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "reddit", Name: "Reddit", Checks: withState, BrandColor: "#FF4500",
		Authorization: authorize("https://www.reddit.com/api/v1/authorize?scope=identity"),
		Token:         at("https://www.reddit.com/api/v1/access_token"),
		UserInfo:      at("https://oauth.reddit.com/api/v1/me"),
		Profile:       standard.user,
	})
}

// Spotify is documented at https://developer.spotify.com/documentation/web-api/tutorials/code-flow.
func Spotify(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "spotify", Name: "Spotify", BrandColor: "#1db954",
		Authorization: authorize(endpoints.Spotify.AuthURL + "?scope=user-read-email"),
		Token:         at(endpoints.Spotify.TokenURL),
		UserInfo:      at("https://api.spotify.com/v1/me"),
		Profile:       fields{id: "id", name: "display_name", email: "email", image: "images?.0?.url"}.user,
	})
}

// Strava is documented at https://developers.strava.com/docs/authentication/.
func Strava(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "strava", Name: "Strava", ClientAuth: core.ClientSecretPost,
		Authorization: authorize("https://www.strava.com/api/v3/oauth/authorize?scope=read&approval_prompt=auto"),
		Token:         at("https://www.strava.com/api/v3/oauth/token"),
		UserInfo:      at("https://www.strava.com/api/v3/athlete"),
		Profile:       fields{id: "id", name: "firstname+lastname", image: "profile"}.user,
	})
}

// Threads is documented at https://developers.facebook.com/docs/threads/get-started.
func Threads(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "threads", Name: "Threads", Checks: withState, ClientAuth: core.ClientSecretPost, BrandColor: "#000",
		Authorization: authorize("https://threads.net/oauth/authorize?scope=threads_basic"),
		Token:         at("https://graph.threads.net/oauth/access_token"),
		UserInfo:      at("https://graph.threads.net/v1.0/me?fields=id,username,threads_profile_picture_url"),
		ConformToken:  addTokenType, Profile: threadsUser,
	})
}

// TikTok is documented at https://developers.tiktok.com/doc/login-kit-web/.
func TikTok(c Client) core.OAuth {
	const user = "data.user."
	return c.with(core.OAuth{
		ID: "tiktok", Name: "TikTok", ClientAuth: core.ClientSecretPost, BrandColor: "#000",
		Authorization:       authorize("https://www.tiktok.com/v2/auth/authorize?client_key={client_id}&scope=user.info.basic"),
		Token:               at("https://open.tiktokapis.com/v2/oauth/token/"),
		UserInfo:            at("https://open.tiktokapis.com/v2/user/info/?fields=open_id,avatar_url,display_name"),
		ConformTokenRequest: addClientKey,
		Profile:             fields{id: user + "open_id", name: user + "display_name", image: user + "avatar_url"}.user,
	})
}

// Todoist is documented at https://developer.todoist.com/guides/#oauth.
func Todoist(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "todoist", Name: "Todoist", ClientAuth: core.ClientSecretPost, BrandColor: "#E44332",
		Authorization:   authorize("https://todoist.com/oauth/authorize?scope=data:read"),
		Token:           at("https://todoist.com/oauth/access_token"),
		UserInfo:        at("https://api.todoist.com/sync/v9/sync"),
		RequestUserInfo: todoistUserInfo,
		Profile:         fields{id: "id", name: "full_name", email: "email", image: "avatar_big"}.user,
	})
}

// Trakt is documented at https://trakt.docs.apiary.io/#reference/authentication-oauth.
func Trakt(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "trakt", Name: "Trakt", BrandColor: "#ED2224",
		Authorization:   authorize("https://trakt.tv/oauth/authorize?scope="),
		Token:           at("https://api.trakt.tv/oauth/token"),
		UserInfo:        at("https://api.trakt.tv/users/me?extended=full"),
		RequestUserInfo: traktUserInfo,
		Profile:         fields{id: "ids.slug", name: "name", image: "images.avatar.full"}.user,
	})
}

// Twitter is documented at https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code.
func Twitter(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "twitter", Name: "Twitter", Checks: withBoth, BrandColor: "#1da1f2",
		Authorization: authorize(endpoints.X.AuthURL + "?scope=users.read+tweet.read+offline.access"),
		Token:         at(endpoints.X.TokenURL),
		UserInfo:      at("https://api.x.com/2/users/me?user.fields=profile_image_url"),
		Profile:       fields{id: "data.id", name: "data.name", email: "data.email", image: "data.profile_image_url"}.user,
	})
}

// VK is documented at https://dev.vk.com/en/api/access-token/authcode-flow-user.
func VK(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "vk", Name: "VK", ClientAuth: core.ClientSecretPost, BrandColor: "#07F",
		Authorization:   authorize(endpoints.Vk.AuthURL + "?scope=email&v=5.131"),
		Token:           at(endpoints.Vk.TokenURL + "?v=5.131"),
		UserInfo:        at("https://api.vk.com/method/users.get?fields=photo_100&v=5.131"),
		RequestUserInfo: vkUserInfo, ConformToken: addTokenType,
		Profile: fields{id: "id", name: "first_name+last_name", email: "email", image: "photo_100"}.user,
	})
}

// Webex is documented at https://developer.webex.com/docs/login-with-webex.
func Webex(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "webex", Name: "Webex",
		Authorization: authorize("https://webexapis.com/v1/authorize?scope=spark:kms+spark:people_read"),
		Token:         at("https://webexapis.com/v1/access_token"),
		UserInfo:      at("https://webexapis.com/v1/people/me"),
		Profile:       fields{id: "id", name: "displayName", email: "emails.0", image: "avatar"}.user,
	})
}

// WeChat is documented at https://developers.weixin.qq.com/doc/offiaccount/OA_Web_Apps/Wechat_webpage_authorization.html.
// It is made for pages inside WeChat, of an official account. A website has the authorization
// endpoint https://open.weixin.qq.com/connect/qrconnect and the scope snsapi_login.
func WeChat(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "wechat", Name: "WeChat", Checks: withState, BrandColor: "#fff",
		Authorization:   authorize("https://open.weixin.qq.com/connect/oauth2/authorize?appid={client_id}&scope=snsapi_userinfo"),
		Token:           authorize("https://api.weixin.qq.com/sns/oauth2/access_token?appid={client_id}&secret={client_secret}"),
		UserInfo:        at("https://api.weixin.qq.com/sns/userinfo"),
		RequestUserInfo: weChatUserInfo, ConformToken: addTokenType,
		Profile: fields{id: "unionid|openid", name: "nickname", image: "headimgurl"}.user,
	})
}

// Wikimedia is documented at https://www.mediawiki.org/wiki/Extension:OAuth.
func Wikimedia(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "wikimedia", Name: "Wikimedia", BrandColor: "#000",
		Authorization: authorize("https://meta.wikimedia.org/w/rest.php/oauth2/authorize?scope="),
		Token:         at("https://meta.wikimedia.org/w/rest.php/oauth2/access_token"),
		UserInfo:      at("https://meta.wikimedia.org/w/rest.php/oauth2/resource/profile"),
		Profile:       fields{id: "sub", name: "username", email: "email", image: "null"}.user,
	})
}

// WordPress is documented at https://developer.wordpress.com/docs/oauth2/.
func WordPress(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "wordpress", Name: "WordPress.com",
		Authorization: authorize("https://public-api.wordpress.com/oauth2/authorize?scope=auth"),
		Token:         at("https://public-api.wordpress.com/oauth2/token"),
		UserInfo:      at("https://public-api.wordpress.com/rest/v1/me"),
		Profile:       fields{id: "ID", name: "display_name", email: "email", image: "avatar_URL"}.user,
	})
}

// WorkOS is documented at https://workos.com/docs/reference/sso. Which identity provider it asks is
// the authorization parameter connection, which may be set here or at each sign-in.
func WorkOS(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "workos", Name: "WorkOS", Issuer: "https://api.workos.com/", ClientAuth: core.ClientSecretPost, BrandColor: "#6363f1",
		Authorization: authorize("{issuer}/sso/authorize?connection="),
		Token:         at("{issuer}/sso/token"),
		UserInfo:      at("{issuer}/sso/profile"),
		Profile:       fields{id: "id", name: "first_name+last_name", email: "email", image: "raw_attributes.picture|null"}.user,
	})
}

// Yandex is documented at https://yandex.com/dev/id/doc/en/.
func Yandex(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "yandex", Name: "Yandex", BrandColor: "#ffcc00",
		Authorization: authorize("https://oauth.yandex.ru/authorize?scope=login:info+login:email+login:avatar"),
		Token:         at("https://oauth.yandex.ru/token"),
		UserInfo:      at("https://login.yandex.ru/info?format=json"),
		Profile:       yandexUser,
	})
}

// Zoho is documented at https://www.zoho.com/accounts/protocol/oauth/web-server-applications.html.
func Zoho(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "zoho", Name: "Zoho",
		Authorization: authorize("https://accounts.zoho.com/oauth/v2/auth?scope=AaaServer.profile.Read"),
		Token:         at("https://accounts.zoho.com/oauth/v2/token"),
		UserInfo:      at("https://accounts.zoho.com/oauth/user/info"),
		Profile:       fields{id: "ZUID", name: "First_Name+Last_Name", email: "Email", image: "null"}.user,
	})
}

// Zoom is documented at https://developers.zoom.us/docs/integrations/oauth/.
func Zoom(c Client) core.OAuth {
	return c.with(core.OAuth{
		ID: "zoom", Name: "Zoom", BrandColor: "#0b5cff",
		Authorization: authorize(endpoints.Zoom.AuthURL + "?scope="),
		Token:         at(endpoints.Zoom.TokenURL),
		UserInfo:      at("https://api.zoom.us/v2/users/me"),
		Profile:       fields{id: "id", name: "first_name+last_name", email: "email", image: "pic_url"}.user,
	})
}
