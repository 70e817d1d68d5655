package wasmtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
	"github.com/edgeauth/edgeauth/wasmtest"
)

func TestStoreAndCache(t *testing.T) {
	t.Parallel()
	store, cache := memory.New(nil), kv.CacheOf(memory.New(nil))
	for name, config := range map[string]wasmtest.Config{
		"by default": {},
		"of the host": {
			Store: func(binding string) kv.Store {
				if binding == "A" {
					return store
				}
				return memory.New(nil)
			},
			Cache: func(string) kv.Cache { return cache },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := wasmtest.New(t, echo, config)
			step := func(method, target, body, want string) {
				t.Helper()
				if status, got := do(t, h, method, target, strings.NewReader(body)); status != 200 || strings.TrimSpace(got) != want {
					t.Errorf("%s %s: %d %q, want %q", method, target, status, got, want)
				}
			}
			step("GET", "/store?binding=A&key=k", "", `""`)
			step("INSERT", "/store?binding=A&key=k&ref=user", "\x00v", "true")
			step("INSERT", "/store?binding=A&key=k", "other", "false")
			step("GET", "/store?binding=A&key=k", "", `"\u0000v"`)
			step("GET", "/store?binding=B&key=k", "", `""`)
			step("GET", "/kv?binding=A&key=k", "", `""`) // the cache of the same name
			step("INSERT", "/store?binding=A&key=ended&ttl=-1s", "v", "true")
			step("GET", "/store?binding=A&key=ended", "", `""`)
			step("LIST", "/store?binding=A", "", `[{"Key":"k","Value":"AHY=","Ref":"user","Expires":"0001-01-01T00:00:00Z"}]`)
			step("LIST", "/store?binding=A&prefix=l", "", "null")
			step("LIST", "/store?binding=A&cursor=k", "", "null")
			step("TAKE", "/store?binding=A&key=k", "", "true")
			step("GET", "/store?binding=A&key=k", "", `""`)

			step("PUT", "/kv?binding=A&key=k", "\x00v", "null")
			step("GET", "/kv?binding=A&key=k", "", `"\u0000v"`)
			step("PUT", "/kv?binding=A&key=ended&ttl=-1s", "v", "null")
			step("GET", "/kv?binding=A&key=ended", "", `""`)
			step("PUT", "/kv?binding=A&key=lasting&ttl=1h", "v", "null")
			step("GET", "/kv?binding=A&key=lasting", "", `"v"`)
			step("DELETE", "/kv?binding=A&key=k", "", "null")
			step("GET", "/kv?binding=A&key=k", "", `""`)
			for _, path := range []string{"/store?binding=A", "/kv?binding=A", "/kv?binding=A&key=%0a"} {
				if status, got := do(t, h, "GET", path, nil); status != 502 || !strings.Contains(got, "kv: ") {
					t.Errorf("%s, which no store can hold: %d %q", path, status, got)
				}
			}
		})
	}
}

// TestStoreKeepsTheContract runs packages storetest and adaptertest inside a program, in a bubble so that its sleeps take no time.
func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/store?name=A", "/adapter?name=A&kv=B"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := wasmtest.New(t, "../edge/worker/testdata/suite", wasmtest.Config{Uninterruptible: true, Deadline: time.Hour})
				expect(t, h, path, 200, "ok")
			})
		})
	}
}

func TestOneOfManyRequestsTakes(t *testing.T) {
	t.Parallel()
	h := wasmtest.New(t, echo, wasmtest.Config{})
	for range 10 {
		do(t, h, "INSERT", "/store?key=token", strings.NewReader("v"))
		var mu sync.Mutex
		answers := map[string]int{}
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				_, got := do(t, h, "TAKE", "/store?key=token", nil)
				mu.Lock()
				defer mu.Unlock()
				answers[strings.TrimSpace(got)]++
			})
		}
		wg.Wait()
		if answers["true"] != 1 || answers["false"] != 99 {
			t.Fatalf("100 requests got %v", answers)
		}
	}
}

// broken is a store and a cache that fail.
type broken struct{ err func(context.Context) error }

func (s broken) Get(ctx context.Context, _ ...string) ([]kv.Entry, error) { return nil, s.err(ctx) }

func (s broken) Commit(ctx context.Context, _ []kv.Check, _ []kv.Write) (bool, error) {
	return true, s.err(ctx)
}

type brokenLister struct{ broken }

func (s brokenLister) List(ctx context.Context, _, _ string) ([]kv.Write, string, error) {
	return nil, "", s.err(ctx)
}

func TestStoreFailuresReachTheProgram(t *testing.T) {
	t.Parallel()
	full := broken{func(context.Context) error { return errors.New("disk full") }}
	test := func(t *testing.T, store kv.Store, failure func(what, operation string) string, lists string) {
		h := wasmtest.New(t, echo, wasmtest.Config{
			MaxInstances: 1,
			Store:        func(string) kv.Store { return store },
			Cache:        func(string) kv.Cache { return kv.CacheOf(store) },
		})
		for call, want := range map[string]string{
			"GET /store": failure("Store A", "get"), "INSERT /store": failure("Store A", "commit"), "LIST /store": lists,
			"GET /kv": failure("KV A", "get"), "PUT /kv": failure("KV A", "commit"), "DELETE /kv": failure("KV A", "commit"),
		} {
			method, path, _ := strings.Cut(call, " ")
			if status, body := do(t, h, method, path+"?binding=A&key=k", strings.NewReader("v")); status != 502 || body != want {
				t.Errorf("%s: %d %q, want %q", call, status, body, want)
			}
		}
	}
	t.Run("an error", func(t *testing.T) {
		t.Parallel()
		failure := func(what, operation string) string {
			return fmt.Sprintf("false edge: %s: %s: disk full", what, operation)
		}
		test(t, brokenLister{full}, failure, failure("Store A", "list"))
		test(t, full, failure, "false edge: Store A: list: this host's store has no List")
	})
	t.Run("no answer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			hanging := broken{func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
			failure := func(what, _ string) string { return fmt.Sprintf("true kv: %s has not answered within 10s", what) }
			test(t, brokenLister{hanging}, failure, failure("Store A", ""))
		})
	})
}
