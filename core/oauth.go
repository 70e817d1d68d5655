package core

import (
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
	unprepared error // what Prepare found wrong
	discovered atomic.Pointer[server]
	keys       atomic.Pointer[keys]
}

func newOAuthClient(p OAuth, proxy string, getenv func(string) string) *oauthClient {
	p = withEnvironment(p, getenv)
	var unprepared error
	if p.Prepare != nil {
		p, unprepared = p.Prepare(p)
	}
	if len(p.Checks) == 0 {
		p.Checks = []Check{CheckPKCE}
	}
	c := &oauthClient{OAuth: p, unprepared: unprepared}
	c.RedirectProxyURL = or(p.RedirectProxyURL, proxy)
	if c.isFormPost() {
		c.RedirectProxyURL = "" // the proxy could pass on a query only
	}
	if c.RedirectProxyURL != "" && !c.has(CheckState) {
		c.Checks = append(slices.Clone(p.Checks), CheckState) // it carries the way back
	}
	return c
}

func (c *oauthClient) has(check Check) bool { return slices.Contains(c.Checks, check) }

// isFormPost reports whether the provider answers with a POST from the browser (OAuth 2.0
// Form Post Response Mode).
func (c *oauthClient) isFormPost() bool {
	if c.Authorization.Params.Get("response_mode") == "form_post" {
		return true
	}
	_, query, _ := strings.Cut(c.Authorization.URL, "?")
	mode, _ := weburl.ParseQuery(query).Last("response_mode")
	return mode == "form_post"
}

// answer is a parameter of the provider's answer, "" without it.
func (x *exchange) answer(name string) string {
	if x.provider.oauth.isFormPost() {
		return x.bodyText(name)
	}
	return x.queryText(name)
}

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

// oauthCallback turns the provider's answer into a signed-in user.
func (x *exchange) oauthCallback() (reply, error) {
	if elsewhere, err := x.proxyRedirect(); err != nil || elsewhere != "" {
		return reply{redirect: elsewhere}, err
	}
	profile, account, err := x.exchangeCode()
	if err != nil {
		return reply{}, err
	}
	user, err := x.userFromProfile(profile, account)
	if err != nil {
		return reply{}, fail(ErrOAuthProfileParse, "the profile can't be used", err)
	}
	asked := user
	var found *FoundUser
	if x.config.Adapter != nil {
		if found, err = x.findUser(accountQuery(user, account)); err != nil {
			return reply{}, err
		}
		if found.Account != nil {
			asked = found.User
		}
	}
	redirect, err := x.authorize(SignInParams{User: asked, Account: account, Profile: profile})
	if err != nil || redirect != "" {
		return reply{redirect: redirect}, err
	}
	entered, err := x.login(user, account, found)
	if err != nil {
		return reply{}, err
	}
	return x.finish(profile, entered)
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
		if !c.UserInfoProfile {
			x.addPostedUser(claims)
			return claims, account, nil
		}
	}
	profile, err := x.userInfo(c, s, account, claims)
	if err != nil {
		return nil, nil, err
	}
	// OpenID Connect Core 1.0, section 5.3.2: an answer about another subject must not be used.
	mustName := c.OIDC || profile["sub"] != nil
	if claims != nil && mustName && profile["sub"] != claims["sub"] {
		return nil, nil, fail(ErrCallbackRoute, "the userinfo endpoint described somebody else than the id_token", nil)
	}
	return profile, account, nil
}

// addPostedUser adds what a provider posts beside its code: Apple tells the name only so,
// and only once. It is the browser's word, so it can't take a claim's place.
func (x *exchange) addPostedUser(claims Profile) {
	raw := x.answer("user")
	if raw == "" || !x.provider.oauth.isFormPost() {
		return
	}
	var user map[string]any
	if _, taken := claims["user"]; !taken && decodeJSON([]byte(raw), &user) == nil && user != nil {
		claims["user"] = user
	}
}

// readAnswer checks the parameters that the provider sent the browser back with, and gives
// the authorization code.
func (x *exchange) readAnswer(c *oauthClient, s *server, state string) (string, error) {
	iss := x.answer("iss") // RFC 9207
	switch {
	case x.answer("response") != "":
		return "", fail(ErrCallbackRoute, "the provider sent a JARM response, which is not supported", nil)
	case iss == "" && s.IssParameter:
		return "", fail(ErrCallbackRoute, "the provider's answer lacks the iss parameter it promises", nil)
	case iss != "" && iss != s.Issuer:
		return "", fail(ErrCallbackRoute, "the answer's iss is not the provider's issuer", nil)
	case c.has(CheckState) && !sameText(x.answer("state"), state):
		return "", fail(ErrInvalidCheck, "the answer's state is not the cookie's", nil)
	}
	if code := x.answer("error"); code != "" {
		return "", fail(ErrOAuthCallback, "the provider answered "+strconv.Quote(clip(code)), nil)
	}
	for _, name := range [...]string{"id_token", "token"} {
		_, inQuery := x.query.Get(name)
		if inQuery || x.answer(name) != "" {
			return "", fail(ErrCallbackRoute, "the answer has a parameter of another flow, "+name, nil)
		}
	}
	code := x.answer("code")
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
