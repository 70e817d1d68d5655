package storetest

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// inBubble runs the suite in a bubble. No case begins at a whole second.
func inBubble(t *testing.T, open func() kv.Store) (names []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		names = failed(t, Test(t.Context(), func(context.Context) (kv.Store, error) {
			time.Sleep(345*time.Millisecond + 678901*time.Nanosecond)
			return open(), nil
		}, Options{Now: time.Now, Advance: time.Sleep}))
	})
	return names
}

func TestFaults(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			names := inBubble(t, func() kv.Store {
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
	if names := inBubble(t, func() kv.Store { return over(memory.New(nil)) }); len(names) > 0 {
		t.Errorf("failed: %v", names)
	}
}

// faults are ways in which a store can be wrong. Each is put over a store in memory, and must
// make the cases in want fail; others may fail with them.
var faults = []struct {
	name string
	want []string
	put  func(m *memory.Store, f *faulty)
}{
	{"what isn't there is found by its prefix", []string{"get/absent"}, entries(func(m *memory.Store, all []kv.Entry, n int) []kv.Entry {
		for i, e := range all[:min(n, len(all))] {
			if page, _, _ := m.List(context.Background(), e.Key, ""); e.Version == "" && len(page) > 0 {
				all[i].Value, all[i].Version = page[0].Value, "1"
			}
		}
		return all
	})},
	{"entries are sorted", []string{"get/many"}, entries(func(_ *memory.Store, all []kv.Entry, n int) []kv.Entry {
		slices.SortFunc(all[:min(n, len(all))], func(a, b kv.Entry) int { return strings.Compare(a.Key, b.Key) })
		return all
	})},
	{"each key is answered once", []string{"get/twice"}, entries(func(_ *memory.Store, all []kv.Entry, _ int) []kv.Entry {
		seen := map[string]bool{}
		return slices.DeleteFunc(all, func(e kv.Entry) bool {
			defer func() { seen[e.Key] = true }()
			return seen[e.Key]
		})
	})},
	{"references are looked up when they are written", []string{"ref/follow"}, func(m *memory.Store, f *faulty) {
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			writes = slices.Clone(writes)
			for i, w := range writes {
				if w.Ref != "" && !isWritten(w.Ref, writes) && stored(m, w.Ref).Key == "" {
					writes[i].Ref = ""
				}
			}
			return m.Commit(ctx, checks, writes)
		}
	}},
	{"each entry is followed by what it refers to", []string{"ref/once"}, entries(func(m *memory.Store, all []kv.Entry, n int) []kv.Entry {
		out := all[:min(n, len(all))]
		for _, e := range out {
			if ref := stored(m, e.Key).Ref; ref != "" {
				more, _ := m.Get(context.Background(), ref)
				out = append(out, more[:1]...)
			}
		}
		return out
	})},
	{"an absent reference has an entry", []string{"ref/absent"}, entries(func(m *memory.Store, all []kv.Entry, n int) []kv.Entry {
		for _, e := range all[:min(n, len(all))] {
			if ref := stored(m, e.Key).Ref; ref != "" && stored(m, ref).Key == "" {
				all = append(all, kv.Entry{Key: ref})
			}
		}
		return all
	})},
	{"references of references are followed", []string{"ref/one-step"}, entries(func(m *memory.Store, all []kv.Entry, n int) []kv.Entry {
		for i := n; i < len(all); i++ {
			more, _ := m.Get(context.Background(), all[i].Key)
			for _, e := range more[1:] {
				if !slices.ContainsFunc(all, func(other kv.Entry) bool { return other.Key == e.Key }) {
					all = append(all, e)
				}
			}
		}
		return all
	})},
	{"a value without a reference keeps the old one", []string{"ref/replaced"}, writes(func(m *memory.Store, w *kv.Write) {
		if w.Ref == "" {
			w.Ref = stored(m, w.Key).Ref
		}
	})},
	{"the third write is lost", []string{"commit/all"}, func(m *memory.Store, f *faulty) {
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			if len(writes) == 3 && kv.CheckCommit(ctx, checks, writes) == nil {
				writes = writes[:2]
			}
			return m.Commit(ctx, checks, writes)
		}
	}},
	{"deletions are made whatever the checks say", []string{"commit/none", "commit/delete"}, func(m *memory.Store, f *faulty) {
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			ok, err := m.Commit(ctx, checks, writes)
			if !ok && err == nil {
				_, err = m.Commit(ctx, nil, slices.DeleteFunc(slices.Clone(writes), func(w kv.Write) bool { return len(w.Value) > 0 }))
			}
			return ok, err
		}
	}},
	{"checks of absence aren't made", []string{"commit/absence"}, without(func(c kv.Check, _ []kv.Write) bool { return c.Version == "" && kv.CheckKey(c.Key) == nil })},
	{"versions are read as numbers", []string{"commit/version"}, func(m *memory.Store, f *faulty) {
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			checks = slices.Clone(checks)
			for i, c := range checks {
				checks[i].Version = strings.TrimLeft(c.Version, " +0")
			}
			return m.Commit(ctx, checks, writes)
		}
	}},
	{"only what is written is checked", []string{"commit/unwritten", "race/crossed"}, without(func(c kv.Check, writes []kv.Write) bool {
		return kv.CheckKey(c.Key) == nil && !isWritten(c.Key, writes)
	})},
	{"a value is written over the old one", []string{"commit/unchecked"}, writes(func(m *memory.Store, w *kv.Write) {
		if old := stored(m, w.Key).Value; len(w.Value) > 0 && len(w.Value) < len(old) {
			w.Value = append(slices.Clone(w.Value), old[len(w.Value):]...)
		}
	})},
	{"what begins with the key is deleted, too", []string{"commit/delete"}, func(m *memory.Store, f *faulty) {
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			for _, w := range slices.Clone(writes) {
				if page, _, _ := m.List(ctx, w.Key, ""); len(w.Value) == 0 && len(page) == 2 && kv.CheckKey(w.Key) == nil {
					writes = append(writes, kv.Write{Key: page[1].Key})
				}
			}
			return m.Commit(ctx, checks, writes)
		}
	}},
	{"of two writes of a key one is made", []string{"commit/twice"}, func(m *memory.Store, f *faulty) {
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			last := map[string]kv.Write{}
			for _, w := range writes {
				last[w.Key] = w
			}
			return m.Commit(ctx, checks, slices.Collect(maps.Values(last)))
		}
	}},
	{"of two checks of a key one is made", []string{"commit/twice"}, func(m *memory.Store, f *faulty) {
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			seen := map[string]bool{}
			return m.Commit(ctx, slices.DeleteFunc(slices.Clone(checks), func(c kv.Check) bool {
				defer func() { seen[c.Key] = true }()
				return seen[c.Key]
			}), writes)
		}
	}},
	{"a version is a hash of the value", []string{"version/changes", "version/back"}, versions(func(e kv.Entry, _ int) string { return fmt.Sprint(crc32.ChecksumIEEE(e.Value)) })},
	{"versions count the writes of a key", []string{"version/back"}, versions(func(_ kv.Entry, written int) string { return fmt.Sprint(written) })},
	{"a value is made UTF-8", []string{"value/bytes"}, writes(func(_ *memory.Store, w *kv.Write) { w.Value = []byte(strings.ToValidUTF8(string(w.Value), "?")) })},
	{"what is too large is cut", []string{"value/size"}, writes(func(_ *memory.Store, w *kv.Write) { w.Value = w.Value[:min(len(w.Value), kv.MaxValue)] })},
	{"keys are compared without case", []string{"key/distinct"}, keys(strings.ToLower)},
	{"the first 256 bytes of a key count", []string{"key/length"}, keys(func(key string) string {
		if kv.CheckKey(key) != nil {
			return key
		}
		return key[:min(len(key), 256)]
	})},
	{"a key is read as a path", []string{"key/refused"}, keys(func(key string) string {
		if key == "." {
			return "folder"
		}
		return key
	})},
	{"an answer has 256 entries", []string{"limit/most"}, entries(func(_ *memory.Store, all []kv.Entry, _ int) []kv.Entry { return all[:min(len(all), 256)] })},
	{"more keys are read in two parts", []string{"limit/more"}, func(m *memory.Store, f *faulty) {
		f.get = func(ctx context.Context, keys ...string) ([]kv.Entry, error) {
			if len(keys) <= kv.MaxKeys {
				return m.Get(ctx, keys...)
			}
			one, err := m.Get(ctx, keys[:100]...)
			other, otherErr := m.Get(ctx, keys[100:]...)
			return append(one, other...), errors.Join(err, otherErr)
		}
	}},
	{"what has no end ends in a year", []string{"expiry/never"}, writes(func(_ *memory.Store, w *kv.Write) {
		if w.Expires.IsZero() {
			w.Expires = time.Now().AddDate(1, 0, 0)
		}
	})},
	{"an end is rounded down to seconds", []string{"expiry/end"}, writes(func(_ *memory.Store, w *kv.Write) { w.Expires = w.Expires.Truncate(time.Second) })},
	{"an end is rounded up to seconds", []string{"expiry/end"}, writes(func(_ *memory.Store, w *kv.Write) {
		if !w.Expires.IsZero() {
			w.Expires = w.Expires.Add(time.Second - 1).Truncate(time.Second)
		}
	})},
	{"an end in 1970 is none", []string{"expiry/past"}, writes(func(_ *memory.Store, w *kv.Write) {
		if w.Expires.Unix() == 0 {
			w.Expires = time.Time{}
		}
	})},
	{"a value without an end keeps the old one", []string{"expiry/renewed"}, writes(func(m *memory.Store, w *kv.Write) {
		if w.Expires.IsZero() {
			w.Expires = stored(m, w.Key).Expires
		}
	})},
	{"a check sees what has expired", []string{"expiry/check"}, lingering(func(all []kv.Entry, n int, ended func(key string) bool) []kv.Entry {
		for i := range all {
			if ended(all[i].Key) {
				hide(&all[i])
			}
		}
		return slices.DeleteFunc(all, func(e kv.Entry) bool {
			return e.Version == "" && !slices.ContainsFunc(all[:n], func(own kv.Entry) bool { return own.Key == e.Key })
		})
	})},
	{"a reference to what has expired is followed", []string{"expiry/ref"}, lingering(func(all []kv.Entry, n int, ended func(key string) bool) []kv.Entry {
		for i := range all[:min(n, len(all))] {
			if ended(all[i].Key) {
				hide(&all[i])
			}
		}
		return all
	})},
	{"nobody looks at the context", []string{"context/ended"}, func(m *memory.Store, f *faulty) {
		f.get = func(ctx context.Context, keys ...string) ([]kv.Entry, error) {
			return m.Get(context.WithoutCancel(ctx), keys...)
		}
	}},
	{"the caller's memory is kept", []string{"memory/given"}, func(m *memory.Store, f *faulty) {
		var mu sync.Mutex
		given := map[string][]byte{}
		writes(func(_ *memory.Store, w *kv.Write) {
			mu.Lock()
			defer mu.Unlock()
			given[string(w.Value)] = w.Value
		})(m, f)
		entries(func(_ *memory.Store, all []kv.Entry, _ int) []kv.Entry {
			mu.Lock()
			defer mu.Unlock()
			for i, e := range all {
				if kept, ok := given[string(e.Value)]; ok {
					all[i].Value = slices.Clone(kept)
				}
			}
			return all
		})(m, f)
	}},
	{"the store's memory is handed out", []string{"memory/returned"}, func(m *memory.Store, f *faulty) {
		var kept sync.Map
		entries(func(_ *memory.Store, all []kv.Entry, _ int) []kv.Entry {
			for i, e := range all {
				if first, had := kept.LoadOrStore(e.Key+e.Version, e.Value); had {
					all[i].Value = first.([]byte)
				}
			}
			return all
		})(m, f)
	}},
	{"checks are made before the writes", []string{"race/counter", "race/claim"}, func(m *memory.Store, f *faulty) {
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			if err := kv.CheckCommit(ctx, checks, writes); err != nil {
				return false, err
			}
			if ok, err := m.Commit(ctx, checks, nil); !ok || err != nil || len(writes) == 0 {
				return ok, err
			}
			gap()
			return m.Commit(ctx, nil, writes)
		}
	}},
	{"keys are written one after the other", []string{"race/transfer"}, func(m *memory.Store, f *faulty) {
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			if len(writes) != 2 || kv.CheckCommit(ctx, checks, writes) != nil {
				return m.Commit(ctx, checks, writes)
			}
			if ok, err := m.Commit(ctx, checks, writes[:1]); !ok || err != nil {
				return ok, err
			}
			gap()
			return m.Commit(ctx, nil, writes[1:])
		}
	}},
	{"checks of other keys are made before the step", []string{"race/crossed"}, func(m *memory.Store, f *faulty) {
		f.commit = func(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
			if err := kv.CheckCommit(ctx, checks, writes); err != nil {
				return false, err
			}
			if ok, err := m.Commit(ctx, checks, nil); !ok || err != nil {
				return ok, err
			}
			gap()
			return m.Commit(ctx, slices.DeleteFunc(slices.Clone(checks), func(c kv.Check) bool { return !isWritten(c.Key, writes) }), writes)
		}
	}},
	{"a page loses its last key", []string{"list/pages"}, pages(func(page []kv.Write) []kv.Write { return page[:len(page)-len(page)/1000] })},
	{"a prefix is compared without case", []string{"list/prefix"}, func(m *memory.Store, f *faulty) {
		f.list = func(ctx context.Context, prefix, cursor string) ([]kv.Write, string, error) {
			page, next, err := m.List(ctx, prefix, cursor)
			if prefix == "a" {
				more, _, _ := m.List(ctx, "A", "")
				page = append(page, more...)
			}
			return page, next, err
		}
	}},
	{"List leaves out references", []string{"list/again"}, pages(func(page []kv.Write) []kv.Write {
		for i := range page {
			page[i].Ref = ""
		}
		return page
	})},
	{"List shows what has expired", []string{"list/gone"}, lingering(func(all []kv.Entry, n int, ended func(key string) bool) []kv.Entry { return all })},
}
