// Package storetest checks that a [kv.Store] keeps its contract.
//
// This is the whole test file of somebody who writes a store:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) kv.Store {
//			store, err := mystore.Open(t.TempDir())
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(store.Close)
//			return store
//		}, storetest.Options{Skip: map[string]string{
//			"list": "the service can't enumerate its keys",
//		}})
//	}
//
// Where package testing isn't available, such as inside a wasm guest or behind a route of a
// worker, [Test] returns the same verdict as an error.
//
// A case is a rule of the contract and the calls that would show it broken. The table in
// cases.go lists the rules. The cases of the group "list" need a [kv.Lister]; a store that isn't
// one fails them unless they are skipped, so that a List method lost by mistake is noticed.
//
// Cases about expiry take up to a second each, unless the store's clock can be moved with
// Options.Advance.
//
// A correct store passes the cases that race calls every time. A broken one may pass by luck, so
// run the suite more than once, on a store with real latency.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// Options say what is special about a store. The zero value requires everything, and uses the
// clock of this machine.
type Options struct {
	// Skip maps the name of a case ("list/pages"), or of a group of cases ("list"), to the
	// reason why it is left out. An unknown name is an error, and so is an empty reason.
	Skip map[string]string

	// Now is the store's clock; nil: time.Now. Set it together with Advance or not at all.
	Now func() time.Time

	// Advance moves the clock that Now reads; nil: cases about expiry wait.
	Advance func(time.Duration)
}

// A Failure is a case that the store did not pass.
type Failure struct {
	Case string // such as "race/counter"
	Rule string // what the contract requires
	Err  error  // what was seen instead; wraps the store's error, if there was one
}

func (f *Failure) Error() string {
	return fmt.Sprintf("storetest: %s: broken rule: %s: %v", f.Case, f.Rule, f.Err)
}

// Unwrap returns what was seen.
func (f *Failure) Unwrap() error { return f.Err }

// Test runs every case on a store of its own, which open must return empty. It returns nil or
// all failures joined, each a [*Failure]. It stops when ctx ends.
func Test(ctx context.Context, open func(context.Context) (kv.Store, error), options Options) error {
	if err := options.validate(); err != nil {
		return err
	}
	var failures []error
	for i := range cases {
		one := &cases[i]
		if options.reason(one.name) != "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return errors.Join(append(failures, fmt.Errorf("storetest: stopped before %s: %w", one.name, err))...)
		}
		store, err := open(ctx)
		if err != nil {
			err = one.failure(fmt.Errorf("the store could not be opened: %w", err))
		} else {
			err = one.try(ctx, store, options)
		}
		if err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// validate finds names that no case has: neither a rule that was renamed nor a misspelt name may
// be skipped silently.
func (o Options) validate() error {
	var mistakes []error
	for name, reason := range o.Skip {
		if reason == "" {
			mistakes = append(mistakes, fmt.Errorf("storetest: Options.Skip[%q] gives no reason", name))
		}
		if !isCaseOrGroup(name) {
			mistakes = append(mistakes, fmt.Errorf("storetest: Options.Skip[%q] is neither a case nor a group of cases", name))
		}
	}
	if (o.Now == nil) != (o.Advance == nil) {
		mistakes = append(mistakes, errors.New("storetest: Options.Now and Options.Advance need each other"))
	}
	return errors.Join(mistakes...)
}

func isCaseOrGroup(name string) bool {
	for i := range cases {
		if group, _, _ := strings.Cut(cases[i].name, "/"); name == group || name == cases[i].name {
			return true
		}
	}
	return false
}

// reason says why a case is skipped, or is "".
func (o Options) reason(name string) string {
	if reason := o.Skip[name]; reason != "" {
		return reason
	}
	group, _, _ := strings.Cut(name, "/")
	return o.Skip[group]
}

// A testCase is a rule and how to see whether it is kept.
type testCase struct {
	name string // group and case, with a slash between
	rule string
	run  func(*check)
}

func (one *testCase) failure(err error) error {
	return &Failure{Case: one.name, Rule: one.rule, Err: err}
}

// try runs the case. Its error is nil or a *Failure.
func (one *testCase) try(ctx context.Context, store kv.Store, options Options) (err error) {
	if store == nil {
		return one.failure(errors.New("there is no store"))
	}
	defer func() {
		if seen := caught(recover()); seen != nil {
			err = one.failure(seen)
		}
	}()
	one.run(newCheck(ctx, store, options))
	return nil
}

// broken is the panic that ends a case.
type broken struct{ error }

// caught makes an error of a recovered panic. A panic that this package did not raise is the
// store's, and the error says where it happened.
func caught(reason any) error {
	switch reason := reason.(type) {
	case nil:
		return nil
	case broken:
		return reason.error
	default:
		return fmt.Errorf("the store panicked: %v\n%s", reason, debug.Stack())
	}
}
