package core

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"golang.org/x/oauth2"
)

// A Ceremony is what a browser was asked, and what its answer is held to (Web Authentication,
// level 3, sections 7.1 and 7.2).
type Ceremony struct {
	Challenge        string   // base64url
	RPID             string   // the domain
	Origins          []string // one of which the answer has to come from, exactly
	UserVerification bool     // the authenticator must have verified its user
	Algorithms       []int64  // of a new key, one of these
}

// An Assertion is what a passkey's valid answer told.
type Assertion struct {
	Counter    uint32 // how often the authenticator signed; zero if it doesn't count
	UserHandle string // as the browser sent it; empty: none
}

// openCeremony is a ceremony between its two requests: what the challenge cookie holds.
type openCeremony struct {
	Challenge string         `json:"challenge"`
	Action    string         `json:"action"`          // actionRegister or actionAuthenticate
	User      map[string]any `json:"user,omitempty"`  // who registers
	IsNew     bool           `json:"isNew,omitempty"` // that user is still to be made
	Named     string         `json:"named,omitempty"` // the user whose credentials were listed
}

const (
	actionRegister     = "register"
	actionAuthenticate = "authenticate"
)

// maxCeremonies is how much the challenge cookie holds, in bytes before it is sealed: browsers take
// 4,096 after that.
const maxCeremonies = 2000

// startCeremony makes a challenge. It waits in the sealed cookie, bound to the provider, and its hash
// waits in the store, so that it is answered once. Ceremonies that other tabs have begun stay open.
func (x *exchange) startCeremony(c openCeremony) (string, error) {
	c.Challenge = oauth2.GenerateVerifier() // 32 random bytes
	text, err := json.Marshal(c)
	if err != nil {
		return "", fail(ErrCallbackRoute, "the user can't be written as JSON", err)
	}
	size := len(text)
	if size > maxCeremonies {
		return "", fail(ErrCallbackRoute, "the user is too long for the challenge cookie", nil)
	}
	cookie := &x.cookies.challenge
	expires := x.now.Add(cookie.lifetime)
	kept := []keptCheck{{string(text), x.provider.id, expires.Unix()}}
	earlier, _ := x.readChecks(cookie) // an unreadable cookie is replaced
	for _, one := range earlier {
		if size += len(one.value); size <= maxCeremonies && len(kept) <= maxParallel {
			kept = append(kept, one)
		}
	}
	if err := x.writeChecks(cookie, kept); err != nil {
		return "", err
	}
	err = x.config.Adapter.CreateVerificationToken(x.ctx, VerificationToken{
		Identifier: x.challengeIdentifier(), Token: x.challengeToken(c.Challenge), Expires: expires,
	})
	if err != nil {
		return "", fail(ErrAdapter, "createVerificationToken", err)
	}
	return c.Challenge, nil
}

// finishCeremony gives the ceremony that an answer belongs to. It can't be answered again, whatever
// becomes of this answer.
func (x *exchange) finishCeremony(action string, answer []byte) (openCeremony, error) {
	cookie := &x.cookies.challenge
	kept, err := x.readChecks(cookie)
	if err != nil {
		return openCeremony{}, fail(ErrInvalidCheck, "the challenge cookie can't be used", err)
	}
	var c openCeremony
	asked := answeredChallenge(answer)
	mine := slices.IndexFunc(kept, func(one keptCheck) bool {
		c = openCeremony{}
		return one.provider == x.provider.id && decodeJSON([]byte(one.value), &c) == nil && c.Challenge != "" && c.Challenge == asked
	})
	if mine < 0 {
		return openCeremony{}, fail(ErrInvalidCheck, "the challenge was not given to this browser by this provider, or has expired", nil)
	}
	if rest := slices.Delete(kept, mine, mine+1); len(rest) == 0 {
		x.set = append(x.set, cookie.cleared())
	} else if err := x.writeChecks(cookie, rest); err != nil {
		return openCeremony{}, err
	}
	open, err := x.config.Adapter.UseVerificationToken(x.ctx, x.challengeIdentifier(), x.challengeToken(c.Challenge))
	switch {
	case err != nil:
		return openCeremony{}, fail(ErrAdapter, "useVerificationToken", err)
	case open == nil || open.Expires.Before(x.now):
		return openCeremony{}, fail(ErrInvalidCheck, "the challenge was answered before, or has expired", nil)
	case c.Action != action:
		return openCeremony{}, fail(ErrInvalidCheck, "the challenge is one of the other ceremony", nil)
	}
	return c, nil
}

// answeredChallenge is the challenge that an answer names, whether it is valid or not.
func answeredChallenge(answer []byte) string {
	var outer struct {
		Response struct{ ClientDataJSON string }
	}
	var clientData struct{ Challenge string }
	_ = json.Unmarshal(answer, &outer) // what can't be read names none
	raw, _ := base64.RawURLEncoding.DecodeString(outer.Response.ClientDataJSON)
	_ = json.Unmarshal(raw, &clientData)
	return clientData.Challenge
}

// challengeIdentifier is no e-mail address, and challengeToken no hash alone: with neither can the
// route that follows e-mail links be asked.
func (x *exchange) challengeIdentifier() string { return string(TypeWebAuthn) + ":" + x.provider.id }

func (x *exchange) challengeToken(challenge string) string {
	return "challenge:" + hashHex(challenge+x.secretText)
}

// ceremony is what an answer to a challenge is held to.
func (x *exchange) ceremony(challenge string) Ceremony {
	p := x.provider.webauthn
	rp := x.relyingParty()
	return Ceremony{
		Challenge: challenge, RPID: rp.ID, Origins: rp.Origins,
		UserVerification: p.UserVerification == required, Algorithms: p.Algorithms,
	}
}

// relyingParty is the site, where nothing else is configured as the request knows it.
func (x *exchange) relyingParty() RelyingParty {
	rp := x.provider.webauthn.RelyingParty
	host := x.host()
	rp.Name = or(rp.Name, host)
	if rp.ID == "" {
		rp.ID, _, _ = strings.Cut(host, ":") // browsers take no IP address
	}
	if len(rp.Origins) == 0 {
		rp.Origins = []string{x.origin}
	}
	return rp
}

// userOf is the user whose members the challenge cookie kept. EmailVerified is not among them: a
// user who is still to be made has verified nothing.
func userOf(fields map[string]any) *User {
	u := &User{}
	for name := range fields {
		switch name {
		case "id", "name", "email", "image":
			u.set(name, fields, name)
		default:
			if u.Extra == nil {
				u.Extra = map[string]any{}
			}
			u.Extra[name] = fields[name]
		}
	}
	return u
}
