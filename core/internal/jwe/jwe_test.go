package jwe_test

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/jwe"
)

// vector is one token of testdata/tokens.json, which tokens.mjs writes.
type vector struct {
	Name     string
	Secrets  []string
	Salt     string
	Token    string
	Claims   *string // the claims as JSON, nil where the reference refuses the token
	Stricter string  // why we refuse a token that the reference accepts
}

func readVectors(t testing.TB) (vectors []vector, now time.Time) {
	t.Helper()
	b, err := os.ReadFile("testdata/tokens.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Version string
		Now     int64
		Tokens  []vector
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if len(file.Tokens) < 300 {
		t.Fatal("the vectors are missing")
	}
	return file.Tokens, time.Unix(file.Now, 999e6)
}

// decode does what the reference's decode does.
func decode(r *jwe.Ring, token string, now time.Time) (map[string]any, []byte, error) {
	payload, err := r.Open(token)
	if err != nil {
		return nil, nil, err
	}
	claims, err := jwe.ParseClaims(payload)
	if err != nil {
		return nil, nil, err
	}
	return claims, payload, jwe.CheckTimes(claims, now)
}

func TestOpenAgreesWithReference(t *testing.T) {
	t.Parallel()
	vectors, now := readVectors(t)
	for _, v := range vectors {
		_, payload, err := decode(jwe.NewRing(v.Secrets, v.Salt), v.Token, now)
		if want := v.Claims != nil && v.Stricter == ""; (err == nil) != want {
			t.Errorf("%s: %v, want accepted = %v", v.Name, err, want)
			continue
		}
		if err != nil {
			if !known(err) {
				t.Errorf("%s: error of no kind: %v", v.Name, err)
			}
			continue
		}
		var got, want any
		if json.Unmarshal(payload, &got) != nil {
			continue // a number that Go has no float64 for
		}
		if err := json.Unmarshal([]byte(*v.Claims), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: claims %s, want %s", v.Name, payload, *v.Claims)
		}
	}
}

func known(err error) bool {
	for _, kind := range []error{jwe.ErrTooLong, jwe.ErrMalformed, jwe.ErrUnsupported, jwe.ErrNoKey, jwe.ErrAuthentication, jwe.ErrClaims, jwe.ErrExpired, jwe.ErrNotYetValid} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func TestErrors(t *testing.T) {
	t.Parallel()
	kinds := map[string]error{
		"foreign key id":                          jwe.ErrNoKey,
		"another secret":                          jwe.ErrNoKey,
		"another salt":                            jwe.ErrNoKey,
		"empty key id":                            jwe.ErrNoKey,
		"A128CBC-HS256":                           jwe.ErrUnsupported,
		`header {"alg":"none"}`:                   jwe.ErrUnsupported,
		`header {"zip":"DEF"}`:                    jwe.ErrUnsupported,
		`header {"crit":[]}`:                      jwe.ErrUnsupported,
		"null as header":                          jwe.ErrMalformed,
		"padding 0":                               jwe.ErrAuthentication,
		"padding 1,2":                             jwe.ErrAuthentication,
		"0 bytes of ciphertext with a right tag":  jwe.ErrAuthentication,
		"15 bytes of ciphertext with a right tag": jwe.ErrAuthentication,
		"no ciphertext":                           jwe.ErrAuthentication,
		"A256CBC-HS512 tag flipped":               jwe.ErrAuthentication,
		"A256GCM tag flipped":                     jwe.ErrAuthentication,
		"A256CBC-HS512 iv flipped":                jwe.ErrAuthentication,
		"A256CBC-HS512 ciphertext flipped":        jwe.ErrAuthentication,
		"A256GCM ciphertext flipped":              jwe.ErrAuthentication,
		"A256CBC-HS512 short tag":                 jwe.ErrMalformed,
		"A256CBC-HS512 an encrypted key":          jwe.ErrMalformed,
		"A256CBC-HS512 six parts":                 jwe.ErrMalformed,
		"A256CBC-HS512 a newline at the end":      jwe.ErrMalformed,
		"bad UTF-8":                               jwe.ErrClaims,
		"exp null":                                jwe.ErrClaims,
		"exp now -17":                             jwe.ErrExpired,
		"nbf now 17":                              jwe.ErrNotYetValid,
	}
	vectors, now := readVectors(t)
	for _, v := range vectors {
		want, found := kinds[v.Name]
		if !found {
			continue
		}
		delete(kinds, v.Name)
		if _, _, err := decode(jwe.NewRing(v.Secrets, v.Salt), v.Token, now); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", v.Name, err, want)
		}
	}
	for name := range kinds {
		t.Errorf("no vector %q", name)
	}
	if _, err := jwe.NewRing([]string{"s"}, "n").Open(strings.Repeat("x", 64<<10+1)); !errors.Is(err, jwe.ErrTooLong) {
		t.Errorf("a token of 64 KiB and one byte: %v", err)
	}
	if _, err := jwe.NewRing(nil, "n").Open("e30..AAAA.AAAA.AAAA"); err == nil {
		t.Error("a ring without secrets opens")
	}
	if _, err := jwe.NewRing(nil, "n").Seal(nil); !errors.Is(err, jwe.ErrNoKey) {
		t.Errorf("a ring without secrets seals: %v", err)
	}
}

func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	r := jwe.NewRing([]string{"new", "old"}, "cookie")
	old := jwe.NewRing([]string{"old"}, "cookie")
	tokens := map[string]bool{}
	for n := range 100 {
		payload := []byte(strings.Repeat("x", n))
		token, err := r.Seal(payload)
		if err != nil {
			t.Fatal(err)
		}
		if tokens[token] {
			t.Fatal("the same token twice")
		}
		tokens[token] = true
		if got, err := r.Open(token); err != nil || string(got) != string(payload) {
			t.Errorf("%d bytes: %q, %v", n, got, err)
		}
		if _, err := old.Open(token); !errors.Is(err, jwe.ErrNoKey) {
			t.Errorf("%d bytes opened with the old secret alone: %v", n, err)
		}
	}
	token, _ := old.Seal([]byte("{}"))
	if got, err := r.Open(token); err != nil || string(got) != "{}" {
		t.Errorf("a token of the old secret: %q, %v", got, err)
	}
}

func TestSealNeverExceedsWhatOpens(t *testing.T) {
	t.Parallel()
	r := jwe.NewRing([]string{"s"}, "n")
	longest := 0
	for n := 48_000; n < 50_000; n++ {
		token, err := r.Seal(make([]byte, n))
		if err != nil {
			if !errors.Is(err, jwe.ErrTooLong) {
				t.Fatal(err)
			}
			break
		}
		longest = n
		if _, err := r.Open(token); err != nil {
			t.Fatalf("%d bytes are sealed and not opened: %v", n, err)
		}
	}
	if longest < 48_500 || longest > 49_151 {
		t.Errorf("the longest payload has %d bytes", longest)
	}
	if _, err := r.Seal(make([]byte, 1<<20)); !errors.Is(err, jwe.ErrTooLong) {
		t.Errorf("1 MiB: %v", err)
	}
}

// Every change of one bit, of every character to every other kind of character, and every cut is refused.
func TestChangedTokensAreRefused(t *testing.T) {
	t.Parallel()
	vectors, _ := readVectors(t)
	for _, v := range vectors {
		if v.Name != "A256CBC-HS512 untouched" && v.Name != "A256GCM untouched" {
			continue
		}
		r := jwe.NewRing(v.Secrets, v.Salt)
		if _, err := r.Open(v.Token); err != nil {
			t.Fatal(err)
		}
		refuse := func(what string, token string) {
			if payload, err := r.Open(token); err == nil {
				t.Errorf("%s: opened as %q", what, payload)
			}
		}
		for i := range len(v.Token) {
			for bit := range 8 {
				b := []byte(v.Token)
				b[i] ^= 1 << bit
				refuse("a flipped bit", string(b))
			}
			for _, c := range "A_-.= \n\x00+/" {
				if b := []byte(v.Token); b[i] != byte(c) {
					b[i] = byte(c)
					refuse("a changed character", string(b))
				}
				refuse("a character put in", v.Token[:i]+string(c)+v.Token[i:])
			}
			refuse("a cut at the end", v.Token[:i])
			refuse("a cut at the front", v.Token[i+1:])
			refuse("a character taken out", v.Token[:i]+v.Token[i+1:])
		}
	}
}

// Every flip of one bit and every cut of twenty tokens, as @auth/core and others made them, is refused.
func TestTwentyTokens(t *testing.T) {
	t.Parallel()
	vectors, _ := readVectors(t)
	tried := 0
	for _, v := range vectors {
		r := jwe.NewRing(v.Secrets, v.Salt)
		if _, err := r.Open(v.Token); err != nil || len(v.Token) > 1000 || tried == 20 {
			continue
		}
		tried++
		for i := range len(v.Token) {
			for bit := range 8 {
				b := []byte(v.Token)
				b[i] ^= 1 << bit
				if _, err := r.Open(string(b)); err == nil {
					t.Fatalf("%s: opened with bit %d of character %d flipped", v.Name, bit, i)
				}
			}
			if _, err := r.Open(v.Token[:i]); err == nil {
				t.Fatalf("%s: opened when cut after %d characters", v.Name, i)
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d tokens were tried", tried)
	}
}

// Run with -race: a fresh ring is used by many at once, and no state of one call reaches another.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	vectors, _ := readVectors(t)
	var gcm string
	for _, v := range vectors {
		if v.Name == "rotated, A256GCM by hand with zero" {
			gcm = v.Token
		}
	}
	r := jwe.NewRing([]string{"three", "two", "one", "zero"}, "authjs.session-token")
	old, err := jwe.NewRing([]string{"one"}, "authjs.session-token").Seal([]byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 50 {
				payload := strings.Repeat(string(rune('a'+i)), i*20)
				token, err := r.Seal([]byte(payload))
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := r.Open(token); err != nil || string(got) != payload {
					t.Errorf("%q, %v; want %q", got, err, payload)
				}
				if got, err := r.Open(old); err != nil || string(got) != "old" {
					t.Errorf("old: %q, %v", got, err)
				}
				if _, err := r.Open(gcm); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// rawKey derives a key as the specification words it, apart from the package.
func rawKey(t testing.TB, secret, salt string, length int) []byte {
	t.Helper()
	key, err := hkdf.Key(sha256.New, []byte(secret), []byte(salt), "Auth.js Generated Encryption Key ("+salt+")", length)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func BenchmarkSealAndOpen(b *testing.B) {
	r := jwe.NewRing([]string{"secret"}, "authjs.session-token")
	payload := []byte(strings.Repeat("x", 300))
	b.ReportAllocs()
	for b.Loop() {
		token, err := r.Seal(payload)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Open(token); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFirstSeal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jwe.NewRing([]string{"secret"}, "authjs.session-token").Seal(nil); err != nil {
			b.Fatal(err)
		}
	}
}
