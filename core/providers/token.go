package providers

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// What follows are token endpoints that stray from RFC 6749.

// addClientKey tells TikTok the client's id under the name that it has there
// (https://developers.tiktok.com/doc/oauth-user-access-token-management).
func addClientKey(form url.Values) { form.Set("client_key", form.Get("client_id")) }

// assertCode sends the code and the secret as assertions, as Azure DevOps wants them.
func assertCode(form url.Values) {
	form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	form.Set("client_assertion", form.Get("client_secret"))
	form.Set("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
	form.Set("assertion", form.Get("code"))
	for _, name := range [...]string{"code", "client_id", "client_secret"} {
		form.Del(name)
	}
}

// addTokenType mends an answer without a token_type, and one with members that are null.
func addTokenType(_ context.Context, status int, body []byte) (int, []byte, error) {
	return mend(status, body, func(answer map[string]any) {
		for name, value := range answer {
			if value == nil {
				delete(answer, name)
			}
		}
		if answer["token_type"] == nil {
			answer["token_type"] = "bearer"
		}
	})
}

// joinScopes makes text of Twitch's list of scopes
// (https://dev.twitch.tv/docs/authentication/getting-tokens-oidc/).
func joinScopes(_ context.Context, status int, body []byte) (int, []byte, error) {
	return mend(status, body, func(answer map[string]any) {
		var scopes []string
		switch list := answer["scope"].(type) {
		case string:
			return
		case []any:
			for _, scope := range list {
				scopes = append(scopes, plain(scope))
			}
		}
		if delete(answer, "scope"); scopes != nil {
			answer["scope"] = strings.Join(scopes, " ")
		}
	})
}

// mend changes an answer that has tokens, and leaves any other as it is.
func mend(status int, body []byte, change func(answer map[string]any)) (int, []byte, error) {
	var answer map[string]any
	if decode(body, &answer) != nil || answer["access_token"] == nil {
		return status, body, nil
	}
	change(answer)
	mended, err := json.Marshal(answer)
	return status, mended, err
}

// microsoftError shows the person that Microsoft refused, whatever the status is, as Auth.js does
// (https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow#error-response-1).
func microsoftError(_ context.Context, status int, body []byte) (int, []byte, error) {
	var answer struct{ Error string }
	if decode(body, &answer) == nil && answer.Error != "" {
		const most = 80
		reason := strconv.Quote(answer.Error[:min(len(answer.Error), most)])
		return 0, nil, &core.Error{Kind: core.ErrOAuthCallback, Message: "the token endpoint answered " + reason}
	}
	return status, body, nil
}
