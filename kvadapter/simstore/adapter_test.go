package simstore_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter/simstore"
)

// The numbers are those of reliability.md, section 4.5.

// inLayouts runs a test in a bubble for each layout.
func inLayouts(t *testing.T, test func(t *testing.T, where layout)) {
	for _, where := range layouts {
		t.Run(where.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, where) })
		})
	}
}

// bound is when a session that has ended is so everywhere.
const bound = time.Minute

// K-13: a session that was signed out, or whose user was deleted, stays dead, whatever else is
// done to it at the same time, wherever.
func TestK13NoResurrection(t *testing.T) {
	t.Parallel()
	type outcome struct{ signedOut, deleted bool }
	flows := map[string]func(w *world, session, link string, done *outcome) func(context.Context){
		"sign-out": func(w *world, session, _ string, done *outcome) func(context.Context) {
			return func(ctx context.Context) {
				for !done.signedOut { // as somebody does who sees an error
					done.signedOut = w.signOut(ctx, 0, session)
					_ = w.store.Sleep(ctx, 1100*time.Millisecond)
				}
			}
		},
		"refresh": func(w *world, session, _ string, _ *outcome) func(context.Context) {
			return func(ctx context.Context) { w.read(ctx, 1, session) }
		},
		"refresh here": func(w *world, session, _ string, _ *outcome) func(context.Context) {
			return func(ctx context.Context) { w.read(ctx, 0, session) }
		},
		"sign-in": func(w *world, _, link string, _ *outcome) func(context.Context) {
			return func(ctx context.Context) { w.useLink(ctx, 1, link) }
		},
		"delete-user": func(w *world, _, _ string, done *outcome) func(context.Context) {
			id := w.user(0).ID
			return func(ctx context.Context) {
				for !done.deleted {
					done.deleted = w.records[1].Adapter().DeleteUser(ctx, id) == nil
					_ = w.store.Sleep(ctx, 1100*time.Millisecond)
				}
			}
		},
	}
	for _, names := range [][]string{
		{"sign-out", "refresh"}, {"sign-out", "refresh", "refresh here"}, {"sign-out", "sign-in"},
		{"sign-out", "delete-user"}, {"delete-user", "refresh", "sign-in"},
	} {
		t.Run(strings.Join(names, " "), func(t *testing.T) {
			t.Parallel()
			inLayouts(t, func(t *testing.T, where layout) {
				for seed := range uint64(seeds(t, 700)) { // 10,500 in all
					w := newWorld(t, where, simstore.Options{Seed: seed}, nil)
					session := w.signIn(0)
					time.Sleep(25 * time.Hour) // so that a read is a refresh
					w.isRead(1, session)       // and cached
					link := w.askLink(ctx, 0)
					var done outcome
					var run []func(context.Context)
					for _, name := range names {
						run = append(run, flows[name](w, session, link, &done))
					}
					w.store.ClearCalls()
					w.store.Plan(
						simstore.Rule{Fault: simstore.Delay, Probability: 0.1, Delay: 2 * time.Second},
						simstore.Rule{Fault: simstore.Delay, Probability: 0.05, Delay: 45 * time.Second},
					)
					if err := w.store.Run(ctx, run...); err != nil {
						t.Fatalf("seed %d: %v\n%s", seed, err, w.store.Trace())
					}
					w.store.Plan()
					trace := w.store.Trace()
					w.staysDead(seed, session, trace)
					if done.deleted && len(w.alive("account")) > 0 {
						t.Errorf("seed %d: the deleted user's accounts are there: %v", seed, w.alive("account"))
					}
					if t.Failed() {
						return
					}
				}
			})
		})
	}
}

// seeds is how many interleavings a test tries.
func seeds(t testing.TB, n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// isRead lets a location know a session without extending it.
func (w *world) isRead(location int, session string) {
	w.t.Helper()
	s, _, err := w.records[location].Adapter().GetSessionAndUser(ctx, session)
	if s == nil || err != nil {
		w.t.Fatalf("session %v, %v", s, err)
	}
}

// staysDead reads a session from now on: it is dead everywhere after the bound, and at each
// location once it was seen to be.
func (w *world) staysDead(seed uint64, session, trace string) {
	w.t.Helper()
	wasDead := make([]bool, len(w.sites))
	const step = 12 * time.Second
	for passed := time.Duration(0); passed <= 3*bound; passed += step {
		for i := range w.sites {
			alive := w.isAlive(i, session)
			switch {
			case alive && wasDead[i]:
				w.t.Errorf("seed %d: the session came back to life at %d after %v\n%s", seed, i, passed, trace)
				return
			case alive && passed >= bound:
				w.t.Errorf("seed %d: the session lives at %d after %v\n%s", seed, i, passed, trace)
				return
			}
			wasDead[i] = !alive
		}
		time.Sleep(step)
	}
	time.Sleep(40 * 24 * time.Hour) // past the end of its tombstone
	for i := range w.sites {
		if w.isAlive(i, session) {
			w.t.Errorf("seed %d: the session lives at %d when its tombstone has ended\n%s", seed, i, trace)
		}
	}
}

// K-14: who signs out at one location is signed out at the others within the bound that the
// store documents, and from then on.
func TestK14RevocationIsBoundedAndMonotone(t *testing.T) {
	t.Parallel()
	inLayouts(t, func(t *testing.T, where layout) {
		for _, lag := range []time.Duration{0, 20 * time.Second} {
			for lead := time.Duration(0); lead < 70*time.Second; lead += 7 * time.Second {
				w := newWorld(t, where, simstore.Options{Lag: lag, Locations: 3}, nil)
				session := w.signIn(0)
				time.Sleep(2 * time.Minute)
				w.isRead(1, session) // cached from here
				time.Sleep(lead)
				if !w.signOut(ctx, 0, session) {
					t.Fatal("signing out failed")
				}
				if w.isAlive(0, session) {
					t.Error("alive where it was signed out")
				}
				wasDead := false
				for second := range 300 {
					alive := w.isAlive(1, session)
					if alive && (wasDead || time.Duration(second)*time.Second >= bound+lag) {
						t.Fatalf("lag %v, read %v before: alive %d s after the sign-out (dead before: %v)", lag, lead, second, wasDead)
					}
					wasDead = !alive
					time.Sleep(time.Second)
				}
			}
		}
	})
}

// K-15: an address that two locations have looked up in vain is still one user's.
func TestK15NegativeCaching(t *testing.T) {
	t.Parallel()
	inLayouts(t, func(t *testing.T, where layout) {
		w := newWorld(t, where, simstore.Options{}, nil)
		for i := range w.sites {
			if w.user(i) != nil {
				t.Fatal("a user before the first")
			}
		}
		links := []string{w.askLink(ctx, 0), w.askLink(ctx, 1)}
		for i, link := range links {
			time.Sleep(5 * time.Second)
			session := w.useLink(ctx, i, link)
			if session == "" || !w.isAlive(i, session) || !w.isAlive(1-i, session) {
				t.Errorf("sign-in at %d: session %q\n%s", i, session, w.store.Trace())
			}
		}
		if users := w.alive("user"); len(users) != 1 {
			t.Errorf("users %v", users)
		}
	})
}

// K-15, at the same time: of all orders in which two first sign-ins by one address can go,
// none makes two users.
func TestK15OneUserWhateverTheOrder(t *testing.T) {
	t.Parallel()
	inLayouts(t, func(t *testing.T, where layout) {
		for seed := range uint64(seeds(t, 500)) {
			w := newWorld(t, where, simstore.Options{Seed: seed}, nil)
			links := []string{w.askLink(ctx, 0), w.askLink(ctx, 1)}
			sessions := make([]string, 2)
			w.store.ClearCalls()
			err := w.store.Run(ctx,
				func(ctx context.Context) { sessions[0] = w.useLink(ctx, 0, links[0]) },
				func(ctx context.Context) { sessions[1] = w.useLink(ctx, 1, links[1]) })
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			trace := w.store.Trace()
			if users := w.alive("user"); len(users) != 1 {
				t.Fatalf("seed %d: users %v\n%s", seed, users, trace)
			}
			for i, session := range sessions {
				if session == "" {
					session = w.signIn(i) // the loser's next try
				}
				if !w.isAlive(i, session) {
					t.Fatalf("seed %d: the session of %d is dead\n%s", seed, i, trace)
				}
			}
		}
	})
}

// K-16: at the edge of updateAge every request is answered, and one write a second is enough.
func TestK16UpdateAgeEdge(t *testing.T) {
	t.Parallel()
	inLayouts(t, func(t *testing.T, where layout) {
		for seed := range uint64(3) {
			readers := seeds(t, 1000)
			w := newWorld(t, where, simstore.Options{Seed: seed, MaxCalls: 10_000_000}, nil)
			session := w.signIn(0)
			time.Sleep(24*time.Hour - time.Second)
			w.isRead(1, session)
			time.Sleep(time.Second)
			w.store.ClearCalls()
			right := 0
			var flows []func(context.Context)
			for i := range readers {
				flows = append(flows, func(ctx context.Context) {
					if a := w.read(ctx, i%2, session); a.status == http.StatusOK && strings.Contains(a.body, address) && a.session == session {
						right++
					}
				})
			}
			if err := w.store.Run(ctx, flows...); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if right != readers {
				t.Errorf("seed %d: %d right answers of %d", seed, right, readers)
			}
			puts := w.puts()
			t.Logf("seed %d: %d calls, writes of the session %v", seed, len(w.store.Calls()), puts)
			if where.hasLimit && puts["<nil>"] > 1 {
				t.Errorf("seed %d: %d writes of one key in a second", seed, puts["<nil>"])
			}
			time.Sleep(29 * 24 * time.Hour)
			if !w.isAlive(0, session) || !w.isAlive(1, session) {
				t.Errorf("seed %d: the session was not extended", seed)
			}
		}
	})
}

// A faultCase is a flow that faults befall, and what must be so when it has been done again without.
type faultCase struct {
	name    string
	prepare func(w *world) func(ctx context.Context) (done bool)
	check   func(t *testing.T, w *world, where string)
}

// faultCases are the flows of the adapter's callers.
func faultCases() []faultCase {
	var session string
	oneUser := func(t *testing.T, w *world, where string) {
		time.Sleep(2 * time.Second)
		if s := w.signIn(1); !w.isAlive(1, s) {
			t.Errorf("%s: no sign-in afterwards", where)
		}
		if users := w.alive("user"); len(users) != 1 {
			t.Errorf("%s: users %v", where, users)
		}
	}
	return []faultCase{
		{"sign-in of a new user", func(w *world) func(context.Context) bool {
			return func(ctx context.Context) bool {
				link := w.askLink(ctx, 0)
				if link == "" {
					return false
				}
				session = w.useLink(ctx, 0, link)
				return session != ""
			}
		}, func(t *testing.T, w *world, where string) {
			if !w.isAlive(0, session) {
				t.Errorf("%s: the new session is dead", where)
			}
			oneUser(t, w, where)
		}},
		{"sign-out", func(w *world) func(context.Context) bool {
			session = w.signIn(0)
			time.Sleep(2 * time.Second)
			return func(ctx context.Context) bool { return w.signOut(ctx, 0, session) }
		}, func(t *testing.T, w *world, where string) {
			time.Sleep(bound)
			if w.isAlive(0, session) || w.isAlive(1, session) {
				t.Errorf("%s: the session lives", where)
			}
			oneUser(t, w, where)
		}},
		{"refresh", func(w *world) func(context.Context) bool {
			session = w.signIn(0)
			time.Sleep(25 * time.Hour)
			return func(ctx context.Context) bool {
				return w.read(ctx, 0, session).status == http.StatusOK && w.logged[string(core.ErrAdapter)] == 0
			}
		}, func(t *testing.T, w *world, where string) {
			time.Sleep(bound)
			if !w.isAlive(0, session) || !w.isAlive(1, session) {
				t.Errorf("%s: the session is dead", where)
			}
			oneUser(t, w, where)
		}},
		{"linking of an account", func(w *world) func(context.Context) bool {
			w.signIn(0)
			id := w.user(0).ID
			return func(ctx context.Context) bool {
				return w.records[0].Adapter().LinkAccount(ctx, core.Account{UserID: id, Provider: "p", ProviderAccountID: "1", Type: "oauth"}) == nil
			}
		}, func(t *testing.T, w *world, where string) {
			if user, err := w.records[1].Adapter().GetUserByAccount(ctx, "p", "1"); user == nil || err != nil {
				t.Errorf("%s: the account is lost: %v", where, err)
			}
			oneUser(t, w, where)
		}},
		{"another address", func(w *world) func(context.Context) bool {
			a := w.records[0].Adapter()
			if _, err := a.CreateUser(ctx, core.User{ID: "1", Email: "old@example.com"}); err != nil {
				w.t.Fatal(err)
			}
			return func(ctx context.Context) bool {
				_, err := a.UpdateUser(ctx, core.User{ID: "1", Email: address})
				return err == nil
			}
		}, func(t *testing.T, w *world, where string) {
			if old, err := w.records[0].Adapter().GetUserByEmail(ctx, "old@example.com"); old != nil || err != nil {
				t.Errorf("%s: the old address still is the user's: %v, %v", where, old, err)
			}
			if _, err := w.records[0].Adapter().CreateUser(ctx, core.User{ID: "2", Email: "old@example.com"}); err != nil {
				t.Errorf("%s: the old address is nobody's and can't be taken: %v", where, err)
			} else if err := w.records[0].Adapter().DeleteUser(ctx, "2"); err != nil {
				t.Errorf("%s: %v", where, err)
			}
			oneUser(t, w, where)
		}},
		{"deletion of a user", func(w *world) func(context.Context) bool {
			session = w.signIn(0)
			time.Sleep(2 * time.Second)
			a, id := w.records[0].Adapter(), w.user(0).ID
			if err := a.LinkAccount(ctx, core.Account{UserID: id, Provider: "p", ProviderAccountID: "1", Type: "oauth"}); err != nil {
				w.t.Fatal(err)
			}
			return func(ctx context.Context) bool { return a.DeleteUser(ctx, id) == nil }
		}, func(t *testing.T, w *world, where string) {
			time.Sleep(bound)
			if w.isAlive(0, session) || w.isAlive(1, session) {
				t.Errorf("%s: the session lives", where)
			}
			if left := append(w.alive("user"), w.alive("account")...); len(left) > 0 {
				t.Errorf("%s: left %v", where, left)
			}
			oneUser(t, w, where) // the address can be had again
		}},
	}
}

// tryFaults has a fault befall each call of each flow in turn, does the flow again without
// faults until it succeeds, and checks what is so then. It gives the number of faults.
func tryFaults(t *testing.T, where layout, fault simstore.Fault) (tried int) {
	for i, c := range faultCases() {
		for nth := 1; ; nth++ {
			label := fmt.Sprintf("%s, %v of call %d", c.name, fault, nth)
			c := faultCases()[i]
			w := newWorld(t, where, simstore.Options{Seed: uint64(nth)}, nil)
			flow := c.prepare(w)
			w.store.ClearCalls()
			w.store.Plan(simstore.Rule{Fault: fault, Nth: nth})
			if err := w.store.Run(ctx, func(ctx context.Context) { flow(ctx) }); err != nil {
				t.Fatalf("%s: %v", label, err)
			}
			w.store.Plan()
			hit := false
			for _, call := range w.store.Calls() {
				hit = hit || call.Fault == fault
			}
			if !hit {
				break
			}
			tried++
			clear(w.logged)
			isDone := false
			for range 3 {
				time.Sleep(2 * time.Second)
				if isDone = flow(ctx); isDone {
					break
				}
			}
			if !isDone {
				t.Errorf("%s: doing it again does not help\n%s", label, w.store.Trace())
				continue
			}
			trace := w.store.Trace()
			c.check(t, w, label)
			if t.Failed() {
				t.Logf("%s:\n%s", label, trace)
				return tried
			}
		}
	}
	return tried
}

// K-17: a store that throttles one write, whichever, spoils nothing.
func TestK17EachWriteThrottled(t *testing.T) {
	t.Parallel()
	inLayouts(t, func(t *testing.T, where layout) {
		t.Logf("%d faults", tryFaults(t, where, simstore.Throttle))
	})
}

// K-17: a store that takes no writes for a minute still lets people read their sessions.
func TestK17AllWritesThrottled(t *testing.T) {
	t.Parallel()
	inLayouts(t, func(t *testing.T, where layout) {
		w := newWorld(t, where, simstore.Options{}, nil)
		session := w.signIn(0)
		time.Sleep(25 * time.Hour)
		w.store.Plan(simstore.Rule{Fault: simstore.Throttle})
		for range 12 {
			for i := range w.sites {
				if a := w.read(ctx, i, session); a.status != http.StatusOK || !strings.Contains(a.body, address) || a.clears {
					t.Errorf("GET session: %+v", a)
				}
			}
			if link := w.askLink(ctx, 0); link != "" {
				t.Error("a link was sent that can't work")
			}
			time.Sleep(5 * time.Second)
		}
		w.store.Plan()
		w.signIn(0)
		if !w.isAlive(0, session) {
			t.Error("the session is dead")
		}
	})
}

// K-18: a flow that ends in the middle, wherever, can be done again.
func TestK18CrashAtEachCall(t *testing.T) {
	t.Parallel()
	inLayouts(t, func(t *testing.T, where layout) {
		t.Logf("%d crashes", tryFaults(t, where, simstore.Crash))
	})
}

// K-19: a call that has worked and says that it failed, whichever, spoils nothing; nor does one
// that has not worked, or is delivered twice.
func TestK19EachCallInDoubt(t *testing.T) {
	t.Parallel()
	for _, fault := range []simstore.Fault{simstore.FailAfter, simstore.FailBefore, simstore.Duplicate} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			inLayouts(t, func(t *testing.T, where layout) {
				t.Logf("%d faults", tryFaults(t, where, fault))
			})
		})
	}
}

// K-20: whatever is left of a session or of a link, the store is never asked for less than a
// minute, and the record ends to the second.
func TestK20ShortLives(t *testing.T) {
	t.Parallel()
	inLayouts(t, func(t *testing.T, where layout) {
		for seconds := 1; seconds <= 61; seconds++ {
			life := time.Duration(seconds) * time.Second
			lives := func(c *core.Config) {
				c.Session.MaxAge, c.Session.UpdateAge = life, life
				email := c.Providers[0].(core.Email)
				email.MaxAge = life
				c.Providers = []core.Provider{email}
			}
			for _, isLate := range []bool{false, true} {
				wait := life - time.Millisecond
				if isLate {
					wait = life
				}
				w := newWorld(t, where, simstore.Options{CacheTTL: -1}, lives)
				link := w.askLink(ctx, 0)
				time.Sleep(wait)
				session := w.useLink(ctx, 0, link)
				if (session == "") != isLate {
					t.Errorf("a link of %v after %v: session %q", life, wait, session)
				}
				if isLate {
					session = w.signIn(0)
				}
				time.Sleep(wait)
				s, _, err := w.records[1].Adapter().GetSessionAndUser(ctx, session)
				if (s == nil) != isLate || err != nil {
					t.Errorf("a session of %v after %v: %v, %v", life, wait, s, err)
				}
				for _, call := range w.store.Calls() {
					if call.Size > 0 && !call.Expires.IsZero() && call.Expires.Sub(call.At) < time.Minute {
						t.Errorf("life %v: %v until %v", life, call, call.Expires.Sub(call.At))
					}
				}
			}
		}
	})
}

// K-21: a damaged session is none; nobody panics, the cookie goes, and it is told once.
func TestK21Corruption(t *testing.T) {
	t.Parallel()
	large := make([]byte, 25<<20)
	damages := map[string]func(v []byte, other []byte) []byte{
		"empty":            func([]byte, []byte) []byte { return nil },
		"half":             func(v, _ []byte) []byte { return v[:len(v)/2] },
		"all but the last": func(v, _ []byte) []byte { return v[:len(v)-1] },
		"with a tail":      func(v, _ []byte) []byte { return append(v, '}') },
		"null":             func([]byte, []byte) []byte { return []byte("null") },
		"a list":           func([]byte, []byte) []byte { return []byte("[]") },
		"no version":       func(v, _ []byte) []byte { return []byte(strings.Replace(string(v), `"version":1`, `"version":0`, 1)) },
		"another kind": func(v, _ []byte) []byte {
			return []byte(strings.Replace(string(v), `"kind":"session"`, `"kind":"user"`, 1))
		},
		"another's session":  func(_, other []byte) []byte { return other },
		"25 MiB":             func([]byte, []byte) []byte { return large },
		"numbers as strings": func(v, _ []byte) []byte { return []byte(strings.Replace(string(v), `"expires":`, `"expires":"x`, 1)) },
	}
	synctest.Test(t, func(t *testing.T) {
		for name, damage := range damages {
			w := newWorld(t, layouts[0], simstore.Options{}, nil)
			other := w.signIn(0)
			keys := w.store.Keys()
			time.Sleep(2 * time.Second)
			session := w.signIn(0)
			value, _, _ := w.store.Value(keys[0])
			for _, key := range w.store.Keys() {
				if key != keys[0] {
					w.store.Damage(key, func(v []byte) []byte { return damage(v, value) })
				}
			}
			a := w.read(ctx, 1, session)
			if a.status != http.StatusOK || a.body != "null" || !a.clears || w.corrupt != 1 {
				t.Errorf("%s: %+v, told %d times", name, a, w.corrupt)
			}
			if !w.isAlive(1, other) {
				t.Errorf("%s: the other session is dead", name)
			}
			time.Sleep(2 * time.Second)
			w.signIn(1)
		}
		// A later version is read.
		w := newWorld(t, layouts[0], simstore.Options{}, nil)
		session := w.signIn(0)
		w.store.Damage(w.store.Keys()[0], func(v []byte) []byte {
			return []byte(strings.Replace(string(v), `"version":1`, `"version":2,"later":{"a":[1]}`, 1))
		})
		if !w.isAlive(0, session) || w.corrupt != 0 {
			t.Error("a record of a later version is not read")
		}
		time.Sleep(25 * time.Hour)
		if !w.isAlive(0, session) || !w.isAlive(1, session) {
			t.Error("a record of a later version is not extended")
		}
	})
}

// K-22: while the store is down nobody is signed out, jwt sessions go on, and when it is back
// nothing needs a restart.
func TestK22StoreDown(t *testing.T) {
	t.Parallel()
	inLayouts(t, func(t *testing.T, where layout) {
		for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
			w := newWorld(t, where, simstore.Options{}, func(c *core.Config) { c.Session.Strategy = strategy })
			session := w.signIn(0)
			time.Sleep(time.Hour)
			w.store.Plan(simstore.Rule{Fault: simstore.FailBefore})
			for range 10 {
				for i := range w.sites {
					a := w.read(ctx, i, session)
					isDown := a.status == http.StatusServiceUnavailable && !strings.Contains(a.body, address)
					isRight := a.status == http.StatusOK && strings.Contains(a.body, address)
					if a.clears || strategy == core.StrategyJWT && !isRight || strategy == core.StrategyDatabase && !isDown {
						t.Errorf("%s: GET session: %+v", strategy, a)
					}
				}
				time.Sleep(time.Minute)
			}
			w.store.Plan()
			for i := range w.sites {
				if !w.isAlive(i, session) {
					t.Errorf("%s: signed out at %d by the outage", strategy, i)
				}
			}
			w.signIn(1)
		}
	})
}

// K-24: whatever people begin and leave, in the end only the users themselves are in the
// stores, and nothing of those who were deleted.
func TestK24NothingStaysBehind(t *testing.T) {
	t.Parallel()
	inLayouts(t, func(t *testing.T, where layout) {
		w := newWorld(t, where, simstore.Options{CacheTTL: -1}, nil)
		for i := range seeds(t, 3000) {
			link := w.askLink(ctx, i%2)
			time.Sleep(time.Minute)
			if i%3 == 0 {
				continue // never used
			}
			session := w.useLink(ctx, i%2, link)
			if session == "" {
				t.Fatalf("sign-in %d failed\n%s", i, w.store.Trace())
			}
			time.Sleep(time.Minute)
			if i%3 == 1 && !w.signOut(ctx, i%2, session) {
				t.Fatalf("sign-out %d failed", i)
			}
			w.store.ClearCalls()
		}
		time.Sleep(30*24*time.Hour + 2*time.Minute) // the longest life
		if keys := w.store.Keys(); len(keys) > 0 {
			t.Errorf("in the sessions' store: %v", keys)
		}
		if keys := w.store.AtomicKeys(); len(keys) != 2 {
			t.Errorf("want the user and the address: %v", keys)
		}
		if err := w.records[0].Adapter().DeleteUser(ctx, w.user(0).ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if keys := append(w.store.Keys(), w.store.AtomicKeys()...); len(keys) > 0 {
			t.Errorf("when the user is deleted: %v", keys)
		}
	})
}
