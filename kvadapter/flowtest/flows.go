package flowtest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// A flow is what Ada does while the store fails. Bob is signed in meanwhile.
type flow struct {
	name    string
	prepare func(b *browser)            // what was before; nil: nothing
	do      func(b *browser, was state) // what the faults befall; was is who Ada is, if anybody
	after   func(b *browser, was state) // what must be possible and so afterwards
}

// flows are what people do. Each ends with Ada signed in again.
func flows() []flow {
	signIn := func(provider string) func(*browser, state) {
		return func(b *browser, _ state) { b.enter(provider, ada) }
	}
	signedIn := func(provider string) func(*browser) {
		return func(b *browser) { b.mustEnter(provider, ada, "before") }
	}
	again := func(provider string) func(*browser, state) {
		return func(b *browser, was state) {
			s := b.browserOf(b.handler).mustEnter(provider, ada, "again")
			if was.User.ID != "" && s.User.ID != was.User.ID {
				b.failf("Ada was user %s and is %s now", was.User.ID, s.User.ID)
			}
		}
	}
	known := func(provider string) func(*browser) {
		return func(b *browser) { b.browserOf(b.handler).mustEnter(provider, ada, "before") }
	}
	return []flow{
		{"first sign-in by link", nil, signIn(mail), again(mail)},
		{"sign-in by link", known(mail), signIn(mail), again(mail)},
		{"first OAuth sign-in", nil, signIn(hub), again(hub)},
		{"OAuth sign-in", known(hub), signIn(hub), again(hub)},
		{"sign-in while signed in", signedIn(mail), signIn(mail), again(mail)},
		{"linking", signedIn(mail), signIn(spoke), func(b *browser, was state) {
			again(mail)(b, was)
			other := b.browserOf(b.handler)
			other.mustEnter(mail, ada, "again")
			other.mustEnter(spoke, ada, "linking again")
			again(spoke)(b, was)
		}},
		{"session check", signedIn(mail), func(b *browser, _ state) { b.get(base + "/session") }, again(mail)},
		{"session update", signedIn(mail), func(b *browser, _ state) { b.post(base+"/session", url.Values{"data": {"x"}}) }, again(mail)},
		{"refresh", func(b *browser) { b.jar = b.due().jar }, func(b *browser, _ state) { b.get(base + "/session") }, again(mail)},
		{"sign-out", signedIn(mail), func(b *browser, _ state) { b.post(base+"/signout", nil) }, func(b *browser, was state) {
			told := b.answers[len(b.answers)-1]
			if told.clears && b.errors(core.ErrSignOut) == 0 && b.with(b.tokens[0]).session() != nil {
				b.failf("Ada has signed out without an error, and her session lives")
			}
			again(mail)(b, was)
		}},
		{"deletion", signedIn(hub), func(b *browser, was state) {
			b.dies(func() { _ = b.adapter.DeleteUser(newRequestContext(b.ctx), was.User.ID) }) // done again afterwards
		}, func(b *browser, was state) {
			if err := b.adapter.DeleteUser(b.ctx, was.User.ID); err != nil {
				b.failf("DeleteUser again: %w", err)
			}
			if b.cache != nil {
				time.Sleep(time.Minute) // whoever dies leaves copies, which are seen for as long as kvadapter.Options.CacheFor says
			}
			for _, token := range b.tokens {
				if b.with(token).session() != nil {
					b.failf("a session of the user who was deleted lives")
				}
			}
			if s := b.browserOf(b.handler).mustEnter(hub, ada, "again"); s.User.ID == was.User.ID {
				b.failf("the user who was deleted is back")
			}
		}},
	}
}

// A scene is a world in which Ada is about to do something.
type scene struct {
	*world
	ada, bob *browser
	was      state // who Ada was; zero: nobody
}

func (c *check) scene(f flow) scene {
	w := c.world()
	s := scene{world: w, ada: w.browser(), bob: w.browser()}
	s.bob.mustEnter(hub, bob, "before")
	if f.prepare != nil {
		f.prepare(s.ada)
	}
	user, err := w.adapter.GetUserByEmail(c.ctx, ada.address)
	if err != nil {
		c.failf("GetUserByEmail: %w", err)
	}
	if user != nil {
		s.was.User.ID = user.ID
	}
	return s
}

// calls gives the store calls of a flow without faults.
func (c *check) calls(f flow) []string {
	s := c.scene(f)
	s.probe.set(nil)
	f.do(s.ada, s.was)
	ops, _ := s.probe.counted()
	return ops
}

// faults puts a fault at each store call of each flow, one at a time.
func faults(f fault) func(*check) {
	return func(c *check) {
		var wrong []error
		tried := 0
		for _, flow := range flows() {
			for n, op := range c.calls(flow) {
				tried++
				if err := c.try(flow, n+1, f); err != nil {
					wrong = append(wrong, fmt.Errorf("%s, %v at call %d, %s: %w", flow.name, f, n+1, op, err))
				}
			}
		}
		if tried == 0 || len(wrong) > 0 {
			c.failf("%d of %d faults: %w", len(wrong), tried, errors.Join(wrong...))
		}
		c.logf("%d faults", tried)
	}
}

// try has a flow done with a fault at its nth call, and sees what became of everybody.
func (c *check) try(what flow, nth int, f fault) (err error) {
	defer func() { err = caught(recover()) }()
	s := c.scene(what)
	s.ada.answers = nil
	s.probe.set(func(n int, _ string) fault {
		if n == nth {
			return f
		}
		return noFault
	})
	what.do(s.ada, s.was)
	s.probe.set(nil)
	for _, a := range s.ada.answers {
		s.isNoCrash(a, "then")
		if a.clears && a.request == "GET "+base+"/session" {
			s.failf("the failure has signed Ada out")
		}
		if seen := a.read(); a.request == "GET "+base+"/session" && seen != nil && !seen.is(ada) {
			s.failf("Ada was told that she is %+v", seen.User)
		}
	}
	for _, token := range s.ada.tokens {
		if seen := s.ada.with(token).session(); seen != nil && !seen.is(ada) {
			s.failf("Ada's cookie is the session of %+v", seen.User)
		}
	}
	if !s.bob.session().is(bob) {
		s.failf("Bob is not signed in any more")
	}
	what.after(s.ada, s.was)
	s.browser().mustEnter(hub, bob, "afterwards")
	s.wantUsers(2, "afterwards")
	return nil
}

// isNoCrash demands that an answer is one that a browser can do something with: no server
// error but the session route's, which says when to come back and leaves the cookie alone.
func (w *world) isNoCrash(a answer, when string) {
	isDown := a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "" && !a.clears && a.session == ""
	if a.status >= 500 && !isDown || a.status >= 400 && a.status < 500 {
		w.failf("%s: %s: %d %s\n%s", when, a.request, a.status, a.body, w.journal())
	}
	if w.errors(core.ErrPanic) > 0 {
		w.failf("%s: %s: a panic\n%s", when, a.request, w.journal())
	}
}
