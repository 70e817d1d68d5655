package memory_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/flowtest"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

func TestFlows(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) (kvadapter.Store, kvadapter.Cache){
		"alone": func(testing.TB) (kvadapter.Store, kvadapter.Cache) { return memory.New(nil), nil },
		"with a cache": func(testing.TB) (kvadapter.Store, kvadapter.Cache) {
			return memory.New(nil), kv.CacheOf(memory.New(nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flowtest.Run(t, flowtest.Options{Open: open, Bubble: true})
		})
	}
}

var rounds = flag.Int("rounds", 1, "how often a crowd is at one record")

// A slow store answers reads a millisecond late, as one that is elsewhere, so that crowds meet.
type slow struct{ *memory.Store }

func (s slow) Get(ctx context.Context, keys ...string) ([]kv.Entry, error) {
	defer time.Sleep(time.Millisecond)
	return s.Store.Get(ctx, keys...)
}

func TestCrowds(t *testing.T) {
	t.Parallel()
	flowtest.Crowds(t, func(testing.TB) kvadapter.Store { return slow{memory.New(nil)} }, *rounds)
}
