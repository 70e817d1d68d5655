package flowtest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// unchecked is a store that makes no checks.
type unchecked struct{ *memory.Store }

func (s unchecked) Commit(ctx context.Context, _ []kvadapter.Check, writes []kvadapter.Write) (bool, error) {
	return s.Store.Commit(ctx, nil, writes)
}

// A wrong is a way in which a site can be wrong, and the cases that must see it.
type wrong struct {
	name     string
	want     []string
	open     func(testing.TB) (kvadapter.Store, kvadapter.Cache) // nil: a store in memory
	breakage func(*world, *core.Adapter)                         // nil: nothing
}

// leak puts a text into the store in clear, a little wrapped.
func (w *world) leak(ctx context.Context, text string) {
	value, _ := json.Marshal([]string{base64.StdEncoding.EncodeToString([]byte("token:" + text))})
	w.probe.mu.Lock()
	defer w.probe.mu.Unlock()
	w.probe.records[w.prefix+"leak."+text] = string(value)
}

var wrongs = []wrong{
	{
		"a store without checks", []string{"links", "first/address", "first/account"},
		func(testing.TB) (kvadapter.Store, kvadapter.Cache) { return unchecked{memory.New(nil)}, nil }, nil,
	},
	{"an account without its address", []string{"first/two-providers"}, nil, func(_ *world, a *core.Adapter) {
		signUp := a.SignUp
		a.SignUp = func(ctx context.Context, s core.SignUp) (*core.User, *core.AdapterSession, error) {
			user, session, err := signUp(ctx, s)
			if errors.Is(err, core.ErrConflict) {
				s.User.Email = ""
				return signUp(ctx, s)
			}
			return user, session, err
		}
	}},
	{"a refresh each time", []string{"refresh"}, nil, func(_ *world, a *core.Adapter) {
		update := a.UpdateSession
		a.UpdateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
			s.Revision = nil
			return update(ctx, s)
		}
	}},
	{"a sign-out that ends nothing", []string{"sign-out"}, nil, func(_ *world, a *core.Adapter) {
		a.DeleteSession = func(context.Context, string) (*core.AdapterSession, error) { return nil, nil }
	}},
	{"method by method", []string{"cost", "faults/crash-after"}, nil, func(_ *world, a *core.Adapter) { a.FindUser = nil }},
	{"a call more", []string{"cost"}, nil, func(w *world, a *core.Adapter) {
		get := a.GetSessionAndUser
		a.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
			_, _, _ = get(ctx, token)
			return get(ctx, token)
		}
	}},
	{"a failure is nobody", []string{"down", "faults/error-before"}, nil, func(_ *world, a *core.Adapter) {
		get := a.GetSessionAndUser
		a.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
			s, u, _ := get(ctx, token)
			return s, u, nil
		}
	}},
	{"a failure is whoever was there before", []string{"faults/error-before", "faults/error-after"}, nil, func(_ *world, a *core.Adapter) {
		get := a.GetSessionAndUser
		var mu sync.Mutex
		var last *core.User
		a.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
			s, u, err := get(ctx, token)
			mu.Lock()
			defer mu.Unlock()
			if u != nil && u.Email == bob.address {
				last = u
			}
			if err != nil && last != nil {
				return &core.AdapterSession{SessionToken: token, UserID: last.ID, Expires: time.Now().Add(maxAge)}, last, nil
			}
			return s, u, err
		}
	}},
	{"session tokens in clear", []string{"dump"}, nil, func(w *world, a *core.Adapter) {
		signIn := a.SignIn
		a.SignIn = func(ctx context.Context, s core.SignIn) (*core.User, *core.AdapterSession, error) {
			w.leak(ctx, s.Session.SessionToken)
			return signIn(ctx, s)
		}
		update := a.UpdateSession
		a.UpdateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
			w.leak(ctx, s.SessionToken)
			return update(ctx, s)
		}
	}},
}

func TestWrongs(t *testing.T) {
	t.Parallel()
	for _, wrong := range wrongs {
		for _, name := range wrong.want {
			t.Run(wrong.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				open := wrong.open
				if open == nil {
					open = func(testing.TB) (kvadapter.Store, kvadapter.Cache) { return memory.New(nil), nil }
				}
				all := cases()
				one := all[slices.IndexFunc(all, func(c testCase) bool { return c.name == name })]
				if one.run(t, Options{Open: open, Bubble: true, Clients: 50, Rounds: 3}, wrong.breakage) == nil {
					t.Errorf("%s has not seen: %s", name, wrong.name)
				}
			})
		}
	}
}
