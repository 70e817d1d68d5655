//go:build !js && !wasip1

package faults_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/wasmtest"
)

// A world's clock that stands still: it only moves when something comes from outside.
type stillClock struct {
	w  *world
	at atomic.Pointer[time.Time]
}

func (c *stillClock) now() time.Time {
	if t := c.at.Load(); t != nil {
		return *t
	}
	return c.w.now()
}

func (c *stillClock) tick() {
	now := c.w.now()
	c.at.Store(&now)
}

// tell sets the clock of the world and of the site.
func (s *site) tell(c *stillClock, offset time.Duration) {
	s.t.Helper()
	s.offset.Store(int64(offset))
	c.tick()
	if s.runtime != workerd {
		return
	}
	b := s.browser().with("X-World", fmt.Sprintf(`{"clock": %d}`, offset.Milliseconds()))
	if a, err := b.get("/state"); err != nil || a.status != http.StatusOK {
		s.t.Fatal(a.status, err)
	}
}

func TestE6Clocks(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		for _, c := range []struct {
			name string
			jump time.Duration
		}{{"stands still", 0}, {"jumps back an hour", -time.Hour}, {"jumps a day", 24 * time.Hour}} {
			for _, database := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, database %v", c.name, database), func(t *testing.T) {
					w := newWorld(t)
					clock := &stillClock{w: w}
					w.watch(func(string) error { clock.tick(); return nil })
					s := w.open(t, runtime, setup{database: database, isGuarded: true, wasm: wasmtest.Config{Now: clock.now}})
					s.tell(clock, 0)
					ada, late := s.browser(), s.browser()
					if err := errors.Join(ada.signIn("ada"), ada.is("ada"), late.begin()); err != nil {
						t.Fatal(err)
					}
					s.tell(clock, c.jump)
					if err := ada.is("ada"); err != nil {
						t.Error("a session from before: ", err)
					}
					if _, err := ada.post("/auth/session", url.Values{}); err != nil {
						t.Error(err)
					}
					// What was begun before a day went by can't be ended; begun anew, it can.
					a, err := late.get(callback + "bob")
					if isLate := c.jump > time.Hour; err != nil || a.isFailure() != isLate || late.hasSession() == isLate {
						t.Errorf("a sign-in from before: %d %q %v", a.status, a.location, err)
					}
					if err := errors.Join(late.signIn("bob"), late.is("bob"), ada.is("ada")); err != nil {
						t.Error(err)
					}
					s.tell(clock, 0) // and all the way back
					if err := errors.Join(ada.is("ada"), late.is("bob"), s.browser().signIn("carol")); err != nil {
						t.Error("back again: ", err)
					}
					old := ada.clone()
					if _, err := ada.post("/auth/signout", nil); err != nil || ada.hasSession() {
						t.Error("signing out: ", err)
					}
					if err := old.is("ada"); database == (err == nil) {
						t.Errorf("signed out, the old cookie gives %v", err)
					}
				})
			}
		}
	})
}

// source is randomness that can fail.
type source struct{ fails atomic.Bool }

func (s *source) Read(p []byte) (int, error) {
	if s.fails.Load() {
		return 0, errors.New("no randomness")
	}
	return rand.Read(p)
}

// The first request of an isolate boots the program: workerd refuses randomness before it.
// Without any, nobody is signed in, and nothing that should be secret is guessable.
func TestE8Randomness(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		for _, database := range []bool{false, true} {
			random := new(source)
			s := w.open(t, runtime, setup{database: database, isGuarded: true, wasm: wasmtest.Config{Random: random}})
			set := func(works bool) {
				random.fails.Store(!works)
				if runtime == workerd {
					// The answer to a request that boots the program is no business of this one.
					_, _ = s.browser().with("X-World", fmt.Sprintf(`{"random": %v}`, works)).get("/state")
				}
			}
			begun, ada := s.browser(), s.browser()
			if err := errors.Join(begun.begin(), ada.signIn("ada"), ada.is("ada")); err != nil {
				t.Fatal(err)
			}
			set(false)
			for range 3 { // the program that ended and its successors
				b := begun.clone()
				if a, err := b.get(callback + "bob"); err != nil || a.status < 500 && !a.isFailure() || b.hasSession() {
					t.Errorf("signing in without randomness: %d %q %v", a.status, a.location, err)
				}
				b = begun.clone()
				if a, err := b.post("/auth/signin/idp", nil); err != nil || a.status < 500 && !a.isFailure() || strings.Contains(a.location, "code_challenge") {
					t.Errorf("beginning without randomness: %d %q %v", a.status, a.location, err)
				}
				b = s.browser()
				if a, err := b.get("/auth/csrf"); err != nil || a.status < 500 && !a.isFailure() || a.sets > 0 {
					t.Errorf("a CSRF token without randomness: %d %q %v", a.status, a.body, err)
				}
			}
			set(true)
			if err := errors.Join(ada.is("ada"), begun.clone().signIn("bob")); err != nil {
				t.Error("with randomness again: ", err)
			}
		}
	})
}
