package adaptertest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

func memoryWithout(methods ...string) func(context.Context) (*core.Adapter, error) {
	return func(context.Context) (*core.Adapter, error) {
		a := Memory()
		for _, method := range methods {
			reflect.ValueOf(a).Elem().FieldByName(method).SetZero()
		}
		return a, nil
	}
}

func TestSkip(t *testing.T) {
	t.Parallel()
	without := memoryWithout("CreateAuthenticator", "DeleteUser", "GetAccount", "FindUser", "SignUp", "SignIn", "Users")
	none := map[string]string{"authenticators": "no passkeys", "deletion": "the reference never calls it", "accounts": "no tokens are stored"}
	for name, test := range map[string]struct {
		skip map[string]string
		want []string // failed cases; nil: the options are refused
	}{
		"groups":               {map[string]string{"authenticators": "x", "deletion": "x", "accounts": "x", "context": "x", "sessions": "x"}, []string{}},
		"groups and cases":     {with(none, "context/accounts", "context/authenticators", "context/deletion", "sessions/kinds"), []string{}},
		"a case that needs it": {with(none, "context", "sessions/kinds"), []string{}},
		"one too few":          {with(none, "context/accounts", "context/deletion", "sessions/kinds"), []string{"context/authenticators"}},
		"no reason":            {map[string]string{"authenticators": ""}, nil},
		"an unknown case":      {map[string]string{"users/no-such-case": "x"}, nil},
		"an unknown group":     {map[string]string{"user": "x"}, nil},
		"an empty name":        {map[string]string{"": "x"}, nil},
		"half a group":         {map[string]string{"users/": "x"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Test(t.Context(), without, Options{Skip: test.skip})
			if test.want == nil {
				if f := (*Failure)(nil); err == nil || errors.As(err, &f) {
					t.Errorf("want the options refused, got %v", err)
				}
				return
			}
			if names := failed(t, err); !slices.Equal(names, test.want) && len(names)+len(test.want) > 0 {
				t.Errorf("failed %v, want %v", names, test.want)
			}
		})
	}
}

func with(skip map[string]string, names ...string) map[string]string {
	out := map[string]string{}
	for name, reason := range skip {
		out[name] = reason
	}
	for _, name := range names {
		out[name] = "x"
	}
	return out
}

// An adapter may do without Users, and sign in by its single methods.
func TestOptionalMethods(t *testing.T) {
	t.Parallel()
	if err := Test(t.Context(), memoryWithout("FindUser", "SignUp", "SignIn", "Users"), Options{}); err != nil {
		t.Error(err)
	}
}

// Each other method is needed by some case, and its absence is told by name.
func TestEveryMethodIsUsed(t *testing.T) {
	t.Parallel()
	adapter := reflect.TypeFor[core.Adapter]()
	for i := range adapter.NumField() {
		method := adapter.Field(i).Name
		if adapter.Field(i).Type.Kind() != reflect.Func {
			continue
		}
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			err := Test(t.Context(), memoryWithout(method), Options{})
			if method == "Users" && err == nil {
				return // optional, and in a group of its own
			}
			if err == nil || !strings.Contains(err.Error(), method+" is nil") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTrouble(t *testing.T) {
	t.Parallel()
	cause := errors.New("the disk is full")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	open := memoryWithout()
	for name, test := range map[string]struct {
		ctx      context.Context
		open     func(context.Context) (*core.Adapter, error)
		want     error  // is wrapped; nil: none
		text     string // is told
		failures int
	}{
		"open fails":      {t.Context(), func(context.Context) (*core.Adapter, error) { return nil, cause }, cause, "could not be opened", len(cases)},
		"no adapter":      {t.Context(), func(context.Context) (*core.Adapter, error) { return nil, nil }, nil, "no adapter", len(cases)},
		"a context ended": {ended, open, context.Canceled, "stopped before users/fields", 0},
		"a method fails": {t.Context(), func(ctx context.Context) (*core.Adapter, error) {
			a, err := open(ctx)
			a.CreateVerificationToken = func(context.Context, core.VerificationToken) error { return cause }
			return a, err
		}, cause, "CreateVerificationToken failed", 7},
		"a method panics": {t.Context(), func(ctx context.Context) (*core.Adapter, error) {
			a, err := open(ctx)
			a.UseVerificationToken = func(context.Context, string, string) (*core.VerificationToken, error) { panic("out of range") }
			return a, err
		}, nil, "the adapter panicked: out of range", 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Test(test.ctx, test.open, Options{})
			if err == nil || !strings.Contains(err.Error(), test.text) || test.want != nil && !errors.Is(err, test.want) {
				t.Fatalf("got %v", err)
			}
			failures := 0
			for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
				if f := (*Failure)(nil); errors.As(err, &f) {
					failures++
				}
			}
			if failures != test.failures {
				t.Errorf("%d failures, want %d", failures, test.failures)
			}
		})
	}
}

// A field that is added to a record must be part of what the suite stores.
func TestRecordsAreFull(t *testing.T) {
	t.Parallel()
	user := somebody()
	key := passkey(user, "QUFB")
	key.Counter, key.CredentialBackedUp, key.Transports = 1, true, "usb" // as authenticatorFields has them
	for _, record := range []any{user, fullAccount(user), sessionOf(user, 1), invitation(user.Email, 1), key} {
		value := reflect.ValueOf(record)
		for i := range value.NumField() {
			if value.Field(i).IsZero() && value.Type().Field(i).Name != "Revision" {
				t.Errorf("%T: %s is zero", record, value.Type().Field(i).Name)
			}
		}
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, one := range cases {
		group, name, ok := strings.Cut(one.name, "/")
		if !ok || group == "" || name == "" || one.rule == "" || one.run == nil || seen[one.name] {
			t.Errorf("%q is incomplete or there twice", one.name)
		}
		seen[one.name] = true
	}
}
