package kvadapter

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// An addressRecord says whose an e-mail address is. It is written before the user's record
// has the address, and decides when two want it: every change of hands is one Swap of it.
type addressRecord struct {
	header
	User      string `json:"user"`
	Confirmed bool   `json:"confirmed"` // the user's record has it; an unconfirmed one may be taken over unless it does
	Claim     string `json:"claim"`     // random: the value never was there before
}

func (r *Records) getUserByEmail(ctx context.Context, email string) (*core.User, error) {
	if email == "" {
		return nil, ctx.Err()
	}
	for range attempts {
		var a addressRecord
		if _, ok, err := r.load(ctx, r.atomic, keyOf(kindAddress, email), &a); err != nil || !ok {
			return nil, err
		}
		u, err := r.loadUser(ctx, a.User)
		if u == nil || u.Email != email {
			return nil, err
		}
		if a.Confirmed {
			return u.user(), nil
		}
		// The claim is at work, and could still be taken over by one who saw it before the user
		// was stored. Whoever signs in as this user must know that it was not.
		held, err := r.confirm(ctx, email, a.User, a.Claim)
		if err != nil {
			return nil, err
		}
		if held {
			return u.user(), nil
		}
	}
	return nil, ErrBusy
}

// hold claims an address for a user, from nobody or from somebody who doesn't have it. The
// empty address is everybody's.
func (r *Records) hold(ctx context.Context, email, userID string) (claim string, err error) {
	if email == "" {
		return "", nil
	}
	claim = rand.Text()
	_, err = editFrom(ctx, r, keyOf(kindAddress, email), time.Time{}, guessNone(), func(a *addressRecord, found bool) (bool, error) {
		if found && a.User != userID {
			free, err := r.isNobody(ctx, a.User)
			if err == nil && !free {
				var owner *userRecord
				owner, err = r.loadUser(ctx, a.User)
				free = owner != nil && owner.Email != email
			}
			if err != nil {
				return false, err
			}
			if !free {
				return false, conflict("another user has the address")
			}
		}
		a.User, a.Confirmed, a.Claim = userID, false, claim
		return true, nil
	})
	return claim, err
}

// confirm makes a claim final. held is false if somebody took it over first.
func (r *Records) confirm(ctx context.Context, email, userID, claim string) (held bool, err error) {
	if email == "" {
		return true, nil
	}
	key := keyOf(kindAddress, email)
	guess, err := encode(key, &addressRecord{User: userID, Claim: claim}, nil)
	if err != nil {
		return false, err
	}
	_, err = editFrom(ctx, r, key, time.Time{}, guess, func(a *addressRecord, found bool) (bool, error) {
		held = found && a.User == userID
		write := held && !a.Confirmed
		a.Confirmed = true
		return write, nil
	})
	return held, err
}

// release lets go of an address that the user has not, or no longer: of the claim that is
// named, or of any if the user is gone, or of a confirmed one.
func (r *Records) release(ctx context.Context, email, userID, claim string) error {
	if email == "" {
		return nil
	}
	_, err := edit(ctx, r, keyOf(kindAddress, email), time.Time{}, func(a *addressRecord, found bool) (bool, error) {
		if !found || a.User != userID {
			return false, nil
		}
		u, err := r.loadUser(ctx, userID)
		if err != nil {
			return false, err
		}
		if u != nil && (u.Email == email || !a.Confirmed && a.Claim != claim) {
			return false, nil
		}
		*a = addressRecord{header: header{Gone: true}}
		return true, nil
	})
	return err
}
