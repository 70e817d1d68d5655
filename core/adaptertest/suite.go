// Package adaptertest checks that a [core.Adapter] keeps the contract, and has an adapter
// that does, in memory.
//
// This is the whole test file of somebody who writes an adapter:
//
//	func TestAdapter(t *testing.T) {
//		adaptertest.Run(t, func(t *testing.T) *core.Adapter {
//			store := open(t.TempDir())
//			t.Cleanup(store.Close)
//			return myadapter.New(store)
//		}, adaptertest.Options{Skip: map[string]string{
//			"authenticators": "no passkeys yet",
//		}})
//	}
//
// Where there is no package testing, such as inside a wasm guest or behind a route of a
// worker, [Test] gives the same verdict as an error.
//
// A case is a rule of the contract and the calls that would show it broken. The table in
// cases.go is the list of rules. Everything is seen through the adapter's own methods:
// whether a deletion left something behind shows when the same key is used again.
//
// Cases that race calls have the same verdict every time for an adapter that is right; one
// that is wrong may be lucky, so run the suite more than once, on a store with real latency.
package adaptertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// Options say what an adapter is known not to do. The zero value demands everything.
type Options struct {
	// Skip maps the name of a case ("users/address-race"), or of a group of cases ("users"),
	// to the reason why it is left out. An unknown name is an error, and so is an empty
	// reason. A method that is nil fails each case that calls it and is not skipped; only
	// the groups "signin" (FindUser, SignUp and SignIn) and "listing" (Users) are left out
	// for an adapter that has none of their methods.
	Skip map[string]string

	// Crowd is how many call at once in the cases that race. Fewer take less time where a store is
	// far away, or many at one record wait for each other; 0: 100. It shares no divisor with 37.
	Crowd int
}

// A Failure is a case that the adapter did not pass.
type Failure struct {
	Case string // such as "users/address-race"
	Rule string // what the contract demands
	Err  error  // what was seen instead; wraps the adapter's error, if that is what was seen
}

func (f *Failure) Error() string {
	return fmt.Sprintf("adaptertest: %s: broken rule: %s: %v", f.Case, f.Rule, f.Err)
}

// Unwrap gives what was seen.
func (f *Failure) Unwrap() error { return f.Err }

// Test runs every case on an adapter of its own, which open must give empty. It returns nil
// or all failures joined, each a [*Failure]. It stops when ctx ends.
func Test(ctx context.Context, open func(context.Context) (*core.Adapter, error), options Options) error {
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
			return errors.Join(append(failures, fmt.Errorf("adaptertest: stopped before %s: %w", one.name, err))...)
		}
		adapter, err := open(ctx)
		if err == nil && one.lacks(adapter) != "" {
			continue
		}
		if err != nil {
			err = one.failure(fmt.Errorf("the adapter could not be opened: %w", err))
		} else {
			err = one.try(ctx, adapter, options)
		}
		if err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// validate finds names that no case has: a rule that was renamed must not be skipped
// silently, nor a misspelt skip be believed.
func (o Options) validate() error {
	var mistakes []error
	for name, reason := range o.Skip {
		if reason == "" {
			mistakes = append(mistakes, fmt.Errorf("adaptertest: Options.Skip[%q] gives no reason", name))
		}
		if !isCaseOrGroup(name) {
			mistakes = append(mistakes, fmt.Errorf("adaptertest: Options.Skip[%q] is neither a case nor a group of cases", name))
		}
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

// lacks says why a case is left out for an adapter: what it is about is optional, and missing.
func (one *testCase) lacks(a *core.Adapter) string {
	group, _, _ := strings.Cut(one.name, "/")
	switch {
	case a == nil:
	case group == "signin" && a.FindUser == nil && a.SignUp == nil && a.SignIn == nil:
		return "FindUser, SignUp and SignIn are nil"
	case group == "listing" && a.Users == nil:
		return "Users is nil"
	}
	return ""
}

func (one *testCase) failure(err error) error {
	return &Failure{Case: one.name, Rule: one.rule, Err: err}
}

// try runs the case. Its error is nil or a *Failure.
func (one *testCase) try(ctx context.Context, adapter *core.Adapter, o Options) (err error) {
	if adapter == nil {
		return one.failure(errors.New("there is no adapter"))
	}
	defer func() {
		if seen := caught(recover()); seen != nil {
			err = one.failure(seen)
		}
	}()
	one.run(&check{Adapter: whole(adapter), ctx: ctx, crowd: cmp.Or(o.Crowd, 100)})
	return nil
}

// broken is the panic that ends a case.
type broken struct{ error }

// caught makes an error of a recovered panic. One that this package did not raise is the
// adapter's, and its author wants to see where.
func caught(reason any) error {
	switch reason := reason.(type) {
	case nil:
		return nil
	case broken:
		return reason.error
	default:
		return fmt.Errorf("the adapter panicked: %v\n%s", reason, debug.Stack())
	}
}
