package kvadapter

import (
	"context"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// A sessionRecord is a session. Its key is a hash of the token, which is not in it. It refers
// to the user's record, so that one read gives both and what a user is changes in one place.
type sessionRecord struct {
	header
	User    string `json:"user"`
	Expires int64  `json:"expires"` // milliseconds since 1970
}

// sameRefresh is how far two refreshes may be apart of which the later one is spared.
const sameRefresh = time.Minute

// A sessionRevision is what a session was read from.
type sessionRevision struct {
	view    *view // nil: a copy
	expires int64
}

func (s *sessionRecord) session(token string) *core.AdapterSession {
	return &core.AdapterSession{SessionToken: token, UserID: s.User, Expires: fromMillis(s.Expires)}
}

func (c *change) putSession(token string, s *sessionRecord) {
	c.put(keyOf(kindSession, token), s, keyOf(kindUser, s.User), fromMillis(s.Expires))
}

// loadSession gives a session that hasn't ended, or nil.
func (r *Records) loadSession(ctx context.Context, v *view, key string) *sessionRecord {
	s := &sessionRecord{}
	if !r.load(ctx, v, key, s) || hasEnded(s.Expires) {
		return nil
	}
	return s
}

func (r *Records) createSession(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
	_, made, err := r.signIn(ctx, core.SignIn{User: core.User{ID: s.UserID}, Session: &s})
	return made, err
}

func (r *Records) getSessionAndUser(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
	key := keyOf(kindSession, token)
	if s, u, decided := r.cached(ctx, key, token); decided {
		return s, u, nil
	}
	v, err := r.get(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	s := r.loadSession(ctx, v, key)
	if s == nil {
		return nil, nil, nil
	}
	u := r.loadProfile(ctx, v, s.User)
	if u == nil {
		return nil, nil, nil
	}
	r.copyLater(ctx, key, s, u, v.at)
	session := s.session(token)
	session.Revision = &sessionRevision{v, s.Expires}
	return session, u, nil
}

// updateSession changes a session that is there. What the caller has read saves reading it again.
func (r *Records) updateSession(ctx context.Context, to core.AdapterSession) (*core.AdapterSession, error) {
	key := keyOf(kindSession, to.SessionToken)
	keys := []string{key}
	if to.UserID != "" {
		keys = append(keys, keyOf(kindUser, to.UserID))
	}
	var known *view
	revision, _ := to.Revision.(*sessionRevision)
	if revision != nil && to.UserID == "" {
		known = revision.view
	}
	var s *sessionRecord
	var u *userRecord
	err := r.transact(ctx, known, keys, func(v *view, c *change) error {
		if s = r.loadSession(ctx, v, key); s == nil {
			return nil
		}
		if u = r.loadUser(ctx, v, s.User); u == nil {
			s = nil
			return nil
		}
		if revision != nil && to.UserID == "" && isRefreshed(revision.expires, s, to.Expires) {
			return nil
		}
		if to.UserID != "" && to.UserID != s.User {
			delete(u.Sessions, key)
			c.putUser(u)
			if u = r.loadUser(ctx, v, to.UserID); u == nil {
				return ErrNoUser
			}
			s.User = u.ID
		}
		if !to.Expires.IsZero() {
			s.Expires = millis(to.Expires)
		}
		u.addSession(c, key, s.Expires)
		c.stale = append(c.stale, key)
		c.putSession(to.SessionToken, s)
		c.putUser(u)
		return nil
	})
	if err != nil || s == nil {
		return nil, err
	}
	return s.session(to.SessionToken), nil
}

// isRefreshed reports whether another refresh has extended the session since it was seen, to
// about the same end.
func isRefreshed(seen int64, now *sessionRecord, expires time.Time) bool {
	return seen < now.Expires && expires.Sub(fromMillis(now.Expires)).Abs() <= sameRefresh
}

// deleteSession ends a session, and takes it out of its user's index. The mark in the cache is
// there before it returns, so that the browser's next request sees it. A session that was there
// at first and is gone when an answer was lost has been ended by this call or by another.
func (r *Records) deleteSession(ctx context.Context, token string) (*core.AdapterSession, error) {
	key := keyOf(kindSession, token)
	var s *sessionRecord
	err := r.transact(ctx, nil, []string{key}, func(v *view, c *change) error {
		found := &sessionRecord{}
		if !r.load(ctx, v, key, found) {
			return nil
		}
		s = found
		c.check(key)
		c.delete(key)
		if u := r.loadUser(ctx, v, s.User); u != nil {
			delete(u.Sessions, key)
			c.putUser(u)
		}
		return nil
	})
	if err != nil || s == nil {
		return nil, err
	}
	if r.cache != nil {
		r.putMark(ctx, key)
	}
	return s.session(token), nil
}
