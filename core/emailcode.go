package core

import (
	"crypto/rand"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// codeDigits and codeAttempts leave whoever guesses 5 chances in a million for each message
	// that is sent.
	codeDigits   = 6
	codeAttempts = 5

	// maxCodeAge is how long a code works at most.
	maxCodeAge = 15 * time.Minute
)

// A code is one of a million, so what it can be tried for must be counted, and by the store:
// a browser could send an old cookie again. Beside the token of the code itself, startCode
// stores one token for each attempt. An attempt has to use one of them up first, which the
// store does once whoever asks. Both kinds belong to a random number in a sealed cookie, so
// that a code is good for the browser that asked for it and no other.

// startCode stores a code and the attempts to enter it.
func (x *exchange) startCode(m *VerificationRequest) error {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return fail(ErrEmailSignIn, "the system has no randomness", err)
	}
	digits := n.String()
	m.Code = strings.Repeat("0", codeDigits-len(digits)) + digits
	m.Token = m.Code
	life, nonce := min(x.provider.email.maxAge(), maxCodeAge), randomHex(16)
	m.Expires = x.now.Add(life)
	if err := x.storeToken(m.Identifier, x.codeToken(nonce, m.Code), m.Expires); err != nil {
		return err
	}
	for i := range codeAttempts {
		if err := x.storeToken(m.Identifier, x.attemptToken(nonce, i), m.Expires); err != nil {
			return err
		}
	}
	c := x.cookies.emailCode
	token, err := x.seal(c.ring, JWT{"email": m.Identifier, "nonce": nonce, "provider": x.provider.id}, life)
	if err != nil {
		return err
	}
	out := c.with(token)
	out.MaxAge, out.Expires = int(life/time.Second), m.Expires
	x.set = append(x.set, out)
	return nil
}

func (x *exchange) codeToken(nonce, code string) string {
	return hashHex("code " + nonce + " " + code + x.secretText)
}

func (x *exchange) attemptToken(nonce string, attempt int) string {
	return hashHex("attempt " + nonce + " " + strconv.Itoa(attempt) + x.secretText)
}

// askedCode is what the browser's cookie says of the code that it asked for: whose, and the
// number it belongs to. Both are empty without one of this provider.
func (x *exchange) askedCode(provider string) (address, nonce string) {
	token, _ := x.jar.Get(x.cookies.emailCode.name)
	if token == "" {
		return "", ""
	}
	claims, err := x.open(x.cookies.emailCode.ring, token)
	if err != nil || claims.String("provider") != provider {
		return "", ""
	}
	return claims.String("email"), claims.String("nonce")
}

// codeCallback signs in whoever typed the code that was sent.
func (x *exchange) codeCallback() (reply, error) {
	if x.r.Method != http.MethodPost {
		return reply{}, fail(ErrInvalidProvider, "this provider's callback is a POST", nil)
	}
	if err := x.requireCSRF(); err != nil {
		return reply{}, err
	}
	address, nonce := x.askedCode(x.provider.id)
	if nonce == "" {
		return reply{}, fail(ErrVerification, "this browser has asked for no code, or too long ago", nil)
	}
	isLeft, err := x.useAttempt(address, nonce)
	if err != nil {
		return reply{}, err
	}
	if !isLeft {
		x.set = append(x.set, x.cookies.emailCode.cleared())
		return reply{}, fail(ErrVerification, "no attempt is left for the code, or it was used", nil)
	}
	digits := strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1 // people type blanks, and mail programs add them
		}
		return c
	}, x.bodyText("code"))
	invite, err := x.config.Adapter.UseVerificationToken(x.ctx, address, x.codeToken(nonce, digits))
	if err != nil {
		return reply{}, fail(ErrAdapter, "useVerificationToken", err)
	}
	if invite == nil || invite.Expires.Before(x.now) {
		return reply{redirect: x.verifyRequestURL() + "&error=" + string(ErrVerification)}, nil
	}
	x.set = append(x.set, x.cookies.emailCode.cleared())
	return x.enterByEmail(address)
}

// useAttempt takes one of the attempts that are left for a code.
func (x *exchange) useAttempt(address, nonce string) (isLeft bool, err error) {
	for i := range codeAttempts {
		used, err := x.config.Adapter.UseVerificationToken(x.ctx, address, x.attemptToken(nonce, i))
		if err != nil {
			return false, fail(ErrAdapter, "useVerificationToken", err)
		}
		if used != nil && !used.Expires.Before(x.now) {
			return true, nil
		}
	}
	return false, nil
}
