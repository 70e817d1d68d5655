package kv

import (
	"context"
	"time"
)

// CacheOf gives a cache that keeps its copies in a store, which is then not to be used for
// anything else. A value of no bytes counts as none.
func CacheOf(store Store) Cache { return cache{store} }

type cache struct{ store Store }

func (c cache) Get(ctx context.Context, key string) ([]byte, bool, error) {
	entries, err := c.store.Get(ctx, key)
	if err != nil {
		return nil, false, err
	}
	return entries[0].Value, entries[0].Version != "", nil
}

func (c cache) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	_, err := c.store.Commit(ctx, nil, []Write{{Key: key, Value: value, Expires: expires}})
	return err
}

func (c cache) Delete(ctx context.Context, key string) error {
	_, err := c.store.Commit(ctx, nil, []Write{{Key: key}})
	return err
}
