package core

import (
	"crypto/rand"
	"errors"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/cookie"
	"github.com/edgeauth/edgeauth/core/internal/jwe"
)

// seal makes an encrypted token of claims, and adds its lifetime and a new id (fact 58).
func (x *exchange) seal(ring *jwe.Ring, claims JWT, maxAge time.Duration) (string, error) {
	claims["iat"] = x.now.Unix()
	claims["exp"] = x.now.Add(maxAge).Unix()
	var random [16 + jwe.IVSize]byte
	_, _ = rand.Read(random[:]) // can't fail, see randomHex
	claims["jti"] = uuid([16]byte(random[:16]))
	payload := append(make([]byte, 0, 512), '{')
	for name, value := range claims { // in no order: nobody sees it, and sorting takes as long as the rest of the loop
		var err error
		if payload, err = appendJSON(append(appendText(payload, name), ':'), value); err != nil {
			return "", err
		}
		payload = append(payload, ',')
	}
	payload[len(payload)-1] = '}'
	return ring.SealIV(payload, [jwe.IVSize]byte(random[16:]))
}

// open reads an encrypted token whose time has not passed.
func (x *exchange) open(ring *jwe.Ring, token string) (JWT, error) {
	return openToken(ring, token, x.now)
}

func openToken(ring *jwe.Ring, token string, now time.Time) (JWT, error) {
	payload, err := ring.Open(token)
	if err != nil {
		return nil, err
	}
	claims, err := jwe.ParseClaims(payload)
	if err != nil {
		return nil, err
	}
	if err := jwe.CheckTimes(claims, now); err != nil {
		return nil, err
	}
	return claims, nil
}

// sessionCookie is the session cookie, plain or in chunks, as the request has it.
func (x *exchange) sessionCookie() string {
	return cookie.Chunks(x.jar, x.cookies.session.name)
}

// sessionCookies are the names of the request's cookies that hold the session, or parts of it.
func (x *exchange) sessionCookies() []string {
	return cookie.Names(x.jar, x.cookies.session.name)
}

// issue puts a session token of these claims into the session cookie; nil claims end the session.
func (x *exchange) issue(claims JWT) error {
	if claims == nil {
		x.clearSession()
		return nil
	}
	token, err := x.encodeSession(claims)
	if err := x.checkBudget(token, err); err != nil {
		return err
	}
	c := x.cookies.session.with(token)
	c.Expires = x.now.Add(x.maxAge)
	x.set = cookie.Split(x.set, c, x.sessionCookies())
	return nil
}

// encodeSession makes the session token of these claims.
func (x *exchange) encodeSession(claims JWT) (string, error) {
	if x.config.JWT.Encode == nil {
		return x.seal(x.cookies.session.ring, claims, x.tokenAge)
	}
	return x.config.JWT.Encode(x.ctx, JWTEncodeParams{
		Token: claims, Salt: x.cookies.session.name, Secret: x.tokenSecrets(), MaxAge: x.tokenAge,
	})
}

// decodeSession reads a session token.
func (x *exchange) decodeSession(token string) (JWT, error) {
	if x.config.JWT.Decode == nil {
		return x.open(x.cookies.session.ring, token)
	}
	claims, err := x.config.JWT.Decode(x.ctx, JWTDecodeParams{
		Token: token, Salt: x.cookies.session.name, Secret: x.tokenSecrets(),
	})
	if err == nil && claims == nil {
		err = errors.New("JWT.Decode gave no token")
	}
	return claims, err
}

func (a *Auth) tokenSecrets() []string {
	if len(a.config.JWT.Secret) > 0 {
		return a.config.JWT.Secret
	}
	return a.secrets
}

// clearSession makes the browser forget the session.
func (x *exchange) clearSession() {
	x.set = append(x.set, cookie.Clear(x.cookies.session.with(""), x.sessionCookies())...)
}

// customJWT asks the JWT callback for the content of a token.
func (x *exchange) customJWT(p JWTParams) (JWT, error) {
	if x.config.Callbacks.JWT == nil {
		return p.Token, nil
	}
	return x.config.Callbacks.JWT(x.ctx, p)
}
