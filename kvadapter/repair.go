package kvadapter

import (
	"context"
	"slices"
	"strings"
	"time"
)

// A Repaired says what [Records.Repair] found.
type Repaired struct {
	Users    int // how many there are
	Restored int // index entries, addresses and copies of users that were missing or out of date
	Removed  int // records and index entries that belonged to nobody
	Corrupt  int // values that are not the record which belongs there; they are left where they are
}

// Repair reads every record and restores what can be told from the others: the index of each
// user, who has which address, and deletions that were not finished. The app may go on
// meanwhile, though a call that runs into the repair may fail and have to be made again. It
// is not needed in daily use: whatever a failed call leaves behind is harmless, and the
// next one for the same user or address cleans it up. A Repair that fails may be repeated.
func (r *Records) Repair(ctx context.Context) (Repaired, error) {
	var done Repaired
	if r.refusal != "" {
		return done, ErrRefused
	}
	for _, kind := range []string{kindAccount, kindPasskey} {
		if err := r.each(ctx, r.atomic, kind, &done, r.repairOwned); err != nil {
			return done, err
		}
	}
	if err := r.each(ctx, r.sessions, kindSession, &done, r.repairSession); err != nil {
		return done, err
	}
	if r.copies != nil {
		if err := r.each(ctx, r.copies, kindCopy, &done, r.repairCopy); err != nil {
			return done, err
		}
	}
	if err := r.each(ctx, r.atomic, kindUser, &done, r.repairUser); err != nil {
		return done, err
	}
	return done, r.each(ctx, r.atomic, kindAddress, &done, r.repairAddress)
}

// each calls repair for every key of a kind.
func (r *Records) each(ctx context.Context, from Store, kind string, done *Repaired, repair func(ctx context.Context, key string, done *Repaired) error) error {
	cursor := ""
	for {
		keys, next, err := from.List(ctx, r.prefix+kind+".", cursor)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if err := repair(ctx, strings.TrimPrefix(key, r.prefix), done); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}

// find is load for a repair, which counts what is damaged.
func (r *Records) find(ctx context.Context, from Store, key string, rec record, done *Repaired) (ok bool, err error) {
	value, ok, err := r.load(ctx, from, key, rec)
	if value != nil && !ok && parse(key, value, rec) != nil {
		done.Corrupt++
	}
	return ok, err
}

func (r *Records) repairOwned(ctx context.Context, key string, done *Repaired) error {
	var a ownedRecord
	if ok, err := r.find(ctx, r.atomic, key, &a, done); err != nil || !ok {
		return err
	}
	free, err := r.isNobody(ctx, a.User)
	if err != nil {
		return err
	}
	if free {
		done.Removed++
		_, err = r.removeOwned(ctx, key, a.User)
		return err
	}
	u, err := r.loadUser(ctx, a.User)
	if err != nil || u == nil {
		return err
	}
	if _, known := slices.BinarySearch(u.Owns, key); known {
		return nil
	}
	done.Restored++
	return r.enlist(ctx, a.User, key)
}

// repairSession ends a session that is not in the index, since nothing would find it when
// its user is deleted, and brings the others up to date.
func (r *Records) repairSession(ctx context.Context, key string, done *Repaired) error {
	var s sessionRecord
	if ok, err := r.find(ctx, r.sessions, key, &s, done); err != nil || !ok || hasEnded(s.Expires) {
		return err
	}
	u, err := r.loadUser(ctx, s.User.ID)
	if err != nil {
		return err
	}
	switch {
	case !u.has(key):
		done.Removed++
		return r.end(ctx, key, s.Expires)
	case !sameProfile(&s.User, &u.profile):
		done.Restored++ // an UpdateUser that failed halfway
		return r.publish(ctx, s.User.ID, key)
	}
	return nil
}

// repairCopy makes a copy what its session is, which a call that failed halfway did not.
func (r *Records) repairCopy(ctx context.Context, key string, done *Repaired) error {
	key = kindSession + strings.TrimPrefix(key, kindCopy)
	value, ok, err := r.copies.Get(ctx, r.prefix+copyKey(key))
	if err != nil || !ok {
		return err
	}
	var shown sessionRecord
	if parse(key, value, &shown) != nil {
		done.Corrupt++
		return nil
	}
	if shown.Gone || hasEnded(shown.Expires) {
		return nil
	}
	s, value, err := r.loadSession(ctx, key)
	if err != nil {
		return err
	}
	if s == nil {
		done.Removed++
		return r.bury(ctx, key, shown.Expires)
	}
	if sameProfile(&shown.User, &s.User) && shown.Expires == s.Expires {
		return nil
	}
	done.Restored++
	return r.show(ctx, key, value, s.Expires)
}

func (r *Records) repairUser(ctx context.Context, key string, done *Repaired) error {
	var u userRecord
	ok, err := r.find(ctx, r.atomic, key, &u, done)
	if err != nil || !ok {
		return err
	}
	if u.Deleted {
		done.Removed++
		return r.finishDeletion(ctx, &u)
	}
	done.Users++
	for _, owned := range u.Owns {
		var a ownedRecord
		value, ok, err := r.load(ctx, r.atomic, owned, &a)
		if err != nil {
			return err
		}
		if value == nil || ok && a.User != u.ID {
			done.Removed++
			if err := r.delist(ctx, u.ID, owned); err != nil {
				return err
			}
		}
	}
	if u.Email == "" {
		return nil
	}
	_, err = edit(ctx, r, keyOf(kindAddress, u.Email), time.Time{}, func(a *addressRecord, found bool) (bool, error) {
		if found {
			return false, nil // theirs, or somebody's who was faster
		}
		done.Restored++
		a.User, a.Confirmed = u.ID, true
		return true, nil
	})
	return err
}

// repairAddress frees an address whose user is gone, or has another one.
func (r *Records) repairAddress(ctx context.Context, key string, done *Repaired) error {
	var a addressRecord
	if ok, err := r.find(ctx, r.atomic, key, &a, done); err != nil || !ok {
		return err
	}
	_, err := edit(ctx, r, key, time.Time{}, func(a *addressRecord, found bool) (bool, error) {
		if !found {
			return false, nil
		}
		free, err := r.isNobody(ctx, a.User)
		if err == nil && !free {
			var u *userRecord
			u, err = r.loadUser(ctx, a.User)
			free = u != nil && keyOf(kindAddress, u.Email) != key
		}
		if err != nil || !free {
			return false, err
		}
		done.Removed++
		*a = addressRecord{header: header{Gone: true}}
		return true, nil
	})
	return err
}
