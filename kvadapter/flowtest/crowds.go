package flowtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

// A tally counts the commits that are tried at a store.
type tally struct {
	kvadapter.Store
	commits atomic.Int64
}

// Commit implements kvadapter.Store.
func (s *tally) Commit(ctx context.Context, checks []kvadapter.Check, writes []kvadapter.Write) (bool, error) {
	s.commits.Add(1)
	return s.Store.Commit(ctx, checks, writes)
}

// mostTries is how many commits each of a crowd may try, on average.
const mostTries = 10

// Crowds has a crowd at one record of an empty store, so many rounds: of 1,000 who open one link
// one wins, 1,000 first sign-ins with one address make one user, and of 200 sign-ins of one user
// all work. Nobody fails, and on average they try 10 commits at most.
func Crowds(t *testing.T, open func(t testing.TB) kvadapter.Store, rounds int) {
	t.Helper()
	ada := core.User{ID: "ada", Email: "ada@example.com"}
	session := func(user, token string) core.AdapterSession {
		return core.AdapterSession{SessionToken: token, UserID: user, Expires: time.Now().Add(time.Hour)}
	}
	for _, crowd := range []struct {
		name string
		of   int
		one  func(ctx context.Context, a *core.Adapter, name string) (won bool, err error)
		wins int
	}{
		{"sign-ins of one user", 200, func(ctx context.Context, a *core.Adapter, name string) (bool, error) {
			s := session(ada.ID, name)
			_, _, err := a.SignIn(ctx, core.SignIn{User: core.User{ID: ada.ID}, Session: &s})
			return err == nil, err
		}, 200},
		{"openings of one link", 1000, func(ctx context.Context, a *core.Adapter, _ string) (bool, error) {
			used, err := a.UseVerificationToken(ctx, ada.Email, "link")
			return used != nil, err
		}, 1},
		{"first sign-ins with one address", 1000, func(ctx context.Context, a *core.Adapter, name string) (bool, error) {
			s := session(name, name)
			_, _, err := a.SignUp(ctx, core.SignUp{User: core.User{ID: name, Email: "new@example.com"}, Session: &s})
			if errors.Is(err, core.ErrConflict) {
				return false, nil
			}
			return err == nil, err
		}, 1},
	} {
		t.Run(crowd.name, func(t *testing.T) {
			t.Parallel()
			ctx, store := t.Context(), &tally{Store: open(t)}
			for round := range rounds {
				a := kvadapter.New(store, kvadapter.Options{KeyPrefix: fmt.Sprintf("round-%d.", round)})
				_, err := a.CreateUser(ctx, ada)
				err = errors.Join(err, a.CreateVerificationToken(ctx, core.VerificationToken{Identifier: ada.Email, Token: "link", Expires: time.Now().Add(time.Hour)}))
				if err != nil {
					t.Fatal(err)
				}
				store.commits.Store(0)
				var won atomic.Int64
				var group sync.WaitGroup
				for i := range crowd.of {
					group.Go(func() {
						is, err := crowd.one(ctx, a, fmt.Sprint(i))
						if err != nil {
							t.Error(err)
						}
						if is {
							won.Add(1)
						}
					})
				}
				group.Wait()
				each := float64(store.commits.Load()) / float64(crowd.of)
				if won.Load() != int64(crowd.wins) || each > mostTries {
					t.Fatalf("round %d: %d of %d won, want %d; %.1f commits each", round, won.Load(), crowd.of, crowd.wins, each)
				}
				if round == rounds-1 {
					t.Logf("%.1f commits each", each)
				}
			}
		})
	}
}
