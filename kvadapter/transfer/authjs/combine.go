package authjs

import (
	"context"
	"errors"
	"strconv"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// ErrChanged is the error when somebody else has written to the store during an import.
var ErrChanged = errors.New("authjs: somebody else has changed the store during the import")

// A combined store makes one commit of many, so that a disk writes once for all of them. It has one
// caller, who calls flush at least every few commits.
type combined struct {
	store   kv.Store
	seen    map[string]string // versions that the store had, by key
	checks  []kv.Check        // that the store has yet to make
	pending map[string]pendingWrite
	bytes   int
	commits int
	failed  error // of the store
}

type pendingWrite struct {
	kv.Write
	version string // empty: it is deleted
}

func combine(store kv.Store) *combined {
	return &combined{store: store, seen: map[string]string{}, pending: map[string]pendingWrite{}}
}

// Get is that of [kv.Store].
func (c *combined) Get(ctx context.Context, keys ...string) ([]kv.Entry, error) {
	var ask []string
	for _, key := range keys {
		w, isPending := c.pending[key]
		if !isPending {
			ask = append(ask, key)
		} else if _, isPending = c.pending[w.Ref]; w.Ref != "" && !isPending {
			ask = append(ask, w.Ref)
		}
	}
	found := make(map[string]kv.Entry, len(keys))
	var refs []kv.Entry
	if len(ask) > 0 {
		entries, err := c.store.Get(ctx, ask...)
		if err != nil {
			c.failed = err
			return nil, err
		}
		for _, e := range entries {
			if version, again := c.seen[e.Key]; again && version != e.Version {
				c.failed = ErrChanged
				return nil, ErrChanged
			}
			c.seen[e.Key] = e.Version
			found[e.Key] = e
		}
		refs = entries[len(ask):]
	}
	read := func(key string) (kv.Entry, string) {
		if w, isPending := c.pending[key]; isPending {
			return kv.Entry{Key: key, Value: w.Value, Version: w.version}, w.Ref
		}
		e := found[key]
		e.Key = key
		return e, ""
	}
	entries := kv.Follow(keys, read)
	for _, e := range refs {
		if e, _ = read(e.Key); e.Version != "" {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// Commit is that of [kv.Store], but for that the store has nothing of it before flush.
func (c *combined) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
	if err := kv.CheckCommit(ctx, checks, writes); err != nil {
		return false, err
	}
	var unknown []string
	for _, check := range checks {
		_, isPending := c.pending[check.Key]
		if _, isSeen := c.seen[check.Key]; !isPending && !isSeen {
			unknown = append(unknown, check.Key)
		}
	}
	if len(unknown) > 0 {
		if _, err := c.Get(ctx, unknown...); err != nil {
			return false, err
		}
	}
	for _, check := range checks {
		version := c.seen[check.Key]
		if w, isPending := c.pending[check.Key]; isPending {
			version = w.version
		}
		if version != check.Version {
			return false, nil
		}
	}
	for _, check := range checks {
		if _, isPending := c.pending[check.Key]; !isPending {
			c.checks = append(c.checks, check)
		}
	}
	c.commits++
	for _, w := range writes {
		version := ""
		if len(w.Value) > 0 {
			version = "pending." + strconv.Itoa(c.commits)
		}
		c.pending[w.Key] = pendingWrite{w, version}
		c.bytes += len(w.Value)
	}
	return true, nil
}

// isFull reports whether it is time to flush: there is room for another commit of the adapter, which
// has at most 100 sessions to end.
func (c *combined) isFull() bool {
	return len(c.pending) >= kv.MaxKeys/2 || len(c.checks) >= kv.MaxKeys/2 || c.bytes >= 512<<10
}

// flush has the store commit everything.
func (c *combined) flush(ctx context.Context) error {
	writes := make([]kv.Write, 0, len(c.pending))
	for _, w := range c.pending {
		writes = append(writes, w.Write)
	}
	ok, err := true, error(nil)
	if len(writes) > 0 {
		ok, err = c.store.Commit(ctx, c.checks, writes)
	}
	if err == nil && !ok {
		err = ErrChanged
	}
	*c = *combine(c.store)
	c.failed = err
	return err
}
