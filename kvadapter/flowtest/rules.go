package flowtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

func signOut(c *check) {
	w := c.world()
	leaving, staying := w.browser(), w.browser()
	leaving.mustEnter(hub, ada, "here")
	staying.mustEnter(hub, ada, "elsewhere")
	token := leaving.jar[sessionCookie].Value
	for _, b := range []*browser{leaving, staying} {
		if !b.session().is(ada) {
			c.failf("Ada is not signed in")
		}
	}
	if a := leaving.post(base+"/signout", nil); !a.clears || leaving.has() {
		c.failf("sign-out: %d %s, cookie cleared: %v", a.status, a.location, a.clears)
	}
	if s := w.browser().with(token).session(); s != nil {
		c.failf("a copy of the cookie is still the session of %+v", s.User)
	}
	s := staying.session()
	if !s.is(ada) {
		c.failf("Ada was signed out elsewhere, too")
	}
	if err := w.records.SignOutEverywhere(c.ctx, s.User.ID); err != nil {
		c.failf("SignOutEverywhere: %w", err)
	}
	if s := staying.session(); s != nil {
		c.failf("after SignOutEverywhere there is the session %+v", s)
	}
	w.browser().mustEnter(hub, ada, "afterwards")
	w.wantUsers(1, "afterwards")
}

func storeDown(c *check) {
	w := c.world()
	held := w.browser()
	held.mustEnter(mail, ada, "before")
	token := w.browserOf(w.site(func(c *core.Config) { c.Session.Strategy = core.StrategyJWT }))
	token.mustEnter(hub, bob, "before")
	back := w.browser()
	path := back.start(hub, bob)
	if c.cache != nil {
		time.Sleep(time.Minute) // until it shows no copies
	}
	w.probe.set(func(int, string) fault { return failBefore })
	for i := range 3 {
		a := held.get(base + "/session")
		switch {
		case a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "":
			c.failf("read %d: GET session: %d %s, want 503 with Retry-After", i, a.status, a.body)
		case a.clears || !held.has():
			c.failf("read %d: the session cookie was touched: %v", i, a.header["Set-Cookie"])
		}
		if a := token.get(base + "/session"); !a.read().is(bob) || a.clears {
			c.failf("read %d: GET session with a jwt: %d %s", i, a.status, a.body)
		}
		if a, done := w.browser().enter(mail, ada); done || a.location != toFailure {
			c.failf("read %d: %s: %d %s", i, a.request, a.status, a.location)
		}
	}
	if a := back.get(path); back.has() || a.location != toFailure {
		c.failf("an OAuth callback: %d %s", a.status, a.location)
	}
	w.isNoCrash(held.post(base+"/session", url.Values{"data": {"x"}}), "POST session")
	w.probe.set(nil)
	if !held.session().is(ada) {
		c.failf("the outage has signed Ada out")
	}
	w.browser().mustEnter(mail, ada, "afterwards")
	back.mustEnter(hub, bob, "afterwards")
}

// cost counts the store's calls of each flow. With a cache a check is a call to that before.
func cost(c *check) {
	most := map[string]int{
		"first sign-in by link": 5, "sign-in by link": 5, // one when it is asked for
		"first OAuth sign-in": 2, "OAuth sign-in": 3, "session check": 1, "session update": 2, "refresh": 2, "sign-out": 2, "deletion": 2,
		"sign-in while signed in": 6, "linking": 4,
	}
	for _, f := range flows() {
		s := c.scene(f)
		s.probe.set(nil)
		s.ada.answers = nil
		f.do(s.ada, s.was)
		ops, _ := s.probe.counted()
		limit := most[f.name]
		if c.cache != nil && f.name == "refresh" {
			limit++ // a refresh of a copy reads first
		}
		if len(ops) > limit {
			c.failf("%s made %d calls, want %d at most: %v", f.name, len(ops), limit, ops)
		}
		told := 0
		for _, a := range s.ada.answers {
			_, count, _ := strings.Cut(a.header.Get("Server-Timing"), `store;dur=`)
			_, count, _ = strings.Cut(count, `desc="`)
			var n int
			_, _ = fmt.Sscan(count, &n)
			told += n
		}
		if c.cache == nil && f.name != "deletion" && told != len(ops) {
			c.failf("%s: Server-Timing tells of %d calls, and there were %v", f.name, told, ops)
		}
		c.logf("%s: %v", f.name, ops)
	}
	nobody := c.world().browser()
	if nobody.session() != nil {
		c.failf("somebody is signed in")
	}
	if ops, _ := nobody.probe.counted(); len(ops) > 0 {
		c.failf("without a cookie the calls %v were made", ops)
	}
}
