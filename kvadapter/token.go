package kvadapter

import (
	"context"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// A tokenRecord is a verification token. Who uses it knows the rest: it is in the key.
type tokenRecord struct {
	header
	Expires int64 `json:"expires"` // milliseconds since 1970
}

func (r *Records) createVerificationToken(ctx context.Context, t core.VerificationToken) error {
	key := keyOf(kindToken, t.Identifier, t.Token)
	value, err := encode(key, &tokenRecord{Expires: millis(t.Expires)}, nil)
	if err != nil {
		return err
	}
	return r.atomic.Put(ctx, r.prefix+key, value, until(t.Expires))
}

func (r *Records) useVerificationToken(ctx context.Context, identifier, token string) (*core.VerificationToken, error) {
	key := keyOf(kindToken, identifier, token)
	value, ok, err := r.atomic.Take(ctx, r.prefix+key)
	if err != nil || !ok {
		return nil, err
	}
	var rec tokenRecord
	if !r.read(ctx, key, value, &rec) {
		return nil, nil
	}
	expires := fromMillis(rec.Expires)
	if !time.Now().Before(expires) {
		return nil, nil
	}
	return &core.VerificationToken{Identifier: identifier, Token: token, Expires: expires}, nil
}
