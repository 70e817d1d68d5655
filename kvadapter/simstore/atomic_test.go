package simstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/simstore"
)

func TestAtomic(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{})
	a := s.Atomic()
	soon := s.Clock().Now().Add(time.Second)
	check := func(step string, got bool, err error, want bool) {
		t.Helper()
		if got != want || err != nil {
			t.Errorf("%s = %v, %v, want %v", step, got, err, want)
		}
	}
	ok, err := a.Insert(ctx, "k", []byte("1"), soon)
	check("Insert", ok, err, true)
	ok, err = a.Insert(ctx, "k", []byte("2"), never)
	check("a second Insert", ok, err, false)
	ok, err = a.Swap(ctx, "k", []byte("2"), []byte("3"), never)
	check("Swap of another value", ok, err, false)
	ok, err = a.Swap(ctx, "k", []byte("1"), []byte("3"), soon)
	check("Swap", ok, err, true)
	if got := read(t, a, "k"); got != "3" {
		t.Errorf("after Swap it is %s", got)
	}
	if got := read(t, s.At(0), "k"); got != "-" {
		t.Errorf("the eventually consistent store has it too: %s", got)
	}
	s.Clock().Advance(time.Second)
	_, ok, err = a.Take(ctx, "k")
	check("Take of an ended value", ok, err, false)
	ok, err = a.Swap(ctx, "k", []byte("3"), nil, never)
	check("Swap of an ended value", ok, err, false)
	ok, err = a.Insert(ctx, "k", []byte("4"), never)
	check("Insert over an ended value", ok, err, true)
	if got := s.AtomicKeys(); !slices.Equal(got, []string{"k"}) {
		t.Errorf("AtomicKeys = %v", got)
	}
	value, ok, err := a.Take(ctx, "k")
	check("Take "+string(value), ok, err, true)
	_, ok, err = a.Take(ctx, "k")
	check("a second Take", ok, err, false)
}

// Whatever the order, one of the flows that take a value gets it, and one of those that insert
// one stores it.
func TestOneFlowWins(t *testing.T) {
	t.Parallel()
	first := map[int]bool{}
	for seed := range uint64(200) {
		s := simstore.New(simstore.Options{Seed: seed})
		put(t, s.Atomic(), "token", "v")
		var took, inserted []int
		flow := func(n int) func(context.Context) {
			return func(ctx context.Context) {
				if _, ok, _ := s.Atomic().Get(ctx, "token"); !ok {
					return
				}
				if _, ok, _ := s.Atomic().Take(ctx, "token"); ok {
					took = append(took, n)
				}
				if ok, _ := s.Atomic().Insert(ctx, "claim", nil, never); ok {
					inserted = append(inserted, n)
				}
			}
		}
		if err := s.Run(ctx, flow(0), flow(1), flow(2)); err != nil {
			t.Fatal(err)
		}
		if len(took) != 1 || len(inserted) != 1 {
			t.Fatalf("seed %d: took %v, inserted %v\n%s", seed, took, inserted, s.Trace())
		}
		first[took[0]] = true
	}
	if len(first) != 3 {
		t.Errorf("over all seeds only flows %v won", first)
	}
}
