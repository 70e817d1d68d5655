package kvadapter

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// A sessionRecord is what a request reads: the session and its user in one value. Its key is
// a hash of the token, which is not in it.
//
// Where the session store isn't Atomic, the record is kept in the Atomic store, which decides
// whether the session lives, and the session store has a copy, byte by byte, for readers.
type sessionRecord struct {
	header
	User    profile `json:"user"`
	Expires int64   `json:"expires"` // milliseconds since 1970
}

// A sessionEntry is a session in the index.
type sessionEntry struct {
	Expires int64 `json:"expires"` // when last looked at: a refresh leaves it alone
}

// maxSessions bounds the index. One session more ends the one that would expire first.
const maxSessions = 100

// clockSkew is how far the clocks of two machines that share a store may be apart.
const clockSkew = 5 * time.Minute

// sameRefresh is how far two refreshes may be apart of which the later one is spared.
const sameRefresh = time.Minute

func (s *sessionRecord) session(token string) *core.AdapterSession {
	return &core.AdapterSession{SessionToken: token, UserID: s.User.ID, Expires: fromMillis(s.Expires)}
}

// loadSession gives a session that hasn't ended, or nil, and the value as it is stored.
func (r *Records) loadSession(ctx context.Context, key string) (*sessionRecord, []byte, error) {
	var s sessionRecord
	value, ok, err := r.load(ctx, r.sessions, key, &s)
	if err != nil || !ok || hasEnded(s.Expires) {
		return nil, nil, err
	}
	return &s, value, nil
}

// copyKey is the key of a session's copy. It is another one than the session's, lest they
// overwrite one another where both stores turn out to be one.
func copyKey(key string) string { return kindCopy + strings.TrimPrefix(key, kindSession) }

// loadCopy is loadSession for what readers see.
func (r *Records) loadCopy(ctx context.Context, key string) (*sessionRecord, []byte, error) {
	value, ok, err := r.copies.Get(ctx, r.prefix+copyKey(key))
	if err != nil || !ok {
		return nil, nil, err
	}
	var s sessionRecord
	if !r.read(ctx, key, value, &s) || hasEnded(s.Expires) {
		return nil, nil, nil
	}
	return &s, value, nil
}

func hasEnded(expires int64) bool { return !time.Now().Before(fromMillis(expires)) }

func (r *Records) getSessionAndUser(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
	load := r.loadSession
	if r.copies != nil {
		load = r.loadCopy
	}
	s, value, err := load(ctx, keyOf(kindSession, token))
	if s == nil {
		return nil, nil, err
	}
	session := s.session(token)
	session.Revision = string(value)
	return session, s.User.user(), nil
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
	value, err := encode(key, &sessionRecord{User: u.profile, Expires: expires}, nil)
	if err != nil {
		return nil, err
	}
	ok, err := r.sessions.Insert(ctx, r.prefix+key, value, until(s.Expires))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.Join(conflict("another session has the token"), r.dropEntries(ctx, s.UserID, key))
	}
	now, err := r.loadUser(ctx, s.UserID)
	switch {
	case err != nil:
		return nil, err
	case !now.has(key): // ended with all others, or the user is deleted
		return &s, r.end(ctx, key, expires)
	case !sameProfile(&now.profile, &u.profile):
		return &s, r.publish(ctx, s.UserID, key)
	}
	return &s, r.show(ctx, key, value, expires)
}

// addEntry puts a session into the index, and takes out what is over.
func (r *Records) addEntry(ctx context.Context, userID, key string, expires int64) (*userRecord, error) {
	return r.editUser(ctx, userID, func(u *userRecord) (bool, error) {
		if u.Sessions == nil {
			u.Sessions = map[string]sessionEntry{}
		}
		for other, entry := range u.Sessions {
			if !time.Now().After(fromMillis(entry.Expires).Add(clockSkew)) {
				continue
			}
			delete(u.Sessions, other)
			s, _, err := r.loadSession(ctx, other) // may have been extended since
			if err != nil {
				return false, err
			}
			if s != nil && s.User.ID == userID {
				u.Sessions[other] = sessionEntry{Expires: s.Expires}
			}
		}
		for len(u.Sessions) >= maxSessions {
			first := ""
			for other, entry := range u.Sessions {
				// Of several with one end it is always the same, lest each retry ends another.
				if other != key && (first == "" || cmp.Or(cmp.Compare(entry.Expires, u.Sessions[first].Expires), cmp.Compare(other, first)) < 0) {
					first = other
				}
			}
			s, _, err := r.loadSession(ctx, first)
			if err != nil {
				return false, err
			}
			if s != nil && s.User.ID == userID && s.Expires > u.Sessions[first].Expires { // extended since
				u.Sessions[first] = sessionEntry{Expires: s.Expires}
				continue
			}
			if err := r.end(ctx, first, u.Sessions[first].Expires); err != nil {
				return false, err
			}
			delete(u.Sessions, first)
		}
		u.Sessions[key] = sessionEntry{Expires: expires}
		return true, nil
	})
}

// has reports whether a session is in the index of a user, who may be nil.
func (u *userRecord) has(key string) bool {
	if u == nil {
		return false
	}
	_, ok := u.Sessions[key]
	return ok
}

// end ends a session. expires is when it would have ended by itself.
func (r *Records) end(ctx context.Context, key string, expires int64) error {
	if err := r.sessions.Delete(ctx, r.prefix+key); err != nil {
		return err
	}
	return r.bury(ctx, key, expires)
}

// bury puts a tombstone in the place of a copy. Nobody shows the session after that for more
// than a moment: see show.
func (r *Records) bury(ctx context.Context, key string, expires int64) error {
	if r.copies == nil {
		return nil
	}
	value, err := encode(key, &sessionRecord{header: header{Gone: true}, Expires: expires}, nil)
	if err != nil {
		return err
	}
	return r.copies.Put(ctx, r.prefix+copyKey(key), value, until(fromMillis(expires)))
}

// show makes the copy of a session what the session is, until that is still so afterwards: of
// all who write a copy, the last one has written the last state.
func (r *Records) show(ctx context.Context, key string, value []byte, expires int64) error {
	if r.copies == nil {
		return nil
	}
	for range attempts {
		if err := r.copies.Put(ctx, r.prefix+copyKey(key), value, until(fromMillis(expires))); err != nil {
			return err
		}
		s, now, err := r.loadSession(ctx, key)
		switch {
		case err != nil:
			return err
		case s == nil:
			return r.bury(ctx, key, expires)
		case bytes.Equal(now, value):
			return nil
		}
		value, expires = now, s.Expires
	}
	return ErrBusy
}

// publish makes a session say who its user is by now, or ends it if the user doesn't have it.
func (r *Records) publish(ctx context.Context, userID, key string) error {
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
			return r.end(ctx, key, s.Expires)
		}
		s.User = u.profile
		value, err := encode(key, s, old)
		if err != nil {
			return err
		}
		if !bytes.Equal(value, old) {
			ok, err := r.sessions.Swap(ctx, r.prefix+key, old, value, until(fromMillis(s.Expires)))
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
		} else if r.copies != nil {
			if shown, _, err := r.copies.Get(ctx, r.prefix+copyKey(key)); err != nil || bytes.Equal(shown, value) {
				return err
			}
		}
		return r.show(ctx, key, value, s.Expires)
	}
	return ErrBusy
}

func (r *Records) updateSession(ctx context.Context, change core.AdapterSession) (*core.AdapterSession, error) {
	key := keyOf(kindSession, change.SessionToken)
	var seen *sessionRecord // what the caller knows, if anything
	old := []byte(change.Revision)
	if s := new(sessionRecord); len(old) > 0 && parse(key, old, s) == nil && !s.Gone {
		seen = s
	}
	for try := range attempts {
		var s sessionRecord
		if try == 0 && seen != nil {
			s = *seen
		} else {
			now, value, err := r.loadSession(ctx, key)
			if err != nil {
				return nil, err
			}
			if now == nil {
				if seen != nil { // a copy outlived its session
					return nil, r.bury(ctx, key, seen.Expires)
				}
				return nil, nil
			}
			if seen != nil && change.UserID == "" && isRefreshed(seen, now, change.Expires) {
				return now.session(change.SessionToken), nil
			}
			s, old = *now, value
		}
		moved, err := r.change(ctx, key, &s, old, change)
		if errors.Is(err, errLost) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if moved != "" {
			if err := errors.Join(r.dropEntries(ctx, moved, key), r.publish(ctx, s.User.ID, key)); err != nil {
				return nil, err
			}
		}
		return s.session(change.SessionToken), nil
	}
	return nil, ErrBusy
}

// isRefreshed reports whether somebody else has done since what a refresh is about to do.
func isRefreshed(seen, now *sessionRecord, expires time.Time) bool {
	return seen.Expires < now.Expires && expires.Sub(fromMillis(now.Expires)).Abs() <= sameRefresh
}

// errLost is that a record is not what it was thought to be.
var errLost = errors.New("kvadapter: the record has changed")

// change changes a session whose record is old. movedFrom is the user it was taken from.
func (r *Records) change(ctx context.Context, key string, s *sessionRecord, old []byte, change core.AdapterSession) (movedFrom string, err error) {
	if !change.Expires.IsZero() {
		s.Expires = millis(change.Expires)
	}
	if change.UserID != "" && change.UserID != s.User.ID {
		u, err := r.addEntry(ctx, change.UserID, key, s.Expires)
		if err != nil {
			return "", err
		}
		movedFrom, s.User = s.User.ID, u.profile
	}
	value, err := encode(key, s, old)
	if err != nil {
		return "", err
	}
	ok, err := r.sessions.Swap(ctx, r.prefix+key, old, value, until(fromMillis(s.Expires)))
	if err != nil {
		return "", err
	}
	if !ok {
		return "", errLost
	}
	return movedFrom, r.show(ctx, key, value, s.Expires)
}

// deleteSession ends the session first, and then what readers see of it. A call that failed
// in between is finished by the next one for the same token.
func (r *Records) deleteSession(ctx context.Context, token string) (*core.AdapterSession, error) {
	key := keyOf(kindSession, token)
	value, ok, err := r.sessions.Take(ctx, r.prefix+key)
	s := new(sessionRecord)
	if ok = ok && r.read(ctx, key, value, s); !ok {
		if s = nil; r.copies != nil {
			shown, _, err2 := r.loadCopy(ctx, key)
			s, err = shown, errors.Join(err, err2)
		}
	}
	if s != nil {
		err = errors.Join(err, r.bury(ctx, key, s.Expires))
	}
	if err != nil || s == nil {
		return nil, err
	}
	// The session is over. An entry that stays costs a few bytes until it expires.
	_ = r.dropEntries(ctx, s.User.ID, key)
	return s.session(token), nil
}

// dropEntries takes sessions out of the index of a user, who may be gone.
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

// SignOutEverywhere ends all sessions of a user that had begun before the call. Where
// sessions are in an eventually consistent store, other locations may see one of them for as
// long as that store says; see SCHEMA.md. An unknown user has none. A call that failed may be
// made again.
func (r *Records) SignOutEverywhere(ctx context.Context, userID string) error {
	if r.refusal != "" {
		return ErrRefused
	}
	u, err := r.loadUser(ctx, userID)
	if err != nil || u == nil {
		return err
	}
	for key, entry := range u.Sessions {
		if err := r.end(ctx, key, entry.Expires); err != nil {
			return err
		}
	}
	return r.dropEntries(ctx, userID, slices.Collect(maps.Keys(u.Sessions))...)
}
