package kvadapter

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// A sessionRecord is what a request reads: the session and its user in one value. Its key is
// a hash of the token, which is not in it.
//
// The user's record has an index of the sessions. In a session store that isn't Atomic the
// index decides whether a session lives, and this record is a copy for readers.
type sessionRecord struct {
	header
	User    profile `json:"user"`
	Expires int64   `json:"expires"` // milliseconds since 1970
}

// A sessionEntry is a session in the index.
type sessionEntry struct {
	Expires int64 `json:"expires"` // where the session store is Atomic: when last looked at
	Ended   bool  `json:"ended"`   // signed out; the entry stays until the session record says so too
}

// maxSessions bounds the index. One session more ends the one that would expire first.
const maxSessions = 100

// clockSkew is how far the clocks of two machines that share a store may be apart.
const clockSkew = 5 * time.Minute

func (s *sessionRecord) session(token string) *core.AdapterSession {
	return &core.AdapterSession{SessionToken: token, UserID: s.User.ID, Expires: fromMillis(s.Expires)}
}

// loadSession gives a session that hasn't ended, or nil.
func (r *Records) loadSession(ctx context.Context, key string) (*sessionRecord, []byte, error) {
	var s sessionRecord
	value, ok, err := r.load(ctx, r.sessions, key, &s)
	if err != nil || !ok || hasEnded(s.Expires) {
		return nil, nil, err
	}
	return &s, value, nil
}

func hasEnded(expires int64) bool { return !time.Now().Before(fromMillis(expires)) }

func (r *Records) getSessionAndUser(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
	s, _, err := r.loadSession(ctx, keyOf(kindSession, token))
	if s == nil {
		return nil, nil, err
	}
	return s.session(token), s.User.user(), nil
}

func (r *Records) createSession(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
	key, expires := keyOf(kindSession, s.SessionToken), millis(s.Expires)
	if hasEnded(expires) {
		return &s, ctx.Err()
	}
	u, err := r.addEntry(ctx, s.UserID, key, expires)
	if err != nil {
		return nil, err
	}
	if err := r.insert(ctx, u, key, expires); err != nil {
		return nil, err
	}
	if err := r.publish(ctx, s.UserID, key, expires); err != nil {
		return nil, err
	}
	return &s, r.sweep(ctx, u)
}

// addEntry puts a session into the index, and drops what the index no longer needs.
func (r *Records) addEntry(ctx context.Context, userID, key string, expires int64) (*userRecord, error) {
	return r.editUser(ctx, userID, func(u *userRecord) (bool, error) {
		if u.Sessions == nil {
			u.Sessions = map[string]sessionEntry{}
		}
		delete(u.Sessions, key)
		alive, first := 0, ""
		for other, entry := range u.Sessions {
			if !time.Now().After(fromMillis(entry.Expires).Add(clockSkew)) {
				if !entry.Ended {
					alive++
					if first == "" || entry.Expires < u.Sessions[first].Expires {
						first = other
					}
				}
				continue
			}
			delete(u.Sessions, other)
			if r.swappable == nil {
				continue
			}
			s, _, err := r.loadSession(ctx, other) // may have been extended since
			if err != nil {
				return false, err
			}
			if s != nil && s.User.ID == userID {
				u.Sessions[other] = sessionEntry{Expires: s.Expires, Ended: entry.Ended}
			}
		}
		if alive >= maxSessions {
			u.Sessions[first] = sessionEntry{Expires: u.Sessions[first].Expires, Ended: true}
		}
		u.Sessions[key] = sessionEntry{Expires: expires}
		return true, nil
	})
}

// insert makes the record of a new session. One whose store isn't Atomic is made by publish.
func (r *Records) insert(ctx context.Context, u *userRecord, key string, expires int64) error {
	if r.swappable == nil {
		return nil
	}
	value, err := encode(key, &sessionRecord{User: u.profile, Expires: expires}, nil)
	if err != nil {
		return err
	}
	_, err = r.swappable.Insert(ctx, r.prefix+key, value, until(fromMillis(expires)))
	return err
}

// publish makes the record of a session say what its user's record does: who the user is, or
// that the session is over. expires is when it would have been.
func (r *Records) publish(ctx context.Context, userID, key string, expires int64) error {
	if r.swappable != nil {
		return r.publishAtomic(ctx, userID, key)
	}
	u, err := r.loadUser(ctx, userID)
	if err != nil {
		return err
	}
	return r.publishPlain(ctx, u, userID, key, expires)
}

// publishAtomic changes the record only where it is, so what was deleted stays deleted.
func (r *Records) publishAtomic(ctx context.Context, userID, key string) error {
	for range attempts {
		s, old, err := r.loadSession(ctx, key)
		if err != nil || s == nil || s.User.ID != userID {
			return err
		}
		u, err := r.loadUser(ctx, userID)
		if err != nil {
			return err
		}
		if !u.has(key) {
			return r.swappable.Delete(ctx, r.prefix+key)
		}
		s.User = u.profile
		value, err := encode(key, s, old)
		if err != nil || bytes.Equal(value, old) {
			return err
		}
		if ok, err := r.swappable.Swap(ctx, r.prefix+key, old, value, until(fromMillis(s.Expires))); ok || err != nil {
			return err
		}
	}
	return ErrBusy
}

// publishPlain writes what the user's record says until that is still so afterwards. Of all
// who change a user's record and then publish, the last to write has written the last state.
func (r *Records) publishPlain(ctx context.Context, u *userRecord, userID, key string, expires int64) error {
	value, end, err := u.copyOf(key, expires)
	if err != nil {
		return err
	}
	for range attempts {
		if err := r.sessions.Put(ctx, r.prefix+key, value, until(end)); err != nil {
			return err
		}
		written := value
		if u, err = r.loadUser(ctx, userID); err != nil {
			return err
		}
		if value, end, err = u.copyOf(key, expires); err != nil || bytes.Equal(value, written) {
			return err
		}
	}
	return ErrBusy
}

// has reports whether a session is alive.
func (u *userRecord) has(key string) bool {
	if u == nil {
		return false
	}
	entry, ok := u.Sessions[key]
	return ok && !entry.Ended
}

// copyOf is the session record that follows from the user's, and when it ends: a tombstone,
// unless the session is alive.
func (u *userRecord) copyOf(key string, expires int64) ([]byte, time.Time, error) {
	if !u.has(key) {
		value, err := encode(key, &sessionRecord{header: header{Gone: true}, Expires: expires}, nil)
		return value, fromMillis(expires), err
	}
	entry := u.Sessions[key]
	value, err := encode(key, &sessionRecord{User: u.profile, Expires: entry.Expires}, nil)
	return value, fromMillis(entry.Expires), err
}

func (r *Records) updateSession(ctx context.Context, change core.AdapterSession) (*core.AdapterSession, error) {
	key := keyOf(kindSession, change.SessionToken)
	for range attempts {
		s, old, err := r.loadSession(ctx, key)
		if s == nil {
			return nil, err
		}
		before := s.User.ID
		if !change.Expires.IsZero() {
			s.Expires = millis(change.Expires)
		}
		if change.UserID != "" && change.UserID != before {
			u, err := r.addEntry(ctx, change.UserID, key, s.Expires)
			if err != nil {
				return nil, err
			}
			s.User = u.profile
		}
		done := false
		if r.swappable == nil {
			done, err = r.refreshPlain(ctx, before, key, s)
			if err == nil && !done {
				return nil, nil
			}
		} else {
			var value []byte
			if value, err = encode(key, s, old); err == nil {
				done, err = r.swappable.Swap(ctx, r.prefix+key, old, value, until(fromMillis(s.Expires)))
			}
		}
		if err != nil {
			return nil, err
		}
		if !done {
			continue
		}
		if s.User.ID != before {
			if err := errors.Join(r.dropEntries(ctx, before, key), r.publish(ctx, s.User.ID, key, s.Expires)); err != nil {
				return nil, err
			}
		}
		return s.session(change.SessionToken), nil
	}
	return nil, ErrBusy
}

// refreshPlain changes the entry of a session and publishes it. done is false if the session
// has ended, though the record that was read does not say so yet.
func (r *Records) refreshPlain(ctx context.Context, userID, key string, s *sessionRecord) (done bool, err error) {
	u, err := r.editUser(ctx, userID, func(u *userRecord) (bool, error) {
		done = u.has(key)
		if done {
			u.Sessions[key] = sessionEntry{Expires: s.Expires}
		}
		return done, nil
	})
	if err != nil && !errors.Is(err, ErrNoUser) {
		return false, err
	}
	if done && s.User.ID != userID {
		return true, nil // moved: published for the other user
	}
	return done, r.publishPlain(ctx, u, userID, key, s.Expires)
}

func (r *Records) deleteSession(ctx context.Context, token string) (*core.AdapterSession, error) {
	key := keyOf(kindSession, token)
	if r.swappable != nil {
		value, ok, err := r.swappable.Take(ctx, r.prefix+key)
		if err != nil || !ok {
			return nil, err
		}
		var s sessionRecord
		if !r.read(ctx, key, value, &s) {
			return nil, nil
		}
		// The session is over. An entry that stays costs a few bytes until it expires.
		_ = r.dropEntries(ctx, s.User.ID, key)
		return s.session(token), nil
	}
	s, _, err := r.loadSession(ctx, key)
	if s == nil {
		return nil, err
	}
	// Should the index fail, the tombstone ends the session unless a refresh comes between.
	_, err = r.endEntries(ctx, s.User.ID, key)
	value, end, err2 := (*userRecord)(nil).copyOf(key, s.Expires)
	if err2 == nil {
		err2 = r.sessions.Put(ctx, r.prefix+key, value, until(end))
	}
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	_ = r.dropEntries(ctx, s.User.ID, key)
	return s.session(token), nil
}

// endEntries marks sessions as ended, all of them if none is named. The user may be gone.
func (r *Records) endEntries(ctx context.Context, userID string, keys ...string) (*userRecord, error) {
	u, err := r.editUser(ctx, userID, func(u *userRecord) (bool, error) {
		for key, entry := range u.Sessions {
			if len(keys) == 0 || slices.Contains(keys, key) {
				entry.Ended = true
				u.Sessions[key] = entry
			}
		}
		return true, nil
	})
	if errors.Is(err, ErrNoUser) {
		return nil, nil
	}
	return u, err
}

// dropEntries takes sessions out of the index, whose records say that they are over or
// another user's.
func (r *Records) dropEntries(ctx context.Context, userID string, keys ...string) error {
	_, err := r.editUser(ctx, userID, func(u *userRecord) (bool, error) {
		before := len(u.Sessions)
		for _, key := range keys {
			delete(u.Sessions, key)
		}
		return len(u.Sessions) < before, nil
	})
	if errors.Is(err, ErrNoUser) {
		return nil
	}
	return err
}

// sweep finishes what ended but may not be published: a sign-out that failed halfway, or a
// session too many.
func (r *Records) sweep(ctx context.Context, u *userRecord) error {
	var ended []string
	for key, entry := range u.Sessions {
		if !entry.Ended {
			continue
		}
		if err := r.publish(ctx, u.ID, key, entry.Expires); err != nil {
			return err
		}
		ended = append(ended, key)
	}
	if len(ended) == 0 {
		return nil
	}
	return r.dropEntries(ctx, u.ID, ended...)
}

// SignOutEverywhere ends all sessions of a user that had begun before the call. Where
// sessions are in an eventually consistent store, other locations may see one of them for as
// long as that store says; see SCHEMA.md. An unknown user has none.
func (r *Records) SignOutEverywhere(ctx context.Context, userID string) error {
	if r.refusal != "" {
		return ErrRefused
	}
	u, err := r.endEntries(ctx, userID)
	if err != nil || u == nil {
		return err
	}
	return r.sweep(ctx, u)
}
