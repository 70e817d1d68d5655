package flowtest

import (
	"net/http"
	"net/url"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

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

// allWritesRefused is K-17.
func allWritesRefused(c *check) {
	w := c.world()
	due := w.due()
	fresh := w.browser()
	fresh.mustEnter(idp, bob, "before")
	link := w.browser().askLink(ada)
	newcomer := person{"subject-of-eve", "Eve", "eve@example.com"}
	stranger := w.browser()
	back := stranger.start(hub, newcomer)
	w.probe.set(func(c call) fault {
		if c.isWrite {
			return throttled
		}
		return noFault
	})
	for i := range 5 {
		for who, b := range map[person]*browser{ada: due, bob: fresh} {
			if a := b.get(base + "/session"); !a.read().is(who) || a.session == "" {
				c.failf("read %d of %s's session: %d %s", i, who.name, a.status, a.body)
			}
		}
	}
	refused := func(b *browser, a answer) {
		if a.status != http.StatusFound || a.location != toFailure || b.has() {
			c.failf("%s: %d %s, want the error page", a.request, a.status, a.location)
		}
	}
	late := w.browser()
	a, _ := late.enter(mail, ada)
	refused(late, a)
	if sent := len(w.inbox(ada.address)); sent != 2 {
		c.failf("a link was sent that can't work")
	}
	follower := w.browser()
	refused(follower, follower.get(link))
	refused(stranger, stranger.get(back))
	leaver := fresh.with(fresh.jar[sessionCookie].Value)
	w.isNoCrash(leaver.post(base+"/signout", nil), "sign-out")

	w.probe.set(nil)
	if a := follower.get(link); !follower.has() || !follower.session().is(ada) {
		c.failf("the link that the store refused to use up doesn't work afterwards: %s", a.location)
	}
	stranger.mustEnter(hub, newcomer, "afterwards")
	if !due.session().is(ada) || !isExtended(due.session()) {
		c.failf("the session that was due is not extended afterwards: %s", w.journal())
	}
}

// storeDown is K-22.
func storeDown(c *check) {
	w := c.world()
	held := w.browser()
	held.mustEnter(mail, ada, "before")
	token := w.browserOf(w.site(func(c *core.Config) { c.Session.Strategy = core.StrategyJWT }))
	token.mustEnter(hub, bob, "before")
	back := w.browser()
	path := back.start(hub, bob)

	w.probe.set(func(call) fault { return failBefore })
	for minute := range 10 {
		if c.options.Bubble {
			c.until(time.Now().Add(time.Minute))
		}
		a := held.get(base + "/session")
		switch {
		case a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "":
			c.failf("minute %d: GET session: %d %s, want 503 with Retry-After", minute, a.status, a.body)
		case a.clears || a.session != "" || !held.has():
			c.failf("minute %d: the session cookie was touched: %v", minute, a.header["Set-Cookie"])
		}
		if a := token.get(base + "/session"); !a.read().is(bob) || a.clears {
			c.failf("minute %d: GET session with a jwt: %d %s", minute, a.status, a.body)
		}
		visitor := w.browser()
		a, done := visitor.enter(mail, ada)
		if done || a.location != toFailure {
			c.failf("minute %d: %s: %d %s", minute, a.request, a.status, a.location)
		}
	}
	if a := back.get(path); back.has() || a.location != toFailure {
		c.failf("an OAuth callback: %d %s", a.status, a.location)
	}
	w.isNoCrash(held.post(base+"/session", url.Values{"data": {"x"}}), "POST session")
	if !held.has() {
		c.failf("POST session has cleared the cookie")
	}
	w.probe.set(nil)
	if !held.session().is(ada) {
		c.failf("the outage has signed Ada out")
	}
	w.browser().mustEnter(mail, ada, "afterwards")
	back.mustEnter(hub, bob, "afterwards")
}

// eachWriteRefused is K-17.
func eachWriteRefused(c *check) {
	t := &tally{check: c, canRead: true}
	for _, f := range flows() {
		for n, op := range c.calls(f) {
			if op == "Get" || op == "List" || c.leavesOut(n) {
				continue
			}
			t.try(f, n+1, op, failBefore)
		}
	}
	t.end()
}
