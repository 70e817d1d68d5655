package simstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/simstore"
)

func TestFaultsOfALocation(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	for _, c := range []struct {
		name string
		rule simstore.Rule
		do   func(t *testing.T, s *simstore.Store) error
		err  error
		here string // what the location reads afterwards
		then string // what it reads after the caches have ended
	}{
		{"a Put that fails", simstore.Rule{Fault: simstore.FailBefore, Ops: []simstore.Op{simstore.Put}}, putNew, simstore.ErrInjected, "old", "old"},
		{"a Put that fails with an error of its own", simstore.Rule{Fault: simstore.FailBefore, Err: mine, Ops: []simstore.Op{simstore.Put}}, putNew, mine, "old", "old"},
		{"a Put that has worked and fails", simstore.Rule{Fault: simstore.FailAfter, Ops: []simstore.Op{simstore.Put}}, putNew, simstore.ErrInjected, "new", "new"},
		{"a Delete that has worked and fails", simstore.Rule{Fault: simstore.FailAfter, Ops: []simstore.Op{simstore.Delete}}, remove, simstore.ErrInjected, "-", "-"},
		{"a throttled Put", simstore.Rule{Fault: simstore.Throttle}, putNew, simstore.ErrTooManyWrites, "old", "old"},
		{"a throttled Delete", simstore.Rule{Fault: simstore.Throttle}, remove, simstore.ErrTooManyWrites, "old", "old"},
		{"half a value", simstore.Rule{Fault: simstore.Truncate, Ops: []simstore.Op{simstore.Put}}, putNew, nil, "new"[:1], "n"},
		{"a Put out of order", simstore.Rule{Fault: simstore.Reorder, Nth: 1}, putTwice, nil, "newer", "new"},
		{"a Put out of order, alone", simstore.Rule{Fault: simstore.Reorder}, putNew, nil, "new", "new"},
		{"a Delete out of order", simstore.Rule{Fault: simstore.Reorder, Ops: []simstore.Op{simstore.Delete}}, removeAndPut, nil, "new", "-"},
		{"a Put that arrives again", simstore.Rule{Fault: simstore.Duplicate, Nth: 1}, putAndRemove, nil, "-", "new"},
		{"no Put that arrives again", simstore.Rule{Fault: simstore.Duplicate, Nth: 3}, putAndRemove, nil, "-", "-"},
		{"another key's rule", simstore.Rule{Fault: simstore.FailBefore, Prefix: "kk"}, putNew, nil, "new", "new"},
		{"another location's rule", simstore.Rule{Fault: simstore.FailBefore, Ops: []simstore.Op{simstore.Put}, Locations: []int{1, simstore.Everywhere}}, putNew, nil, "new", "new"},
		{"a flow's rule", simstore.Rule{Fault: simstore.FailBefore, Flows: []int{0}}, putNew, nil, "new", "new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := simstore.New(simstore.Options{})
			put(t, s.At(0), "k", "old")
			s.Clock().Advance(time.Hour)
			s.Plan(c.rule)
			if err := c.do(t, s); !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if got := read(t, s.At(0), "k"); got != c.here {
				t.Errorf("it is %s, want %s\n%s", got, c.here, s.Trace())
			}
			s.Clock().Advance(time.Minute)
			for i := range 2 {
				if got := read(t, s.At(i), "k"); got != c.then {
					t.Errorf("in the end it is %s at %d, want %s\n%s", got, i, c.then, s.Trace())
				}
			}
		})
	}
}

func putNew(_ *testing.T, s *simstore.Store) error {
	return s.At(0).Put(ctx, "k", []byte("new"), never)
}
func remove(_ *testing.T, s *simstore.Store) error { return s.At(0).Delete(ctx, "k") }

func putTwice(t *testing.T, s *simstore.Store) error {
	err := putNew(t, s)
	s.Clock().Advance(time.Second)
	return errors.Join(err, s.At(0).Put(ctx, "k", []byte("newer"), never))
}

func putAndRemove(t *testing.T, s *simstore.Store) error {
	err := putNew(t, s)
	s.Clock().Advance(time.Second)
	return errors.Join(err, remove(t, s))
}

func removeAndPut(t *testing.T, s *simstore.Store) error {
	err := remove(t, s)
	s.Clock().Advance(time.Second)
	return errors.Join(err, putNew(t, s))
}

func TestFaultsOfReads(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{})
	for _, value := range []string{"1st", "2nd", "3rd"} {
		put(t, s.At(0), "k", value)
		s.Clock().Advance(time.Second)
	}
	for versions, want := range []string{1: "2nd", 2: "1st", 3: "-", 4: "-"} {
		if versions == 0 {
			continue
		}
		s.Plan(simstore.Rule{Fault: simstore.Stale, Versions: versions})
		s.Clock().Advance(time.Minute)
		if got := read(t, s.At(1), "k"); got != want {
			t.Errorf("%d versions ago it was %s, want %s", versions, got, want)
		}
		s.Plan()
		if got := read(t, s.At(1), "k"); got != want {
			t.Errorf("the cache has %s, want %s", got, want)
		}
	}
	s.Plan(simstore.Rule{Fault: simstore.Truncate})
	if got := read(t, s.At(0), "k"); got != "3" {
		t.Errorf("half of 3rd is %s", got)
	}
	s.Plan(simstore.Rule{Fault: simstore.FailAfter})
	if value, ok, err := s.At(0).Get(ctx, "k"); value != nil || ok || !errors.Is(err, simstore.ErrInjected) {
		t.Errorf("a failed Get = %q, %v, %v", value, ok, err)
	}
	s.Plan(simstore.Rule{Fault: simstore.FailBefore, Ops: []simstore.Op{simstore.List}})
	if _, _, err := s.At(0).List(ctx, "k", ""); !errors.Is(err, simstore.ErrInjected) {
		t.Errorf("a failed List = %v", err)
	}
	s.Plan(simstore.Rule{Fault: simstore.Delay, Delay: time.Hour})
	now := s.Clock().Now()
	if got := read(t, s.At(0), "k"); got != "3rd" || s.Clock().Now().Sub(now) != time.Hour {
		t.Errorf("a delayed Get = %s after %v", got, s.Clock().Now().Sub(now))
	}
}

func TestFaultsOfTheAtomicStore(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{})
	a := s.Atomic()
	s.Plan(simstore.Rule{Fault: simstore.FailAfter, Nth: 1})
	if ok, err := a.Insert(ctx, "k", []byte("1234"), never); ok || !errors.Is(err, simstore.ErrInjected) || read(t, a, "k") != "1234" {
		t.Errorf("an Insert that has worked and failed = %v, %v", ok, err)
	}
	s.Plan(simstore.Rule{Fault: simstore.Duplicate})
	if ok, err := a.Swap(ctx, "k", []byte("1234"), []byte("5678"), never); ok || err != nil || read(t, a, "k") != "5678" {
		t.Errorf("a Swap delivered twice = %v, %v", ok, err)
	}
	if _, ok, err := a.Take(ctx, "k"); ok || err != nil {
		t.Errorf("a Take delivered twice = %v, %v", ok, err)
	}
	s.Plan(simstore.Rule{Fault: simstore.Truncate})
	if ok, err := a.Insert(ctx, "k", []byte("1234"), never); !ok || err != nil {
		t.Errorf("Insert = %v, %v", ok, err)
	}
	if value, _, _ := a.Take(ctx, "k"); string(value) != "1" {
		t.Errorf("half of a half is %s", value)
	}
	s.Plan(simstore.Rule{Fault: simstore.Stale}, simstore.Rule{Fault: simstore.Reorder})
	put(t, a, "k", "now")
	if got := read(t, a, "k"); got != "now" {
		t.Errorf("it is %s: neither fault befalls this store", got)
	}
}

// Rules are looked at in order; the nth call of a rule is the nth that it selects.
func TestPlan(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{Seed: 7})
	s.Plan(
		simstore.Rule{Fault: simstore.Throttle, Nth: 2, Ops: []simstore.Op{simstore.Put}},
		simstore.Rule{Fault: simstore.FailBefore, Nth: 4},
	)
	for i := range 6 {
		_, _, _ = s.At(0).Get(ctx, "k")
		_ = s.At(0).Put(ctx, "k", nil, never)
		s.Clock().Advance(time.Second)
		for n, c := range s.Calls() {
			want := simstore.None
			if n == 3 { // both rules hit it
				want = simstore.Throttle
			}
			if c.Fault != want {
				t.Errorf("round %d: call %d has the fault %v, want %v", i, n+1, c.Fault, want)
			}
		}
	}
	s.ClearCalls()
	s.Plan(simstore.Rule{Fault: simstore.FailBefore, Probability: 0.25})
	failed := 0
	for range 10_000 {
		if _, _, err := s.At(0).Get(ctx, "k"); err != nil {
			failed++
		}
	}
	if failed < 2200 || failed > 2800 || len(s.Calls()) != 10_000 {
		t.Errorf("%d of 10,000 calls failed, want a quarter", failed)
	}
}

// A crashed flow is over: nothing after the call runs but deferred functions, whose calls fail.
func TestCrash(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{})
	s.Plan(simstore.Rule{Fault: simstore.Crash, Nth: 2})
	hasGoneOn := false
	var deferred, other error
	err := s.Run(ctx, func(ctx context.Context) {
		defer func() { deferred = s.At(0).Put(ctx, "deferred", nil, never) }()
		_ = s.At(0).Put(ctx, "1", nil, never)
		_ = s.At(0).Put(ctx, "2", nil, never)
		hasGoneOn = true
	})
	if err != nil || hasGoneOn || !errors.Is(deferred, simstore.ErrInjected) {
		t.Errorf("Run = %v, went on: %v, the deferred call = %v", err, hasGoneOn, deferred)
	}
	if got := s.Keys(); len(got) != 2 {
		t.Errorf("keys %v, want what was written until the crash", got)
	}
	err = s.Run(ctx, func(ctx context.Context) { other = s.At(0).Put(ctx, "later", nil, never) })
	if err != nil || other != nil {
		t.Errorf("the next Run = %v, its call = %v", err, other)
	}
}

// While one flow's call is delayed the others go on.
func TestDelayedCallsOvertake(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		s := simstore.New(simstore.Options{Seed: seed, WriteInterval: -1})
		s.Plan(simstore.Rule{Fault: simstore.Delay, Delay: time.Minute, Flows: []int{0}})
		err := s.Run(ctx, func(ctx context.Context) {
			_ = s.At(0).Put(ctx, "k", []byte("slow"), never)
		}, func(ctx context.Context) {
			_ = s.At(0).Put(ctx, "k", []byte("quick"), never)
		})
		if got := read(t, s.At(0), "k"); err != nil || got != "slow" || s.Clock().Now().Sub(simstore.Epoch) != time.Minute {
			t.Fatalf("seed %d: %v, %s\n%s", seed, err, got, s.Trace())
		}
	}
}

func TestDamageAndValue(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{Lag: 10 * time.Second})
	put(t, s.At(0), "k", "whole")
	read(t, s.At(1), "k")
	s.Damage("k", func(value []byte) []byte { return value[:2] })
	s.Damage("absent", func([]byte) []byte { return []byte("x") })
	for i := range 2 {
		if got := read(t, s.At(i), "k") + read(t, s.At(i), "absent"); got != "wh-" {
			t.Errorf("location %d reads %s", i, got)
		}
	}
	if value, expires, ok := s.Value("k"); string(value) != "wh" || !expires.IsZero() || !ok {
		t.Errorf("Value = %q, %v, %v", value, expires, ok)
	}
	if _, _, ok := s.Value("absent"); ok {
		t.Error("Value finds an absent key")
	}
}
