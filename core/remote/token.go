package remote

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/internal/jwe"
)

// clockDoubt is how far the clocks of this machine and of the edge may be apart for it to be
// uncertain whether a token has expired.
const clockDoubt = 15 * time.Minute

// errLongExpired is a token that has expired by any clock.
var errLongExpired = errors.New("the session token has expired")

// decoder opens tokens as the handler does, with its 15 seconds of tolerance, and tells those
// that have expired just now from the others.
func decoder(secrets []string, salt string) func(context.Context, core.JWTDecodeParams) (core.JWT, error) {
	ring := jwe.NewRing(secrets, salt)
	return func(_ context.Context, p core.JWTDecodeParams) (core.JWT, error) {
		payload, err := ring.Open(p.Token)
		if err != nil {
			return nil, err
		}
		claims, err := jwe.ParseClaims(payload)
		if err != nil {
			return nil, err
		}
		now := time.Now()
		err = jwe.CheckTimes(claims, now)
		if errors.Is(err, jwe.ErrExpired) && errors.Is(jwe.CheckTimes(claims, now.Add(-clockDoubt)), jwe.ErrExpired) {
			err = errLongExpired
		}
		return claims, err
	}
}

// read reads the session from its token. Nil without an error means that there is no token
// under the configured name.
func (e *Edge) read(ctx context.Context, pairs []string) (*core.Session, error) {
	// The reader sees no more than the edge would: no bearer token, which scripts can send.
	r := (&http.Request{Header: http.Header{"Cookie": {strings.Join(pairs, "; ")}}}).WithContext(ctx)
	token, err := e.tokens.GetToken(r)
	if token == nil || err != nil {
		return nil, err
	}
	members := map[string]any{}
	for _, c := range [...]struct{ claim, member string }{{"name", "name"}, {"email", "email"}, {"picture", "image"}} {
		if value, ok := token[c.claim]; ok {
			members[c.member] = value
		}
	}
	ends := float64(maxTime)
	if exp, ok := token["exp"].(json.Number); ok {
		seconds, _ := exp.Float64() // a number: the decoder has looked
		ends = min(seconds, maxTime)
	}
	session := &core.Session{User: newUser(members), Expires: time.Unix(int64(ends), 0).UTC()}
	if e.config.FromToken != nil {
		if err := e.config.FromToken(token, session); err != nil {
			return nil, &refusal{err}
		}
	}
	return session, nil
}

// maxTime is the end of the year 9999, in seconds: the last that a session's JSON can name, and
// the end of a token that has none.
const maxTime = 253402300799

// A refusal is what Config.FromToken says, which is not for the edge to decide.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }
