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
	const floor = "Workers KV keeps a value for at least 60 seconds"
	contract(t, miniflare(t, "suite", t.TempDir()).worker, "/kv", url.Values{"name": {"STORE"}, "skip": {
		"atomic:Workers KV has no such operations",
		"expiry/end:" + floor, "expiry/past:" + floor, "expiry/renewed:" + floor, "expiry/list:" + floor,
	}})
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

// taken is the part of stored that can be compared.
type taken struct {
	Value string
	OK    bool
	Err   string
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
