package flowtest

import (
	"fmt"
	"net/http"
)

func linkRace(c *check) {
	n := c.options.Clients
	for round := range c.options.Rounds {
		w := c.world()
		link := w.browser().askLink(ada)
		browsers := w.together(n, func(b *browser) string { return link })
		won, lost := 0, 0
		for _, b := range browsers {
			a := b.answers[0]
			switch {
			case b.has() && a.status == http.StatusFound && b.session().is(ada):
				won++
			case !b.has() && a.status == http.StatusFound && a.location == toVerification:
				lost++
			default:
				c.failf("round %d: a client got %d %s, session cookie: %v\n%s", round, a.status, a.location, b.has(), w.journal())
			}
		}
		if won != 1 || lost != n-1 {
			c.failf("round %d: %d of %d clients got a session, want 1", round, won, n)
		}
		w.wantUsers(1, fmt.Sprint("round ", round))
	}
}

// together has browsers prepare, one after the other, a path that they then all open at once.
func (w *world) together(n int, prepare func(*browser) string) []*browser {
	browsers, paths := make([]*browser, n), make([]string, n)
	for i := range browsers {
		browsers[i] = w.browser()
		if paths[i] = prepare(browsers[i]); paths[i] == "" {
			w.failf("the sign-in was not begun\n%s", w.journal())
		}
	}
	w.crowd(n, func(i int) { browsers[i].get(paths[i]) })
	return browsers
}

// allAre demands that everybody who was given a session is Ada, one user, and still signed in, but for
// those of whom the user has too many; and says how many were not given one.
func (w *world) allAre(browsers []*browser, refusal string) (lost []*browser) {
	id, alive := "", 0
	for _, b := range browsers {
		if !b.has() {
			if a := b.answers[len(b.answers)-1]; a.status != http.StatusFound || a.location != refusal {
				w.failf("a loser got %d %s\n%s", a.status, a.location, w.journal())
			}
			lost = append(lost, b)
			continue
		}
		s := b.session()
		if s == nil {
			continue
		}
		if alive++; id == "" {
			id = s.User.ID
		}
		if !s.is(ada) || s.User.ID != id {
			w.failf("a session is %+v, others are user %s", s, id)
		}
	}
	if want := min(len(browsers)-len(lost), mostSessions); alive != want || alive == 0 {
		w.failf("%d sessions are alive, want %d", alive, want)
	}
	return lost
}

// mostSessions is how many sessions a user may have.
const mostSessions = 100

func firstByAddress(c *check) {
	for range c.options.Rounds {
		w := c.world()
		browsers := w.together(c.options.Clients, func(b *browser) string { return b.askLink(ada) })
		w.wantUsers(1, "after the race")
		for _, b := range w.allAre(browsers, toFailure) {
			b.mustEnter(mail, ada, "the loser's next try")
		}
		w.wantUsers(1, "after the losers' next try")
	}
}

func firstByAccount(c *check) {
	for range c.options.Rounds {
		w := c.world()
		browsers := w.together(c.options.Clients, func(b *browser) string { return b.start(hub, ada) })
		if accounts := w.count("account"); accounts != 1 {
			c.failf("there are %d accounts, want 1", accounts)
		}
		if lost := w.allAre(browsers, toNotLinked); len(lost) > 0 {
			c.failf("%d have to try again\n%s", len(lost), w.journal())
		}
		w.wantUsers(1, "after the race")
	}
}

func firstByProviders(c *check) {
	for range c.options.Rounds {
		w := c.world()
		n := 0
		browsers := w.together(c.options.Clients, func(b *browser) string {
			n++
			return b.start([]string{hub, spoke}[n%2], ada)
		})
		w.wantUsers(1, "after the race")
		lost := w.allAre(browsers, toNotLinked)
		if len(lost) != c.options.Clients/2 {
			c.failf("%d of %d have to try again, want one half", len(lost), c.options.Clients)
		}
		in := 0
		for _, way := range []string{hub, spoke} {
			if _, done := w.browser().enter(way, ada); done {
				in++
			}
		}
		if in != 1 {
			c.failf("afterwards %d of the two providers sign Ada in", in)
		}
		w.wantUsers(1, "afterwards")
	}
}

// mostCommits is how many commits a crowd whose session is due may make.
const mostCommits = 4

func refreshRace(c *check) {
	n, most := c.options.Clients, 0
	for range c.options.Rounds {
		w := c.world()
		first := w.due()
		token := first.jar[sessionCookie].Value
		browsers := make([]*browser, n)
		for i := range browsers {
			browsers[i] = first.with(token)
		}
		w.probe.set(nil)
		w.crowd(n, func(i int) { browsers[i].get(base + "/session") })
		_, commits := w.probe.counted()
		for _, b := range browsers {
			if a := b.answers[0]; !a.read().is(ada) || a.session != token {
				c.failf("a wrong answer: %d %s\n%s", a.status, a.body, w.journal())
			}
		}
		most = max(most, commits)
		switch {
		case commits == 0 || commits > mostCommits:
			c.failf("%d commits, want 1 to %d", commits, mostCommits)
		case c.cache == nil && !isExtended(first.session()):
			c.failf("the session was not extended")
		}
	}
	c.logf("%d reads at once made at most %d commits", n, most)
}
