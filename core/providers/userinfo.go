package providers

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// What follows are the profiles that a GET with the access token doesn't give. Each function is a
// [core.OAuth.RequestUserInfo].

// BungieUserInfo asks Bungie for a profile with the app's API key, for the RequestUserInfo of
// [Bungie]'s provider. Whose profile it is, the token endpoint said.
func BungieUserInfo(apiKey string) func(context.Context, core.UserInfoRequest) (core.Profile, error) {
	return func(ctx context.Context, r core.UserInfoRequest) (core.Profile, error) {
		id := plain(r.Tokens.Extra["membership_id"])
		if id == "" {
			return nil, errors.New("providers: the token endpoint told no membership_id")
		}
		return ask(ctx, r, query{
			url:    strings.ReplaceAll(r.URL, "{membershipId}", url.PathEscape(id)),
			header: http.Header{"X-Api-Key": {apiKey}},
		})
	}
}

// foursquareUserInfo has the access token in the URL.
func foursquareUserInfo(ctx context.Context, r core.UserInfoRequest) (core.Profile, error) {
	return ask(ctx, r, query{url: withQuery(r.URL, url.Values{"oauth_token": {r.Tokens.AccessToken}}), public: true})
}

// gitHubUserInfo asks for the addresses, too, if none is public.
func gitHubUserInfo(ctx context.Context, r core.UserInfoRequest) (core.Profile, error) {
	profile, err := ask(ctx, r, query{url: r.URL})
	if err != nil || isTruthy(profile["email"]) {
		return profile, err
	}
	status, raw, err := send(ctx, r, query{url: r.URL + "/emails"})
	if err != nil || !isOK(status) {
		return profile, err
	}
	var list []any
	if decode(raw, &list) != nil || len(list) == 0 {
		return profile, nil
	}
	address := primary(list)
	if address == nil {
		address, _ = list[0].(map[string]any)
	}
	profile["email"] = address["email"]
	return profile, nil
}

// hubSpotUserInfo asks what an access token is good for.
func hubSpotUserInfo(ctx context.Context, r core.UserInfoRequest) (core.Profile, error) {
	return ask(ctx, r, query{url: r.URL + "/" + url.PathEscape(r.Tokens.AccessToken), public: true})
}

// microsoftPhoto adds to the ID token's claims, as photo, the picture that Microsoft Graph has.
// Without one, or if Graph fails, it is null: nobody is kept out for that.
func microsoftPhoto(ctx context.Context, r core.UserInfoRequest) (core.Profile, error) {
	profile := maps.Clone(r.Claims)
	profile["photo"] = nil
	if status, picture, err := send(ctx, r, query{url: r.URL}); err == nil && isOK(status) {
		profile["photo"] = "data:image/jpeg;base64, " + base64.StdEncoding.EncodeToString(picture)
	}
	return profile, nil
}

// nextcloudUserInfo asks for the user that the token endpoint named
// (https://docs.nextcloud.com/server/latest/developer_manual/client_apis/OCS/).
func nextcloudUserInfo(ctx context.Context, r core.UserInfoRequest) (core.Profile, error) {
	id := plain(r.Tokens.Extra["user_id"])
	if id == "" {
		return nil, errors.New("providers: the token endpoint told no user_id")
	}
	answer, err := ask(ctx, r, query{url: r.URL + "/" + url.PathEscape(id), header: http.Header{"Ocs-Apirequest": {"true"}}})
	if err != nil {
		return nil, err
	}
	return inner(answer, "ocs.data")
}

// notionUserInfo asks for the bot that an access token stands for, which has an owner.
func notionUserInfo(ctx context.Context, r core.UserInfoRequest) (core.Profile, error) {
	answer, err := ask(ctx, r, query{url: r.URL + "/me", header: http.Header{"Notion-Version": {"2022-06-28"}}})
	if err != nil {
		return nil, err
	}
	return inner(answer, "bot.owner.user")
}

// postUserInfo asks with a POST that has no body, as Dropbox wants it.
func postUserInfo(ctx context.Context, r core.UserInfoRequest) (core.Profile, error) {
	return ask(ctx, r, query{method: http.MethodPost, url: r.URL})
}

// todoistUserInfo takes the user from a synchronization of nothing else.
func todoistUserInfo(ctx context.Context, r core.UserInfoRequest) (core.Profile, error) {
	answer, err := ask(ctx, r, query{
		method: http.MethodPost, url: r.URL, header: http.Header{"Content-Type": {"application/json"}},
		body: `{"sync_token":"*","resource_types":"[\"user\"]"}`,
	})
	if err != nil {
		return nil, err
	}
	return inner(answer, "user")
}

// traktUserInfo names the client, and the version of the interface.
func traktUserInfo(ctx context.Context, r core.UserInfoRequest) (core.Profile, error) {
	return ask(ctx, r, query{url: r.URL, header: http.Header{"Trakt-Api-Version": {"2"}, "Trakt-Api-Key": {r.ClientID}}})
}

// vkUserInfo gives the first of the users in the answer, with the address from the token endpoint.
func vkUserInfo(ctx context.Context, r core.UserInfoRequest) (core.Profile, error) {
	answer, err := ask(ctx, r, query{url: r.URL})
	if err != nil {
		return nil, err
	}
	profile, err := inner(answer, "response.0")
	if err != nil {
		return nil, err
	}
	profile["email"] = nil
	if email := r.Tokens.Extra["email"]; isTruthy(email) {
		profile["email"] = email
	}
	return profile, nil
}

// weChatUserInfo has the access token in the URL, and the person's number in the app.
func weChatUserInfo(ctx context.Context, r core.UserInfoRequest) (core.Profile, error) {
	return ask(ctx, r, query{public: true, url: withQuery(r.URL, url.Values{
		"access_token": {r.Tokens.AccessToken}, "openid": {plain(r.Tokens.Extra["openid"])}, "lang": {"zh_CN"},
	})})
}

// withQuery adds parameters to a URL.
func withQuery(address string, params url.Values) string {
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + params.Encode()
}
