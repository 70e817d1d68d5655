package kvadapter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

// A flow is what somebody does, and does again when it failed.
type flow struct {
	name  string
	setUp func(ctx context.Context, b *bench) error
	do    func(ctx context.Context, b *bench, try int) error
	check func(ctx context.Context, b *bench) error // after it was done
}

// enter is what core does with a magic link: it finds the user or makes one, with a new ID in
// every attempt, then links the account and starts a session.
func enter(ctx context.Context, b *bench, try int) error {
	user, err := b.GetUserByEmail(ctx, ada.Email)
	if err != nil {
		return err
	}
	if user == nil {
		created := ada
		created.ID = fmt.Sprintf("ada-%d", try)
		if user, err = b.CreateUser(ctx, created); err != nil {
			return err
		}
	}
	if err := b.LinkAccount(ctx, githubOf(*user, "1")); err != nil {
		return err
	}
	_, err = b.CreateSession(ctx, sessionOf(*user, fmt.Sprintf("token-%d", try)))
	return err
}

// adaSignedIn has two sessions, an account and a passkey.
func adaSignedIn(ctx context.Context, b *bench) error {
	_, err := b.CreateUser(ctx, ada)
	errs := []error{err, b.LinkAccount(ctx, githubOf(ada, "1"))}
	for _, token := range []string{"one", "two"} {
		_, err = b.CreateSession(ctx, sessionOf(ada, token))
		errs = append(errs, err)
	}
	_, err = b.CreateAuthenticator(ctx, core.Authenticator{CredentialID: "QUFB", UserID: ada.ID, Counter: 1})
	return errors.Join(append(errs, err)...)
}

// readAndExtend is what core does with a session that is due.
func readAndExtend(ctx context.Context, b *bench, token string) error {
	s, _, err := b.GetSessionAndUser(ctx, token)
	if s == nil {
		return err
	}
	_, err = b.UpdateSession(ctx, core.AdapterSession{SessionToken: token, Expires: time.Now().Add(48 * time.Hour), Revision: s.Revision})
	return err
}

func isDead(ctx context.Context, b *bench, tokens ...string) error {
	for _, token := range tokens {
		if s, _, err := b.GetSessionAndUser(ctx, token); err != nil || s != nil {
			return fmt.Errorf("session %s: %v, %v; want none", token, s, err)
		}
	}
	return nil
}

func shows(ctx context.Context, b *bench, token string, want core.User) error {
	s, u, err := b.GetSessionAndUser(ctx, token)
	if err != nil || s == nil || u.Name != want.Name || u.Email != want.Email {
		return fmt.Errorf("session %s: %v, %v, %v; want that of %v", token, s, u, err, want)
	}
	return nil
}

var flows = []flow{
	{"sign in first", nil, enter, func(ctx context.Context, b *bench) error {
		byAddress, err := b.GetUserByEmail(ctx, ada.Email)
		byAccount, err2 := b.GetUserByAccount(ctx, "github", "1")
		if err != nil || err2 != nil || byAddress == nil || byAccount == nil || byAddress.ID != byAccount.ID {
			return fmt.Errorf("by address %v, %v; by account %v, %v", byAddress, err, byAccount, err2)
		}
		if users := alive(b, "user."); users != 1 {
			return fmt.Errorf("there are %d users", users)
		}
		_, err = b.UpdateUser(ctx, core.User{ID: byAddress.ID, Name: "renamed"})
		return err
	}},
	{"change address", adaSignedIn, func(ctx context.Context, b *bench, _ int) error {
		_, err := b.UpdateUser(ctx, core.User{ID: ada.ID, Email: "new@example.com", Name: "New"})
		return err
	}, func(ctx context.Context, b *bench) error {
		heir := core.User{ID: "heir", Email: ada.Email} // the old address is free
		if _, err := b.CreateUser(ctx, heir); err != nil {
			return err
		}
		if u, err := b.GetUserByEmail(ctx, "new@example.com"); err != nil || u == nil || u.ID != ada.ID {
			return fmt.Errorf("the new address finds %v, %v", u, err)
		}
		want := core.User{Name: "New", Email: "new@example.com"}
		return errors.Join(shows(ctx, b, "one", want), shows(ctx, b, "two", want), b.DeleteUser(ctx, heir.ID))
	}},
	{"refresh", adaSignedIn, func(ctx context.Context, b *bench, _ int) error {
		return readAndExtend(ctx, b, "one")
	}, func(ctx context.Context, b *bench) error { return shows(ctx, b, "one", ada) }},
	{"sign out", adaSignedIn, func(ctx context.Context, b *bench, _ int) error {
		_, err := b.DeleteSession(ctx, "one")
		return err
	}, func(ctx context.Context, b *bench) error {
		return errors.Join(isDead(ctx, b, "one"), shows(ctx, b, "two", ada))
	}},
	{"sign out everywhere", adaSignedIn, func(ctx context.Context, b *bench, _ int) error {
		return b.SignOutEverywhere(ctx, ada.ID)
	}, func(ctx context.Context, b *bench) error { return isDead(ctx, b, "one", "two") }},
	{"unlink", adaSignedIn, func(ctx context.Context, b *bench, _ int) error {
		return b.UnlinkAccount(ctx, "github", "1")
	}, func(ctx context.Context, b *bench) error {
		if a, err := b.GetAccount(ctx, "1", "github"); a != nil || err != nil {
			return fmt.Errorf("GetAccount gave %v, %v", a, err)
		}
		if _, err := b.CreateUser(ctx, bob); err != nil {
			return err
		}
		return errors.Join(b.LinkAccount(ctx, githubOf(bob, "1")), b.DeleteUser(ctx, bob.ID))
	}},
	{"register passkey", adaSignedIn, func(ctx context.Context, b *bench, _ int) error {
		_, err := b.CreateAuthenticator(ctx, core.Authenticator{CredentialID: "QkJC", UserID: ada.ID})
		if errors.Is(err, core.ErrConflict) {
			return nil // the attempt that failed had stored it
		}
		return err
	}, func(ctx context.Context, b *bench) error {
		if list, err := b.ListAuthenticatorsByUserID(ctx, ada.ID); err != nil || len(list) != 2 {
			return fmt.Errorf("passkeys: %v, %v", list, err)
		}
		return nil
	}},
	{"count", adaSignedIn, func(ctx context.Context, b *bench, _ int) error {
		_, err := b.UpdateAuthenticatorCounter(ctx, "QUFB", 2)
		if errors.Is(err, core.ErrConflict) {
			return nil
		}
		return err
	}, func(ctx context.Context, b *bench) error {
		if a, err := b.GetAuthenticator(ctx, "QUFB"); err != nil || a == nil || a.Counter != 2 {
			return fmt.Errorf("passkey: %v, %v", a, err)
		}
		return nil
	}},
	{"delete user", adaSignedIn, func(ctx context.Context, b *bench, _ int) error {
		return b.DeleteUser(ctx, ada.ID)
	}, func(ctx context.Context, b *bench) error {
		if left := b.alive(); len(left) > 0 {
			return fmt.Errorf("left: %v", left)
		}
		return isDead(ctx, b, "one", "two")
	}},
	{"delete user, come back", adaSignedIn, func(ctx context.Context, b *bench, _ int) error {
		if err := b.DeleteUser(ctx, ada.ID); err != nil {
			return err
		}
		_, err := b.CreateUser(ctx, ada)
		return err
	}, func(ctx context.Context, b *bench) error {
		if a, err := b.GetAccount(ctx, "1", "github"); a != nil || err != nil {
			return fmt.Errorf("GetAccount gave %v, %v", a, err)
		}
		return isDead(ctx, b, "one", "two")
	}},
	{"use link", func(ctx context.Context, b *bench) error {
		return b.CreateVerificationToken(ctx, core.VerificationToken{Identifier: "a", Token: "t", Expires: time.Now().Add(time.Hour)})
	}, func(ctx context.Context, b *bench, _ int) error {
		_, err := b.UseVerificationToken(ctx, "a", "t")
		return err
	}, func(ctx context.Context, b *bench) error {
		if v, err := b.UseVerificationToken(ctx, "a", "t"); v != nil || err != nil {
			return fmt.Errorf("used again: %v, %v", v, err)
		}
		return nil
	}},
}

func alive(b *bench, kind string) (n int) {
	for _, key := range b.alive() {
		if strings.HasPrefix(key, kind) {
			n++
		}
	}
	return n
}

// faults are what may happen at the nth store call of a flow.
var faults = map[string]func(b *bench, n int){
	// K-18: the process dies.
	"crash": func(b *bench, n int) {
		calls := 0
		b.hook(func(context.Context, string, string) error {
			if calls++; calls >= n {
				return errLab
			}
			return nil
		}, nil)
	},
	// One call fails, and nothing happened.
	"error before": func(b *bench, n int) {
		calls := 0
		b.hook(func(context.Context, string, string) error {
			if calls++; calls == n {
				return errLab
			}
			return nil
		}, nil)
	},
	// K-19: one call fails, but it was done.
	"error after": func(b *bench, n int) {
		calls := 0
		b.hook(nil, func(context.Context, string, string) error {
			if calls++; calls == n {
				return errLab
			}
			return nil
		})
	},
}

// TestFaults puts each fault at each store call of each flow, does the flow once more, and
// then deletes the user: the flow is done, and nothing is left.
func TestFaults(t *testing.T) {
	t.Parallel()
	forEachLayout(t, func(t *testing.T, open func(kvadapter.Options) *bench) {
		ctx, runs := t.Context(), 0
		for _, f := range flows {
			for fault, arm := range faults {
				for n := 1; ; n++ {
					b := open(kvadapter.Options{})
					if f.setUp != nil {
						if err := f.setUp(ctx, b); err != nil {
							t.Fatalf("%s: %v", f.name, err)
						}
					}
					before := b.calls()
					arm(b, n)
					err := f.do(ctx, b, 1)
					happened := b.calls()-before >= n || err != nil
					b.hook(nil, nil)
					if !happened {
						break
					}
					runs++
					where := fmt.Sprintf("%s, %s at call %d", f.name, fault, n)
					if err := f.do(ctx, b, 2); err != nil {
						t.Errorf("%s: again: %v", where, err)
						continue
					}
					if err := f.check(ctx, b); err != nil {
						t.Errorf("%s: %v", where, err)
					}
					for _, user := range []string{ada.ID, "ada-1", "ada-2"} {
						if err := b.DeleteUser(ctx, user); err != nil {
							t.Errorf("%s: %v", where, err)
						}
					}
					if left := b.alive(); len(left) > 0 && f.name != "sign in first" {
						t.Errorf("%s: left after DeleteUser: %v", where, left)
					}
					if _, err := b.Repair(ctx); err != nil {
						t.Errorf("%s: Repair: %v", where, err)
					}
					if left := b.alive(); len(left) > 0 {
						t.Errorf("%s: left after Repair: %v", where, left)
					}
				}
			}
		}
		t.Logf("%d faults", runs)
	})
}
