package kvadapter

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// A sessionCopy is a session and its user in the cache, or a mark that the session has ended. It is
// read without asking the store, and decides nothing but what a reader sees.
type sessionCopy struct {
	header
	User    profile `json:"user"`
	Expires int64   `json:"expires"` // of the session, milliseconds since 1970
	Until   int64   `json:"until"`   // when the copy may not be shown any more
	Ended   bool    `json:"ended"`   // a mark
}

// markSkew is how far the clocks of two machines may be apart for a mark to outlive every copy.
const markSkew = 5 * time.Minute

func copyKey(session string) string { return kindCopy + strings.TrimPrefix(session, kindSession) }

// cached gives what the cache knows of a session. isKnown is false if the store must be asked.
func (r *Records) cached(ctx context.Context, session, token string) (s *core.AdapterSession, u *core.User, isKnown bool) {
	if r.cache == nil {
		return nil, nil, false
	}
	key := copyKey(session)
	done := core.StoreCall(ctx)
	value, ok, err := r.cache.Get(ctx, r.prefix+key)
	done()
	var c sessionCopy
	if err == nil && ok {
		err = parse(key, value, &c)
	}
	switch {
	case err != nil:
		r.log(ctx, r.prefix+key, err)
		return nil, nil, false
	case !ok:
		return nil, nil, false
	case c.Ended:
		return nil, nil, true
	case hasEnded(c.Expires), hasEnded(c.Until), fromMillis(c.Until).After(time.Now().Add(r.cacheFor)):
		return nil, nil, false
	}
	s = &core.AdapterSession{SessionToken: token, UserID: c.User.ID, Expires: fromMillis(c.Expires)}
	s.Revision = &sessionRevision{expires: c.Expires}
	return s, c.User.user(), true
}

// copyLater puts a copy of a session into the cache. It may be shown from when the store was
// read: whatever overtakes the write, the session is seen no longer than that.
func (r *Records) copyLater(ctx context.Context, session string, s *sessionRecord, u *core.User, read time.Time) {
	if r.cache == nil {
		return
	}
	until := read.Add(r.cacheFor)
	value, err := encode(copyKey(session), "", &sessionCopy{User: profileOf(u), Expires: s.Expires, Until: until.UnixMilli()}, nil)
	if err != nil {
		r.log(ctx, r.prefix+copyKey(session), err)
		return
	}
	r.waitUntil(ctx, func(ctx context.Context) { r.putCopy(ctx, copyKey(session), value, until) })
}

func (r *Records) putCopy(ctx context.Context, key string, value []byte, until time.Time) {
	if err := r.cache.Put(ctx, r.prefix+key, value, until); err != nil {
		r.log(ctx, r.prefix+key, err)
	}
}

// updateCache brings the cache up to date after a commit, beside the answer.
func (r *Records) updateCache(ctx context.Context, c *change) {
	if r.cache == nil || len(c.ended)+len(c.stale) == 0 {
		return
	}
	r.waitUntil(ctx, func(ctx context.Context) {
		var wg sync.WaitGroup
		for _, session := range c.ended {
			wg.Go(func() { r.putMark(ctx, session) })
		}
		for _, session := range c.stale {
			wg.Go(func() { r.deleteCopy(ctx, session) })
		}
		wg.Wait()
	})
}

// putMark puts a mark in the place of a copy, for longer than any copy lasts.
func (r *Records) putMark(ctx context.Context, session string) {
	key := copyKey(session)
	value, err := encode(key, "", &sessionCopy{Ended: true}, nil)
	if err != nil {
		r.log(ctx, r.prefix+key, err)
		return
	}
	r.putCopy(ctx, key, value, time.Now().Add(r.cacheFor+markSkew))
}

func (r *Records) deleteCopy(ctx context.Context, session string) {
	key := r.prefix + copyKey(session)
	if err := r.cache.Delete(ctx, key); err != nil {
		r.log(ctx, key, err)
	}
}
