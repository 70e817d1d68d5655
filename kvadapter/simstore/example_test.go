package simstore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/simstore"
)

// A value that was deleted at one location lives on at another for a minute.
func Example() {
	ctx := context.Background()
	s := simstore.New(simstore.Options{})
	here, there := s.At(0), s.At(1)
	_ = here.Put(ctx, "session", []byte("Jane's"), time.Time{})
	_, ok, _ := there.Get(ctx, "session")
	fmt.Println(ok)
	s.Clock().Advance(time.Second)
	_ = here.Delete(ctx, "session")
	for range 3 {
		_, ok, _ := there.Get(ctx, "session")
		fmt.Println(ok)
		s.Clock().Advance(30 * time.Second)
	}
	// Output:
	// true
	// true
	// true
	// false
}

// Reading and then writing loses updates; some seed shows it, and shows it again.
func ExampleStore_Run() {
	count := func(seed uint64) (int, string) {
		s := simstore.New(simstore.Options{Seed: seed, WriteInterval: -1})
		add := func(ctx context.Context) {
			value, _, _ := s.At(0).Get(ctx, "count")
			_ = s.At(0).Put(ctx, "count", append(value, '|'), time.Time{})
		}
		if err := s.Run(context.Background(), add, add); err != nil {
			return 0, err.Error()
		}
		value, _, _ := s.Value("count")
		return len(value), s.Trace()
	}
	for seed := range uint64(100) {
		if n, trace := count(seed); n != 2 {
			fmt.Printf("%d of 2\n%s", n, trace)
			break
		}
	}
	// Output:
	// 1 of 2
	//    1 +0s flow 0 at 0 Get count: no
	//    2 +0s flow 1 at 0 Get count: no
	//    3 +0s flow 0 at 0 Put count (1 bytes)
	//    4 +0s flow 1 at 0 Put count (1 bytes)
}

// A plan makes each call of a flow fail in turn.
func ExampleStore_Plan() {
	for nth := 1; ; nth++ {
		s := simstore.New(simstore.Options{})
		s.Plan(simstore.Rule{Fault: simstore.FailAfter, Nth: nth})
		ok, err := s.Atomic().Insert(context.Background(), "address", []byte("Jane"), time.Time{})
		fmt.Println(ok, err, s.AtomicKeys())
		if err == nil {
			break
		}
	}
	// Output:
	// false simstore: a fault of the test's plan [address]
	// true <nil> [address]
}
