package adaptertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// A fault is a way in which an adapter can be wrong, most of them seen in adapters that are
// in use. It is put into Memory, and the suite must see it.
type fault struct {
	name string
	want []string // cases that must fail; others may fail with them
	put  func(m *memory, a *core.Adapter)
}

// gap is the moment between the halves of what should have been one step. The tests run in
// a bubble, where the clock goes on when every goroutine waits: so whoever else is on the
// way to the same step gets there first, every time.
func gap() { time.Sleep(time.Millisecond) }

func allFaults() []fault {
	return slices.Concat(userFaults, accountFaults, sessionFaults, tokenFaults, authenticatorFaults, deletionFaults, signInFaults, generalFaults)
}

// failed gives the names of the cases that an adapter did not pass.
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

func (f *fault) test(t *testing.T) (names []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		names = failed(t, Test(t.Context(), func(context.Context) (*core.Adapter, error) {
			m := newMemory()
			a := m.adapter()
			f.put(m, a)
			return a, nil
		}, Options{}))
	})
	return names
}

func TestFaults(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range allFaults() {
		t.Run(f.name, func(t *testing.T) {
			names := f.test(t)
			for _, name := range f.want {
				seen[name] = true
				if !slices.Contains(names, name) {
					t.Errorf("%s passes; failed: %v", name, names)
				}
			}
			if len(names) > len(cases)/2 {
				t.Errorf("%d cases fail: the fault is too coarse to prove any", len(names))
			}
		})
	}
	for _, one := range cases {
		if !seen[one.name] {
			t.Errorf("%s: no fault shows that it can fail", one.name)
		}
	}
}

// In the bubble of the tests above, and without a fault, nothing fails.
func TestNoFault(t *testing.T) {
	t.Parallel()
	none := fault{put: func(*memory, *core.Adapter) {}}
	if names := none.test(t); len(names) > 0 {
		t.Errorf("failed: %v", names)
	}
}

var generalFaults = []fault{
	{"contexts are ignored", []string{"context/users", "context/accounts", "context/sessions", "context/tokens", "context/authenticators", "context/deletion"},
		func(_ *memory, a *core.Adapter) {
			b, on := *a, context.WithoutCancel
			a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) { return b.CreateUser(on(ctx), u) }
			a.LinkAccount = func(ctx context.Context, x core.Account) error { return b.LinkAccount(on(ctx), x) }
			a.DeleteSession = func(ctx context.Context, token string) (*core.AdapterSession, error) {
				return b.DeleteSession(on(ctx), token)
			}
			a.UseVerificationToken = func(ctx context.Context, address, token string) (*core.VerificationToken, error) {
				return b.UseVerificationToken(on(ctx), address, token)
			}
			a.UpdateAuthenticatorCounter = func(ctx context.Context, id string, n uint32) (*core.Authenticator, error) {
				return b.UpdateAuthenticatorCounter(on(ctx), id, n)
			}
			a.DeleteUser = func(ctx context.Context, id string) error { return b.DeleteUser(on(ctx), id) }
		}},
	{"a call whose context has ended fails after it has written", []string{"context/users", "context/tokens"},
		func(_ *memory, a *core.Adapter) {
			b := *a
			a.UpdateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				out, err := b.UpdateUser(context.WithoutCancel(ctx), u)
				return out, errors.Join(err, ctx.Err())
			}
			a.UseVerificationToken = func(ctx context.Context, address, token string) (*core.VerificationToken, error) {
				out, err := b.UseVerificationToken(context.WithoutCancel(ctx), address, token)
				return out, errors.Join(err, ctx.Err())
			}
		}},
	{"all kinds share one space of keys (unstorage adapter: user:<id>, user:session:<token>)", []string{"sessions/kinds"},
		func(m *memory, a *core.Adapter) {
			b := *a
			a.GetUser = func(ctx context.Context, id string) (*core.User, error) {
				if token, ok := strings.CutPrefix(id, "session:"); ok {
					if s, _, err := b.GetSessionAndUser(ctx, token); s != nil || err != nil {
						return &core.User{ID: token}, err
					}
				}
				return b.GetUser(ctx, id)
			}
		}},
	{"absent is an error (database/sql: no rows in result set)",
		[]string{"users/absent", "users/ids", "accounts/absent", "sessions/absent", "tokens/use", "authenticators/absent"},
		func(_ *memory, a *core.Adapter) {
			b, noRows := *a, errors.New("sql: no rows in result set")
			a.GetUser = func(ctx context.Context, id string) (*core.User, error) { return orError(b.GetUser(ctx, id))(noRows) }
			a.GetAccount = func(ctx context.Context, id, provider string) (*core.Account, error) {
				return orError(b.GetAccount(ctx, id, provider))(noRows)
			}
			a.DeleteSession = func(ctx context.Context, token string) (*core.AdapterSession, error) {
				return orError(b.DeleteSession(ctx, token))(noRows)
			}
			a.UseVerificationToken = func(ctx context.Context, address, token string) (*core.VerificationToken, error) {
				return orError(b.UseVerificationToken(ctx, address, token))(noRows)
			}
			a.GetAuthenticator = func(ctx context.Context, id string) (*core.Authenticator, error) {
				return orError(b.GetAuthenticator(ctx, id))(noRows)
			}
		}},
	{"times are kept to the second", []string{"users/times", "users/fields", "sessions/fields", "sessions/update", "tokens/use"},
		func(_ *memory, a *core.Adapter) {
			b := *a
			a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				u.EmailVerified = u.EmailVerified.Truncate(time.Second)
				return b.CreateUser(ctx, u)
			}
			a.CreateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				s.Expires = s.Expires.Truncate(time.Second)
				return b.CreateSession(ctx, s)
			}
			a.UpdateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				s.Expires = s.Expires.Truncate(time.Second)
				return b.UpdateSession(ctx, s)
			}
			a.CreateVerificationToken = func(ctx context.Context, v core.VerificationToken) error {
				v.Expires = v.Expires.Truncate(time.Second)
				return b.CreateVerificationToken(ctx, v)
			}
		}},
	{"times lose their zone (TIMESTAMP WITHOUT TIME ZONE)", []string{"users/times", "sessions/fields"},
		func(_ *memory, a *core.Adapter) {
			b := *a
			zoneless := func(t time.Time) time.Time {
				return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
			}
			a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				u.EmailVerified = zoneless(u.EmailVerified)
				return b.CreateUser(ctx, u)
			}
			a.CreateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				s.Expires = zoneless(s.Expires)
				return b.CreateSession(ctx, s)
			}
		}},
}

func orError[T any](record *T, err error) func(error) (*T, error) {
	return func(absent error) (*T, error) {
		if record == nil && err == nil {
			err = absent
		}
		return record, err
	}
}
