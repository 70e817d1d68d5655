package simstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/simstore"
)

// threeSteps is a flow that makes three calls and writes its name to order at each.
func threeSteps(s *simstore.Store, name string, order *strings.Builder) func(context.Context) {
	return func(ctx context.Context) {
		for range 3 {
			_, _, _ = s.At(0).Get(ctx, name)
			order.WriteString(name)
		}
	}
}

// Two flows of three steps have 6!/(3!3!) = 20 orders.
func TestSeedsReachEveryOrder(t *testing.T) {
	t.Parallel()
	orders := map[string]int{}
	for seed := range uint64(1000) {
		var order strings.Builder
		s := simstore.New(simstore.Options{Seed: seed})
		if err := s.Run(ctx, threeSteps(s, "a", &order), threeSteps(s, "b", &order)); err != nil {
			t.Fatal(err)
		}
		orders[order.String()]++
	}
	if len(orders) != 20 {
		t.Errorf("%d orders: %v", len(orders), orders)
	}
}

// The same seed gives the same trace, faults by chance and delays included.
func TestSeedsReplay(t *testing.T) {
	t.Parallel()
	trace := func(seed uint64) string {
		s := simstore.New(simstore.Options{Seed: seed, Locations: 3})
		s.Plan(simstore.Rule{Fault: simstore.Delay, Probability: 0.2}, simstore.Rule{Fault: simstore.FailAfter, Probability: 0.3})
		var flows []func(context.Context)
		for i := range 3 {
			flows = append(flows, func(ctx context.Context) {
				_ = s.At(i).Put(ctx, "k", fmt.Append(nil, i), never)
				_ = s.Sleep(ctx, time.Duration(i)*time.Second)
				_, _, _ = s.At(i).Get(ctx, "k")
				_, _ = s.Atomic().Insert(ctx, "k", fmt.Append(nil, i), never)
			})
		}
		if err := s.Run(ctx, flows...); err != nil {
			t.Fatal(err)
		}
		return s.Trace()
	}
	seen := map[string]bool{}
	for seed := range uint64(200) {
		first := trace(seed)
		if again := trace(seed); again != first {
			t.Fatalf("seed %d gave\n%s\nand then\n%s", seed, first, again)
		}
		seen[first] = true
	}
	if len(seen) < 150 {
		t.Errorf("200 seeds gave only %d traces", len(seen))
	}
}

func TestTimePassesWhenAllFlowsWait(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		s := simstore.New(simstore.Options{Seed: seed})
		var order strings.Builder
		sleeper := func(name string, d time.Duration) func(context.Context) {
			return func(ctx context.Context) {
				_ = s.Sleep(ctx, d)
				fmt.Fprintf(&order, "%s at %v, ", name, s.Clock().Now().Sub(simstore.Epoch))
			}
		}
		if err := s.Run(ctx, sleeper("b", 2*time.Hour), sleeper("a", time.Hour), threeSteps(s, "x", &order)); err != nil {
			t.Fatal(err)
		}
		if got := order.String(); got != "xxxa at 1h0m0s, b at 2h0m0s, " {
			t.Fatalf("seed %d: %s", seed, got)
		}
	}
}

func TestFlowsWaitForOneAnother(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		s := simstore.New(simstore.Options{Seed: seed})
		isReady := false
		err := s.Run(ctx, func(ctx context.Context) {
			if err := s.Wait(ctx, func() bool { return isReady }); err != nil || !isReady {
				t.Errorf("seed %d: Wait = %v", seed, err)
			}
		}, func(ctx context.Context) {
			_, _, _ = s.At(0).Get(ctx, "k")
			isReady = true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s := simstore.New(simstore.Options{})
	var got error
	err := s.Run(ctx, func(ctx context.Context) {
		got = s.Wait(ctx, func() bool { return false })
	}, func(ctx context.Context) {
		_ = s.Wait(ctx, func() bool { return got != nil })
		if err := s.At(0).Put(ctx, "k", nil, never); !errors.Is(err, simstore.ErrDeadlock) {
			t.Errorf("a call after the deadlock = %v", err)
		}
	})
	if !errors.Is(err, simstore.ErrDeadlock) || !errors.Is(got, simstore.ErrDeadlock) {
		t.Errorf("Run = %v, Wait = %v, want ErrDeadlock", err, got)
	}
}

// A lock that a flow holds across a call is what stops a worker for ever (E-2).
func TestALockAcrossCallsIsFound(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{Patience: 50 * time.Millisecond})
	var mu sync.Mutex
	flow := func(ctx context.Context) {
		mu.Lock()
		defer mu.Unlock()
		_, _, _ = s.At(0).Get(ctx, "k")
	}
	if err := s.Run(ctx, flow, flow); !errors.Is(err, simstore.ErrStuck) {
		t.Errorf("Run = %v, want ErrStuck", err)
	}
}

func TestFlowsWithoutEnd(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{MaxCalls: 100})
	err := s.Run(ctx, func(ctx context.Context) {
		for {
			if _, _, err := s.At(0).Get(ctx, "k"); err != nil {
				return
			}
		}
	})
	if !errors.Is(err, simstore.ErrEndless) {
		t.Errorf("Run = %v, want ErrEndless", err)
	}
}

func TestStrayCallsAreRefused(t *testing.T) {
	t.Parallel()
	t.Run("without the flow's context", func(t *testing.T) {
		t.Parallel()
		s := simstore.New(simstore.Options{})
		err := s.Run(ctx, func(context.Context) {
			if err := s.At(0).Put(context.Background(), "k", nil, never); !errors.Is(err, simstore.ErrStray) {
				t.Errorf("Put = %v, want ErrStray", err)
			}
		})
		if !errors.Is(err, simstore.ErrStray) || len(s.Keys()) != 0 {
			t.Errorf("Run = %v, keys %v", err, s.Keys())
		}
	})
	t.Run("after the flow", func(t *testing.T) {
		t.Parallel()
		s := simstore.New(simstore.Options{})
		var left context.Context
		if err := s.Run(ctx, func(ctx context.Context) { left = ctx }); err != nil {
			t.Fatal(err)
		}
		if err := s.At(0).Put(left, "k", nil, never); !errors.Is(err, simstore.ErrStray) || len(s.Keys()) != 0 {
			t.Errorf("Put = %v, want ErrStray", err)
		}
		if calls := s.Calls(); len(calls) != 1 || !errors.Is(calls[0].Err, simstore.ErrStray) || calls[0].Flow != 0 {
			t.Errorf("calls %v", calls)
		}
	})
	t.Run("beside the flow's own", func(t *testing.T) {
		t.Parallel()
		s := simstore.New(simstore.Options{})
		err := s.Run(ctx, func(ctx context.Context) {
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() { _ = s.At(0).Put(ctx, "k", nil, never) })
			}
			both.Wait()
			_, _, _ = s.At(0).Get(ctx, "k")
		})
		// The goroutines may have come one after the other by luck; then it was no mistake.
		if err != nil && !errors.Is(err, simstore.ErrStray) {
			t.Errorf("Run = %v", err)
		}
	})
	t.Run("left behind", func(t *testing.T) {
		t.Parallel()
		s := simstore.New(simstore.Options{})
		result := make(chan error, 1)
		err := s.Run(ctx, func(ctx context.Context) {
			go func() { result <- s.At(0).Put(ctx, "k", nil, never) }()
		})
		if put := <-result; errors.Is(put, simstore.ErrStray) != (len(s.Keys()) == 0) || err != nil && !errors.Is(err, simstore.ErrStray) {
			t.Errorf("Run = %v, Put = %v, keys %v", err, put, s.Keys())
		}
	})
}

func TestPanicsAndExits(t *testing.T) {
	t.Parallel()
	s := simstore.New(simstore.Options{})
	hasEnded := false
	err := s.Run(ctx, func(ctx context.Context) {
		_, _, _ = s.At(0).Get(ctx, "k")
		panic("the flow's mistake")
	}, func(ctx context.Context) {
		_, _, _ = s.At(0).Get(ctx, "k")
		_, _, _ = s.At(0).Get(ctx, "k")
		hasEnded = true
	})
	if err == nil || !strings.Contains(err.Error(), "flow 0 panicked: the flow's mistake") || !hasEnded {
		t.Errorf("Run = %v, the other flow ended: %v", err, hasEnded)
	}
	if err := s.Run(ctx); err != nil {
		t.Errorf("Run without flows = %v", err)
	}
}

// In a bubble of testing/synctest the store shares the time of the code under test.
func TestBubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := simstore.New(simstore.Options{Clock: simstore.Bubble{}})
		err := s.Run(ctx, func(ctx context.Context) {
			_ = s.Sleep(ctx, time.Hour)
			_ = s.At(0).Put(ctx, "k", nil, time.Now().Add(time.Minute))
		}, func(ctx context.Context) {
			_ = s.Sleep(ctx, 59*time.Minute)
		})
		if err != nil || time.Since(start) != time.Hour || len(s.Keys()) != 1 {
			t.Errorf("Run = %v after %v, keys %v", err, time.Since(start), s.Keys())
		}
		time.Sleep(time.Minute)
		if len(s.Keys()) != 0 {
			t.Error("the value has not ended with the bubble's time")
		}
	})
}
