package kvadapter

import (
	"bytes"
	"context"
	"crypto/rand"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// A cacheStore is a store that has only a cache, for Options.InsecureReplayAndDuplicates. It looks
// and then writes, one key after the other, so it keeps none of what a store promises when two
// calls meet. A value is its version, what it refers to, and the content, a line each.
type cacheStore struct{ cache Cache }

func (s cacheStore) Get(ctx context.Context, keys ...string) ([]Entry, error) {
	if err := kv.CheckGet(ctx, keys); err != nil {
		return nil, err
	}
	var failed error
	entries := kv.Follow(keys, func(key string) (Entry, string) {
		value, ok, err := s.cache.Get(ctx, key)
		if err != nil {
			failed = err
		}
		version, rest, _ := bytes.Cut(value, []byte("\n"))
		ref, content, whole := bytes.Cut(rest, []byte("\n"))
		if !ok || !whole {
			return Entry{Key: key}, ""
		}
		return Entry{Key: key, Version: string(version), Value: content}, string(ref)
	})
	return entries, failed
}

func (s cacheStore) Commit(ctx context.Context, checks []Check, writes []Write) (bool, error) {
	if err := kv.CheckCommit(ctx, checks, writes); err != nil {
		return false, err
	}
	keys := make([]string, len(checks))
	for i, c := range checks {
		keys[i] = c.Key
	}
	entries, err := s.Get(ctx, keys...)
	if err != nil {
		return false, err
	}
	for i, c := range checks {
		if entries[i].Version != c.Version {
			return false, nil
		}
	}
	version := rand.Text()
	for _, w := range writes {
		if len(w.Value) == 0 || !w.Expires.IsZero() && !time.Now().Before(w.Expires) {
			err = s.cache.Delete(ctx, w.Key)
		} else {
			value := append([]byte(version+"\n"+w.Ref+"\n"), w.Value...)
			err = s.cache.Put(ctx, w.Key, value, w.Expires)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}
