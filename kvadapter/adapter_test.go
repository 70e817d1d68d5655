package kvadapter_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

func TestAdapter(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]kvadapter.Options{
		"a store":          {},
		"a store, shared":  {KeyPrefix: "tenant-1."},
		"a store, a cache": {Cache: newCache()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			adaptertest.Run(t, func(t *testing.T) *core.Adapter {
				t.Parallel()
				o := options
				if o.Cache != nil {
					o.Cache = newCache()
				}
				return kvadapter.New(memory.New(nil), o)
			}, adaptertest.Options{})
		})
	}
}

// A cache alone promises nothing that users and accounts need, and core.New says so.
func TestCacheAloneIsRefused(t *testing.T) {
	t.Parallel()
	adapter := kvadapter.New(nil, kvadapter.Options{Cache: newCache()})
	methods := reflect.ValueOf(*adapter)
	for i := range methods.NumField() {
		if f := methods.Type().Field(i); f.Type.Kind() == reflect.Func && !methods.Field(i).IsNil() {
			t.Errorf("%s is there", f.Name)
		}
	}
	if len(adapter.Absent) != 19 {
		t.Errorf("%d reasons, want 19", len(adapter.Absent))
	}
	_, err := core.New(core.Config{
		Secret: []string{strings.Repeat("s", 32)}, Adapter: adapter,
		Providers: []core.Provider{core.Email{ID: "email", Send: func(context.Context, core.VerificationRequest) error { return nil }}},
	})
	if !errors.Is(err, core.ErrMissingAdapterMethods) || !strings.Contains(err.Error(), "Durable Object") {
		t.Errorf("core.New: %v", err)
	}
	records := kvadapter.Open(newLab(), kvadapter.Options{KeyPrefix: "a:b"})
	if records.Adapter().GetUser != nil || !errors.Is(records.SignOutEverywhere(t.Context(), "ada"), kvadapter.ErrRefused) {
		t.Error("a key prefix with a colon is accepted")
	}
}

// The unsafe option keeps every rule that is not about calls at the same time.
func TestUnsafe(t *testing.T) {
	t.Parallel()
	const raced = "a cache can't tell who was first, which the option says"
	skip := map[string]string{}
	for _, name := range []string{
		"users/address-race", "users/update-race", "accounts/race", "sessions/race", "tokens/race",
		"authenticators/race", "authenticators/counter-race", "deletion/race", "signin/race", "signin/together", "signin/deletion-race",
	} {
		skip[name] = raced
	}
	adaptertest.Run(t, func(*testing.T) *core.Adapter {
		return kvadapter.New(nil, kvadapter.Options{Cache: newCache(), InsecureReplayAndDuplicates: true})
	}, adaptertest.Options{Skip: skip})
}

// TestCost says how many store calls each method makes, one after the other, where nobody else is
// at work, whatever number of sessions, accounts and passkeys the user has.
func TestCost(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	expires := time.Now().Add(time.Hour)
	revision := func(a *core.Adapter, q core.UserQuery) any {
		return must[*core.FoundUser](t)(a.FindUser(ctx, q)).Revision
	}
	account := core.UserQuery{Provider: "github", ProviderAccountID: "1", Email: ada.Email}
	for _, step := range []struct {
		name string
		run  func(a *core.Adapter) error
		want int
	}{
		{"a first sign-in", func(a *core.Adapter) error {
			found, err := a.FindUser(ctx, core.UserQuery{Provider: "github", ProviderAccountID: "2", Email: bob.Email})
			link, session := githubOf(bob, "2"), sessionOf(bob, "first")
			_, _, err2 := a.SignUp(ctx, core.SignUp{User: bob, Account: &link, Session: &session})
			return errors.Join(err, err2, isNobody(found))
		}, 2},
		{"a returning person", func(a *core.Adapter) error {
			session := sessionOf(ada, "again")
			_, _, err := a.SignIn(ctx, core.SignIn{User: core.User{ID: ada.ID}, Session: &session, Revision: revision(a, account)})
			return err
		}, 2},
		{"a returning person whose browser had a session", func(a *core.Adapter) error {
			session := sessionOf(ada, "again")
			_, _, err := a.SignIn(ctx, core.SignIn{User: core.User{ID: ada.ID}, Session: &session, EndedSession: "session-3", Revision: revision(a, account)})
			return err
		}, 2},
		{"a link that is requested", func(a *core.Adapter) error {
			return a.CreateVerificationToken(ctx, core.VerificationToken{Identifier: ada.Email, Token: "t", Expires: expires})
		}, 1},
		{"a link that is opened", func(a *core.Adapter) error {
			used, err := a.UseVerificationToken(ctx, ada.Email, "link")
			session := sessionOf(ada, "by link")
			_, _, err2 := a.SignIn(ctx, core.SignIn{User: core.User{ID: ada.ID, EmailVerified: time.Now()}, Session: &session, Revision: revision(a, core.UserQuery{Email: ada.Email})})
			if used == nil {
				err = errors.New("the link is unknown")
			}
			return errors.Join(err, err2)
		}, 4},
		{"a passkey that signs", func(a *core.Adapter) error {
			_, err := a.UseVerificationToken(ctx, ada.Email, "link")
			session := sessionOf(ada, "by passkey")
			seen := revision(a, core.UserQuery{CredentialID: "QUFB"})
			_, _, err2 := a.SignIn(ctx, core.SignIn{User: core.User{ID: ada.ID}, Credential: &core.Authenticator{CredentialID: "QUFB", Counter: 8}, Session: &session, Revision: seen})
			return errors.Join(err, err2)
		}, 4},
		{"a session check", func(a *core.Adapter) error { return readAndExtend(ctx, a, "session-1", 0) }, 1},
		{"a session check with a refresh", func(a *core.Adapter) error { return readAndExtend(ctx, a, "session-1", 48*time.Hour) }, 2},
		{"a sign-out", func(a *core.Adapter) error { _, err := a.DeleteSession(ctx, "session-1"); return err }, 2},
		{"a user who is deleted", func(a *core.Adapter) error { return a.DeleteUser(ctx, ada.ID) }, 2},
		{"CreateUser", func(a *core.Adapter) error { _, err := a.CreateUser(ctx, bob); return err }, 1},
		{"UpdateUser", func(a *core.Adapter) error {
			_, err := a.UpdateUser(ctx, core.User{ID: ada.ID, Email: "new@example.com"})
			return err
		}, 2},
		{"GetUser", func(a *core.Adapter) error { _, err := a.GetUser(ctx, ada.ID); return err }, 1},
		{"GetUserByEmail", func(a *core.Adapter) error { _, err := a.GetUserByEmail(ctx, ada.Email); return err }, 1},
		{"GetUserByAccount", func(a *core.Adapter) error { _, err := a.GetUserByAccount(ctx, "github", "1"); return err }, 1},
		{"LinkAccount", func(a *core.Adapter) error { return a.LinkAccount(ctx, githubOf(ada, "3")) }, 2},
		{"UnlinkAccount", func(a *core.Adapter) error { return a.UnlinkAccount(ctx, "github", "1") }, 2},
		{"ListAuthenticatorsByUserID", func(a *core.Adapter) error { _, err := a.ListAuthenticatorsByUserID(ctx, ada.ID); return err }, 2},
		{"Users", func(a *core.Adapter) error { _, _, err := a.Users(ctx, ""); return err }, 0}, // one List, which the lab doesn't count
	} {
		for _, many := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, many: %t", step.name, many), func(t *testing.T) {
				t.Parallel()
				l := newLab()
				a := kvadapter.New(l, kvadapter.Options{})
				if err := adaSignedUp(ctx, a, "session-0"); err != nil {
					t.Fatal(err)
				}
				sessions, accounts := 4, 2
				if many {
					sessions, accounts = 100, 90
				}
				for i := range sessions - 1 {
					must[*core.AdapterSession](t)(a.CreateSession(ctx, sessionOf(ada, fmt.Sprintf("session-%d", i+1))))
				}
				for i := range accounts {
					if err := a.LinkAccount(ctx, githubOf(ada, fmt.Sprintf("more-%d", i))); err != nil {
						t.Fatal(err)
					}
				}
				if err := a.CreateVerificationToken(ctx, core.VerificationToken{Identifier: ada.Email, Token: "link", Expires: expires}); err != nil {
					t.Fatal(err)
				}
				before := l.calls()
				if err := step.run(a); err != nil {
					t.Fatal(err)
				}
				if got := l.calls() - before; got != step.want {
					t.Errorf("%d store calls, want %d", got, step.want)
				}
			})
		}
	}
}

func isNobody(found *core.FoundUser) error {
	if found.User != nil {
		return errors.New("somebody was found")
	}
	return nil
}

// readAndExtend is what core does in a session check, with a refresh unless by is zero.
func readAndExtend(ctx context.Context, a *core.Adapter, token string, by time.Duration) error {
	s, u, err := a.GetSessionAndUser(ctx, token)
	if err != nil || s == nil || u == nil {
		return errors.Join(err, fmt.Errorf("session %v, user %v", s, u))
	}
	if by == 0 {
		return nil
	}
	s, err = a.UpdateSession(ctx, core.AdapterSession{SessionToken: token, Expires: time.Now().Add(by), Revision: s.Revision})
	if s == nil {
		return errors.Join(err, errors.New("the session is gone"))
	}
	return err
}

func TestSignOutEverywhere(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLab()
	records := kvadapter.Open(l, kvadapter.Options{})
	a := records.Adapter()
	if err := adaSignedUp(ctx, a, "one"); err != nil {
		t.Fatal(err)
	}
	must[*core.AdapterSession](t)(a.CreateSession(ctx, sessionOf(ada, "two")))
	must[*core.User](t)(a.CreateUser(ctx, bob))
	must[*core.AdapterSession](t)(a.CreateSession(ctx, sessionOf(bob, "bobs")))
	before := l.calls()
	if err := records.SignOutEverywhere(ctx, ada.ID); err != nil {
		t.Fatal(err)
	}
	if got := l.calls() - before; got != 2 {
		t.Errorf("%d store calls, want 2", got)
	}
	for token, want := range map[string]bool{"one": false, "two": false, "bobs": true} {
		if s, _, err := a.GetSessionAndUser(ctx, token); err != nil || (s != nil) != want {
			t.Errorf("%s: %v, %v", token, s, err)
		}
	}
	if err := errors.Join(records.SignOutEverywhere(ctx, ada.ID), records.SignOutEverywhere(ctx, "nobody")); err != nil {
		t.Error(err)
	}
}

// A user has at most 100 sessions: one more ends the one that would end first, whatever it was
// extended to since, and takes those that are over with it.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		l := newLab()
		a := kvadapter.New(l, kvadapter.Options{})
		must[*core.User](t)(a.CreateUser(ctx, ada))
		start := func(token string, lasts time.Duration) {
			t.Helper()
			must[*core.AdapterSession](t)(a.CreateSession(ctx, core.AdapterSession{SessionToken: token, UserID: ada.ID, Expires: time.Now().Add(lasts)}))
		}
		lives := func(token string) bool {
			s, _, err := a.GetSessionAndUser(ctx, token)
			if err != nil {
				t.Fatal(err)
			}
			return s != nil
		}
		for i := range 100 {
			start(fmt.Sprint("s", i), time.Duration(i+1)*time.Hour)
		}
		if err := readAndExtend(ctx, a, "s0", 500*time.Hour); err != nil { // the laptop that is used every day
			t.Fatal(err)
		}
		start("one more", 300*time.Hour)
		for token, want := range map[string]bool{"s0": true, "s1": false, "s2": true, "one more": true} {
			if lives(token) != want {
				t.Errorf("%s lives: %t", token, !want)
			}
		}
		time.Sleep(90*time.Hour + time.Minute)
		start("later", 24*time.Hour)
		sessions := 0
		for key := range dump(t, l) {
			if strings.HasPrefix(key, "session.") {
				sessions++
			}
		}
		if sessions != 13 { // s0, s90 to s99, one more, later
			t.Errorf("%d sessions are stored, want 13", sessions)
		}
	})
}

func TestOwnedRecordsAreBounded(t *testing.T) {
	t.Parallel()
	a := kvadapter.New(newLab(), kvadapter.Options{})
	must[*core.User](t)(a.CreateUser(t.Context(), ada))
	for i := range 100 {
		if err := a.LinkAccount(t.Context(), githubOf(ada, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.LinkAccount(t.Context(), githubOf(ada, "99")); err != nil {
		t.Errorf("one that is linked already: %v", err)
	}
	if err := a.LinkAccount(t.Context(), githubOf(ada, "100")); !errors.Is(err, kvadapter.ErrTooMany) {
		t.Errorf("the 101st: %v", err)
	}
	if err := a.DeleteUser(t.Context(), ada.ID); err != nil {
		t.Error(err)
	}
}

// Whoever reads the whole store, or the cache, can't sign in with what is there.
func TestNoSecretsInStore(t *testing.T) {
	t.Parallel()
	l, cache := newLab(), newCache()
	a := kvadapter.New(l, kvadapter.Options{Cache: cache})
	must[*core.User](t)(a.CreateUser(t.Context(), ada))
	must[*core.AdapterSession](t)(a.CreateSession(t.Context(), sessionOf(ada, "SESSION-SECRET")))
	must[*core.AdapterSession](t)(a.CreateSession(t.Context(), sessionOf(ada, "ENDED-SECRET")))
	if err := errors.Join(readAndExtend(t.Context(), a, "SESSION-SECRET", 0), readAndExtend(t.Context(), a, "ENDED-SECRET", 48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	must[*core.AdapterSession](t)(a.DeleteSession(t.Context(), "ENDED-SECRET"))
	if err := a.CreateVerificationToken(t.Context(), core.VerificationToken{Identifier: ada.Email, Token: "LINK-SECRET", Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if len(cache.values) != 2 {
		t.Errorf("%d copies and marks, want 2", len(cache.values))
	}
	for _, text := range []string{fmt.Sprintf("%q", dump(t, l)), fmt.Sprintf("%q", cache.values)} {
		if strings.Contains(strings.ToUpper(text), "SECRET") {
			t.Error(text)
		}
	}
}

// A lost answer is settled by looking: what was done is not done again, nor denied.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, fault := range map[string]struct{ landed bool }{"after it was done": {true}, "before it was done": {false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab()
			a := kvadapter.New(l, kvadapter.Options{})
			armed := false
			fail := func(op string) error {
				if op != "Commit" || !armed {
					return nil
				}
				armed = false
				return errLab
			}
			if fault.landed {
				l.after = fail
			} else {
				l.before = fail
			}
			do := func(what string, f func() error) {
				t.Helper()
				armed = true
				if err := f(); err != nil || armed {
					t.Errorf("%s: %v, armed %t", what, err, armed)
				}
				armed = false
			}
			do("sign up", func() error { return adaSignedUp(ctx, a, "one") })
			do("refresh", func() error { return readAndExtend(ctx, a, "one", 48*time.Hour) })
			do("new link", func() error {
				return a.CreateVerificationToken(ctx, core.VerificationToken{Identifier: "i", Token: "t", Expires: time.Now().Add(time.Hour)})
			})
			do("use link", func() error {
				used, err := a.UseVerificationToken(ctx, "i", "t")
				if used == nil {
					return errors.Join(err, errors.New("the link was lost"))
				}
				return err
			})
			do("counter", func() error { _, err := a.UpdateAuthenticatorCounter(ctx, "QUFB", 8); return err })
			do("sign out", func() error {
				s, err := a.DeleteSession(ctx, "one")
				if s == nil {
					return errors.Join(err, errors.New("no session was deleted"))
				}
				return err
			})
			do("unlink", func() error { return a.UnlinkAccount(ctx, "github", "1") })
			do("delete", func() error { return a.DeleteUser(ctx, ada.ID) })
			if used := must[*core.VerificationToken](t)(a.UseVerificationToken(ctx, "i", "t")); used != nil {
				t.Error("the link works twice")
			}
		})
	}
}

// A store that is down is an error, and not a loop.
func TestStoreDown(t *testing.T) {
	t.Parallel()
	l := newLab()
	a := kvadapter.New(l, kvadapter.Options{})
	l.before = func(string) error { return errLab }
	l.after = l.before
	calls := 0
	l.before = func(string) error { calls++; return errLab }
	if err := adaSignedUp(t.Context(), a, "one"); !errors.Is(err, errLab) || calls > 3 {
		t.Errorf("%v after %d calls", err, calls)
	}
	if _, _, err := a.GetSessionAndUser(t.Context(), "one"); !errors.Is(err, errLab) {
		t.Error(err)
	}
}
