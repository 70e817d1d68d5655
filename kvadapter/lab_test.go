package kvadapter_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

var errLab = errors.New("lab: the store failed")

// A lab is a store in memory whose calls a test can count, and fail before or after they are done.
type lab struct {
	*memory.Store
	mu     sync.Mutex
	gets   int
	writes [][]kvadapter.Write // of each commit that was made
	lost   int                 // commits that were not
	before func(op string) error
	after  func(op string) error
}

func newLab() *lab { return &lab{Store: memory.New(nil)} }

func (l *lab) Get(ctx context.Context, keys ...string) ([]kvadapter.Entry, error) {
	if err := l.hook(l.before, "Get"); err != nil {
		return nil, err
	}
	entries, err := l.Store.Get(ctx, keys...)
	l.mu.Lock()
	l.gets++
	l.mu.Unlock()
	return entries, errors.Join(err, l.hook(l.after, "Get"))
}

func (l *lab) Commit(ctx context.Context, checks []kvadapter.Check, writes []kvadapter.Write) (bool, error) {
	if err := l.hook(l.before, "Commit"); err != nil {
		return false, err
	}
	ok, err := l.Store.Commit(ctx, checks, writes)
	l.mu.Lock()
	if ok {
		l.writes = append(l.writes, writes)
	} else {
		l.lost++
	}
	l.mu.Unlock()
	if err := errors.Join(err, l.hook(l.after, "Commit")); err != nil {
		return false, err
	}
	return ok, nil
}

func (l *lab) hook(f func(string) error, op string) error {
	if f == nil {
		return nil
	}
	return f(op)
}

// calls is how many calls there were.
func (l *lab) calls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gets + len(l.writes) + l.lost
}

// dump gives everything that is stored, by its key.
func dump(t *testing.T, s kvadapter.Lister) map[string]kvadapter.Write {
	t.Helper()
	all := map[string]kvadapter.Write{}
	for cursor := ""; ; {
		page, next, err := s.List(t.Context(), "", cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range page {
			all[w.Key] = w
		}
		if cursor = next; cursor == "" {
			return all
		}
	}
}

var (
	ada = core.User{ID: "ada", Name: "Ada", Email: "ada@example.com"}
	bob = core.User{ID: "bob", Name: "Bob", Email: "bob@example.com"}
)

func sessionOf(user core.User, token string) core.AdapterSession {
	return core.AdapterSession{SessionToken: token, UserID: user.ID, Expires: time.Now().Add(24 * time.Hour).Truncate(time.Millisecond)}
}

func githubOf(user core.User, id string) core.Account {
	return core.Account{Provider: "github", ProviderAccountID: id, Type: core.TypeOAuth, UserID: user.ID, AccessToken: "gho_secret"}
}

func passkeyOf(user core.User, id string) core.Authenticator {
	return core.Authenticator{CredentialID: id, UserID: user.ID, ProviderAccountID: id, CredentialPublicKey: "cGs", Counter: 7, CredentialDeviceType: "singleDevice"}
}

// adaSignedUp has an account, a passkey and a session.
func adaSignedUp(ctx context.Context, a *core.Adapter, token string) error {
	account, passkey, session := githubOf(ada, "1"), passkeyOf(ada, "QUFB"), sessionOf(ada, token)
	_, _, err := a.SignUp(ctx, core.SignUp{User: ada, Account: &account, Authenticator: &passkey, Session: &session})
	return err
}

func must[T any](t *testing.T) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
