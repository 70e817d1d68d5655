//go:build !js && !wasip1

package edge_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// stored is the answer of testdata/app to a call on a store.
type stored struct {
	Value string
	OK    bool
	Keys  []string
	Next  string
	Err   string
}

func same(t *testing.T, what string, got, want stored) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
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
	same("put", call("put", "user:1/\u00fc?#%", "value", "gr\u00fcn\n\x00"), stored{})
	same("get", call("get", "user:1/\u00fc?#%"), stored{Value: "gr\u00fcn\n\x00", OK: true})
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

	for _, key := range []string{"", ".", "..", strings.Repeat("x", 513)} {
		if got := call("get", key); !strings.Contains(got.Err, "a key has 1 to 512 bytes") {
			t.Errorf("key %.5q: got %+v", key, got)
		}
	}
	for _, op := range []string{"get", "put", "delete", "list"} {
		got := call(op, "x", "binding", "MISSING")
		if !strings.Contains(got.Err, "MISSING") || !strings.Contains(got.Err, "wrangler.toml") {
			t.Errorf("%s on a missing binding: got %+v", op, got)
		}
	}
}
