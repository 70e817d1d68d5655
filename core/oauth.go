package core

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
	"golang.org/x/oauth2"
)

const defaultScope = "openid profile email"

// oauthClient is an OAuth provider with its defaults filled in and what is cached of its server.
type oauthClient struct {
	OAuth
	discovered atomic.Pointer[server]
	keys       atomic.Pointer[keys]
}

func newOAuthClient(p OAuth, getenv func(string) string) *oauthClient {
	p.ClientID = or(p.ClientID, getenv(providerVariable(p.ID, "ID")))
	p.ClientSecret = or(p.ClientSecret, getenv(providerVariable(p.ID, "SECRET")))
	p.Issuer = or(p.Issuer, getenv(providerVariable(p.ID, "ISSUER")))
	if len(p.Checks) == 0 {
		p.Checks = []Check{CheckPKCE}
	}
	return &oauthClient{OAuth: p}
}

func (c *oauthClient) has(check Check) bool { return slices.Contains(c.Checks, check) }

// fixedParams are the authorization request's parameters that a client can't choose: they
// say who asks for what kind of answer, and where it is sent.
var fixedParams = [...]string{
	"client_id", "redirect_uri", "response_type", "response_mode", "request", "request_uri", "csrfToken",
}

// authorizationURL is where the browser is sent to sign in (RFC 6749, section 4.1.1). The
// request's query is passed on, for parameters such as prompt and login_hint.
func (x *exchange) authorizationURL() (string, error) {
	c := x.provider.oauth
	endpoint := c.Authorization.URL
	if endpoint == "" {
		s, err := x.discover(c)
		if err != nil {
			return "", err
		}
		if endpoint = s.AuthorizationEndpoint; endpoint == "" {
			return "", fail(ErrOAuthSignIn, "the provider's discovery document has no authorization endpoint", nil)
		}
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", fail(ErrOAuthSignIn, "the authorization endpoint is no URL", nil)
	}
	params := u.Query()
	for name, values := range c.Authorization.Params {
		params[name] = values
	}
	for _, p := range x.query {
		if !slices.Contains(fixedParams[:], p.Name) {
			params.Set(p.Name, p.Value)
		}
	}
	if !params.Has("scope") {
		params.Set("scope", defaultScope)
	}
	u.RawQuery = ""
	var options []oauth2.AuthCodeOption
	for name, values := range params {
		options = append(options, oauth2.SetAuthURLParam(name, values[len(values)-1]))
	}
	checks, err := x.startChecks(c.Checks)
	if err != nil {
		return "", err
	}
	config := oauth2.Config{ClientID: c.ClientID, RedirectURL: x.redirectURI(), Endpoint: oauth2.Endpoint{AuthURL: u.String()}}
	return config.AuthCodeURL("", append(options, checks...)...), nil
}

// redirectURI is the provider's callback route, the same in both requests.
func (x *exchange) redirectURI() string {
	return x.base + "/" + string(ActionCallback) + "/" + x.provider.id
}

// oauthCallback turns the provider's answer into a signed-in user.
func (x *exchange) oauthCallback() (reply, error) {
	profile, account, err := x.exchangeCode()
	if err != nil {
		return reply{}, err
	}
	user, err := x.userFromProfile(profile, account)
	if err != nil {
		return reply{}, fail(ErrOAuthProfileParse, "the profile can't be used", err)
	}
	asked := user
	if x.config.Adapter != nil {
		known, err := x.config.Adapter.GetUserByAccount(x.ctx, account.Provider, account.ProviderAccountID)
		if err != nil {
			return reply{}, fail(ErrAdapter, "getUserByAccount", err)
		}
		if known != nil {
			asked = known
		}
	}
	redirect, err := x.authorize(SignInParams{User: asked, Account: account, Profile: profile})
	if err != nil || redirect != "" {
		return reply{redirect: redirect}, err
	}
	found, err := x.login(user, account)
	if err != nil {
		return reply{}, err
	}
	return x.finish(profile, found)
}

// exchangeCode checks the provider's answer, exchanges its code for tokens and gets the
// profile (RFC 6749, section 4.1.3; OpenID Connect Core 1.0, section 3.1.3).
func (x *exchange) exchangeCode() (Profile, *Account, error) {
	c := x.provider.oauth
	s, err := x.callbackServer(c)
	if err != nil {
		return nil, nil, err
	}
	var state, verifier, nonce string
	if c.has(CheckState) {
		if state, err = x.useCheck(CheckState, &x.cookies.state); err != nil {
			return nil, nil, err
		}
	}
	code, err := x.readAnswer(c, s, state)
	if err != nil {
		return nil, nil, err
	}
	if c.has(CheckPKCE) {
		if verifier, err = x.useCheck(CheckPKCE, &x.cookies.pkce); err != nil {
			return nil, nil, err
		}
	}
	if c.has(CheckNonce) {
		if nonce, err = x.useCheck(CheckNonce, &x.cookies.nonce); err != nil {
			return nil, nil, err
		}
	}
	account, err := x.requestToken(c, s, code, verifier)
	if err != nil {
		return nil, nil, err
	}
	var claims Profile
	if account.IDToken != "" {
		if claims, err = x.verifyIDToken(c, s, account, nonce); err != nil {
			return nil, nil, err
		}
	}
	if c.OIDC {
		if claims == nil {
			return nil, nil, fail(ErrCallbackRoute, "the token endpoint sent no id_token", nil)
		}
		return claims, account, nil
	}
	profile, err := x.requestUserInfo(s, account.AccessToken)
	if err != nil {
		return nil, nil, err
	}
	if claims != nil && profile["sub"] != nil && profile["sub"] != claims["sub"] {
		return nil, nil, fail(ErrCallbackRoute, "the userinfo endpoint described somebody else than the id_token", nil)
	}
	return profile, account, nil
}

// readAnswer checks the parameters that the provider sent the browser back with, and gives
// the authorization code.
func (x *exchange) readAnswer(c *oauthClient, s *server, state string) (string, error) {
	iss := x.queryText("iss") // RFC 9207
	switch {
	case x.queryText("response") != "":
		return "", fail(ErrCallbackRoute, "the provider sent a JARM response, which is not supported", nil)
	case iss == "" && s.IssParameter:
		return "", fail(ErrCallbackRoute, "the provider's answer lacks the iss parameter it promises", nil)
	case iss != "" && iss != s.Issuer:
		return "", fail(ErrCallbackRoute, "the answer's iss is not the provider's issuer", nil)
	case c.has(CheckState) && !sameText(x.queryText("state"), state):
		return "", fail(ErrInvalidCheck, "the answer's state is not the cookie's", nil)
	}
	if code := x.queryText("error"); code != "" {
		return "", fail(ErrOAuthCallback, "the provider answered "+strconv.Quote(clip(code)), nil)
	}
	for _, name := range [...]string{"id_token", "token"} {
		if _, ok := x.query.Get(name); ok {
			return "", fail(ErrCallbackRoute, "the answer has a parameter of another flow, "+name, nil)
		}
	}
	code := x.queryText("code")
	if code == "" {
		return "", fail(ErrCallbackRoute, "the answer has no code", nil)
	}
	return code, nil
}

// clip shortens what a stranger sent before it is logged.
func clip(text string) string {
	const most = 80
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// requestToken exchanges the code (RFC 6749, section 4.1.3). It is asked once, whatever happens.
func (x *exchange) requestToken(c *oauthClient, s *server, code, verifier string) (*Account, error) {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {x.redirectURI()}}
	if verifier != "" {
		form.Set("code_verifier", verifier)
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded;charset=UTF-8"}, "Accept": {typeJSON}}
	c.authenticate(header, form)
	status, raw, err := x.fetch(http.MethodPost, s.TokenEndpoint, header, form.Encode())
	if err != nil {
		return nil, fail(ErrCallbackRoute, "the token endpoint can't be reached", err)
	}
	var fields map[string]any
	notJSON := decodeJSON(raw, &fields) != nil || fields == nil
	if status != http.StatusOK {
		reason, _ := fields["error"].(string)
		return nil, fail(ErrCallbackRoute, "the token endpoint answered "+strconv.Itoa(status)+" "+strconv.Quote(clip(reason)), nil)
	}
	if notJSON {
		return nil, fail(ErrCallbackRoute, "the token endpoint's answer is not a JSON object", nil)
	}
	return x.readTokens(fields)
}

// authenticate adds the client's credentials to a token request (RFC 6749, section 2.3.1).
func (c *oauthClient) authenticate(header http.Header, form url.Values) {
	switch c.ClientAuth {
	case ClientAuthNone:
		form.Set("client_id", c.ClientID)
	case ClientSecretPost:
		form.Set("client_id", c.ClientID)
		form.Set("client_secret", c.ClientSecret)
	default:
		pair := formEncode(c.ClientID) + ":" + formEncode(c.ClientSecret)
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	}
}

func formEncode(text string) string {
	return strings.ReplaceAll(weburl.EncodeComponent(text), "%20", "+")
}

// readTokens checks the token endpoint's answer (RFC 6749, section 5.1; fact 76).
func (x *exchange) readTokens(fields map[string]any) (*Account, error) {
	bad := func(name string) (*Account, error) {
		return nil, fail(ErrCallbackRoute, "the token endpoint's "+name+" is missing or of the wrong type", nil)
	}
	account := &Account{Provider: x.provider.id, Type: x.provider.kind}
	for _, f := range [...]struct {
		name               string
		into               *string
		required, nonEmpty bool
	}{
		{"access_token", &account.AccessToken, true, true},
		{"token_type", &account.TokenType, true, true},
		{"refresh_token", &account.RefreshToken, false, true},
		{"id_token", &account.IDToken, false, true},
		{"scope", &account.Scope, false, false},
		{"session_state", &account.SessionState, false, false},
	} {
		value, present := fields[f.name]
		if !present && !f.required {
			continue
		}
		text, ok := value.(string)
		if !ok || f.nonEmpty && text == "" {
			return bad(f.name)
		}
		*f.into = text
		delete(fields, f.name)
	}
	account.TokenType = strings.ToLower(account.TokenType)
	if account.TokenType != "bearer" && account.TokenType != "dpop" {
		return bad("token_type")
	}
	if value, present := fields["expires_in"]; present {
		seconds, ok := readSeconds(value)
		if !ok {
			return bad("expires_in")
		}
		account.ExpiresIn = seconds
		if seconds != 0 {
			account.ExpiresAt = x.now.Unix() + seconds
		}
		delete(fields, "expires_in")
	}
	account.Extra = fields
	return account, nil
}

// readSeconds reads a number of seconds, which some providers send as text.
func readSeconds(value any) (int64, bool) {
	var text string
	switch v := value.(type) {
	case string:
		text = strings.TrimSpace(v)
	case json.Number:
		text = v.String()
	}
	seconds, err := strconv.ParseFloat(text, 64)
	const most = 1 << 40
	return int64(seconds), err == nil && seconds >= 0 && seconds < most
}

// requestUserInfo asks who the access token belongs to (OpenID Connect Core 1.0, section 5.3).
func (x *exchange) requestUserInfo(s *server, accessToken string) (Profile, error) {
	header := http.Header{"Authorization": {"Bearer " + accessToken}, "Accept": {"application/json, application/jwt"}}
	status, raw, err := x.fetch(http.MethodGet, s.UserInfoEndpoint, header, "")
	if err != nil {
		return nil, fail(ErrCallbackRoute, "the userinfo endpoint can't be reached", err)
	}
	if status < 200 || status > 299 {
		return nil, fail(ErrCallbackRoute, "the userinfo endpoint answered "+strconv.Itoa(status), nil)
	}
	var profile Profile
	if err := decodeJSON(raw, &profile); err != nil || profile == nil {
		return nil, fail(ErrCallbackRoute, "the userinfo endpoint's answer is not a JSON object", nil)
	}
	return profile, nil
}

// userFromProfile makes the user. Its id is new, never the provider's: that one is the account's.
func (x *exchange) userFromProfile(profile Profile, account *Account) (*User, error) {
	read := x.provider.oauth.Profile
	var user *User
	var err error
	if read == nil {
		user, err = defaultProfile(profile)
	} else {
		user, err = read(x.ctx, profile, account)
	}
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, fail(ErrOAuthProfileParse, "Profile gave no user", nil)
	}
	account.ProviderAccountID = or(user.ID, randomUUID())
	user.ID = randomUUID()
	user.Email = strings.ToLower(user.Email)
	return user, nil
}

// defaultProfile reads the standard claims; the first name that is not null counts (fact 80).
func defaultProfile(profile Profile) (*User, error) {
	user := &User{}
	id := profile["sub"]
	if id == nil {
		id = profile["id"]
	}
	switch id := id.(type) {
	case string:
		user.ID = id
	case json.Number:
		user.ID = id.String()
	}
	for _, claim := range [...]string{"name", "nickname", "preferred_username"} {
		if profile[claim] != nil {
			user.set("name", profile, claim)
			break
		}
	}
	if email := profile["email"]; email != nil {
		text, ok := email.(string)
		if !ok {
			return nil, fail(ErrOAuthProfileParse, "the e-mail address is not text", nil)
		}
		user.Email = text
	}
	user.set("image", profile, "picture")
	return user, nil
}
