package storetest

import (
	"bytes"
	"context"
	"errors"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/internal/storekey"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// renamed has every method use another key.
func renamed(m *memory.Store, f *faulty, name func(key string) string) {
	f.get = func(ctx context.Context, key string) ([]byte, bool, error) { return m.Get(ctx, name(key)) }
	f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
		return m.Put(ctx, name(key), value, expires)
	}
	f.delete = func(ctx context.Context, key string) error { return m.Delete(ctx, name(key)) }
	f.insert = func(ctx context.Context, key string, value []byte, expires time.Time) (bool, error) {
		return m.Insert(ctx, name(key), value, expires)
	}
	f.take = func(ctx context.Context, key string) ([]byte, bool, error) { return m.Take(ctx, name(key)) }
	f.swap = func(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
		return m.Swap(ctx, name(key), old, new, expires)
	}
}

var valueFaults = []fault{
	{"keys are compared without case (a MySQL table)", []string{"keys/distinct"},
		func(m *memory.Store, f *faulty) { renamed(m, f, strings.ToLower) }},
	{"keys are paths (a store of files)", []string{"keys/distinct"},
		func(m *memory.Store, f *faulty) {
			renamed(m, f, func(key string) string {
				if storekey.Check(key) != nil {
					return key
				}
				return strings.TrimPrefix(path.Join("/", key), "/")
			})
		}},
	{"keys are cut to 255 bytes", []string{"keys/length"},
		func(m *memory.Store, f *faulty) {
			renamed(m, f, func(key string) string {
				if len(key) > 255 && len(key) <= maxKey {
					return key[:255]
				}
				return key
			})
		}},
	{"every key is taken", []string{"keys/refused", "atomic/keys"},
		func(m *memory.Store, f *faulty) {
			renamed(m, f, func(key string) string {
				if storekey.Check(key) != nil {
					return "refused"
				}
				return key
			})
		}},
	{"a value ends at NUL", []string{"values/bytes"},
		func(m *memory.Store, f *faulty) {
			f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
				value, _, _ = bytes.Cut(value, []byte{0})
				return m.Put(ctx, key, value, expires)
			}
		}},
	{"an empty value is absent", []string{"values/bytes"},
		func(m *memory.Store, f *faulty) {
			f.get = func(ctx context.Context, key string) ([]byte, bool, error) {
				value, _, err := m.Get(ctx, key)
				return value, len(value) > 0, err
			}
		}},
	{"a value has at most 128 KiB (a Durable Object without SQLite)", []string{"values/large"},
		func(m *memory.Store, f *faulty) {
			f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
				if len(value) > 128<<10 {
					return errors.New("value too large")
				}
				return m.Put(ctx, key, value, expires)
			}
		}},
	{"a key is found by its first half", []string{"values/absent"},
		func(m *memory.Store, f *faulty) {
			f.get = func(ctx context.Context, key string) ([]byte, bool, error) {
				value, ok, err := m.Get(ctx, key)
				if keys, _, _ := m.List(ctx, key, ""); !ok && err == nil && len(keys) > 0 {
					return m.Get(ctx, keys[0])
				}
				return value, ok, err
			}
		}},
	{"Put adds (an INSERT without ON CONFLICT)", []string{"values/overwrite", "expiry/renewed"},
		func(m *memory.Store, f *faulty) {
			f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
				_, err := m.Insert(ctx, key, value, expires)
				return err
			}
		}},
	{"deleting an absent key is an error", []string{"values/delete"},
		func(m *memory.Store, f *faulty) {
			f.delete = func(ctx context.Context, key string) error {
				_, ok, err := m.Take(ctx, key)
				if err == nil && !ok {
					err = errors.New("not found")
				}
				return err
			}
		}},
	{"values are shared", []string{"values/sharing", "atomic/sharing"},
		func(_ *memory.Store, f *faulty) {
			var records sync.Map // of values that only one goroutine uses
			small := func(key string, value []byte) bool { return len(key) == 1 && len(value) == len("value") }
			get, put, insert, remove := f.get, f.put, f.insert, f.delete
			f.delete = func(ctx context.Context, key string) error {
				records.Delete(key)
				return remove(ctx, key)
			}
			f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
				err := put(ctx, key, value, expires)
				if err == nil && small(key, value) {
					records.Store(key, value)
				}
				return err
			}
			f.insert = func(ctx context.Context, key string, value []byte, expires time.Time) (bool, error) {
				ok, err := insert(ctx, key, value, expires)
				if ok && small(key, value) {
					records.Store(key, value)
				}
				return ok, err
			}
			f.get = func(ctx context.Context, key string) ([]byte, bool, error) {
				value, ok, err := get(ctx, key)
				if shared, found := records.Load(key); ok && found && small(key, value) {
					value = shared.([]byte)
				}
				return value, ok, err
			}
		}},
	{"a large value is written in two halves", []string{"values/concurrent"},
		func(m *memory.Store, f *faulty) {
			f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
				if len(value) == 1000 {
					if err := m.Put(ctx, key, value[:500], expires); err != nil {
						return err
					}
					gap()
				}
				return m.Put(ctx, key, value, expires)
			}
		}},
	{"contexts are ignored", []string{"context/read", "context/write", "atomic/context"},
		func(m *memory.Store, f *faulty) {
			on := context.WithoutCancel
			f.get = func(ctx context.Context, key string) ([]byte, bool, error) { return m.Get(on(ctx), key) }
			f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
				return m.Put(on(ctx), key, value, expires)
			}
			f.take = func(ctx context.Context, key string) ([]byte, bool, error) { return m.Take(on(ctx), key) }
		}},
	{"contexts are asked when it is done", []string{"context/write", "atomic/context"},
		func(m *memory.Store, f *faulty) {
			on := context.WithoutCancel
			f.delete = func(ctx context.Context, key string) error {
				return errors.Join(m.Delete(on(ctx), key), ctx.Err())
			}
			f.swap = func(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
				ok, err := m.Swap(on(ctx), key, old, new, expires)
				return ok, errors.Join(err, ctx.Err())
			}
		}},
}
