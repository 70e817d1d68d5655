package flowtest

import (
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter"
)

// due gives a browser with a session of Ada's that the next read refreshes.
func (w *world) due() *browser {
	early := w.browserOf(w.yesterday())
	early.mustEnter(mail, ada, "yesterday")
	b := w.browser()
	b.jar = early.jar
	return b
}

// isExtended reports whether a session has been refreshed.
func isExtended(s *state) bool { return time.Until(s.Expires) > maxAge-updateAge/2 }

// mostWrites is how many writes a crowd at the edge of updateAge may make.
const mostWrites = 4

// updateAgeEdge is K-16.
func updateAgeEdge(c *check, n int) {
	most := 0
	for range c.options.Rounds {
		w := c.world()
		first := w.due()
		token := first.jar[sessionCookie].Value
		browsers := make([]*browser, n)
		for i := range browsers {
			browsers[i] = first.with(token)
		}
		w.probe.set(nil)
		w.race(n, func(i int, scope any) { browsers[i].visit(base+"/session", scope) })
		ops, writes := w.probe.counted()
		right := 0
		for _, b := range browsers {
			a := b.answers[0]
			if a.read().is(ada) && a.session == token {
				right++
			}
		}
		most = max(most, writes)
		switch {
		case right != n:
			c.failf("%d right answers of %d\n%s", right, n, w.journal())
		case writes == 0 || writes > mostWrites:
			c.failf("%d writes, want 1 to %d", writes, mostWrites)
		case !isExtended(first.session()):
			c.failf("the session was not extended")
		case len(ops) > 4*n:
			c.failf("%d calls for %d reads", len(ops), n)
		}
	}
	c.logf("%d reads at once made at most %d writes", n, most)
}

// mostCalls is how many calls a flow may make on one Atomic store, from the form to the
// session cookie. Two things cost more: each of the attempts at a code is a record of its own,
// and beside a plain session store there are the copy of the new session, the look after it,
// and the tombstone on the copy of the session that it replaces.
const (
	mostCalls = 20
	copyCalls = 3
)

// cost counts the calls of session checks, and of all else that people do.
func cost(c *check) {
	_, isAtomic := c.sessions.(kvadapter.Atomic)
	for _, f := range flows() {
		most := mostCalls
		if strings.HasSuffix(f.name, byCode) {
			most += codeAttempts
		}
		if !isAtomic {
			most += copyCalls
		}
		ops := c.calls(f)
		c.logf("%s: %d calls", f.name, len(ops))
		if len(ops) > most {
			c.failf("%s made %d calls, want %d at most: %v", f.name, len(ops), most, ops)
		}
	}
	w := c.world()
	b := w.due()
	read := func() (ops []string, writes int) {
		w.probe.set(nil)
		if !b.session().is(ada) {
			c.failf("Ada is not signed in")
		}
		return w.probe.counted()
	}
	ops, writes := read()
	c.logf("a refresh: %v", ops)
	if isAtomic && (len(ops) != 2 || writes != 1) {
		c.failf("a refresh made the calls %v", ops)
	}
	for range 3 {
		if ops, writes = read(); len(ops) != 1 || ops[0] != "Get" || writes != 0 {
			c.failf("a session check made the calls %v, want one Get", ops)
		}
	}
	nobody := w.browser()
	w.probe.set(nil)
	if nobody.session() != nil {
		c.failf("somebody is signed in")
	}
	if ops, _ := w.probe.counted(); len(ops) > 0 {
		c.failf("without a cookie the calls %v were made", ops)
	}
}
