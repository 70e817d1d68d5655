package kvadapter_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

// A testCache is a cache in memory that a test can fail and count.
type testCache struct {
	mu     sync.Mutex
	values map[string][]byte
	ends   map[string]time.Time
	gets   int
	puts   int
	err    error
}

func newCache() *testCache {
	return &testCache{values: map[string][]byte{}, ends: map[string]time.Time{}}
}

func (c *testCache) Get(_ context.Context, key string) ([]byte, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gets++
	value, ok := c.values[key]
	if end := c.ends[key]; !end.IsZero() && !time.Now().Before(end) {
		return nil, false, c.err
	}
	return bytes.Clone(value), ok && c.err == nil, c.err
}

func (c *testCache) Put(_ context.Context, key string, value []byte, expires time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.puts++
	if c.err == nil {
		c.values[key], c.ends[key] = bytes.Clone(value), expires
	}
	return c.err
}

func (c *testCache) Delete(_ context.Context, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.values, key)
	return c.err
}

// A session check that misses asks the store and fills the cache; one that hits asks only the
// cache, for as long as CacheFor says.
func TestCacheIsFilledOnAMiss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		l, cache := newLab(), newCache()
		a := kvadapter.New(l, kvadapter.Options{Cache: cache, CacheFor: 30 * time.Second})
		if err := adaSignedUp(ctx, a, "one"); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			wait        time.Duration
			calls, puts int
		}{{0, 1, 1}, {0, 0, 0}, {29 * time.Second, 0, 0}, {time.Second, 1, 1}, {0, 0, 0}} {
			time.Sleep(step.wait)
			calls, puts := l.calls(), cache.puts
			if err := readAndExtend(ctx, a, "one", 0); err != nil {
				t.Fatal(err)
			}
			if got := l.calls() - calls; got != step.calls || cache.puts-puts != step.puts {
				t.Errorf("after %s: %d store calls and %d copies, want %d and %d", step.wait, got, cache.puts-puts, step.calls, step.puts)
			}
		}
		s, u, err := a.GetSessionAndUser(ctx, "one")
		if err != nil || u.Name != ada.Name || s.UserID != ada.ID || !s.Expires.Equal(time.Now().Add(24*time.Hour-30*time.Second)) {
			t.Errorf("%v, %v, %v", s, u, err)
		}
	})
}

// The cache fails nothing: not a sign-in, a check, a refresh or a sign-out.
func TestCacheThatFails(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	told := 0
	cache := newCache()
	cache.err = errors.New("KV PUT failed: 429 Too Many Requests")
	a := kvadapter.New(newLab(), kvadapter.Options{Cache: cache, Log: func(context.Context, string, error) { told++ }})
	if err := adaSignedUp(ctx, a, "one"); err != nil {
		t.Fatal(err)
	}
	if err := readAndExtend(ctx, a, "one", 48*time.Hour); err != nil {
		t.Error(err)
	}
	if s, err := a.DeleteSession(ctx, "one"); err != nil || s == nil {
		t.Errorf("%v, %v", s, err)
	}
	if s, _, err := a.GetSessionAndUser(ctx, "one"); err != nil || s != nil {
		t.Errorf("after the sign-out: %v, %v", s, err)
	}
	if told < 4 {
		t.Errorf("the log was told %d times", told)
	}
}

// What the cache needs is done beside the answer, but for the mark of one sign-out.
func TestCacheIsWrittenBesideTheAnswer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cache := newCache()
	var later []func(context.Context)
	records := kvadapter.Open(newLab(), kvadapter.Options{Cache: cache, WaitUntil: func(_ context.Context, f func(context.Context)) { later = append(later, f) }})
	a := records.Adapter()
	if err := adaSignedUp(ctx, a, "one"); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"two", "three"} {
		must[*core.AdapterSession](t)(a.CreateSession(ctx, sessionOf(ada, token)))
	}
	if err := readAndExtend(ctx, a, "one", 0); err != nil {
		t.Fatal(err)
	}
	if cache.puts > 0 || len(later) != 1 {
		t.Errorf("a check: %d writes before the answer, %d beside it", cache.puts, len(later))
	}
	must[*core.AdapterSession](t)(a.DeleteSession(ctx, "three"))
	if cache.puts != 1 {
		t.Errorf("a sign-out: %d writes before the answer, want 1", cache.puts)
	}
	if err := records.SignOutEverywhere(ctx, ada.ID); err != nil {
		t.Fatal(err)
	}
	if cache.puts != 1 || len(later) != 2 {
		t.Errorf("sign-out everywhere: %d writes before the answer, %d beside it", cache.puts-1, len(later)-1)
	}
	for _, f := range later {
		f(ctx)
	}
	if cache.puts != 4 {
		t.Errorf("%d writes, want 4", cache.puts)
	}
	for _, token := range []string{"one", "two", "three"} {
		if s, _, err := a.GetSessionAndUser(ctx, token); s != nil || err != nil {
			t.Errorf("%s: %v, %v", token, s, err)
		}
	}
}

// A copy that is written after the session's end is shown no longer than CacheFor, whoever
// writes when.
func TestLateCopy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		var later []func(context.Context)
		a := kvadapter.New(newLab(), kvadapter.Options{Cache: newCache(), WaitUntil: func(_ context.Context, f func(context.Context)) { later = append(later, f) }})
		if err := adaSignedUp(ctx, a, "one"); err != nil {
			t.Fatal(err)
		}
		if err := readAndExtend(ctx, a, "one", 0); err != nil {
			t.Fatal(err)
		}
		must[*core.AdapterSession](t)(a.DeleteSession(ctx, "one"))
		time.Sleep(59 * time.Second)
		later[0](ctx) // over the mark
		if err := readAndExtend(ctx, a, "one", 0); err != nil {
			t.Errorf("the test shows nothing: %v", err)
		}
		time.Sleep(time.Second)
		if s, _, err := a.GetSessionAndUser(ctx, "one"); s != nil || err != nil {
			t.Errorf("a minute after the sign-out: %v, %v", s, err)
		}
	})
}

// A refresh of a session that a copy showed asks the store first: one that has ended stays so.
func TestRefreshOfACopy(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l, cache := newLab(), newCache()
	a := kvadapter.New(l, kvadapter.Options{Cache: cache})
	if err := adaSignedUp(ctx, a, "one"); err != nil {
		t.Fatal(err)
	}
	if err := readAndExtend(ctx, a, "one", 0); err != nil {
		t.Fatal(err)
	}
	seen := maps.Clone(cache.values) // what another location goes on to show
	for i, want := range []int{2, 1} {
		cache.values = maps.Clone(seen)
		calls := l.calls()
		if err := readAndExtend(ctx, a, "one", 48*time.Hour); err != nil || l.calls()-calls != want {
			t.Errorf("refresh %d: %v, %d store calls, want %d", i+1, err, l.calls()-calls, want)
		}
	}
	must[*core.AdapterSession](t)(a.DeleteSession(ctx, "one"))
	cache.values = seen
	s, _, err := a.GetSessionAndUser(ctx, "one")
	if err != nil || s == nil {
		t.Fatalf("the test shows nothing: %v, %v", s, err)
	}
	if s, err := a.UpdateSession(ctx, core.AdapterSession{SessionToken: "one", Expires: time.Now().Add(72 * time.Hour), Revision: s.Revision}); s != nil || err != nil {
		t.Errorf("%v, %v", s, err)
	}
}
