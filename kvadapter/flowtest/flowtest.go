// Package flowtest shows that people can sign in, stay signed in and sign out with their
// records in a given store: through the handler of package core, request by request, many at
// once, and while the store fails. Package storetest checks a store's single calls; this one
// checks what browsers see of them.
//
// This is the whole test file of somebody who has written a store:
//
//	func TestFlows(t *testing.T) {
//		flowtest.Run(t, flowtest.Options{
//			Open: func(t testing.TB) (kvadapter.Store, kvadapter.Atomic) {
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
// People sign in by e-mail, at two OAuth providers and at one OpenID provider. All of them are
// part of the test: nothing goes over a network but the store's own calls.
//
// The table in cases.go is the list of rules. Each case has a store of its own, and each site
// in it a key prefix of its own.
package flowtest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"testing"
	"testing/synctest"

	"github.com/edgeauth/edgeauth/kvadapter"
)

// Options say what is tested, and how much of it.
type Options struct {
	// Open opens the stores of one case, which must be empty. atomic is what
	// kvadapter.Options.Atomic is; nil if sessions is Atomic itself. Required.
	Open func(t testing.TB) (sessions kvadapter.Store, atomic kvadapter.Atomic)

	// Bubble runs each case in a bubble of testing/synctest, for stores that wait for nobody
	// outside of it: cases about time are then exact and wait for nothing. False: by the clock
	// of this machine, which takes seconds and shows a little less.
	Bubble bool

	// Clients is how many people come at once. Zero: 1,000, or 100 with -short.
	Clients int

	// Rounds is how often cases that race are repeated. Zero: 10, or 2 with -short.
	Rounds int

	// Skip maps the name of a case to the reason why it is left out. An unknown name fails
	// the test, and so does an empty reason.
	Skip map[string]string

	isSparse bool // leaves most of what is counted through out
}

func (o Options) withDefaults() Options {
	many, often := 1000, 10
	if testing.Short() {
		many, often = 100, 2
	}
	if o.Clients == 0 {
		o.Clients = many
	}
	if o.Rounds == 0 {
		o.Rounds = often
	}
	return o
}

// validate finds skips that no case has: a case that was renamed must not be skipped silently.
func (o Options) validate() error {
	var mistakes []error
	if o.Open == nil {
		mistakes = append(mistakes, errors.New("flowtest: Options.Open is missing"))
	}
	known := map[string]bool{}
	for _, one := range cases() {
		known[one.name] = true
	}
	for name, reason := range o.Skip {
		if !known[name] {
			mistakes = append(mistakes, fmt.Errorf("flowtest: Options.Skip[%q] is no case", name))
		}
		if reason == "" {
			mistakes = append(mistakes, fmt.Errorf("flowtest: Options.Skip[%q] gives no reason", name))
		}
	}
	return errors.Join(mistakes...)
}

// Run runs every case as a parallel subtest on stores of its own.
func Run(t *testing.T, options Options) {
	t.Helper()
	if err := options.validate(); err != nil {
		t.Fatal(err)
	}
	options.isSparse = testing.Short()
	for _, one := range cases() {
		t.Run(one.name, func(t *testing.T) {
			if reason := options.Skip[one.name]; reason != "" {
				t.Skip(reason)
			}
			t.Parallel()
			if err := one.run(t, options, breakage{}); err != nil {
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
func (one *testCase) run(t *testing.T, options Options, broken breakage) (err error) {
	attempt := func(t *testing.T) {
		c := &check{ctx: t.Context(), options: options.withDefaults(), logf: t.Logf, broken: broken}
		c.sessions, c.atomic = options.Open(t)
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

// failure is the panic that ends a case.
type failure struct{ error }

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
