package storetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// ends has every method that is given an expiry use another one.
func ends(m *memory.Store, f *faulty, end func(time.Time) time.Time) {
	f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
		return m.Put(ctx, key, value, end(expires))
	}
	f.insert = func(ctx context.Context, key string, value []byte, expires time.Time) (bool, error) {
		return m.Insert(ctx, key, value, end(expires))
	}
	f.swap = func(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
		return m.Swap(ctx, key, old, new, end(expires))
	}
}

var expiryFaults = []fault{
	{"nothing ends", []string{"expiry/end", "expiry/past", "expiry/list", "atomic/insert-expired", "atomic/insert-expiry", "atomic/take-expired", "atomic/swap-expired", "atomic/swap-expiry"},
		func(m *memory.Store, f *faulty) {
			ends(m, f, func(time.Time) time.Time { return never })
		}},
	{"what has no end ends in a day", []string{"expiry/never"},
		func(m *memory.Store, f *faulty) {
			ends(m, f, func(expires time.Time) time.Time {
				if expires.IsZero() {
					return time.Now().AddDate(0, 0, 1)
				}
				return expires
			})
		}},
	{"an end in 1970 is none", []string{"expiry/past"},
		func(m *memory.Store, f *faulty) {
			ends(m, f, func(expires time.Time) time.Time {
				if expires.Unix() == 0 {
					return never
				}
				return expires
			})
		}},
	{"what has ended is not put", []string{"expiry/past"},
		func(m *memory.Store, f *faulty) {
			f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
				if !expires.IsZero() && !expires.After(time.Now()) {
					return ctx.Err()
				}
				return m.Put(ctx, key, value, expires)
			}
		}},
	{"a life is in whole seconds, rounded down", []string{"expiry/end", "atomic/insert-expiry", "atomic/swap-expiry"},
		func(m *memory.Store, f *faulty) {
			ends(m, f, func(expires time.Time) time.Time {
				if expires.IsZero() || time.Until(expires) < time.Second {
					return expires
				}
				return time.Now().Add(time.Until(expires).Truncate(time.Second))
			})
		}},
	{"a life is a minute at least (Workers KV)", []string{"expiry/end", "expiry/past", "expiry/renewed"},
		func(m *memory.Store, f *faulty) {
			ends(m, f, func(expires time.Time) time.Time {
				if soonest := time.Now().Add(time.Minute); !expires.IsZero() && expires.Before(soonest) {
					return soonest
				}
				return expires
			})
		}},
	{"Put keeps the end that was there (SET with KEEPTTL)", []string{"expiry/renewed"},
		func(m *memory.Store, f *faulty) {
			first := map[string]time.Time{}
			f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
				if strings.HasPrefix(key, "for") || strings.HasPrefix(key, "longer") || strings.HasPrefix(key, "shorter") {
					if end, ok := first[key]; ok {
						expires = end
					}
					first[key] = expires
				}
				return m.Put(ctx, key, value, expires)
			}
		}},
	{"List gives what has ended until somebody cleans up", []string{"expiry/list"},
		func(m *memory.Store, f *faulty) {
			ended := map[string]time.Time{}
			f.put = func(ctx context.Context, key string, value []byte, expires time.Time) error {
				if !expires.IsZero() && len(key) == 2 {
					ended[key] = expires
				}
				return m.Put(ctx, key, value, expires)
			}
			f.list = func(ctx context.Context, prefix, cursor string) ([]string, string, error) {
				keys, next, err := m.List(ctx, prefix, cursor)
				for key, end := range ended {
					if !time.Now().Before(end) {
						keys = append(keys, key)
					}
				}
				slices.Sort(keys)
				return keys, next, err
			}
		}},
}
