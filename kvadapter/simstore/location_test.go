package simstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/simstore"
)

var (
	ctx   = context.Background()
	never time.Time
)

// store is what a location and the strongly consistent store have in common.
type store interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Put(ctx context.Context, key string, value []byte, expires time.Time) error
	Delete(ctx context.Context, key string) error
	List(ctx context.Context, prefix, cursor string) (keys []string, next string, err error)
}

// read gives the value of key, or "-" for none.
func read(t testing.TB, s store, key string) string {
	t.Helper()
	value, ok, err := s.Get(ctx, key)
	if err != nil {
		t.Fatalf("Get %s: %v", key, err)
	}
	if !ok {
		return "-"
	}
	return string(value)
}

func put(t testing.TB, s store, key, value string) {
	t.Helper()
	if err := s.Put(ctx, key, []byte(value), never); err != nil {
		t.Fatalf("Put %s: %v", key, err)
	}
}

// A location goes on giving what it has read, a miss too, for a minute to the second.
func TestLocationsCacheHitsAndMisses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		options simstore.Options
		bound   time.Duration
	}{
		{"as Cloudflare says", simstore.Options{}, time.Minute},
		{"a longer cache", simstore.Options{CacheTTL: 5 * time.Minute}, 5 * time.Minute},
		{"with a lag", simstore.Options{Lag: 7 * time.Second}, time.Minute},
		{"a lag longer than the cache", simstore.Options{Lag: 90 * time.Second}, 2 * time.Minute},
		{"no cache", simstore.Options{CacheTTL: -1}, 0},
		{"no cache and a lag", simstore.Options{CacheTTL: -1, Lag: 3 * time.Second}, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := simstore.New(c.options)
			put(t, s.At(0), "hit", "1")
			s.Clock().Advance(time.Hour)
			if got := read(t, s.At(1), "hit") + read(t, s.At(1), "miss"); got != "1-" {
				t.Fatalf("the other location reads %s", got)
			}
			if err := s.At(0).Delete(ctx, "hit"); err != nil {
				t.Fatal(err)
			}
			put(t, s.At(0), "miss", "2")
			if got := read(t, s.At(0), "hit") + read(t, s.At(0), "miss"); got != "-2" {
				t.Errorf("the writer reads %s", got)
			}
			for second := time.Duration(0); second <= c.bound+time.Minute; second += time.Second {
				want := "1-"
				if second >= c.bound {
					want = "-2"
				}
				if got := read(t, s.At(1), "hit") + read(t, s.At(1), "miss"); got != want {
					t.Fatalf("after %v the other location reads %s, want %s", second, got, want)
				}
				s.Clock().Advance(time.Second)
			}
		})
	}
}

func TestOwnWritesCanBeStale(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{StaleOwnWrites: true})
	if got := read(t, s.At(0), "k"); got != "-" {
		t.Fatal(got)
	}
	put(t, s.At(0), "k", "1")
	if got := read(t, s.At(0), "k"); got != "-" {
		t.Errorf("the writer reads %s, want what it has cached", got)
	}
	s.Clock().Advance(time.Minute)
	if got := read(t, s.At(0), "k"); got != "1" {
		t.Errorf("the writer reads %s after a minute", got)
	}
}

// Without faults no location ever goes back to an older version, whoever writes, and in the
// end all agree on the last write.
func TestReadsAreMonotone(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		s := simstore.New(simstore.Options{
			Seed: seed, Locations: 3, StaleOwnWrites: seed%2 == 0, Lag: time.Duration(seed%5) * 20 * time.Second,
		})
		last := [3]int{}
		version := 0
		for range 200 {
			s.Clock().Advance(time.Duration(1+rng.IntN(30)) * time.Second)
			place := rng.IntN(3)
			if rng.IntN(3) == 0 {
				version++
				put(t, s.At(place), "k", strconv.Itoa(version))
				continue
			}
			got, _ := strconv.Atoi(strings.Replace(read(t, s.At(place), "k"), "-", "0", 1))
			if got < last[place] {
				t.Fatalf("seed %d: location %d reads %d after %d\n%s", seed, place, got, last[place], s.Trace())
			}
			last[place] = got
		}
		s.Clock().Advance(3 * time.Minute)
		for place := range 3 {
			if got := read(t, s.At(place), "k"); got != strconv.Itoa(version) {
				t.Fatalf("seed %d: location %d ends at %s, the last write was %d", seed, place, got, version)
			}
		}
	}
}

func TestOneWriteASecondForEachKey(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{})
	put(t, s.At(0), "k", "1")
	s.Clock().Advance(999 * time.Millisecond)
	if err := s.At(1).Put(ctx, "k", nil, never); !errors.Is(err, simstore.ErrTooManyWrites) {
		t.Errorf("a second Put = %v, want ErrTooManyWrites", err)
	}
	if err := s.At(0).Delete(ctx, "k"); !errors.Is(err, simstore.ErrTooManyWrites) {
		t.Errorf("Delete = %v, want ErrTooManyWrites", err)
	}
	put(t, s.At(0), "other", "1")
	if got := read(t, s.At(0), "k"); got != "1" {
		t.Errorf("a refused write changed the value to %s", got)
	}
	s.Clock().Advance(time.Millisecond) // what was refused does not count
	put(t, s.At(1), "k", "2")
	free := simstore.New(simstore.Options{WriteInterval: -1})
	put(t, free.At(0), "k", "1")
	put(t, free.At(0), "k", "2")
}

func TestValuesEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		options simstore.Options
		ahead   time.Duration // of the end
		err     error
		lives   time.Duration // until it is absent
	}{
		{"59 s are refused", simstore.Options{}, 59 * time.Second, simstore.ErrExpiration, 0},
		{"a moment too few", simstore.Options{}, time.Minute - 1, simstore.ErrExpiration, 0},
		{"the past is refused", simstore.Options{}, -time.Hour, simstore.ErrExpiration, 0},
		{"60 s", simstore.Options{}, time.Minute, nil, time.Minute},
		{"61 s", simstore.Options{}, 61 * time.Second, nil, 61 * time.Second},
		{"short ones kept longer", simstore.Options{KeepShort: true}, time.Second, nil, time.Minute},
		{"short ones allowed", simstore.Options{MinTTL: -1}, time.Second, nil, time.Second},
		{"late removal", simstore.Options{Linger: 9 * time.Second}, time.Minute, nil, 69 * time.Second},
		{"a clock that is slow", simstore.Options{Skew: []time.Duration{-5 * time.Minute}}, time.Minute, nil, 6 * time.Minute},
		{"a clock that is fast", simstore.Options{Skew: []time.Duration{5 * time.Minute}}, time.Minute, simstore.ErrExpiration, 0},
		{"a fast clock, longer", simstore.Options{Skew: []time.Duration{5 * time.Minute}}, 6 * time.Minute, nil, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := simstore.New(c.options)
			err := s.At(0).Put(ctx, "k", []byte("v"), s.Clock().Now().Add(c.ahead))
			if !errors.Is(err, c.err) {
				t.Fatalf("Put = %v, want %v", err, c.err)
			}
			if err != nil {
				if got := read(t, s.At(0), "k"); got != "-" {
					t.Errorf("a refused value is there: %s", got)
				}
				return
			}
			s.Clock().Advance(c.lives - 1)
			if got := read(t, s.At(0), "k"); got != "v" {
				t.Errorf("just before %v it is %s", c.lives, got)
			}
			s.Clock().Advance(1)
			if got := read(t, s.At(0), "k"); got != "-" {
				t.Errorf("after %v it is %s", c.lives, got)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{MaxValue: 10})
	stores := map[string]store{"a location": s.At(0), "atomic": s.Atomic()}
	for name, view := range stores {
		for _, key := range []string{"", ".", "..", strings.Repeat("k", 513), "é", "a\x00b"} {
			_, _, getErr := view.Get(ctx, key)
			for call, err := range map[string]error{"Get": getErr, "Put": view.Put(ctx, key, nil, never), "Delete": view.Delete(ctx, key)} {
				if !errors.Is(err, simstore.ErrKey) {
					t.Errorf("%s: %s(%.10q) = %v, want ErrKey", name, call, key, err)
				}
			}
		}
		put(t, view, strings.Repeat("k", 512), strings.Repeat("v", 10))
		if err := view.Put(ctx, "k", make([]byte, 11), never); !errors.Is(err, simstore.ErrValueTooLarge) {
			t.Errorf("%s: Put of 11 bytes = %v, want ErrValueTooLarge", name, err)
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if err := view.Put(gone, "cancelled", nil, never); !errors.Is(err, context.Canceled) || read(t, view, "cancelled") != "-" {
			t.Errorf("%s: Put with an ended context = %v", name, err)
		}
		value := []byte("a")
		if err := view.Put(ctx, "shared", value, never); err != nil {
			t.Fatal(err)
		}
		value[0] = 'X'
		got, _, _ := view.Get(ctx, "shared")
		got[0] = 'Y'
		if got := read(t, view, "shared"); got != "a" {
			t.Errorf("%s: a caller changed the stored value to %s", name, got)
		}
	}
}

// keys gives all pages of a list, and how many there were.
func keys(t testing.TB, s store, prefix string) (all []string, pages int) {
	t.Helper()
	for cursor := ""; ; {
		page, next, err := s.List(ctx, prefix, cursor)
		if err != nil {
			t.Fatal(err)
		}
		all, pages = append(all, page...), pages+1
		if next == "" {
			return all, pages
		}
		cursor = next
	}
}

func TestListLags(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{PageSize: 10, EmptyPages: true})
	var want []string
	for i := range 25 {
		key := fmt.Sprintf("p:%02d", i)
		want = append(want, key)
		put(t, s.At(0), key, "")
	}
	put(t, s.At(0), "q", "")
	if got, _ := keys(t, s.At(0), "p:"); len(got) != 0 {
		t.Errorf("List at once = %v, want nothing yet", got)
	}
	s.Clock().Advance(time.Minute)
	if got, pages := keys(t, s.At(1), "p:"); !slices.Equal(got, want) || pages != 4 {
		t.Errorf("List after a minute = %v in %d pages", got, pages)
	}
	if err := s.At(0).Delete(ctx, "p:00"); err != nil {
		t.Fatal(err)
	}
	s.Clock().Advance(59 * time.Second)
	if got, _ := keys(t, s.At(0), "p:"); !slices.Equal(got, want) {
		t.Errorf("List after a Delete = %v, want the deleted key in it still", got)
	}
	s.Clock().Advance(time.Second)
	if got, _ := keys(t, s.At(0), "p:"); !slices.Equal(got, want[1:]) {
		t.Errorf("List a minute after a Delete = %v", got)
	}
	if got := s.Keys(); !slices.Equal(got, append(want[1:], "q")) {
		t.Errorf("Keys = %v", got)
	}
	for _, key := range want {
		put(t, s.Atomic(), key, "")
	}
	if got, pages := keys(t, s.Atomic(), "p:"); !slices.Equal(got, want) || pages != 4 {
		t.Errorf("List of the strongly consistent store = %v in %d pages", got, pages)
	}
}
