package kvadapter

import (
	"context"

	"github.com/edgeauth/edgeauth/core"
)

// A tokenRecord is a verification token. Who uses it knows the rest: it is in the key. One that
// was used stays until it ends, so that whoever lost the answer can see who used it.
type tokenRecord struct {
	header
	Expires int64 `json:"expires"` // milliseconds since 1970
	Used    bool  `json:"used"`
}

// createVerificationToken takes for granted that the token is new. The check that it is keeps a commit
// whose answer was lost from being made again when the token has been used.
func (r *Records) createVerificationToken(ctx context.Context, t core.VerificationToken) error {
	key := keyOf(kindToken, t.Identifier, t.Token)
	return r.transact(ctx, &view{}, []string{key}, func(_ *view, c *change) error {
		c.put(key, &tokenRecord{Expires: millis(t.Expires)}, "", t.Expires)
		return nil
	})
}

func (r *Records) useVerificationToken(ctx context.Context, identifier, token string) (*core.VerificationToken, error) {
	key := keyOf(kindToken, identifier, token)
	var used *core.VerificationToken
	err := r.transact(ctx, nil, []string{key}, func(v *view, c *change) error {
		used = nil
		var t tokenRecord
		if !r.load(ctx, v, key, &t) || t.Used || hasEnded(t.Expires) {
			return nil
		}
		t.Used = true
		c.put(key, &t, "", fromMillis(t.Expires))
		used = &core.VerificationToken{Identifier: identifier, Token: token, Expires: fromMillis(t.Expires)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return used, nil
}
