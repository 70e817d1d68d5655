package jwe

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"
)

// The reasons why an opened token doesn't count.
var (
	// ErrClaims is returned for a payload that is no JSON object in UTF-8, and for a time claim that is no number.
	ErrClaims = errors.New("jwe: malformed claims")
	// ErrExpired is returned for a token whose exp has passed.
	ErrExpired = errors.New("jwe: token expired")
	// ErrNotYetValid is returned for a token whose nbf has not come.
	ErrNotYetValid = errors.New("jwe: token not valid yet")
)

// tolerance is the clock skew the reference allows for exp and nbf (decode in jwt.ts).
const tolerance = 15

// ParseClaims reads a payload: one JSON object, valid UTF-8, nothing after it. Numbers are json.Number, so that claims nobody
// knows survive unchanged. Of repeated members the last counts, as in JavaScript. A byte order mark is refused (RFC 8259, 8.1),
// though the reference skips one.
func ParseClaims(payload []byte) (map[string]any, error) {
	if !utf8.Valid(payload) {
		return nil, ErrClaims
	}
	if claims, ok := parseFlat(payload); ok {
		return claims, nil
	}
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	var claims map[string]any
	if d.Decode(&claims) != nil || claims == nil {
		return nil, ErrClaims
	}
	if len(bytes.Trim(payload[d.InputOffset():], " \t\r\n")) > 0 {
		return nil, ErrClaims
	}
	return claims, nil
}

// CheckTimes applies jose's rules with the reference's options (validateClaimsSet in jwt_claims_set.js): exp, nbf and iat may
// be absent but not null or text; now, in whole seconds, must be before exp + 15 and not before nbf - 15; an iat in the future
// is fine. The error is ErrClaims, ErrNotYetValid or ErrExpired.
func CheckTimes(claims map[string]any, now time.Time) error {
	seconds := float64(now.Unix())
	if _, _, err := numericDate(claims, "iat"); err != nil {
		return err
	}
	if nbf, found, err := numericDate(claims, "nbf"); err != nil {
		return err
	} else if found && nbf > seconds+tolerance {
		return ErrNotYetValid
	}
	if exp, found, err := numericDate(claims, "exp"); err != nil {
		return err
	} else if found && exp <= seconds-tolerance {
		return ErrExpired
	}
	return nil
}

func numericDate(claims map[string]any, name string) (seconds float64, found bool, err error) {
	v, found := claims[name]
	if !found {
		return 0, false, nil
	}
	n, ok := v.(json.Number)
	if !ok {
		return 0, true, ErrClaims
	}
	if whole, err := n.Int64(); err == nil {
		return float64(whole), true, nil
	}
	// A number beyond the range of float64 is infinite, as in JavaScript.
	if seconds, err = n.Float64(); err != nil && seconds == 0 {
		return 0, true, ErrClaims
	}
	return seconds, true, nil
}
