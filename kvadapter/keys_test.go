package kvadapter

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Two keys are the same only if all parts are.
func TestKeysAreInjective(t *testing.T) {
	t.Parallel()
	atoms := []string{"", "a", "b", "?", "/", "\\", ":", "|", ",", ".", "..", "@", " ", "\x00", "%", "\xff", "🙂", "A", strings.Repeat("x", 10<<10)}
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
	// alike gives other parts of the same text: cut elsewhere, or as one part with what may be
	// a separator in it.
	alike := func(parts []string) (out []string) {
		if random.IntN(2) == 0 {
			return []string{strings.Join(parts, atoms[2+random.IntN(len(atoms)-3)])}
		}
		rest := strings.Join(parts, "")
		for range max(len(parts)+random.IntN(3)-1, 0) {
			at := random.IntN(len(rest) + 1)
			out, rest = append(out, rest[:at]), rest[at:]
		}
		if rest != "" {
			out = append(out, rest)
		}
		return out
	}
	kinds := []string{kindUser, kindAddress, kindAccount, kindPasskey, kindSession, kindCopy, kindToken}
	pairs := 1_000_000
	if testing.Short() {
		pairs = 50_000
	}
	equal, cut := 0, 0
	for i := range pairs {
		a, b := parts(), parts()
		if i%2 == 0 {
			b = alike(a)
		}
		kind, other := kinds[random.IntN(len(kinds))], kinds[random.IntN(len(kinds))]
		if i%3 > 0 {
			other = kind
		}
		same := kind == other && slices.Equal(a, b)
		switch {
		case same:
			equal++
		case kind == other && strings.Join(a, "") == strings.Join(b, ""):
			cut++
		}
		if (keyOf(kind, a...) == keyOf(other, b...)) != same {
			t.Fatalf("%s %q and %s %q", kind, a, other, b)
		}
	}
	if equal < pairs/100 || cut < pairs/100 {
		t.Errorf("of %d pairs %d were the same and %d only cut elsewhere: the test shows little", pairs, equal, cut)
	}
}

func TestKeysFitEveryStore(t *testing.T) {
	t.Parallel()
	kinds := []string{kindUser, kindAddress, kindAccount, kindPasskey, kindSession, kindCopy, kindToken}
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
// again, and read back as the same; and the scanner reads nothing otherwise than encoding/json.
func FuzzRecords(f *testing.F) {
	keys := map[string]func() record{
		keyOf(kindUser, "ada"):    func() record { return new(userRecord) },
		keyOf(kindSession, "ada"): func() record { return new(sessionRecord) },
		keyOf(kindCopy, "ada"):    func() record { return new(sessionCopy) },
		keyOf(kindToken, "ada"):   func() record { return new(tokenRecord) },
		keyOf(kindAccount, "ada"): func() record { return new(accountRecord) },
		keyOf(kindPasskey, "ada"): func() record { return new(passkeyRecord) },
		keyOf(kindAddress, "ada"): func() record { return new(addressRecord) },
	}
	for key, blank := range keys {
		seed, _ := encode(key, "commit", blank(), nil)
		f.Add(seed)
		f.Add(seed[:len(seed)/2])
		f.Add([]byte(strings.Replace(string(seed), `"version":1`, `"version":99,"new":[1]`, 1)))
	}
	key := keyOf(kindUser, "ada")
	for _, u := range []*userRecord{
		{profile: profile{ID: "ada", Extra: map[string]any{"n": json.Number("1e400")}}, Owns: []string{"account.x"}},
		{profile: profile{ID: "ada", Name: "Zoë <b>", Email: "a\"@b", EmailVerified: -1}, Sessions: map[string]int64{"session.x": 1}},
	} {
		seed, _ := encode(key, "commit", u, nil)
		f.Add(seed)
	}
	f.Add([]byte(`{"kind":"user","version":1,"key":"` + key + `","KEY":"x","expires":"1"}{}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		for key, blank := range keys {
			rec := blank()
			if parse(key, value, rec) != nil {
				continue
			}
			slow := blank()
			if err := json.Unmarshal(value, slow); err != nil || !reflect.DeepEqual(rec, slow) {
				t.Fatalf("%q was read as %+v, package json reads %+v, %v", value, rec, slow, err)
			}
			once, err := encode(key, "commit", rec, value)
			if err != nil {
				t.Fatalf("%T: %v", rec, err)
			}
			again := blank()
			if err := parse(key, once, again); err != nil {
				t.Fatalf("%T: written again, %q can't be read: %v", rec, once, err)
			}
			twice, err := encode(key, "commit", again, once)
			if err != nil || !bytes.Equal(once, twice) {
				t.Fatalf("%T: %q became %q, %v", rec, once, twice, err)
			}
		}
		var quick, slow userProfile
		if parse(key, value, &quick) == nil && json.Unmarshal(value, &slow) == nil && !reflect.DeepEqual(quick, slow) {
			t.Fatalf("%q was read as %+v, package json reads %+v", value, quick, slow)
		}
	})
}

// What a session check reads is read without package json, where nothing is escaped.
func TestScannerReadsWhatEncodeWrites(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		written record
		read    scanned
	}{
		{&sessionRecord{User: "9b2f", Expires: 1767225600000}, &sessionRecord{}},
		{&sessionCopy{User: profile{ID: "9b2f", Name: "Zoë"}, Expires: 1, Until: 2}, &sessionCopy{}},
		{&userRecord{profile: profile{ID: "9b2f", Name: "Zoë", Email: "zoë+x@example.com"}}, &userProfile{}},
		{&userRecord{profile: profile{ID: "9b2f"}, Owns: []string{"account.x"}, Sessions: map[string]int64{"session.x": 1}}, &userProfile{}},
	} {
		value, err := encode("kind.x", "commit", one.written, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := scanner{rest: string(value)}
		one.read.scan(&s)
		if s.failed || s.rest != "" {
			t.Errorf("%s: failed %t at %q", value, s.failed, s.rest)
		}
	}
}
