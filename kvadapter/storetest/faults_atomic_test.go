package storetest

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

var atomicFaults = []fault{
	{"Insert overwrites", []string{"atomic/insert"},
		func(m *memory.Store, f *faulty) {
			f.insert = func(ctx context.Context, key string, value []byte, expires time.Time) (bool, error) {
				_, there, err := m.Get(ctx, key)
				if err == nil {
					err = m.Put(ctx, key, value, expires)
				}
				return err == nil && !there, err
			}
		}},
	{"Insert looks, then puts (next-auth's unstorage adapter: 22 users with one address)", []string{"atomic/insert-race", "atomic/insert-expired"},
		func(m *memory.Store, f *faulty) {
			f.insert = func(ctx context.Context, key string, value []byte, expires time.Time) (bool, error) {
				if _, there, err := m.Get(ctx, key); there || err != nil {
					return false, err
				}
				gap()
				return true, m.Put(ctx, key, value, expires)
			}
		}},
	{"Insert forgets the expiry", []string{"atomic/insert-expiry"},
		func(m *memory.Store, f *faulty) {
			f.insert = func(ctx context.Context, key string, value []byte, _ time.Time) (bool, error) {
				return m.Insert(ctx, key, value, never)
			}
		}},
	{"Take leaves the value", []string{"atomic/take", "atomic/take-race"},
		func(m *memory.Store, f *faulty) { f.take = m.Get }},
	{"Take gets, then deletes (next-auth's unstorage and Upstash adapters: 1,000 winners of 1,000)", []string{"atomic/take-race", "atomic/take-put-race", "atomic/swap-gone-race"},
		func(m *memory.Store, f *faulty) {
			f.take = func(ctx context.Context, key string) ([]byte, bool, error) {
				value, ok, err := m.Get(ctx, key)
				gap()
				if ok {
					err = m.Delete(ctx, key)
				}
				return value, ok, err
			}
		}},
	{"Take is one step to those who take, and to nobody else", []string{"atomic/take-put-race", "atomic/swap-gone-race"},
		func(m *memory.Store, f *faulty) {
			var mu sync.Mutex
			taking := map[string]bool{}
			f.take = func(ctx context.Context, key string) ([]byte, bool, error) {
				mu.Lock()
				busy := taking[key]
				taking[key] = true
				mu.Unlock()
				if busy {
					return nil, false, nil
				}
				value, ok, err := m.Get(ctx, key)
				gap()
				if ok {
					err = m.Delete(ctx, key)
				}
				mu.Lock()
				defer mu.Unlock()
				delete(taking, key)
				return value, ok, err
			}
		}},
	{"Take gives what has expired", []string{"atomic/take-expired"},
		func(m *memory.Store, f *faulty) {
			raw := memory.New(nil)
			f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
				if err := raw.Put(ctx, key, value, never); err != nil {
					return err
				}
				return m.Put(ctx, key, value, expires)
			}
			f.take = func(ctx context.Context, key string) ([]byte, bool, error) {
				if value, ok, err := m.Take(ctx, key); ok || err != nil {
					_ = raw.Delete(ctx, key)
					return value, ok, err
				}
				return raw.Take(ctx, key)
			}
		}},
	{"Swap does not compare", []string{"atomic/swap", "atomic/swap-race"},
		func(m *memory.Store, f *faulty) {
			f.swap = func(ctx context.Context, key string, _, new []byte, expires time.Time) (bool, error) {
				_, ok, err := m.Get(ctx, key)
				if ok {
					err = m.Put(ctx, key, new, expires)
				}
				return ok, err
			}
		}},
	{"Swap compares without case", []string{"atomic/swap"},
		func(m *memory.Store, f *faulty) {
			f.swap = func(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
				if value, _, _ := m.Get(ctx, key); len(value) < 10 && bytes.EqualFold(value, old) {
					old = value
				}
				return m.Swap(ctx, key, old, new, expires)
			}
		}},
	{"to Swap absent is empty", []string{"atomic/swap", "atomic/swap-expired"},
		func(m *memory.Store, f *faulty) {
			f.swap = func(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
				if len(old) == 0 {
					if ok, err := m.Insert(ctx, key, new, expires); ok || err != nil {
						return ok, err
					}
				}
				return m.Swap(ctx, key, old, new, expires)
			}
		}},
	{"Swap gets, then puts", []string{"atomic/swap-race", "atomic/swap-gone-race"},
		func(m *memory.Store, f *faulty) {
			f.swap = func(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
				value, ok, err := m.Get(ctx, key)
				if !ok || err != nil || !bytes.Equal(value, old) {
					return false, err
				}
				gap()
				return true, m.Put(ctx, key, new, expires)
			}
		}},
	{"Swap is one step to those who swap, and brings back what was deleted", []string{"atomic/swap-gone-race"},
		func(m *memory.Store, f *faulty) {
			f.swap = func(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
				ok, err := m.Swap(ctx, key, old, new, expires)
				if ok && string(old) == "old" {
					gap()
					_, err = m.Insert(ctx, key, new, expires)
				}
				return ok, err
			}
		}},
	{"Swap keeps the old expiry", []string{"atomic/swap-expiry"},
		func(m *memory.Store, f *faulty) {
			ends := map[string]time.Time{}
			f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
				if key == "longer" || key == "for ever" || key == "shorter" {
					ends[key] = expires
				}
				return m.Put(ctx, key, value, expires)
			}
			f.swap = func(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
				if end, ok := ends[key]; ok {
					expires = end
				}
				return m.Swap(ctx, key, old, new, expires)
			}
		}},
}
