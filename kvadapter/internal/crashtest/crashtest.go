// Package crashtest kills a store, or the process that it is part of, while people sign in and out
// through the adapter, and looks at what has become of them.
package crashtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

// An Event is what somebody was last told, or last tried, in a session.
type Event string

// The events.
const (
	Begins  Event = "?" // to sign in
	IsIn    Event = "+" // the sign-in was answered
	Leaves  Event = "!" // begins to sign out
	HasLeft Event = "-" // the sign-out was answered
)

// SignIn has people sign in for the first time, one after the other, with accounts that begin with
// name. Some sign out again, and some come back for a second session. tell is told of each
// event of a session, before what may be killed, and after it; it gives false to end this. A failure ends the
// person's turn; fail is told of it.
func SignIn(ctx context.Context, store kvadapter.Store, name string, tell func(session string, e Event) bool, fail func(error)) {
	a := kvadapter.New(store, kvadapter.Options{})
	for i := 0; ctx.Err() == nil; i++ {
		id := fmt.Sprintf("%s.%d", name, i)
		sessions := []string{id}
		if i%4 == 1 {
			sessions = append(sessions, id+" again")
		}
		for _, session := range sessions {
			if !tell(session, Begins) {
				return
			}
			if err := enter(ctx, a, session); err != nil {
				fail(err)
				break
			}
			if !tell(session, IsIn) {
				return
			}
		}
		if i%3 != 0 {
			continue
		}
		if !tell(id, Leaves) {
			return
		}
		if _, err := a.DeleteSession(ctx, id); err != nil {
			fail(err)
		} else if !tell(id, HasLeft) {
			return
		}
	}
}

// enter signs in, or up, as package core does.
func enter(ctx context.Context, a *core.Adapter, session string) error {
	id, _, _ := strings.Cut(session, " ")
	address := id + "@example.com"
	found, err := a.FindUser(ctx, core.UserQuery{Provider: "github", ProviderAccountID: id, Email: address})
	if err != nil {
		return err
	}
	s := core.AdapterSession{SessionToken: session, Expires: time.Now().Add(time.Hour)}
	switch {
	case found.Account != nil:
		_, _, err = a.SignIn(ctx, core.SignIn{User: core.User{ID: found.User.ID}, Session: &s, Revision: found.Revision})
	case found.User != nil:
		return errors.New("the account is unknown, and its address is taken")
	default:
		account := core.Account{Provider: "github", ProviderAccountID: id, UserID: "user of " + session}
		_, _, err = a.SignUp(ctx, core.SignUp{User: core.User{ID: account.UserID, Email: address}, Account: &account, Session: &s})
	}
	return err
}

// Verify gives an error for each session that was answered and is lost, for each that has ended and
// is back, and for everybody who can't sign in now, or whom a sign-out everywhere leaves a session.
func Verify(ctx context.Context, store kvadapter.Store, last map[string]Event) error {
	records := kvadapter.Open(store, kvadapter.Options{})
	a := records.Adapter()
	var wrong []error
	for session, e := range last {
		s, _, err := a.GetSessionAndUser(ctx, session)
		switch {
		case err != nil:
			return err
		case s == nil && e == IsIn:
			wrong = append(wrong, fmt.Errorf("the session %s was answered, and is lost", session))
		case s != nil && e == HasLeft:
			wrong = append(wrong, fmt.Errorf("the session %s has ended, and is back", session))
		}
	}
	for session := range last {
		again := session + " afterwards"
		if err := enter(ctx, a, again); err != nil {
			wrong = append(wrong, fmt.Errorf("%s is locked out: %w", session, err))
			continue
		}
		s, _, err := a.GetSessionAndUser(ctx, again)
		if err != nil || s == nil {
			wrong = append(wrong, fmt.Errorf("%s has signed in, and is not: %w", session, err))
			continue
		}
		if err := records.SignOutEverywhere(ctx, s.UserID); err != nil {
			return err
		}
		if s, _, err := a.GetSessionAndUser(ctx, session); s != nil || err != nil {
			wrong = append(wrong, fmt.Errorf("sign-out everywhere has left the session %s: %w", session, err))
		}
	}
	return errors.Join(wrong...)
}

// Run has clients sign in 500 times while restart ends the server with SIGKILL, and starts it again,
// every 100 times.
func Run(t *testing.T, store kvadapter.Store, restart func()) {
	const clients, signIns, between = 8, 500, 100
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var (
		mu          sync.Mutex
		group       sync.WaitGroup
		last        = map[string]Event{}
		in, unknown int
		kills       = make(chan struct{}, signIns/between) // one each time that it is due
	)
	tell := func(session string, e Event) bool {
		mu.Lock()
		defer mu.Unlock()
		last[session] = e
		if e == IsIn && in < signIns {
			if in++; in%between == 0 {
				kills <- struct{}{}
			}
		}
		return in < signIns
	}
	fail := func(error) {
		mu.Lock()
		unknown++
		mu.Unlock()
		select {
		case <-time.After(10 * time.Millisecond): // the server is down
		case <-ctx.Done():
		}
	}
	watched := &watched{Store: store}
	for i := range clients {
		group.Go(func() { SignIn(ctx, watched, fmt.Sprint(i), tell, fail) })
	}
	killed := make(chan int)
	go func() {
		n := 0
		for range kills {
			restart()
			n++
		}
		killed <- n
	}()
	group.Wait()
	close(kills)
	n := <-killed
	if ctx.Err() != nil {
		t.Fatalf("%d have signed in after two minutes", in)
	}
	if watched.failed.Load() == 0 {
		t.Error("no call at the store failed: nobody was signing in or out when the server was killed")
	}
	t.Logf("killed %d times: %d sign-ins answered, %d calls at the store and %d of the adapter failed", n, in, watched.failed.Load(), unknown)
	if err := Verify(ctx, store, last); err != nil {
		t.Error(err)
	}
}

// A watched store counts its calls that failed, of which the adapter settles some by looking again.
type watched struct {
	kvadapter.Store
	failed atomic.Int64
}

func (w *watched) Get(ctx context.Context, keys ...string) ([]kvadapter.Entry, error) {
	entries, err := w.Store.Get(ctx, keys...)
	w.count(err)
	return entries, err
}

func (w *watched) Commit(ctx context.Context, checks []kvadapter.Check, writes []kvadapter.Write) (bool, error) {
	ok, err := w.Store.Commit(ctx, checks, writes)
	w.count(err)
	return ok, err
}

func (w *watched) count(err error) {
	if err != nil {
		w.failed.Add(1)
	}
}
