package kvadapter

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// A view is what one Get has read, by keys without the prefix of Options.
type view struct {
	entries []Entry
	at      time.Time // before it was read
}

// entry gives the entry of a key. One that was not read is taken for absent: a commit checks it.
func (v *view) entry(key string) Entry {
	for _, e := range v.entries {
		if e.Key == key {
			return e
		}
	}
	return Entry{Key: key}
}

// has reports whether something is stored under a key, be it damaged.
func (v *view) has(key string) bool { return v.entry(key).Version != "" }

// get reads keys, and what they refer to.
func (r *Records) get(ctx context.Context, keys ...string) (*view, error) {
	v := &view{at: time.Now()}
	names := keys
	if r.prefix != "" {
		names = make([]string, len(keys))
		for i, key := range keys {
			names[i] = r.prefix + key
		}
	}
	done := core.StoreCall(ctx)
	entries, err := r.store.Get(ctx, names...)
	done()
	if err != nil {
		return nil, err
	}
	for i := range entries {
		entries[i].Key = strings.TrimPrefix(entries[i].Key, r.prefix)
	}
	v.entries = entries
	return v, nil
}

// A change is what one commit does to what a view shows.
type change struct {
	records *Records
	view    *view
	commit  string // random
	checks  []Check
	writes  []Write
	ended   []string // keys of sessions that are over by it
	stale   []string // keys of sessions of which a copy shows what was
	err     error
}

func (r *Records) newChange(v *view) *change {
	return &change{records: r, view: v, commit: rand.Text()}
}

// check demands that a key is as the view shows it.
func (c *change) check(key string) {
	key, version := c.records.prefix+key, c.view.entry(key).Version
	if !slices.ContainsFunc(c.checks, func(k Check) bool { return k.Key == key }) {
		c.checks = append(c.checks, Check{Key: key, Version: version})
	}
}

// put stores a record in the place of what the view shows. ref may be empty, expires zero.
func (c *change) put(key string, rec record, ref string, expires time.Time) {
	c.check(key)
	c.set(key, rec, ref, expires)
}

// set is put for a key whose content doesn't matter.
func (c *change) set(key string, rec record, ref string, expires time.Time) {
	value, err := encode(key, c.commit, rec, c.view.entry(key).Value)
	if err != nil {
		c.err = errors.Join(c.err, err)
	}
	if ref != "" {
		ref = c.records.prefix + ref
	}
	c.writes = append(c.writes, Write{Key: c.records.prefix + key, Value: value, Ref: ref, Expires: expires})
}

// delete deletes a key, whatever is there. What makes that right is a check of another one.
func (c *change) delete(key string) {
	c.writes = append(c.writes, Write{Key: c.records.prefix + key})
}

// errUnread is that a plan needs more than what was seen before: everything is read then.
var errUnread = errors.New("kvadapter: a record was not read")

// mostTries bounds how often a commit is tried. With the pauses in between it takes hundreds of
// others at one record, for a minute, to fail.
const mostTries = 40

// transact reads keys, lets plan make a change of what they hold, and commits it; again, if
// somebody else was faster. seen is what was read before, or is thought to be there, and saves
// the first read; nil: nothing. A plan that writes nothing commits nothing.
func (r *Records) transact(ctx context.Context, seen *view, keys []string, plan func(v *view, c *change) error) error {
	for lost := range mostTries {
		start := time.Now()
		v, isSeen := seen, seen != nil
		if seen = nil; !isSeen {
			var err error
			if v, err = r.get(ctx, keys...); err != nil {
				return err
			}
		}
		c := r.newChange(v)
		err := errors.Join(plan(v, c), c.err)
		if isSeen && (err != nil || len(c.writes) == 0) {
			continue // it may be otherwise by now
		}
		if err != nil || len(c.writes) == 0 {
			return err
		}
		ok, err := r.commit(ctx, c)
		if err != nil {
			return err
		}
		if ok {
			r.updateCache(ctx, c)
			return nil
		}
		if err := r.pause(ctx, lost, time.Since(start)); err != nil {
			return err
		}
	}
	return ErrBusy
}

// commit makes a change if all is still as it was seen. If the answer is lost, what is stored
// tells whether it happened.
func (r *Records) commit(ctx context.Context, c *change) (ok bool, err error) {
	ok, err = r.tryCommit(ctx, c)
	if _, refused := errors.AsType[*kv.LimitError](err); err == nil || refused || ctx.Err() != nil {
		return ok, err
	}
	landed, unchanged, failed := r.look(ctx, c)
	switch {
	case failed != nil:
		return false, err
	case landed || !unchanged:
		return landed, nil
	}
	// It has not happened, or not yet: the checks see to it that it doesn't happen twice.
	if ok, again := r.tryCommit(ctx, c); ok && again == nil {
		return true, nil
	}
	landed, unchanged, failed = r.look(ctx, c)
	if failed != nil || unchanged && !landed {
		return false, err
	}
	return landed, nil
}

func (r *Records) tryCommit(ctx context.Context, c *change) (bool, error) {
	defer core.StoreCall(ctx)()
	return r.store.Commit(ctx, c.checks, c.writes)
}

// look finds out about a commit whose answer was lost. It has landed if a record says that this
// commit wrote it, or, if it wrote none, if what it was to delete is gone, be it by somebody else.
// unchanged is that every check still holds: it has not happened, and still could.
func (r *Records) look(ctx context.Context, c *change) (landed, unchanged bool, err error) {
	var keys []string
	for _, check := range c.checks {
		keys = append(keys, strings.TrimPrefix(check.Key, r.prefix))
	}
	deleted := 0
	for _, w := range c.writes {
		if len(w.Value) == 0 {
			deleted++
		} else if key := strings.TrimPrefix(w.Key, r.prefix); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	v, err := r.get(ctx, keys...)
	if err != nil {
		return false, false, err
	}
	unchanged = true
	for _, check := range c.checks {
		e := v.entry(strings.TrimPrefix(check.Key, r.prefix))
		unchanged = unchanged && e.Version == check.Version
	}
	for _, e := range v.entries {
		var h header
		if e.Version != "" && json.Unmarshal(e.Value, &h) == nil && h.Commit == c.commit {
			return true, false, nil
		}
	}
	if deleted == len(c.writes) {
		landed = !slices.ContainsFunc(c.checks, func(k Check) bool { return v.has(strings.TrimPrefix(k.Key, r.prefix)) })
	}
	return landed, unchanged, nil
}

// longestPause bounds how long a commit that was lost waits before the next one.
const longestPause = 2 * time.Second

// pause waits for a random moment, in which one of all who want to change a record can do so:
// the longer, the more often this one was too late. took is how long an attempt takes.
func (r *Records) pause(ctx context.Context, lost int, took time.Duration) error {
	window := min(took<<min(2*lost+1, 10), longestPause)
	return r.sleep(ctx, mathrand.N(max(window, 1)))
}

// sleep is for platforms on which Go's timers can be waited for.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
