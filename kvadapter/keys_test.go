package kvadapter

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// K-1: keys are the same only if all parts are.
func TestKeysAreInjective(t *testing.T) {
	t.Parallel()
	atoms := []string{"", "a", "b", "?", "/", "\\", ":", ".", "..", "@", " ", "\x00", "%", "\xff", "🙂", "A", strings.Repeat("x", 10<<10)}
	random := rand.New(rand.NewPCG(1, 1))
	parts := func() []string {
		out := make([]string, random.IntN(3))
		for i := range out {
			for range random.IntN(3) {
				out[i] += atoms[random.IntN(len(atoms)-1)]
			}
		}
		if len(out) > 0 && random.IntN(500) == 0 {
			out[0] += atoms[len(atoms)-1]
		}
		return out
	}
	pairs := 1_000_000
	if testing.Short() {
		pairs = 50_000
	}
	equal := 0
	for range pairs {
		a, b := parts(), parts()
		same := slices.Equal(a, b)
		if same {
			equal++
		}
		if (keyOf(kindUser, a...) == keyOf(kindUser, b...)) != same {
			t.Fatalf("%q and %q", a, b)
		}
	}
	if equal == 0 {
		t.Error("no two lists were the same: the test shows nothing")
	}
}

func TestKeysFitEveryStore(t *testing.T) {
	t.Parallel()
	kinds := []string{kindUser, kindAddress, kindAccount, kindPasskey, kindSession, kindToken}
	prefix := strings.Repeat("a-Z_0.", 16)
	if !isKeyPrefix(prefix) {
		t.Fatal("the prefix is refused")
	}
	for i, kind := range kinds {
		key := prefix + keyOf(kind, strings.Repeat("?", 10<<10), "\x00")
		if len(key) > 200 {
			t.Errorf("%s: %d bytes", kind, len(key))
		}
		if strings.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") != "" || strings.Contains(key, "..") {
			t.Errorf("%s: key %q", kind, key)
		}
		for j, other := range kinds {
			if i != j && strings.HasPrefix(other, kind) {
				t.Errorf("%s is the beginning of %s", kind, other)
			}
			if i != j && keyOf(kind, "x") == keyOf(other, "x") {
				t.Errorf("%s and %s share a key", kind, other)
			}
		}
	}
	for _, bad := range []string{"a:b", "a/b", "é", " ", ".a", "a..b", strings.Repeat("a", 101)} {
		if isKeyPrefix(bad) {
			t.Errorf("prefix %q is accepted", bad)
		}
	}
}

// FuzzRecords reads arbitrary values as each kind of record. What can be read can be written
// again, and read back as the same.
func FuzzRecords(f *testing.F) {
	key := keyOf(kindUser, "ada")
	seed, _ := encode(key, &userRecord{profile: profile{ID: "ada", Extra: map[string]any{"n": json.Number("1e400")}}, Owns: []string{"account.x"}}, nil)
	f.Add(seed)
	f.Add(seed[:len(seed)/2])
	f.Add([]byte(`{"kind":"user","version":99,"key":"` + key + `","sessions":{"":{"expires":1}},"new":[1]}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"kind":"user","version":1,"key":"` + key + `","KEY":"x","expires":"1"}{}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		for _, blank := range []func() record{
			func() record { return new(userRecord) }, func() record { return new(sessionRecord) }, func() record { return new(tokenRecord) },
			func() record { return new(accountRecord) }, func() record { return new(passkeyRecord) }, func() record { return new(addressRecord) },
		} {
			rec := blank()
			if parse(key, value, rec) != nil {
				continue
			}
			once, err := encode(key, rec, value)
			if err != nil {
				t.Fatalf("%T: %v", rec, err)
			}
			again := blank()
			if err := parse(key, once, again); err != nil {
				t.Fatalf("%T: written again, %q can't be read: %v", rec, once, err)
			}
			twice, err := encode(key, again, once)
			if err != nil || !bytes.Equal(once, twice) {
				t.Fatalf("%T: %q became %q, %v", rec, once, twice, err)
			}
		}
	})
}
