package flowtest

import (
	"fmt"
	"maps"
	"net/http"
)

// codeAttempts is how many codes may be tried for each that is sent.
const codeAttempts = 5

// codeRace is K-11 with codes: a thief with a copy of the cookie is as quick as the browser
// that asked, and whoever guesses sends all guesses at once.
func codeRace(c *check) {
	const clients = 200
	for round := range c.options.Rounds {
		right := c.typing(clients, func(_ int, digits string) string { return digits })
		if right.in != 1 {
			c.failf("round %d: a code that was typed %d times at once gave %d sessions, want 1", round, clients, right.in)
		}
		wrong := c.typing(clients, guess)
		if wrong.in != 0 || wrong.tried > codeAttempts {
			c.failf("round %d: of %d wrong codes at once %d were compared, want at most %d; %d signed in", round, clients, wrong.tried, codeAttempts, wrong.in)
		}
		mixed := c.typing(clients, func(i int, digits string) string {
			if i == clients/2 {
				return digits
			}
			return guess(i, digits)
		})
		if mixed.in+mixed.tried > codeAttempts {
			c.failf("round %d: of %d codes at once %d were compared, want at most %d", round, clients, mixed.in+mixed.tried, codeAttempts)
		}
	}
}

// guess gives a code that was not sent.
func guess(i int, digits string) string {
	out := fmt.Sprintf("%06d", i)
	if out == digits {
		return "999999"
	}
	return out
}

// typed is what became of codes: those that signed in, and those that were only compared.
type typed struct{ in, tried int }

// typing has copies of the browser that asked for a code send what type gives, at once.
func (c *check) typing(n int, what func(i int, digits string) string) (seen typed) {
	w := c.world()
	asked := w.browser()
	digits := asked.askCode(ada)
	if digits == "" {
		c.failf("no code was sent\n%s", w.journal())
	}
	browsers := make([]*browser, n)
	for i := range browsers {
		browsers[i] = w.browser()
		browsers[i].jar = maps.Clone(asked.jar)
	}
	w.race(n, func(i int, scope any) { browsers[i].typeCode(what(i, digits), scope) })
	for _, b := range browsers {
		a := b.answers[len(b.answers)-1]
		switch {
		case a.status == http.StatusFound && a.session != "":
			if seen.in++; seen.in == 1 && !b.session().is(ada) {
				c.failf("the session that a code gave is not Ada's")
			}
		case a.status == http.StatusFound && a.location == toCodeAgain:
			seen.tried++
		case a.status != http.StatusFound || a.location != toVerification:
			c.failf("a code: %d %s\n%s", a.status, a.location, w.journal())
		}
	}
	w.wantUsers(min(seen.in, 1), "after the race")
	w.browser().mustEnter(code, ada, "with a new code")
	return seen
}
