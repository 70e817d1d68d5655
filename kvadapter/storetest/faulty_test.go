package storetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// faulty is a store whose methods can be replaced one by one. At first they are those of a store
// in memory.
type faulty struct {
	get    func(ctx context.Context, keys ...string) ([]kv.Entry, error)
	commit func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error)
	list   func(ctx context.Context, prefix, cursor string) ([]kv.Write, string, error)
}

func (f *faulty) Get(ctx context.Context, keys ...string) ([]kv.Entry, error) {
	return f.get(ctx, keys...)
}

func (f *faulty) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
	return f.commit(ctx, checks, writes)
}

func (f *faulty) List(ctx context.Context, prefix, cursor string) ([]kv.Write, string, error) {
	return f.list(ctx, prefix, cursor)
}

func over(m *memory.Store) *faulty { return &faulty{m.Get, m.Commit, m.List} }

// writes has every Commit change its writes.
func writes(change func(m *memory.Store, w *kv.Write)) func(m *memory.Store, f *faulty) {
	return func(m *memory.Store, f *faulty) {
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			writes = slices.Clone(writes)
			for i := range writes {
				change(m, &writes[i])
			}
			return m.Commit(ctx, checks, writes)
		}
	}
}

// without has every Commit leave out some checks.
func without(drop func(c kv.Check, writes []kv.Write) bool) func(m *memory.Store, f *faulty) {
	return func(m *memory.Store, f *faulty) {
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			return m.Commit(ctx, slices.DeleteFunc(slices.Clone(checks), func(c kv.Check) bool { return drop(c, writes) }), writes)
		}
	}
}

// entries has Get change its answer, of which the first n entries are those of the keys.
func entries(change func(m *memory.Store, all []kv.Entry, n int) []kv.Entry) func(m *memory.Store, f *faulty) {
	return func(m *memory.Store, f *faulty) {
		f.get = func(ctx context.Context, keys ...string) ([]kv.Entry, error) {
			all, err := m.Get(ctx, keys...)
			return change(m, all, len(keys)), err
		}
	}
}

// keys has the store use other keys than it is given.
func keys(other func(key string) string) func(m *memory.Store, f *faulty) {
	return func(m *memory.Store, f *faulty) {
		f.get = func(ctx context.Context, keys ...string) ([]kv.Entry, error) {
			others := slices.Clone(keys)
			for i := range others {
				others[i] = other(keys[i])
			}
			all, err := m.Get(ctx, others...)
			for i := range min(len(keys), len(all)) {
				all[i].Key = keys[i]
			}
			return all, err
		}
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			checks, writes = slices.Clone(checks), slices.Clone(writes)
			for i := range checks {
				checks[i].Key = other(checks[i].Key)
			}
			for i := range writes {
				writes[i].Key = other(writes[i].Key)
			}
			return m.Commit(ctx, checks, writes)
		}
	}
}

// versions has the store give other versions than its own.
func versions(other func(e kv.Entry, written int) string) func(m *memory.Store, f *faulty) {
	return func(m *memory.Store, f *faulty) {
		var mu sync.Mutex
		written := map[string]int{} // since the key was absent
		get := func(ctx context.Context, keys ...string) ([]kv.Entry, error) {
			all, err := m.Get(ctx, keys...)
			for i, e := range all {
				if e.Version != "" {
					all[i].Version = other(e, written[e.Key])
				}
			}
			return all, err
		}
		f.get = func(ctx context.Context, keys ...string) ([]kv.Entry, error) {
			mu.Lock()
			defer mu.Unlock()
			return get(ctx, keys...)
		}
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			if err := kv.CheckCommit(ctx, checks, writes); err != nil {
				return false, err
			}
			for _, c := range checks {
				if now, _ := get(ctx, c.Key); now[0].Version != c.Version {
					return false, nil
				}
			}
			for _, w := range writes {
				if written[w.Key]++; len(w.Value) == 0 {
					delete(written, w.Key)
				}
			}
			return m.Commit(ctx, nil, writes)
		}
	}
}

// lingering keeps what has expired, and has show hide it from Get.
func lingering(show func(all []kv.Entry, n int, ended func(key string) bool) []kv.Entry) func(m *memory.Store, f *faulty) {
	return func(m *memory.Store, f *faulty) {
		var mu sync.Mutex
		ends := map[string]time.Time{}
		writes(func(_ *memory.Store, w *kv.Write) {
			mu.Lock()
			defer mu.Unlock()
			if ends[w.Key] = w.Expires; time.Until(w.Expires) > 0 {
				w.Expires = time.Time{}
			}
		})(m, f)
		entries(func(_ *memory.Store, all []kv.Entry, n int) []kv.Entry {
			mu.Lock()
			defer mu.Unlock()
			return show(all, n, func(key string) bool { return !ends[key].IsZero() && time.Until(ends[key]) <= 0 })
		})(m, f)
	}
}

// pages has List change its pages.
func pages(change func(page []kv.Write) []kv.Write) func(m *memory.Store, f *faulty) {
	return func(m *memory.Store, f *faulty) {
		f.list = func(ctx context.Context, prefix, cursor string) ([]kv.Write, string, error) {
			page, next, err := m.List(ctx, prefix, cursor)
			return change(page), next, err
		}
	}
}

// stored gives what is stored under a key, or the zero Write.
func stored(m *memory.Store, key string) kv.Write {
	page, _, _ := m.List(context.Background(), key, "")
	if len(page) > 0 && page[0].Key == key {
		return page[0]
	}
	return kv.Write{}
}

func hide(e *kv.Entry) { *e = kv.Entry{Key: e.Key} }

// gap is the moment between the halves of what should have been one step. The tests run in
// a bubble, where the clock goes on when every goroutine waits: so whoever else is on the
// way to the same step gets there first, every time.
func gap() { time.Sleep(time.Microsecond) }

// isWritten reports whether key is among writes.
func isWritten(key string, writes []kv.Write) bool {
	return slices.ContainsFunc(writes, func(w kv.Write) bool { return w.Key == key })
}
