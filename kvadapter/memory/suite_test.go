package memory_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
	"github.com/edgeauth/edgeauth/kvadapter/storetest"
)

var _ kv.Lister = (*memory.Store)(nil)

// A clock that goes on when it is told to.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestContract(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Unix(1_000_000, 345_678_901)}
	storetest.Run(t, func(*testing.T) kv.Store {
		return memory.New(c.Now)
	}, storetest.Options{Now: c.Now, Advance: c.Advance})
}

func TestContractByTheSystemClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		err := storetest.Test(t.Context(), func(context.Context) (kv.Store, error) {
			return memory.New(nil), nil
		}, storetest.Options{})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestAdapter(t *testing.T) {
	t.Parallel()
	adaptertest.Run(t, func(t *testing.T) *core.Adapter {
		return kvadapter.New(memory.New(nil), kvadapter.Options{})
	}, adaptertest.Options{})
}
