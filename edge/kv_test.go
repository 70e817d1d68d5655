//go:build !js && !wasip1

package edge_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// stored is the answer of testdata/app to a call on a store.
type stored struct {
	Value string
	OK    bool
	Keys  []string
	Next  string

	Err           string
	TooManyWrites bool
}

func same(t *testing.T, what string, got, want stored) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// refused are keys that no store takes. The first three may begin one that it does.
func refused() []string {
	return []string{"", ".", "..", strings.Repeat("x", 513), "gr\u00fcn", "a\x7f", "a\nb", "\x00", "\xff"}
}

type kvKey struct {
	Name       string
	Expiration int64
}

func TestWorkersKV(t *testing.T) {
	t.Parallel()
	w := miniflare(t, "app", t.TempDir())
	call := func(op, key string, more ...string) stored {
		t.Helper()
		q := url.Values{"op": {op}, "key": {key}, "binding": {"STORE"}}
		for i := 0; i < len(more); i += 2 {
			q.Set(more[i], more[i+1])
		}
		return getJSON[stored](w.worker, "/kv?"+q.Encode())
	}
	same := func(what string, got, want stored) { t.Helper(); same(t, what, got, want) }

	same("a missing key", call("get", "nothing"), stored{})
	same("deleting it", call("delete", "nothing"), stored{})
	same("put", call("put", "user:1/?#% ~", "value", "gr\u00fcn\n\x00"), stored{})
	same("get", call("get", "user:1/?#% ~"), stored{Value: "gr\u00fcn\n\x00", OK: true})
	same("put nothing", call("put", "empty"), stored{})
	same("an empty value is a value", call("get", "empty"), stored{OK: true})
	same("delete", call("delete", "empty"), stored{})
	same("get it again", call("get", "empty"), stored{})

	begin := time.Now().Unix()
	same("an end in the past", call("put", "ttl:past", "seconds", "-5"), stored{})
	same("an end in a second", call("put", "ttl:soon", "seconds", "1"), stored{})
	same("an end in an hour", call("put", "ttl:hour", "seconds", "3600"), stored{})
	var keys []kvKey
	w.stored("kv", &keys)
	for _, key := range keys {
		want := map[string]int64{"ttl:past": 60, "ttl:soon": 60, "ttl:hour": 3600}[key.Name]
		if d := key.Expiration - begin; want != 0 && (d < want || d > want+5) {
			t.Errorf("%s ends in %d seconds, want %d", key.Name, d, want)
		}
	}

	same("list", call("list", "ttl:"), stored{Keys: []string{"ttl:hour", "ttl:past", "ttl:soon"}})
	same("list nothing", call("list", "zzz"), stored{Keys: []string{}})
	same("fill", call("fill", "page:"), stored{})
	page := call("list", "page:")
	if len(page.Keys) != 1000 || page.Next == "" {
		t.Errorf("the first page has %d keys and the cursor %q", len(page.Keys), page.Next)
	}
	page = call("list", "page:", "cursor", page.Next)
	if len(page.Keys) != 5 || page.Next != "" || page.Keys[4] != "page:1004" {
		t.Errorf("the second page has the keys %q and the cursor %q", page.Keys, page.Next)
	}

	for _, key := range refused() {
		for _, op := range []string{"get", "put", "delete", "list"} {
			if got := call(op, key); !strings.Contains(got.Err, "a key has 1 to 512 bytes") && !(op == "list" && strings.Trim(key, ".") == "") {
				t.Errorf("%s of %.5q: got %+v", op, key, got)
			}
		}
	}
	for _, op := range []string{"get", "put", "delete", "list"} {
		got := call(op, "x", "binding", "MISSING")
		if !strings.Contains(got.Err, "MISSING") || !strings.Contains(got.Err, "wrangler.toml") {
			t.Errorf("%s on a missing binding: got %+v", op, got)
		}
	}
}

// A write is what worker/testdata/refusing.mjs remembers of one.
type write struct {
	Method, Value string
	TTL           string
	At            int64 // milliseconds
}

// The refusals here are answers to workerd's own requests for KV, so that their errors are
// those of the platform.
func TestWritesThatComeTooSoonAreHeldBack(t *testing.T) {
	t.Parallel()
	w := startWorkerd(t, workerdPath(t), build(t, "app"), setup{modules: product(), kv: "refusing.mjs"})
	call := func(query url.Values) stored {
		query.Set("binding", "REFUSING")
		return getJSON[stored](w, "/kv?"+query.Encode())
	}
	writes := func(key string) (seen []write) {
		t.Helper()
		got := call(url.Values{"op": {"get"}, "key": {key}})
		if err := json.Unmarshal([]byte(got.Value), &seen); err != nil {
			t.Errorf("%+v: %v", got, err)
		}
		return seen
	}
	goroutines, _ := w.state()
	moment := upstream(t, slow) // 300 ms
	for _, c := range []struct {
		key, until string
		writes     int
		tooMany    bool
		err        string
	}{
		{key: "refused:429:0", writes: 1},
		{key: "refused:429:1", writes: 2},
		{key: "refused:429:2", writes: 3},
		{key: "refused:429:3", writes: 3, tooMany: true, err: "edge: KV REFUSING: %s: edge: Workers KV takes one write"},
		{key: "refused:500:1", writes: 1, err: "edge: KV REFUSING: %s: Error: KV %s failed: 500"},
		{key: "refused:403:1:429", writes: 1, err: "edge: KV REFUSING: %s: Error: KV %s failed: 403"},
		{key: "refused:429:1:until", until: moment, writes: 1, err: "context canceled"},
	} {
		for _, op := range []string{"put", "delete"} {
			t.Run(op+" "+c.key, func(t *testing.T) {
				t.Parallel()
				key := c.key + ":" + op
				got := call(url.Values{"op": {op}, "key": {key}, "value": {"v"}, "seconds": {"3600"}, "until": {c.until}})
				want := strings.Replace(strings.Replace(c.err, "%s", op, 1), "%s", strings.ToUpper(op), 1)
				if !strings.HasPrefix(got.Err, want) || (got.Err == "") != (want == "") || got.TooManyWrites != c.tooMany {
					t.Errorf("got %+v, want the error %q", got, want)
				}
				seen := writes(key)
				if len(seen) != c.writes {
					t.Fatalf("it was written %d times, want %d: %+v", len(seen), c.writes, seen)
				}
				for i, one := range seen {
					if one.Method != strings.ToUpper(op) || op == "put" && (one.Value != "v" || one.TTL != "3600" && one.TTL != "3601") {
						t.Errorf("write %d is %+v", i+1, one)
					}
					if i > 0 && (one.At-seen[i-1].At < 1100 || one.At-seen[i-1].At > 15_000) {
						t.Errorf("write %d came %d ms after the one before", i+1, one.At-seen[i-1].At)
					}
				}
			})
		}
	}
	t.Run("many at once", func(t *testing.T) {
		t.Parallel()
		var all sync.WaitGroup
		begin := time.Now()
		for i := range 100 {
			all.Go(func() {
				query := url.Values{"op": {"put"}, "key": {fmt.Sprint("refused:429:1:", i)}, "value": {"v"}, "binding": {"REFUSING"}}
				resp, err := http.Get("http://" + w.addr + "/kv?" + query.Encode())
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 || !strings.Contains(string(body), `"Err":""`) {
					t.Errorf("%d %s", resp.StatusCode, body)
				}
			})
		}
		all.Wait()
		if d := time.Since(begin); d > 30*time.Second {
			t.Errorf("they waited for one another: %v", d)
		}
	})
	t.Cleanup(func() { w.settles(goroutines) })
}
