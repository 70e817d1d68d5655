package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/edgeauth/edgeauth/edge"
)

// Both stores are where things go wrong, and where a later version writes more than this one.
type (
	copies  struct{ edge.Store }
	records struct{ edge.AtomicStore }
)

func (s copies) Get(ctx context.Context, key string) ([]byte, bool, error) {
	trip(ctx, "store")
	return s.Store.Get(ctx, key)
}

func (s copies) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	trip(ctx, "store")
	return s.Store.Put(ctx, key, written(value), expires)
}

func (s records) Get(ctx context.Context, key string) ([]byte, bool, error) {
	trip(ctx, "store")
	return s.AtomicStore.Get(ctx, key)
}

func (s records) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	trip(ctx, "store")
	return s.AtomicStore.Put(ctx, key, written(value), expires)
}

func (s records) Insert(ctx context.Context, key string, value []byte, expires time.Time) (bool, error) {
	trip(ctx, "store")
	return s.AtomicStore.Insert(ctx, key, written(value), expires)
}

func (s records) Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
	trip(ctx, "store")
	return s.AtomicStore.Swap(ctx, key, old, written(new), expires)
}

// written is a record as this version writes it.
func written(value []byte) []byte {
	var record map[string]json.RawMessage
	if later == "" || json.Unmarshal(value, &record) != nil {
		return value
	}
	record["version"], record["later"] = json.RawMessage("2"), json.RawMessage(`{"by":"`+later+`"}`)
	out, err := json.Marshal(record)
	if err != nil {
		return value
	}
	return out
}
