package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// records are where things go wrong, and where a later version writes more than this one.
type records struct{ kv.Store }

func (s records) Get(ctx context.Context, keys ...string) ([]kv.Entry, error) {
	trip(ctx, "store")
	return s.Store.Get(ctx, keys...)
}

func (s records) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
	trip(ctx, "store")
	for i := range writes {
		writes[i].Value = written(writes[i].Value)
	}
	return s.Store.Commit(ctx, checks, writes)
}

// Sleep waits by the platform's timer where Go's can't be waited for.
func (s records) Sleep(ctx context.Context, d time.Duration) error {
	if sleeper, ok := s.Store.(kv.Sleeper); ok {
		return sleeper.Sleep(ctx, d)
	}
	time.Sleep(d)
	return nil
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
