package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// failed gives the names of the cases that a store did not pass.
func failed(t *testing.T, err error) (names []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
		var f *Failure
		if !errors.As(err, &f) {
			t.Fatalf("not a *Failure: %v", err)
		}
		if f.Rule == "" || f.Err == nil || !strings.Contains(err.Error(), f.Rule) {
			t.Errorf("the error doesn't tell the rule: %v", err)
		}
		names = append(names, f.Case)
	}
	return names
}

func TestAStoreWithoutList(t *testing.T) {
	t.Parallel()
	open := func() kv.Store { return struct{ kv.Store }{memory.New(nil)} }
	var want []string
	for _, one := range cases {
		if strings.HasPrefix(one.name, "list/") {
			want = append(want, one.name)
		}
	}
	if names := inBubble(t, open); !slices.Equal(names, want) {
		t.Errorf("failed %v, want the group list", names)
	}
	Run(t, func(t *testing.T) kv.Store {
		t.Parallel()
		return open()
	}, Options{Skip: map[string]string{"list": "it has none"}})
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	open := func(context.Context) (kv.Store, error) {
		t.Error("a store was opened")
		return memory.New(nil), nil
	}
	for name, options := range map[string]Options{
		"no reason":         {Skip: map[string]string{"list": ""}},
		"an unknown case":   {Skip: map[string]string{"list/no-such-case": "x"}},
		"an unknown group":  {Skip: map[string]string{"lists": "x"}},
		"an empty name":     {Skip: map[string]string{"": "x"}},
		"half a group":      {Skip: map[string]string{"list/": "x"}},
		"a clock that goes": {Now: time.Now},
		"a clock unread":    {Advance: func(time.Duration) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := Test(t.Context(), open, options); err == nil || errors.As(err, new(*Failure)) {
				t.Errorf("want the options refused, got %v", err)
			}
		})
	}
}

func TestTrouble(t *testing.T) {
	t.Parallel()
	cause := errors.New("the disk is full")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	commits := func(do func() (bool, error)) func(context.Context) (kv.Store, error) {
		return func(context.Context) (kv.Store, error) {
			f := over(memory.New(nil))
			f.commit = func(context.Context, []kv.Check, []kv.Write) (bool, error) { return do() }
			return f, nil
		}
	}
	for name, test := range map[string]struct {
		ctx  context.Context
		open func(context.Context) (kv.Store, error)
		want error  // is wrapped; nil: none
		text string // is told
	}{
		"open fails":      {t.Context(), func(context.Context) (kv.Store, error) { return nil, cause }, cause, "could not be opened"},
		"no store":        {t.Context(), func(context.Context) (kv.Store, error) { return nil, nil }, nil, "no store"},
		"a context ended": {ended, func(context.Context) (kv.Store, error) { return memory.New(nil), nil }, context.Canceled, "stopped before get/absent"},
		"a method fails":  {t.Context(), commits(func() (bool, error) { return false, cause }), cause, "and 1 writes failed"},
		"a method panics": {t.Context(), commits(func() (bool, error) { panic("out of range") }), nil, "the store panicked: out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Test(test.ctx, test.open, Options{})
			if err == nil || !strings.Contains(err.Error(), test.text) || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
