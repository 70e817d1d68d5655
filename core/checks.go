package core

import (
	"slices"
	"time"

	"golang.org/x/oauth2"
)

// The state, nonce and PKCE checks tie a provider's answer to the browser that asked. What
// is to be compared waits in a sealed cookie that names the provider (fact 69).

// startCheck seals a check's value into its cookie.
func (x *exchange) startCheck(c *sealedCookie, value string) error {
	token, err := x.seal(c.ring, JWT{"value": value, "provider": x.provider.id}, checkMaxAge)
	if err != nil {
		return err
	}
	if x.provider.oauth.isFormPost() {
		c = c.crossSite()
	}
	out := c.with(token)
	out.Expires = x.now.Add(checkMaxAge)
	x.set = append(x.set, out)
	return nil
}

// useCheck gives a check's value and clears its cookie. A cookie that is missing,
// unreadable, expired or made for another provider is ErrInvalidCheck.
func (x *exchange) useCheck(check Check, c *sealedCookie) (string, error) {
	token, _ := x.jar.Get(c.name)
	if token == "" {
		return "", fail(ErrInvalidCheck, "the "+string(check)+" cookie is missing", nil)
	}
	claims, err := x.open(c.ring, token)
	if err != nil {
		return "", fail(ErrInvalidCheck, "the "+string(check)+" cookie can't be read", err)
	}
	value := claims.String("value")
	if value == "" {
		return "", fail(ErrInvalidCheck, "the "+string(check)+" cookie has no value", nil)
	}
	if claims.String("provider") != x.provider.id {
		return "", fail(ErrInvalidCheck, "the "+string(check)+" cookie was made for another provider", nil)
	}
	x.set = append(x.set, c.cleared())
	return value, nil
}

// startChecks starts the provider's checks and gives what they add to the authorization request.
func (x *exchange) startChecks(checks []Check) ([]oauth2.AuthCodeOption, error) {
	var params []oauth2.AuthCodeOption
	if slices.Contains(checks, CheckState) {
		content := JWT{"random": oauth2.GenerateVerifier()}
		if x.usesProxy() {
			content["origin"] = x.ownRedirectURI()
		}
		state, err := x.seal(x.state, content, checkMaxAge)
		if err != nil {
			return nil, err
		}
		if err := x.startCheck(&x.cookies.state, state); err != nil {
			return nil, err
		}
		params = append(params, oauth2.SetAuthURLParam("state", state))
	}
	if slices.Contains(checks, CheckPKCE) {
		verifier := oauth2.GenerateVerifier()
		if err := x.startCheck(&x.cookies.pkce, verifier); err != nil {
			return nil, err
		}
		params = append(params, oauth2.S256ChallengeOption(verifier))
	}
	if slices.Contains(checks, CheckNonce) {
		nonce := oauth2.GenerateVerifier()
		if err := x.startCheck(&x.cookies.nonce, nonce); err != nil {
			return nil, err
		}
		params = append(params, oauth2.SetAuthURLParam("nonce", nonce))
	}
	return params, nil
}

// clockTolerance is how far a provider's clock may be off, as in oauth4webapi.
const clockTolerance = 30 * time.Second
