//go:build !js && !wasip1

package edge_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// kv calls a store of worker/testdata/app.
func (w *worker) kv(op, key string, more ...string) stored {
	w.t.Helper()
	q := url.Values{"op": {op}, "key": {key}, "atomic": {"ATOMIC"}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return getJSON[stored](w, "/kv?"+q.Encode())
}

// The contract is tested by package storetest inside a worker, whose calls are those of a
// deployed one.
func contract(t *testing.T, w *worker, path string, query url.Values) {
	t.Helper()
	if status, body := w.get(path + "?" + query.Encode()); status != 200 || body != "ok" {
		t.Errorf("%d %s", status, body)
	}
}

func TestAtomicKeepsTheContract(t *testing.T) {
	t.Parallel()
	contract(t, start(t, "suite", nil), "/atomic", url.Values{"name": {"ATOMIC"}})
}

func TestWorkersKVKeepsTheContract(t *testing.T) {
	t.Parallel()
	contract(t, miniflare(t, "suite", t.TempDir()).worker, "/kv", workersKV("STORE"))
}

// TestServesKVKeepsTheContract has the namespace that worker/serve.mjs brings.
func TestServesKVKeepsTheContract(t *testing.T) {
	t.Parallel()
	workerdPath(t)
	w := &worker{t: t, addr: freeAddr(t)}
	startNode(t, w.addr, nil, "serve.mjs", build(t, "suite"))
	contract(t, w, "/kv", workersKV("AUTH_KV"))
}

// TestAdapterKeepsTheContract has the adapter over what the reference worker has: Workers KV
// for sessions, and the Durable Object for the rest.
func TestAdapterKeepsTheContract(t *testing.T) {
	t.Parallel()
	const window = "SCHEMA.md: a session that ends during a refresh is shown alive until the refresh has looked again"
	contract(t, miniflare(t, "suite", t.TempDir()).worker, "/adapter", url.Values{
		"name": {"ATOMIC"}, "kv": {"STORE"}, "skip": {"sessions/race:" + window, "deletion/race:" + window},
	})
}

func workersKV(name string) url.Values {
	const floor = "Workers KV keeps a value for at least 60 seconds"
	return url.Values{"name": {name}, "skip": {
		"atomic:Workers KV has no such operations",
		"expiry/end:" + floor, "expiry/past:" + floor, "expiry/renewed:" + floor, "expiry/list:" + floor,
	}}
}

func TestAtomicKeepsItsRecords(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	w := miniflare(t, "app", state)
	for i := range 320 {
		w.kv("insert", fmt.Sprintf("session:%d", i), "value", fmt.Sprint("value ", i), "seconds", "3600")
	}
	same(t, "KV of the same name", getJSON[stored](w.worker, "/kv?op=get&key=session:1&binding=STORE"), stored{})
	var shards []int
	w.stored("shards", &shards)
	if len(shards) != 16 || slices.Min(shards) < 8 || slices.Max(shards) > 40 {
		t.Errorf("320 records are spread so: %v", shards)
	}
	w.stop()

	w = miniflare(t, "app", state)
	for _, i := range []int{0, 1, 319} {
		same(t, "after a restart", w.kv("get", fmt.Sprintf("session:%d", i)), stored{Value: fmt.Sprint("value ", i), OK: true})
	}
	same(t, "insert", w.kv("insert", "session:0", "value", "other"), stored{})
	same(t, "take", w.kv("take", "session:0"), stored{Value: "value 0", OK: true})
}

// TestAnAlarmRemovesWhatHasExpired puts records that have ended almost as long ago as it takes
// until they are removed. The alarm survives a restart.
func TestAnAlarmRemovesWhatHasExpired(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	w := miniflare(t, "app", state)
	count := func() (n int) {
		t.Helper()
		var shards []int
		w.stored("shards", &shards)
		for _, records := range shards {
			n += records
		}
		return n
	}
	w.kv("put", "lasting", "value", "v", "seconds", "3600")
	w.kv("put", "for ever", "value", "v")
	for i := range 5 { // which leaves ten seconds to see them
		w.kv("put", fmt.Sprintf("ended:%d", i), "seconds", "-50")
	}
	if n := count(); n != 7 {
		t.Errorf("%d records are stored, want 7", n)
	}
	same(t, "what has ended", w.kv("get", "ended:0"), stored{})
	same(t, "all", w.kv("list", ""), stored{Keys: []string{"for ever", "lasting"}})
	w.stop()

	w = miniflare(t, "app", state)
	deadline := time.Now().Add(time.Minute)
	for range time.Tick(100 * time.Millisecond) {
		left := count()
		if left == 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d records are left, want 2", left)
		}
	}
	same(t, "all", w.kv("list", ""), stored{Keys: []string{"for ever", "lasting"}})
}

// TestReadsOfAFailingObjectAreTriedAgain has objects that throw what the platform's do.
func TestReadsOfAFailingObjectAreTriedAgain(t *testing.T) {
	t.Parallel()
	w := startWorkerd(t, workerdPath(t), build(t, "app"), setup{modules: append([]string{"flaky.mjs"}, product()...)})
	reads := []string{"get", "list"}
	all := append(reads, "put", "delete", "insert", "take", "swap")
	for _, c := range []struct {
		key      string
		ops      []string
		attempts int
		ok       bool
	}{
		{"0:retryable", all, 1, true},
		{"1:retryable", reads, 2, true},
		{"2:retryable", reads, 2, false},
		{"1:retryable", all[2:], 1, false},
		{"1:retryable,overloaded", all, 1, false},
		{"1:other", all, 1, false},
		{"1:overloaded", all, 1, false},
	} {
		for _, op := range c.ops {
			got := w.kv(op, c.key, "atomic", "FLAKY")
			if c.ok != (got.Err == "") || !c.ok && got.Err != "edge: Atomic FLAKY: "+op+": Error: thrown by the object" {
				t.Errorf("%s of %s: got %+v", op, c.key, got)
			}
			asked := 0
			for of, n := range getJSON[map[string]int](w, "/attempts?of="+op) {
				if _, key, _ := strings.Cut(of, " "); key != c.key {
					continue
				}
				asked++
				if n != c.attempts {
					t.Errorf("%s of %s: asked the object %d times, want %d", op, c.key, n, c.attempts)
				}
			}
			if want := map[bool]int{true: 16, false: 1}[op == "list"]; asked != want {
				t.Errorf("%s of %s: asked %d objects, want %d", op, c.key, asked, want)
			}
		}
	}
}

var takeRounds = flag.Int("takes", 20, "rounds of `n` in which 1,000 requests take one record")

func TestOneOfThousandRequestsTakes(t *testing.T) {
	t.Parallel()
	w := start(t, "app", nil)
	c := client(t)
	c.Transport.(*http.Transport).MaxIdleConnsPerHost = 1000
	begin := time.Now()
	for round := range *takeRounds {
		key := fmt.Sprintf("token:%d", round)
		w.kv("put", key, "value", "secret", "seconds", "3600")
		var mu sync.Mutex
		answers := map[taken]int{}
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				var got taken
				resp, err := c.Get("http://" + w.addr + "/kv?op=take&atomic=ATOMIC&key=" + key)
				if err == nil {
					body, _ := io.ReadAll(resp.Body)
					resp.Body.Close()
					err = json.Unmarshal(body, &got)
				}
				if err != nil {
					got.Err = err.Error()
				}
				mu.Lock()
				defer mu.Unlock()
				answers[got]++
			})
		}
		wg.Wait()
		if len(answers) != 2 || answers[taken{Value: "secret", OK: true}] != 1 || answers[taken{}] != 999 {
			t.Fatalf("round %d: the answers and how often they came: %v", round, answers)
		}
	}
	t.Logf("%d rounds of 1000 requests at once: %v each", *takeRounds, time.Since(begin)/time.Duration(*takeRounds))
}

var consumeRounds = flag.Int("consumes", 1000, "rounds of `n` in which 1,000 calls of one worker take one record")

// TestOneOfThousandCallsTakes has the objects alone, so that the whole number of rounds takes
// a minute: two runtimes share them, and each round is one request.
func TestOneOfThousandCallsTakes(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	var runtimes sync.WaitGroup
	for half := range 2 {
		w := startWorkerd(t, workerdPath(t), build(t, "app"), setup{modules: []string{"consumers.mjs", "store.mjs"}})
		runtimes.Go(func() {
			for round := half; round < *consumeRounds; round += 2 {
				query := url.Values{"object": {fmt.Sprint(round % 16)}, "key": {fmt.Sprint("token:", round)}}
				resp, err := http.Get("http://" + w.addr + "/?" + query.Encode())
				if err != nil {
					t.Error(err)
					return
				}
				body, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if string(body) != "1 999 0" {
					t.Errorf("round %d: so many got it, nothing, something else: %s", round, body)
					return
				}
			}
		})
	}
	runtimes.Wait()
	t.Logf("%d rounds of 1000 calls at once: %v", *consumeRounds, time.Since(begin))
}

// taken is the part of stored that can be compared.
type taken struct {
	Value string
	OK    bool
	Err   string
}

func TestAtomicRefusesKeys(t *testing.T) {
	t.Parallel()
	w := start(t, "app", nil)
	for _, key := range refused() {
		for _, op := range []string{"get", "put", "delete", "list", "insert", "take", "swap"} {
			if got := w.kv(op, key); !strings.Contains(got.Err, "a key has 1 to 512 bytes") && !(op == "list" && strings.Trim(key, ".") == "") {
				t.Errorf("%s of %.5q: got %+v", op, key, got)
			}
		}
	}
}

func TestAtomicWithoutABinding(t *testing.T) {
	t.Parallel()
	w := start(t, "app", map[string]string{"TEXT": "text"})
	for _, op := range []string{"get", "put", "delete", "list", "insert", "take", "swap"} {
		for _, binding := range []string{"MISSING", "TEXT"} {
			got := w.kv(op, "x", "atomic", binding)
			if !strings.Contains(got.Err, binding) || !strings.Contains(got.Err, "new_sqlite_classes") {
				t.Errorf("%s on %s: got %+v", op, binding, got)
			}
		}
	}
}
