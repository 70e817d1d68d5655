package core

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"golang.org/x/oauth2"
)

// The state, nonce and PKCE checks tie a provider's answer to the browser that asked. What
// is to be compared waits in a sealed cookie that names the provider (fact 69).

// keptCheck is one sign-in's value in a check cookie.
type keptCheck struct {
	value    string
	provider string
	until    int64 // seconds since 1970
}

// maxParallel is how many sign-ins that were begun earlier a check cookie keeps.
const maxParallel = 3

// readChecks gives what a check cookie holds: the latest sign-in's value, which is all that
// the reference knows of, and those of sign-ins at other providers that were begun before.
func (x *exchange) readChecks(c *sealedCookie) ([]keptCheck, error) {
	token, _ := x.jar.Get(c.name)
	if token == "" {
		return nil, errors.New("it is missing")
	}
	claims, err := x.open(c.ring, token)
	if err != nil {
		return nil, err
	}
	kept := []keptCheck{readCheck(claims)}
	earlier, _ := claims["earlier"].([]any)
	for _, one := range earlier {
		member, _ := one.(map[string]any)
		if check := readCheck(member); check.until > x.now.Unix() {
			kept = append(kept, check)
		}
	}
	return kept, nil
}

func readCheck(member JWT) keptCheck {
	exp, _ := member["exp"].(json.Number)
	until, _ := exp.Int64()
	return keptCheck{member.String("value"), member.String("provider"), until}
}

// writeChecks seals values into a check cookie, the latest first.
func (x *exchange) writeChecks(c *sealedCookie, kept []keptCheck) error {
	claims := JWT{"value": kept[0].value, "provider": kept[0].provider}
	if len(kept) > 1 {
		var earlier []JWT
		for _, one := range kept[1:] {
			earlier = append(earlier, JWT{"value": one.value, "provider": one.provider, "exp": one.until})
		}
		claims["earlier"] = earlier
	}
	token, err := x.seal(c.ring, claims, time.Unix(kept[0].until, 0).Sub(x.now)) // the latest is the last to expire
	if err != nil {
		return err
	}
	for _, one := range kept {
		if p := x.Auth.provider(one.provider); p != nil && p.oauth != nil && p.oauth.isFormPost() {
			c = c.crossSite()
			break
		}
	}
	out := c.with(token)
	out.Expires = x.now.Add(c.lifetime)
	x.set = append(x.set, out)
	return nil
}

// startCheck puts a check's value into its cookie, in front of other providers' values.
func (x *exchange) startCheck(c *sealedCookie, value string) error {
	kept := []keptCheck{{value, x.provider.id, x.now.Add(c.lifetime).Unix()}}
	earlier, _ := x.readChecks(c) // an unreadable cookie is replaced
	for _, one := range earlier {
		if one.provider != x.provider.id && one.value != "" && len(kept) <= maxParallel {
			kept = append(kept, one)
		}
	}
	return x.writeChecks(c, kept)
}

// useCheck gives this provider's value of a check and takes it out of the cookie. A cookie
// that is missing, unreadable, expired or made for another provider is ErrInvalidCheck.
func (x *exchange) useCheck(check Check, c *sealedCookie) (string, error) {
	kept, err := x.readChecks(c)
	if err != nil {
		return "", fail(ErrInvalidCheck, "the "+string(check)+" cookie can't be used", err)
	}
	mine := slices.IndexFunc(kept, func(one keptCheck) bool { return one.provider == x.provider.id && one.value != "" })
	if mine < 0 {
		return "", fail(ErrInvalidCheck, "the "+string(check)+" cookie has no value of this provider", nil)
	}
	value := kept[mine].value
	if rest := slices.Delete(kept, mine, mine+1); len(rest) > 0 {
		return value, x.writeChecks(c, rest)
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
		state, err := x.seal(x.state, content, x.cookies.state.lifetime)
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
