package flowtest

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/edgeauth/edgeauth/core"
)

// A flow is what Ada does while the store fails. Bob is signed in meanwhile.
type flow struct {
	name    string
	prepare func(b *browser)            // what was before; nil: nothing
	do      func(b *browser, was state) // what the faults befall; was is who Ada is, if anybody
	after   func(b *browser, was state) // what must be possible and so afterwards
}

// byCode is what the names of flows with a code end with.
const byCode = "sign-in by code"

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
		{"first " + byCode, nil, signIn(code), again(code)},
		{byCode, known(mail), signIn(code), again(code)},
		{"first OAuth sign-in", nil, signIn(hub), again(hub)},
		{"OAuth sign-in", known(hub), signIn(hub), again(hub)},
		{"first OpenID sign-in", nil, signIn(idp), again(idp)},
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
		{"sign-out", signedIn(mail), func(b *browser, _ state) {
			token := b.jar[sessionCookie].Value
			a := b.post(base+"/signout", nil)
			b.probe.set(nil)
			if a.clears && b.errors(core.ErrSignOut) == 0 && b.with(token).session() != nil {
				b.failf("Ada has signed out without an error, and her session lives")
			}
		}, again(mail)},
		{"deletion", signedIn(hub), func(b *browser, was state) {
			ctx := newRequestContext(b.ctx)
			_ = b.adapter.DeleteUser(ctx, was.User.ID) // done again afterwards
		}, func(b *browser, was state) {
			if err := b.adapter.DeleteUser(b.ctx, was.User.ID); err != nil {
				b.failf("DeleteUser again: %w", err)
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
	var ops []string
	s.probe.set(func(c call) fault {
		ops = append(ops, c.op)
		return noFault
	})
	f.do(s.ada, s.was)
	s.probe.set(nil)
	return ops
}

// faults puts a fault at each store call of each flow, one at a time.
func faults(f fault) func(*check) {
	return func(c *check) {
		t := &tally{check: c}
		for _, flow := range flows() {
			for n, op := range c.calls(flow) {
				if !f.befalls(op) || c.leavesOut(n+int(f)) {
					continue
				}
				t.try(flow, n+1, op, f)
			}
		}
		t.end()
	}
}

// A tally counts faults, and keeps what went wrong.
type tally struct {
	*check
	tried   int
	wrong   []error
	canRead bool // the faults are no reads', so that who is signed in can always be told
}

// end ends a case.
func (t *tally) end() {
	if t.tried == 0 {
		t.failf("no call had the fault")
	}
	if len(t.wrong) > 0 {
		t.failf("%d of %d faults: %w", len(t.wrong), t.tried, errors.Join(t.wrong...))
	}
	t.logf("%d faults", t.tried)
}

// try has a flow done with a fault at its nth call, and sees what became of everybody.
func (t *tally) try(what flow, n int, op string, f fault) {
	defer func() {
		if err := caught(recover()); err != nil {
			t.wrong = append(t.wrong, fmt.Errorf("%s, %v at call %d, %s: %w", what.name, f, n, op, err))
		}
	}()
	s := t.scene(what)
	hit := false
	s.ada.answers = nil
	s.probe.set(at(n, f, &hit))
	what.do(s.ada, s.was)
	s.probe.set(nil)
	if !hit {
		return
	}
	t.tried++
	for _, a := range s.ada.answers {
		s.isNoCrash(a, "then")
		if t.canRead && a.status >= 500 {
			s.failf("a session was not read, since something else was not written: %s: %d", a.request, a.status)
		}
		if isLying := f == stale || f == corrupt; a.clears && a.request == "GET "+base+"/session" && !isLying {
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
}
