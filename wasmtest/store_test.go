package wasmtest_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/memory"
	"github.com/edgeauth/edgeauth/wasmtest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	h := wasmtest.New(t, echo, wasmtest.Config{})
	step := func(method, target, body string, status int, want string) {
		t.Helper()
		if gotStatus, got := do(t, h, method, target, strings.NewReader(body)); gotStatus != status || !strings.HasPrefix(got, want) {
			t.Errorf("%s %s: %d %q, want %d %q", method, target, gotStatus, got, status, want)
		}
	}
	step("GET", "/kv?binding=A&key=k", "", 200, `"" false`)
	step("PUT", "/kv?binding=A&key=k", "\x00v\xff", 200, "")
	step("GET", "/kv?binding=A&key=k", "", 200, `"\x00v\xff" true`)
	step("GET", "/kv?binding=B&key=k", "", 200, `"" false`)
	step("PUT", "/kv?binding=A&key=k", "", 200, "")
	step("GET", "/kv?binding=A&key=k", "", 200, `"" true`)
	step("PUT", "/kv?binding=A&key=ended&ttl=-1s", "v", 200, "")
	step("GET", "/kv?binding=A&key=ended", "", 200, `"" false`)
	step("PUT", "/kv?binding=A&key=lasting&ttl=1h", "v", 200, "")
	step("GET", "/kv?binding=A&key=lasting", "", 200, `"v" true`)
	step("LIST", "/kv?binding=A", "", 200, `{"keys":["k","lasting"],"next":""}`)
	step("LIST", "/kv?binding=A&prefix=l", "", 200, `{"keys":["lasting"],"next":""}`)
	step("LIST", "/kv?binding=A&cursor=k", "", 200, `{"keys":["lasting"],"next":""}`)
	step("DELETE", "/kv?binding=A&key=k", "", 200, "")
	step("DELETE", "/kv?binding=A&key=k", "", 200, "")
	step("GET", "/kv?binding=A&key=k", "", 200, `"" false`)
	step("GET", "/kv?binding=A", "", 502, "true edge: a key has")
}

// always gives one store for every binding.
func always(s wasmtest.Store) func(string, bool) wasmtest.Store {
	return func(string, bool) wasmtest.Store { return s }
}

func TestAtomicStore(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]wasmtest.Config{"by default": {}, "of the host": {Store: always(memory.New(nil))}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := wasmtest.New(t, echo, config)
			step := func(method, query, body string, want string) {
				t.Helper()
				if status, got := do(t, h, method, "/kv?atomic=1&key=k&"+query, strings.NewReader(body)); status != 200 || got != want {
					t.Errorf("%s %s: %d %q, want %q", method, query, status, got, want)
				}
			}
			step("TAKE", "", "", `"" false`)
			step("INSERT", "", "\x00v\xff", "true")
			step("INSERT", "", "other", "false")
			step("GET", "", "", `"\x00v\xff" true`)
			step("SWAP", "old=other", "new", "false")
			step("SWAP", "old="+url.QueryEscape("\x00v\xff"), "", "true")
			step("TAKE", "", "", `"" true`)
			step("SWAP", "", "new", "false")
			step("INSERT", "ttl=-1s", "ended", "true")
			step("INSERT", "ttl=1h", "v", "true")
			step("LIST", "", "", `{"keys":["k"],"next":""}`+"\n")
			step("DELETE", "", "", "")
			step("PUT", "", "put", "")
			step("TAKE", "", "", `"put" true`)
		})
	}
	h := wasmtest.New(t, echo, wasmtest.Config{})
	do(t, h, "INSERT", "/kv?key=k", strings.NewReader("v"))
	expect(t, h, "/kv?key=k", 200, `"" false`) // KV of the same name is another store
	expect(t, h, "/kv?atomic=1&key=k", 200, `"v" true`)
}

// TestAtomicKeepsTheContract runs package storetest inside a program, in a bubble so that its sleeps take no time.
func TestAtomicKeepsTheContract(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/atomic?name=A", "/kv?name=A&skip=atomic:KV+has+no+such+operations", "/adapter?name=A"} {
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
		do(t, h, "PUT", "/kv?atomic=1&key=token", strings.NewReader("v"))
		var mu sync.Mutex
		answers := map[string]int{}
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				_, got := do(t, h, "TAKE", "/kv?key=token", nil)
				mu.Lock()
				defer mu.Unlock()
				answers[got]++
			})
		}
		wg.Wait()
		if answers[`"v" true`] != 1 || answers[`"" false`] != 99 {
			t.Fatalf("100 requests got %v", answers)
		}
	}
}

// broken is a store that fails, and remembers what it was asked.
type broken struct {
	mu    sync.Mutex
	calls []string
}

func (s *broken) fail(call string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
	return errors.New("disk full")
}

func (s *broken) Get(_ context.Context, key string) ([]byte, bool, error) {
	return nil, false, s.fail("get " + key)
}

func (s *broken) Put(_ context.Context, key string, value []byte, expires time.Time) error {
	return s.fail("put " + key + " " + string(value) + " " + strconv.FormatBool(expires.IsZero()))
}
func (s *broken) Delete(_ context.Context, key string) error { return s.fail("delete " + key) }
func (s *broken) List(_ context.Context, prefix, cursor string) ([]string, string, error) {
	return nil, "", s.fail("list " + prefix + " " + cursor)
}

// brokenAtomic is broken, and could do more if it weren't.
type brokenAtomic struct{ broken }

func (s *brokenAtomic) Insert(_ context.Context, key string, value []byte, expires time.Time) (bool, error) {
	return true, s.fail("insert " + key + " " + string(value) + " " + strconv.FormatBool(expires.IsZero()))
}

func (s *brokenAtomic) Take(_ context.Context, key string) ([]byte, bool, error) {
	return nil, true, s.fail("take " + key)
}

func (s *brokenAtomic) Swap(_ context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
	return true, s.fail("swap " + key + " " + string(old) + " " + string(new) + " " + strconv.FormatBool(expires.IsZero()))
}

func TestStoreFailuresReachTheProgram(t *testing.T) {
	t.Parallel()
	kv := map[string]string{"GET": "kv get", "PUT": "kv put", "DELETE": "kv delete", "LIST": "kv list"}
	all := map[string]string{"INSERT": "kv insert", "TAKE": "kv take", "SWAP": "kv swap"}
	for method, operation := range kv {
		all[method] = operation
	}
	call := func(store wasmtest.Store, query string, methods map[string]string, failure string) {
		t.Helper()
		h := wasmtest.New(t, echo, wasmtest.Config{Store: always(store), MaxInstances: 1})
		for method, want := range methods {
			status, body := do(t, h, method, "/kv?key=k&prefix=p&cursor=c&old=o"+query, strings.NewReader("v"))
			if status != 502 || body != "false edge: "+want+": "+failure {
				t.Errorf("%s%s: %d %q", method, query, status, body)
			}
		}
	}
	store, atomic := new(broken), new(brokenAtomic)
	call(store, "", kv, "disk full")
	call(store, "&atomic=1", all, "this host has no store for edge.Atomic: wasmtest.Config.Store gives no wasmtest.AtomicStore")
	call(atomic, "&atomic=1", all, "disk full")
	slices.Sort(store.calls)
	if want := []string{"delete k", "get k", "list p c", "put k v true"}; !slices.Equal(store.calls, want) {
		t.Errorf("the store was asked %q, want %q", store.calls, want)
	}
	slices.Sort(atomic.calls)
	want := []string{"delete k", "get k", "insert k v true", "list p c", "put k v true", "swap k o v true", "take k"}
	if !slices.Equal(atomic.calls, want) {
		t.Errorf("the atomic store was asked %q, want %q", atomic.calls, want)
	}
}
