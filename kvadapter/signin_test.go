package kvadapter_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

// A copy of a session that has ended links nothing: who is signed in is asked of the store, in
// the commit.
func TestACopyLinksNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l, cache := newLab(), newCache()
	records := kvadapter.Open(l, kvadapter.Options{Cache: cache})
	a := records.Adapter()
	if err := errors.Join(adaSignedUp(ctx, a, "stolen"), readAndExtend(ctx, a, "stolen", 0)); err != nil {
		t.Fatal(err)
	}
	copies := cache.values
	cache.values = map[string][]byte{}
	if err := records.SignOutEverywhere(ctx, ada.ID); err != nil {
		t.Fatal(err)
	}
	cache.values = copies // as another location sees it
	s, u, err := a.GetSessionAndUser(ctx, "stolen")
	if err != nil || s == nil {
		t.Fatalf("the test shows nothing: %v, %v", s, err)
	}
	thief, session := githubOf(ada, "thief"), sessionOf(ada, "new")
	in := core.SignIn{User: core.User{ID: u.ID}, Account: &thief, Session: &session, EndedSession: "stolen", BySession: "stolen"}
	if _, _, err := a.SignIn(ctx, in); !errors.Is(err, core.ErrConflict) {
		t.Errorf("linked by a session that has ended: %v", err)
	}
	if owner := must[*core.User](t)(a.GetUserByAccount(ctx, "github", "thief")); owner != nil {
		t.Errorf("the account is %s's", owner.ID)
	}
}

// Sessions that are over by themselves need no mark: their copies say so.
func TestEndedSessionsGetNoMarks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		cache := newCache()
		a := kvadapter.New(newLab(), kvadapter.Options{Cache: cache})
		if err := adaSignedUp(ctx, a, "one"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(25 * time.Hour)
		must[*core.AdapterSession](t)(a.CreateSession(ctx, sessionOf(ada, "two")))
		if cache.puts != 0 {
			t.Errorf("%d writes to the cache", cache.puts)
		}
	})
}

// A sign-out whose answer is lost still leaves its mark, and tells what it ended.
func TestLostSignOutLeavesAMark(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l, cache := newLab(), newCache()
	a := kvadapter.New(l, kvadapter.Options{Cache: cache})
	if err := errors.Join(adaSignedUp(ctx, a, "one"), readAndExtend(ctx, a, "one", 0)); err != nil {
		t.Fatal(err)
	}
	lost := false
	l.after = func(op string) error {
		if op != "Commit" || lost {
			return nil
		}
		lost = true
		must[*core.AdapterSession](t)(a.CreateSession(ctx, sessionOf(ada, "meanwhile"))) // writes the user's record anew
		return errLab
	}
	if s := must[*core.AdapterSession](t)(a.DeleteSession(ctx, "one")); s == nil {
		t.Error("nothing is said to have ended")
	}
	if s, _, err := a.GetSessionAndUser(ctx, "one"); s != nil || err != nil {
		t.Errorf("the next request sees %v, %v", s, err)
	}
}

// A user whose index is damaged can't be signed out by it, and nobody is told otherwise. Deleting
// them ends their sessions all the same.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLab()
	records := kvadapter.Open(l, kvadapter.Options{Log: func(context.Context, string, error) {}})
	a := records.Adapter()
	if err := adaSignedUp(ctx, a, "one"); err != nil {
		t.Fatal(err)
	}
	for key, w := range dump(t, l) {
		if strings.HasPrefix(key, "user.") {
			w.Value = []byte(strings.Replace(string(w.Value), `"sessions":{`, `"sessions":[{`, 1))
			if _, err := l.Store.Commit(ctx, nil, []kvadapter.Write{w}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := records.SignOutEverywhere(ctx, ada.ID); !errors.Is(err, kvadapter.ErrDamaged) {
		t.Errorf("sign-out everywhere: %v", err)
	}
	if err := a.DeleteUser(ctx, ada.ID); err != nil {
		t.Error(err)
	}
	if s, _, err := a.GetSessionAndUser(ctx, "one"); s != nil || err != nil {
		t.Errorf("the session lives: %v, %v", s, err)
	}
}
