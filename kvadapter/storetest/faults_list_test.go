package storetest

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// all gives every key that begins with prefix.
func all(ctx context.Context, m *memory.Store, prefix string) (keys []string, err error) {
	for cursor := ""; ; {
		page, next, err := m.List(ctx, prefix, cursor)
		if keys = append(keys, page...); err != nil || next == "" {
			return keys, err
		}
		cursor = next
	}
}

var listFaults = []fault{
	{"a prefix is a pattern (SCAN MATCH)", []string{"list/prefix"},
		func(m *memory.Store, f *faulty) {
			f.list = func(ctx context.Context, prefix, cursor string) ([]string, string, error) {
				if !strings.ContainsAny(prefix, `*?[\`) {
					return m.List(ctx, prefix, cursor)
				}
				keys, err := all(ctx, m, "")
				return slices.DeleteFunc(keys, func(key string) bool {
					ok, _ := path.Match(prefix+"*", key)
					return !ok
				}), "", err
			}
		}},
	{"a prefix is a folder", []string{"list/prefix"},
		func(m *memory.Store, f *faulty) {
			f.list = func(ctx context.Context, prefix, cursor string) ([]string, string, error) {
				keys, next, err := m.List(ctx, prefix, cursor)
				return slices.DeleteFunc(keys, func(key string) bool { return key == prefix }), next, err
			}
		}},
	{"keys are ordered without case", []string{"list/order"},
		func(m *memory.Store, f *faulty) {
			f.list = func(ctx context.Context, prefix, _ string) ([]string, string, error) {
				keys, err := all(ctx, m, prefix)
				slices.SortStableFunc(keys, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
				return keys, "", err
			}
		}},
	{"there is one page", []string{"list/pages", "list/changes"},
		func(m *memory.Store, f *faulty) {
			f.list = func(ctx context.Context, prefix, _ string) ([]string, string, error) {
				keys, _, err := m.List(ctx, prefix, "")
				return keys, "", err
			}
		}},
	{"the last page is not told", []string{"list/pages"},
		func(m *memory.Store, f *faulty) {
			f.list = func(ctx context.Context, prefix, cursor string) ([]string, string, error) {
				keys, next, err := m.List(ctx, prefix, cursor)
				if next == "" && cursor != "" {
					next = cursor
				}
				return keys, next, err
			}
		}},
	{"the cursor is a number of keys (LIMIT and OFFSET)", []string{"list/changes"},
		func(m *memory.Store, f *faulty) {
			f.list = func(ctx context.Context, prefix, cursor string) ([]string, string, error) {
				keys, err := all(ctx, m, prefix)
				offset, _ := strconv.Atoi(cursor)
				keys = keys[min(offset, len(keys)):]
				if len(keys) <= 1000 {
					return keys, "", err
				}
				return keys[:1000], strconv.Itoa(offset + 1000), err
			}
		}},
	{"the cursor is a key that must be there", []string{"list/changes"},
		func(m *memory.Store, f *faulty) {
			f.list = func(ctx context.Context, prefix, cursor string) ([]string, string, error) {
				if _, ok, err := m.Get(ctx, cursor); cursor != "" && !ok {
					return nil, "", err
				}
				return m.List(ctx, prefix, cursor)
			}
		}},
	{"List gives what was deleted (an index of its own)", []string{"list/deleted"},
		func(m *memory.Store, f *faulty) {
			deleted := map[string]bool{}
			f.delete = func(ctx context.Context, key string) error {
				if len(key) == 2 {
					deleted[key] = true
				}
				return m.Delete(ctx, key)
			}
			f.list = func(ctx context.Context, prefix, cursor string) ([]string, string, error) {
				keys, next, err := m.List(ctx, prefix, cursor)
				for key := range deleted {
					keys = append(keys, key)
				}
				slices.Sort(keys)
				return slices.Compact(keys), next, err
			}
		}},
	{"pages are shared", []string{"list/sharing"},
		func(m *memory.Store, f *faulty) {
			var mu sync.Mutex
			pages := map[string][]string{}
			f.list = func(ctx context.Context, prefix, cursor string) ([]string, string, error) {
				keys, next, err := m.List(ctx, prefix, cursor)
				mu.Lock()
				defer mu.Unlock()
				if known := pages[prefix+"\n"+cursor]; len(known) == len(keys) {
					keys = known
				}
				pages[prefix+"\n"+cursor] = keys
				return keys, next, err
			}
		}},
}
