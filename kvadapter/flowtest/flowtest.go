// Package flowtest shows that people can sign in, stay signed in and sign out with their
// records in a given store: through the handler of package core, request by request, many at
// once, and while the store fails. Package storetest checks a store's single calls; this one
// checks what browsers see of them.
//
// This is the whole test file of somebody who has written a store:
//
//	func TestFlows(t *testing.T) {
//		flowtest.Run(t, flowtest.Options{
//			Open: func(t testing.TB) (kvadapter.Store, kvadapter.Cache) {
//				store, err := mystore.Open(t.TempDir())
//				if err != nil {
//					t.Fatal(err)
//				}
//				t.Cleanup(store.Close)
//				return store, nil
//			},
//		})
//	}
//
// People sign in by e-mail and at two OAuth providers, which are part of the test: nothing goes over
// a network but the store's own calls. The table in cases.go is the list of rules. Each case has
// a store of its own, and each site in it a key prefix of its own.
package flowtest

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

// Options say what is tested, and how much of it.
type Options struct {
	// Open opens the store of one case, which must be empty, and the cache before it. A nil
	// cache is none. Required.
	Open func(t testing.TB) (kvadapter.Store, kvadapter.Cache)

	// Bubble runs each case in a bubble of testing/synctest, for stores that wait for nobody
	// outside of it: then no case waits. Set it if there is a cache.
	Bubble bool

	// Clients is how many people come at once. Zero: 200.
	Clients int

	// Rounds is how often cases that race are repeated. Zero: 3, or 1 with -short.
	Rounds int
}

// Run runs every case as a parallel subtest on a store of its own.
func Run(t *testing.T, options Options) {
	t.Helper()
	for _, one := range cases() {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			if err := one.run(t, options, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// A testCase is a rule and how to see whether it is kept.
type testCase struct {
	name string
	rule string
	try  func(*check)
}

// run gives what was seen instead of what the rule says, or nil.
func (one *testCase) run(t *testing.T, options Options, broken func(*world, *core.Adapter)) (err error) {
	attempt := func(t *testing.T) {
		options.Clients = cmp.Or(options.Clients, 200)
		if options.Rounds == 0 {
			if options.Rounds = 3; testing.Short() {
				options.Rounds = 1
			}
		}
		c := &check{ctx: t.Context(), options: options, logf: t.Logf, broken: broken}
		c.store, c.cache = options.Open(t)
		err = one.attempt(c)
	}
	if options.Bubble {
		synctest.Test(t, attempt)
	} else {
		attempt(t)
	}
	return err
}

func (one *testCase) attempt(c *check) (err error) {
	defer func() {
		if seen := caught(recover()); seen != nil {
			err = fmt.Errorf("flowtest: %s: broken rule: %s: %w", one.name, one.rule, seen)
		}
	}()
	one.try(c)
	return nil
}

// A check is one case at work. A demand that is not met ends the case.
type check struct {
	ctx     context.Context
	options Options
	logf    func(format string, args ...any)
	store   kvadapter.Store
	cache   kvadapter.Cache             // nil: none
	broken  func(*world, *core.Adapter) // breaks the adapter, for this package's own tests; nil: nothing
	worlds  atomic.Int64
}

// failure is the panic that ends a case.
type failure struct{ error }

func (c *check) failf(format string, args ...any) {
	panic(failure{fmt.Errorf(format, args...)})
}

// caught makes an error of a recovered panic.
func caught(reason any) error {
	switch reason := reason.(type) {
	case nil:
		return nil
	case failure:
		return reason.error
	default:
		return fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
	}
}

// crowd does something n times at once, and waits.
func (c *check) crowd(n int, do func(i int)) {
	var all sync.WaitGroup
	seen := make([]error, n)
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			defer func() { seen[i] = caught(recover()) }()
			<-start
			do(i)
		})
	}
	close(start)
	all.Wait()
	for _, err := range seen {
		if err != nil {
			panic(failure{err})
		}
	}
}
