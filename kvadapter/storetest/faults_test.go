package storetest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// A fault is a way in which a store can be wrong, most of them seen in stores that are in
// use. It is put over a store in memory, and the suite must see it.
type fault struct {
	name string
	want []string // cases that must fail; others may fail with them
	put  func(m *memory.Store, f *faulty)
}

// faulty is a store whose methods can be replaced one by one.
type faulty struct {
	get    func(ctx context.Context, key string) ([]byte, bool, error)
	put    func(ctx context.Context, key string, value []byte, expires time.Time) error
	delete func(ctx context.Context, key string) error
	list   func(ctx context.Context, prefix, cursor string) ([]string, string, error)
	insert func(ctx context.Context, key string, value []byte, expires time.Time) (bool, error)
	take   func(ctx context.Context, key string) ([]byte, bool, error)
	swap   func(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error)
}

func (f *faulty) Get(ctx context.Context, key string) ([]byte, bool, error) { return f.get(ctx, key) }
func (f *faulty) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	return f.put(ctx, key, value, expires)
}
func (f *faulty) Delete(ctx context.Context, key string) error { return f.delete(ctx, key) }
func (f *faulty) List(ctx context.Context, prefix, cursor string) ([]string, string, error) {
	return f.list(ctx, prefix, cursor)
}
func (f *faulty) Insert(ctx context.Context, key string, value []byte, expires time.Time) (bool, error) {
	return f.insert(ctx, key, value, expires)
}
func (f *faulty) Take(ctx context.Context, key string) ([]byte, bool, error) { return f.take(ctx, key) }
func (f *faulty) Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
	return f.swap(ctx, key, old, new, expires)
}

func over(m *memory.Store) *faulty {
	return &faulty{m.Get, m.Put, m.Delete, m.List, m.Insert, m.Take, m.Swap}
}

// gap is the moment between the halves of what should have been one step. The tests run in
// a bubble, where the clock goes on when every goroutine waits: so whoever else is on the
// way to the same step gets there first, every time.
func gap() { time.Sleep(time.Microsecond) }

// inBubble runs the suite in a bubble. No case begins at a whole second.
func inBubble(t *testing.T, open func() kvadapter.Store) (names []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		names = failed(t, Test(t.Context(), func(context.Context) (kvadapter.Store, error) {
			time.Sleep(345 * time.Millisecond)
			return open(), nil
		}, Options{Now: time.Now, Advance: time.Sleep}))
	})
	return names
}

func TestFaults(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range slices.Concat(valueFaults, expiryFaults, listFaults, atomicFaults) {
		t.Run(f.name, func(t *testing.T) {
			names := inBubble(t, func() kvadapter.Store {
				m := memory.New(nil)
				out := over(m)
				f.put(m, out)
				return out
			})
			for _, name := range f.want {
				seen[name] = true
				if !slices.Contains(names, name) {
					t.Errorf("%s passes; failed: %v", name, names)
				}
			}
			if len(names) > len(cases)/2 {
				t.Errorf("%d cases fail: the fault is too coarse to prove any", len(names))
			}
		})
	}
	for _, one := range cases {
		if !seen[one.name] {
			t.Errorf("%s: no fault shows that it can fail", one.name)
		}
	}
}

// In the bubble of the tests above, and without a fault, nothing fails.
func TestNoFault(t *testing.T) {
	t.Parallel()
	if names := inBubble(t, func() kvadapter.Store { return over(memory.New(nil)) }); len(names) > 0 {
		t.Errorf("failed: %v", names)
	}
}
