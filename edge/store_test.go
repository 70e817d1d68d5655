//go:build !js && !wasip1

package edge_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// stored is the answer of worker/testdata/app to a call on a store or a cache.
type stored struct {
	Value string
	OK    bool
	Keys  []string
	Next  string

	Err              string
	TimedOut         bool
	IsUnsupported    bool
	DeadlineExceeded bool
}

// store calls the AUTH_DO of worker/testdata/app, unless more names another store.
func (w *worker) store(op, key string, more ...string) stored {
	w.t.Helper()
	return w.ask("/store", "AUTH_DO", op, key, more)
}

// kv calls its AUTH_KV.
func (w *worker) kv(op, key string, more ...string) stored {
	w.t.Helper()
	return w.ask("/kv", "AUTH_KV", op, key, more)
}

func (w *worker) ask(path, name, op, key string, more []string) stored {
	w.t.Helper()
	q := url.Values{"op": {op}, "key": {key}, "name": {name}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return getJSON[stored](w, path+"?"+q.Encode())
}

func same(t *testing.T, what string, got, want stored) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// The contracts are tested by packages storetest and adaptertest inside a worker, whose calls
// are those of a deployed one.
func TestStoresKeepTheContract(t *testing.T) {
	t.Parallel()
	workerd := func(t *testing.T) *worker { return start(t, "suite", nil) }
	platform := func(t *testing.T) *worker { return miniflare(t, "suite", t.TempDir(), all, nil).worker }
	for name, c := range map[string]struct {
		start func(t *testing.T) *worker
		path  string
	}{
		"Durable Object on workerd": {workerd, "/store?name=AUTH_DO"},
		"Durable Object":            {platform, "/store?name=AUTH_DO"},
		"D1":                        {platform, "/store?name=AUTH_DB"},
		"adapter on D1":             {platform, "/adapter?name=AUTH_DB"},
		"adapter on a Durable Object, with a KV cache": {platform, "/adapter?name=AUTH_DO&kv=AUTH_KV"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if status, body := c.start(t).get(c.path); status != 200 || body != "ok" {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

func TestStoreKeepsItsRecords(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]string{"AUTH_DO": "objects", "AUTH_DB": "d1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := t.TempDir()
			w := miniflare(t, "app", state, all, nil)
			w.store("put", "user:1", "value", "Ada", "name", name)
			w.store("put", "session:1", "value", "gr\u00fcn\x00\xff", "ref", "user:1", "seconds", "3600", "name", name)
			var keys []string
			if w.stored(where, &keys); !slices.Equal(keys, []string{"session:1", "user:1"}) {
				t.Errorf("stored are %q", keys)
			}
			w.stop()

			w = miniflare(t, "app", state, all, nil)
			session := stored{Value: "gr\u00fcn\x00\ufffd", OK: true, Keys: []string{"user:1"}} // FF alone is no UTF-8: JSON shows it as U+FFFD
			same(t, "after a restart", w.store("get", "session:1", "name", name), session)
			session.Keys = nil
			same(t, "take", w.store("take", "session:1", "name", name), stored{Value: session.Value, OK: true, Keys: []string{"user:1"}})
			same(t, "take it again", w.store("take", "session:1", "name", name), stored{})
			same(t, "the other store", w.store("get", "user:1", "name", map[string]string{"AUTH_DO": "AUTH_DB", "AUTH_DB": "AUTH_DO"}[name]), stored{})
		})
	}
}

func TestObjectsOfOtherNamesAreOtherStores(t *testing.T) {
	t.Parallel()
	w := miniflare(t, "app", t.TempDir(), all, nil)
	w.store("put", "k", "value", "of the default")
	w.store("put", "k", "value", "of a tenant", "object", "tenant", "location", "weur")
	same(t, "the default", w.store("get", "k"), stored{Value: "of the default", OK: true})
	same(t, "the default by its name", w.store("get", "k", "object", "auth"), stored{Value: "of the default", OK: true})
	same(t, "the tenant's", w.store("get", "k", "object", "tenant"), stored{Value: "of a tenant", OK: true})
}

// TestAnAlarmRemovesWhatHasExpired puts records that have ended almost as long ago as it takes
// until they are removed. The alarm survives a restart. In D1 the next commits remove them.
func TestAnAlarmRemovesWhatHasExpired(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	w := miniflare(t, "app", state, all, nil)
	lasting := []string{"for ever", "lasting"}
	keys := func(of string) (keys []string) { t.Helper(); w.stored(of, &keys); return keys }
	for _, name := range []string{"AUTH_DO", "AUTH_DB"} {
		w.store("put", "lasting", "value", "v", "seconds", "3600", "name", name)
		w.store("put", "for ever", "value", "v", "name", name)
	}
	for i := range 5 { // which leaves ten seconds to see them
		w.store("put", fmt.Sprintf("ended:%d", i), "value", "v", "seconds", "-50")
		w.store("put", fmt.Sprintf("ended:%d", i), "value", "v", "seconds", "-50", "name", "AUTH_DB")
	}
	if got := keys("objects"); len(got) != 7 {
		t.Errorf("stored are %q", got)
	}
	if got := keys("d1"); !slices.Equal(got, lasting) {
		t.Errorf("in D1 are %q", got)
	}
	same(t, "what has ended", w.store("get", "ended:0"), stored{})
	same(t, "all", w.store("list", ""), stored{Keys: lasting})
	w.stop()

	w = miniflare(t, "app", state, all, nil)
	deadline := time.Now().Add(time.Minute)
	for range time.Tick(100 * time.Millisecond) {
		left := keys("objects")
		if slices.Equal(left, lasting) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left are %q", left)
		}
	}
}

// flaky runs the worker around the program app with stores that fail: worker/testdata/flaky.mjs.
func flaky(t *testing.T) *worker {
	t.Helper()
	return startWorkerd(t, workerdPath(t), build(t, "app"), setup{modules: append([]string{"flaky.mjs"}, product()...)})
}

// TestReadsOfAFailingObjectAreTriedAgain has objects that throw what the platform's do.
func TestReadsOfAFailingObjectAreTriedAgain(t *testing.T) {
	t.Parallel()
	w := flaky(t)
	for _, c := range []struct {
		object, op string
		attempts   int
		ok         bool
	}{
		{"0:retryable", "get", 1, true},
		{"1:retryable", "get", 2, true},
		{"1:retryable", "list", 2, true},
		{"2:retryable", "get", 2, false},
		{"1:retryable", "put", 1, false},
		{"1:retryable,overloaded", "get", 1, false},
		{"1:other", "get", 1, false},
		{"1:overloaded", "list", 1, false},
	} {
		operation := map[string]string{"put": "commit"}[c.op]
		if operation == "" {
			operation = c.op
		}
		got := w.store(c.op, "k", "name", "FLAKY", "object", c.object, "value", "v")
		if c.ok != (got.Err == "") || !c.ok && got.Err != "edge: Store FLAKY: "+operation+": Error: thrown by the object" {
			t.Errorf("%s of %s: got %+v", c.op, c.object, got)
		}
		if n := getJSON[map[string]int](w, "/attempts?of="+operation)[c.object]; n != c.attempts {
			t.Errorf("%s of %s: asked the object %d times, want %d", c.op, c.object, n, c.attempts)
		}
	}
}

func TestCallsWithoutAnAnswerEndAfterTenSeconds(t *testing.T) {
	t.Parallel()
	w := flaky(t)
	want := func(what string, got stored) {
		t.Helper()
		if want := "kv: " + what + " has not answered within 10s"; got.Err != want || !got.TimedOut || !got.DeadlineExceeded {
			t.Errorf("got %+v, want the error %q", got, want)
		}
	}
	for _, name := range []string{"HANGING_DO", "HANGING_DB"} {
		for _, op := range []string{"get", "put", "list"} {
			want("Store "+name, w.store(op, "k", "name", name, "value", "v"))
		}
	}
	for _, op := range []string{"get", "put", "delete"} {
		want("KV HANGING_KV", w.kv(op, "k", "name", "HANGING_KV", "value", "v"))
	}
	if n := getJSON[int](w, "/waited"); n != 9 {
		t.Errorf("there were %d timers of ten seconds, want 9", n)
	}
}

// TestBookmarks has what workerd has by itself: the platform alone keeps earlier states.
func TestBookmarks(t *testing.T) {
	t.Parallel()
	w := miniflare(t, "app", t.TempDir(), all, nil)
	w.store("put", "k", "value", "v")
	if got := w.store("bookmark", ""); got.Err != "" || got.Value == "" {
		t.Errorf("a bookmark is %+v", got)
	}
	for _, c := range [][]string{{"AUTH_DO", "bookmark"}, {"AUTH_DO", "restore"}, {"AUTH_DB", "bookmark"}, {"AUTH_DB", "restore"}} {
		got := w.store(c[1], "", "name", c[0], "value", "bookmark", "seconds", "-60")
		if got.Err != "edge: Store "+c[0]+": edge: this platform keeps no earlier state of a store: unsupported operation" || !got.IsUnsupported {
			t.Errorf("%s of %s: got %+v", c[1], c[0], got)
		}
	}
	same(t, "the record", w.store("get", "k"), stored{Value: "v", OK: true})
}

// TestNoStatementReadsTheRecordsOfOthers has an object with 400,000 records: rows are time, and billed.
func TestNoStatementReadsTheRecordsOfOthers(t *testing.T) {
	t.Parallel()
	w := startWorkerd(t, workerdPath(t), build(t, "app"), setup{modules: []string{"rows.mjs", "store.mjs", "records.mjs"}})
	fill := func(records int) {
		t.Helper()
		if n := getJSON[int](w, fmt.Sprint("/fill?to=", records)); n < records {
			t.Fatalf("there are %d records", n)
		}
	}
	fill(1000)
	few := getJSON[int](w, "/insert") // microseconds
	fill(400_000)
	type rows struct{ Read, Written int }
	most := map[string]int{"a page": 200}
	counted := getJSON[map[string]rows](w, "/count")
	if len(counted) != 8 {
		t.Errorf("%d operations were counted", len(counted))
	}
	for operation, n := range counted {
		t.Logf("%s: %d rows read, %d written", operation, n.Read, n.Written)
		if n.Read > max(20, most[operation]) {
			t.Errorf("%s reads %d rows", operation, n.Read)
		}
	}
	if t.Failed() {
		return // inserts would take very long
	}
	t.Logf("an insert takes %d \u00b5s with 1,000 records and %d \u00b5s with 400,000", few, getJSON[int](w, "/insert"))
	// Of 1,500 records that have ended an alarm removes 1,000, each read where it is found, and deleted with its index.
	if n := getJSON[rows](w, "/alarm"); n.Written < 1000 || n.Written > 3000 || n.Read > 4*1000+20 {
		t.Errorf("an alarm reads %d rows and writes %d", n.Read, n.Written)
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
		w.store("put", key, "value", "secret", "seconds", "3600")
		var mu sync.Mutex
		answers := map[string]int{}
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				var got stored
				resp, err := c.Get("http://" + w.addr + "/store?op=take&name=AUTH_DO&key=" + key)
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
				answers[fmt.Sprint(got.OK, got.Err)]++
			})
		}
		wg.Wait()
		if len(answers) != 2 || answers["true"] != 1 || answers["false"] != 999 {
			t.Fatalf("round %d: the answers and how often they came: %v", round, answers)
		}
	}
	t.Logf("%d rounds of 1000 requests at once: %v each", *takeRounds, time.Since(begin)/time.Duration(*takeRounds))
}

var consumeRounds = flag.Int("consumes", 200, "rounds of `n` in which 1,000 calls of one worker take one record; 1,000 of them take five minutes")

// TestOneOfThousandCallsTakes has the objects alone, so that many rounds take
// a minute: two runtimes share them, and each round is one request.
func TestOneOfThousandCallsTakes(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	var runtimes sync.WaitGroup
	for half := range 2 {
		w := startWorkerd(t, workerdPath(t), build(t, "app"), setup{modules: []string{"consumers.mjs", "store.mjs", "records.mjs"}})
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

func TestStoresWithoutABinding(t *testing.T) {
	t.Parallel()
	w := start(t, "app", map[string]string{"TEXT": "text"})
	for _, binding := range []string{"MISSING", "TEXT"} {
		for _, op := range []string{"get", "put", "list", "bookmark", "restore"} {
			if got := w.store(op, "x", "name", binding); !strings.Contains(got.Err, binding) || !strings.Contains(got.Err, "new_sqlite_classes") {
				t.Errorf("%s on the store %s: got %+v", op, binding, got)
			}
		}
		for _, op := range []string{"get", "put", "delete"} {
			if got := w.kv(op, "x", "name", binding); !strings.Contains(got.Err, binding) || !strings.Contains(got.Err, "[[kv_namespaces]]") {
				t.Errorf("%s on the cache %s: got %+v", op, binding, got)
			}
		}
	}
}

func TestWorkersKV(t *testing.T) {
	t.Parallel()
	w := miniflare(t, "app", t.TempDir(), all, nil)
	same := func(what string, got, want stored) { t.Helper(); same(t, what, got, want) }
	same("a missing key", w.kv("get", "nothing"), stored{})
	same("deleting it", w.kv("delete", "nothing"), stored{})
	same("put", w.kv("put", "user:1/?#% ~", "value", "gr\u00fcn\n\x00"), stored{})
	same("get", w.kv("get", "user:1/?#% ~"), stored{Value: "gr\u00fcn\n\x00", OK: true})
	same("delete", w.kv("delete", "user:1/?#% ~"), stored{})
	same("get it again", w.kv("get", "user:1/?#% ~"), stored{})

	begin := time.Now().Unix()
	same("an end in the past", w.kv("put", "ttl:past", "seconds", "-5"), stored{})
	same("an end in a second", w.kv("put", "ttl:soon", "seconds", "1"), stored{})
	same("an end in an hour", w.kv("put", "ttl:hour", "seconds", "3600"), stored{})
	var keys []kvKey
	w.stored("kv", &keys)
	if len(keys) != 3 {
		t.Errorf("stored are %+v", keys)
	}
	for _, key := range keys {
		want := map[string]int64{"ttl:past": 60, "ttl:soon": 60, "ttl:hour": 3600}[key.Name]
		if d := key.Expiration - begin; d < want || d > want+5 {
			t.Errorf("%s ends in %d seconds, want %d", key.Name, d, want)
		}
	}
	for _, key := range []string{"", ".", "..", strings.Repeat("x", 513), "gr\u00fcn", "a\nb"} {
		for _, op := range []string{"get", "put", "delete"} {
			if got := w.kv(op, key); !strings.HasPrefix(got.Err, "kv: ") {
				t.Errorf("%s of %.5q: got %+v", op, key, got)
			}
		}
	}
}

type kvKey struct {
	Name       string
	Expiration int64
}

// TestServesKV has the namespace that worker/serve.mjs brings.
func TestServesKV(t *testing.T) {
	t.Parallel()
	workerdPath(t)
	w := &worker{t: t, addr: freeAddr(t)}
	startNode(t, w.addr, nil, "serve.mjs", build(t, "app"))
	same(t, "put", w.kv("put", "k/ %", "value", "gr\u00fcn\x00", "seconds", "3600"), stored{})
	same(t, "get", w.kv("get", "k/ %"), stored{Value: "gr\u00fcn\x00", OK: true})
	same(t, "delete", w.kv("delete", "k/ %"), stored{})
	same(t, "get it again", w.kv("get", "k/ %"), stored{})
	same(t, "put", w.store("put", "k", "value", "v"), stored{OK: true})
	same(t, "get", w.store("get", "k"), stored{Value: "v", OK: true})
}
