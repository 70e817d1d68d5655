package flowtest

import (
	"fmt"
	"net/http"
)

// linkRace is K-11.
func linkRace(c *check) {
	const clients = 200
	for round := range c.options.Rounds {
		w := c.world()
		link := w.browser().askLink(ada)
		browsers := make([]*browser, clients)
		for i := range browsers {
			browsers[i] = w.browser()
		}
		w.race(clients, func(i int, scope any) { browsers[i].visit(link, scope) })
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
		if won != 1 || lost != clients-1 {
			c.failf("round %d: %d of %d clients got a session, want 1", round, won, clients)
		}
		w.wantUsers(1, fmt.Sprint("round ", round))
	}
}

// firstByAddress is K-12 with links: all of them work, and all are one user's.
func firstByAddress(c *check, n int) {
	w := c.world()
	browsers, links := make([]*browser, n), make([]string, n)
	for i := range browsers {
		browsers[i] = w.browser()
		if links[i] = browsers[i].askLink(ada); links[i] == "" {
			c.failf("no link was sent\n%s", w.journal())
		}
	}
	w.race(n, func(i int, scope any) { browsers[i].visit(links[i], scope) })
	w.wantUsers(1, "after the race")
	lost := 0
	for _, b := range browsers {
		if b.has() {
			continue
		}
		if a := b.answers[len(b.answers)-1]; a.status != http.StatusFound || a.location != toFailure {
			c.failf("a loser got %d %s\n%s", a.status, a.location, w.journal())
		}
		if lost++; lost <= retries {
			b.mustEnter(mail, ada, "the loser's next try")
		}
	}
	w.wantUsers(1, "after the losers' next try")
	var id string
	alive := 0
	for _, b := range browsers {
		s := b.session() // nil also for those that the index has no room for
		if s == nil {
			continue
		}
		if alive++; id == "" {
			id = s.User.ID
		}
		if !s.is(ada) || s.User.ID != id {
			c.failf("a session is %+v, others are user %s", s, id)
		}
	}
	if alive == 0 {
		c.failf("no session is alive")
	}
	c.logf("%d at once: %d had to try again, %d sessions are alive", n, lost, alive)
}

// retries is how many of the losers of a race are seen trying again.
const retries = 50

// firstByAccount is K-12 with one account at a provider.
func firstByAccount(who person) func(*check, int) {
	return func(c *check, n int) {
		w := c.world()
		browsers, back := make([]*browser, n), make([]string, n)
		for i := range browsers {
			browsers[i] = w.browser()
			back[i] = browsers[i].start(hub, who)
		}
		w.race(n, func(i int, scope any) { browsers[i].visit(back[i], scope) })
		w.wantUsers(1, "after the race")
		if accounts := w.count("account"); accounts != 1 {
			c.failf("there are %d accounts, want 1", accounts)
		}
		won, lost := 0, 0
		for _, b := range browsers {
			switch a := b.answers[len(b.answers)-1]; {
			case b.has():
				won++
			case a.status != http.StatusFound || a.location != toNotLinked:
				c.failf("a loser got %d %s\n%s", a.status, a.location, w.journal())
			default:
				if lost++; lost <= retries {
					b.mustEnter(hub, who, "the loser's next try")
				}
			}
		}
		if won == 0 {
			c.failf("nobody has signed in")
		}
		w.wantUsers(1, "after the losers' next try")
		c.logf("%d at once: %d signed in, %d have to try again", n, won, lost)
	}
}

// firstByProviders is K-12 with one address at two providers.
func firstByProviders(c *check, n int) {
	w := c.world()
	browsers, back := make([]*browser, n), make([]string, n)
	at := func(i int) string { return []string{hub, spoke}[i%2] }
	for i := range browsers {
		browsers[i] = w.browser()
		back[i] = browsers[i].start(at(i), ada)
	}
	w.race(n, func(i int, scope any) { browsers[i].visit(back[i], scope) })
	w.wantUsers(1, "after the race")
	won := map[string]int{}
	for i, b := range browsers {
		a := b.answers[len(b.answers)-1]
		if b.has() {
			won[at(i)]++
		} else if a.status != http.StatusFound || a.location != toNotLinked {
			c.failf("a loser got %d %s\n%s", a.status, a.location, w.journal())
		}
	}
	if len(won) != 1 {
		c.failf("signed in by provider: %v, want by one of the two", won)
	}
	w.tryAgain(won[hub] > 0, browsers[:min(n, retries)], at)
	w.wantUsers(1, "after the losers' next try")
	c.logf("%d at once: signed in %v", n, won)
}

// tryAgain has the losers try again: the provider that won signs them in, the other one
// doesn't.
func (w *world) tryAgain(hubWon bool, browsers []*browser, at func(i int) string) {
	winner, loser := hub, spoke
	if !hubWon {
		winner, loser = spoke, hub
	}
	for i, b := range browsers {
		if b.has() {
			continue
		}
		if a, done := b.enter(at(i), ada); at(i) == loser && (done || a.location != toNotLinked) {
			w.failf("by the other provider: %d %s", a.status, a.location)
		}
		w.browser().mustEnter(winner, ada, "the loser's next try")
	}
}

// firstInEveryOrder is K-15: first sign-ins with one address, in many orders of their calls.
func firstInEveryOrder(c *check) {
	other := ada
	other.id = "another-subject"
	for _, scene := range []struct {
		name string
		ways []string
		who  []person
	}{
		{"two providers", []string{hub, spoke}, []person{ada, ada}},
		{"two accounts at one provider", []string{hub, hub}, []person{ada, other}},
		{"OAuth and OpenID Connect", []string{spoke, idp}, []person{ada, ada}},
		{"a link and a provider", []string{mail, hub}, []person{ada, ada}},
		{"three links", []string{mail, mail, mail}, []person{ada, ada, ada}},
		{"two links and a provider", []string{mail, mail, hub}, []person{ada, ada, ada}},
	} {
		lost := 0
		for seed := range uint64(5 * c.options.Rounds) {
			w := c.world()
			when := fmt.Sprintf("%s, seed %d", scene.name, seed)
			browsers := make([]*browser, len(scene.ways))
			var tasks []func(any)
			for i, way := range scene.ways {
				b := w.browser()
				path := b.begin(way, scene.who[i])
				browsers[i] = b
				tasks = append(tasks, func(scope any) { b.visit(path, scope) })
			}
			w.interleave(seed, tasks...)
			w.wantUsers(1, when)
			in := map[string]bool{} // by who signed in where
			for i, b := range browsers {
				way := scene.ways[i]
				if b.has() {
					if !b.session().is(ada) {
						c.failf("%s: %s signed in %+v", when, way, b.session())
					}
					in[way+scene.who[i].id] = true
					continue
				}
				a := b.answers[len(b.answers)-1]
				isLost := a.location == toNotLinked
				if way == mail { // the link is used up, and the next one works
					isLost = a.location == toFailure
					lost++
				}
				if a.status != http.StatusFound || !isLost {
					c.failf("%s: %s got %d %s\n%s", when, way, a.status, a.location, w.journal())
				}
			}
			if len(in) == 0 || scene.ways[0] != mail && len(in) > 1 {
				c.failf("%s: signed in: %v\n%s", when, in, w.journal())
			}
			for i, way := range scene.ways { // whoever got in gets in again, and so does who has the mailbox
				if in[way+scene.who[i].id] || way == mail {
					w.browser().mustEnter(way, scene.who[i], when+", again")
				}
			}
			w.wantUsers(1, when+", again")
		}
		if lost > 0 {
			c.logf("%s: %d links were used up for nothing", scene.name, lost)
		}
	}
}
