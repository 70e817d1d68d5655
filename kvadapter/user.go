package kvadapter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/core"
)

// A userRecord is a user, and the index of what else there is of them. Every record of a
// user is in the index before it is stored, so that deleting the user finds it.
type userRecord struct {
	header
	profile
	Deleted  bool                    `json:"deleted"`  // being deleted, and absent to everybody but those who go on with that
	Owns     []string                `json:"owns"`     // the keys of accounts and passkeys, without the prefix of Options
	Sessions map[string]sessionEntry `json:"sessions"` // by the same kind of key
}

// loadUser gives a user who isn't being deleted, or nil.
func (r *Records) loadUser(ctx context.Context, id string) (*userRecord, error) {
	var u userRecord
	_, ok, err := r.load(ctx, r.atomic, keyOf(kindUser, id), &u)
	if err != nil || !ok || u.Deleted {
		return nil, err
	}
	return &u, nil
}

// isNobody reports whether there is no user any more whose ID a record names. One whose
// record is damaged may come back when it is repaired by hand, and keeps what they own.
func (r *Records) isNobody(ctx context.Context, id string) (bool, error) {
	var u userRecord
	value, ok, err := r.load(ctx, r.atomic, keyOf(kindUser, id), &u)
	return value == nil || ok && u.Deleted || !ok && u.Gone, err
}

// editUser changes a user who is there.
func (r *Records) editUser(ctx context.Context, id string, change func(u *userRecord) (write bool, err error)) (*userRecord, error) {
	return edit(ctx, r, keyOf(kindUser, id), time.Time{}, func(u *userRecord, found bool) (bool, error) {
		if !found || u.Deleted {
			return false, ErrNoUser
		}
		return change(u)
	})
}

func (r *Records) getUser(ctx context.Context, id string) (*core.User, error) {
	u, err := r.loadUser(ctx, id)
	if u == nil {
		return nil, err
	}
	return u.user(), nil
}

// fresh gives a user that shares nothing with the record.
func (u *userRecord) fresh() (*core.User, error) {
	value, err := encode(u.Key, u, nil)
	if err != nil {
		return nil, err
	}
	var again userRecord
	if err := parse(u.Key, value, &again); err != nil {
		return nil, err
	}
	return again.user(), nil
}

// createUser holds the address, stores the user, and confirms the address. Whoever loses the
// address in between takes the user back.
func (r *Records) createUser(ctx context.Context, user core.User) (*core.User, error) {
	if !utf8.ValidString(user.ID) || !utf8.ValidString(user.Email) {
		return nil, ErrText
	}
	key, wanted := keyOf(kindUser, user.ID), profileOf(&user)
	var left userRecord
	before, ok, err := r.load(ctx, r.atomic, key, &left)
	if err != nil {
		return nil, err
	} else if ok && left.Deleted {
		if err := r.finishDeletion(ctx, &left); err != nil {
			return nil, err
		}
	}
	claim, err := r.hold(ctx, user.Email, user.ID)
	if err != nil {
		return nil, err
	}
	var guess []byte
	if before == nil {
		guess = guessNone()
	}
	stored, err := editFrom(ctx, r, key, time.Time{}, guess, func(u *userRecord, found bool) (bool, error) {
		switch {
		case found && u.Deleted:
			return false, ErrBusy
		case found && !sameProfile(&u.profile, &wanted):
			return false, conflict("another user has the ID")
		}
		u.profile = wanted
		return !found, nil
	})
	if err != nil {
		return nil, errors.Join(err, r.release(ctx, user.Email, user.ID, claim))
	}
	held, err := r.confirm(ctx, user.Email, user.ID, claim)
	if err != nil {
		return nil, err
	}
	if !held {
		_, err := edit(ctx, r, key, time.Time{}, func(u *userRecord, found bool) (bool, error) {
			take := found && u.Email == user.Email && len(u.Owns) == 0 && len(u.Sessions) == 0
			*u = userRecord{header: header{Gone: true}}
			return take, nil
		})
		return nil, errors.Join(conflict("another user has the address"), err)
	}
	return stored.fresh()
}

func sameProfile(a, b *profile) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// errMoved is that a user got another address while this call thought to know it.
var errMoved = errors.New("kvadapter: the address was changed")

func (r *Records) updateUser(ctx context.Context, change core.User) (*core.User, error) {
	if !utf8.ValidString(change.ID) || !utf8.ValidString(change.Email) {
		return nil, ErrText
	}
	for range attempts {
		u, err := r.loadUser(ctx, change.ID)
		if err != nil {
			return nil, err
		}
		if u == nil {
			return nil, ErrNoUser
		}
		isVerifiedAgain := u.EmailVerified != 0 && sameProfile(&u.profile, u.profile.with(&change, u.EmailVerified))
		if change.Email == "" || change.Email == u.Email {
			u, err = r.changeUser(ctx, &change, nil)
		} else {
			u, err = r.changeAddress(ctx, &change)
		}
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if isVerifiedAgain {
			return u.fresh() // as at every sign-in by a link: not worth rewriting all sessions
		}
		for key := range u.Sessions {
			if err := r.publish(ctx, change.ID, key); err != nil {
				return nil, err
			}
		}
		return u.fresh()
	}
	return nil, ErrBusy
}

// changeUser stores the change. Without before the address must be the user's already;
// otherwise before gets what the user was until now.
func (r *Records) changeUser(ctx context.Context, change *core.User, before *profile) (*userRecord, error) {
	return r.editUser(ctx, change.ID, func(u *userRecord) (bool, error) {
		if before == nil && change.Email != "" && change.Email != u.Email {
			return false, errMoved
		}
		if before != nil {
			*before = u.profile
		}
		u.profile = *u.profile.with(change, millis(change.EmailVerified))
		return true, nil
	})
}

// with gives the profile with the fields of a change that aren't zero.
func (p profile) with(change *core.User, emailVerified int64) *profile {
	p.Name = cmp.Or(change.Name, p.Name)
	p.Email = cmp.Or(change.Email, p.Email)
	p.Image = cmp.Or(change.Image, p.Image)
	p.EmailVerified = cmp.Or(emailVerified, p.EmailVerified)
	if change.Extra != nil {
		p.Extra = change.Extra
	}
	return &p
}

// changeAddress holds the new address, stores the change, confirms the address, and lets go
// of the old one.
func (r *Records) changeAddress(ctx context.Context, change *core.User) (*userRecord, error) {
	claim, err := r.hold(ctx, change.Email, change.ID)
	if err != nil {
		return nil, err
	}
	var before profile
	u, err := r.changeUser(ctx, change, &before)
	if err != nil {
		return nil, errors.Join(err, r.release(ctx, change.Email, change.ID, claim))
	}
	held, err := r.confirm(ctx, change.Email, change.ID, claim)
	if err != nil {
		return nil, err
	}
	if !held {
		_, err = r.editUser(ctx, change.ID, func(u *userRecord) (bool, error) {
			mine := u.Email == change.Email
			if mine {
				u.profile = before
			}
			return mine, nil
		})
		if err == nil {
			err = conflict("another user has the address")
		}
	}
	if before.Email != change.Email {
		err = errors.Join(err, r.release(ctx, before.Email, change.ID, ""))
	}
	if err != nil {
		return nil, err
	}
	return u, nil
}

// deleteUser marks the user, whom nobody finds from then on, and deletes what the index
// names. A call that fails is finished by the next one, by CreateUser, or by Repair.
func (r *Records) deleteUser(ctx context.Context, id string) error {
	wasThere := false
	u, err := edit(ctx, r, keyOf(kindUser, id), time.Time{}, func(u *userRecord, found bool) (bool, error) {
		wasThere = found
		write := found && !u.Deleted
		u.Deleted = true
		return write, nil
	})
	if err != nil || !wasThere {
		return err
	}
	return r.finishDeletion(ctx, u)
}

func (r *Records) finishDeletion(ctx context.Context, u *userRecord) error {
	for key, entry := range u.Sessions {
		if err := r.end(ctx, key, entry.Expires); err != nil {
			return err
		}
	}
	for _, key := range u.Owns {
		if _, err := r.removeOwned(ctx, key, u.ID); err != nil {
			return err
		}
	}
	if err := r.release(ctx, u.Email, u.ID, ""); err != nil {
		return err
	}
	_, err := edit(ctx, r, u.Key, time.Time{}, func(u *userRecord, found bool) (bool, error) {
		write := found && u.Deleted
		*u = userRecord{header: header{Gone: true}}
		return write, nil
	})
	return err
}

// An ownedRecord is what accounts and passkeys have in common.
type ownedRecord struct {
	header
	User string `json:"user"`
}

// removeOwned deletes an account or a passkey if it is still the user's.
func (r *Records) removeOwned(ctx context.Context, key, userID string) (removed bool, err error) {
	_, err = edit(ctx, r, key, time.Time{}, func(a *ownedRecord, found bool) (bool, error) {
		removed = found && a.User == userID
		*a = ownedRecord{header: header{Gone: true}}
		return removed, nil
	})
	return removed, err
}

// enlist puts an account or a passkey into the user's index.
func (r *Records) enlist(ctx context.Context, userID, key string) error {
	_, err := r.editUser(ctx, userID, func(u *userRecord) (bool, error) {
		at, known := slices.BinarySearch(u.Owns, key)
		if !known {
			u.Owns = slices.Insert(u.Owns, at, key)
		}
		return !known, nil
	})
	return err
}

// enlisted is what a new record needs once it is stored: that it is still in the index, and
// that its user was not deleted meanwhile.
func (r *Records) enlisted(ctx context.Context, userID, key string) error {
	u, err := r.loadUser(ctx, userID)
	if err != nil {
		return err
	}
	if u != nil {
		if _, known := slices.BinarySearch(u.Owns, key); known {
			return nil
		}
		if err = r.enlist(ctx, userID, key); !errors.Is(err, ErrNoUser) {
			return err
		}
	}
	_, err = r.removeOwned(ctx, key, userID)
	return errors.Join(ErrNoUser, err)
}

// delist takes a key out of the user's index unless there is such a record of the user, and
// puts it back if there is one by then.
func (r *Records) delist(ctx context.Context, userID, key string) error {
	if mine, err := r.isOwned(ctx, userID, key); err != nil || mine {
		return err
	}
	_, err := r.editUser(ctx, userID, func(u *userRecord) (bool, error) {
		at, known := slices.BinarySearch(u.Owns, key)
		if known {
			u.Owns = slices.Delete(u.Owns, at, at+1)
		}
		return known, nil
	})
	if err == nil {
		var mine bool
		if mine, err = r.isOwned(ctx, userID, key); mine {
			err = r.enlist(ctx, userID, key)
		}
	}
	if errors.Is(err, ErrNoUser) {
		return nil
	}
	return err
}

func (r *Records) isOwned(ctx context.Context, userID, key string) (bool, error) {
	var a ownedRecord
	_, ok, err := r.load(ctx, r.atomic, key, &a)
	return ok && a.User == userID, err
}
