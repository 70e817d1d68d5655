package flowtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// swappedRecords is K-2: every two values in a dump change places, and everybody comes back
// with all they have.
func swappedRecords(c *check) {
	w := c.world()
	type holder struct {
		person
		token, link string
		provider    string
	}
	holders := []holder{{person: ada, provider: hub}, {person: bob, provider: idp}}
	for i := range holders {
		h := &holders[i]
		b := w.browser()
		b.mustEnter(h.provider, h.person, "before")
		h.token, h.link = b.jar[sessionCookie].Value, w.browser().askLink(h.person)
	}
	dump := w.dump()
	places := slices.SortedFunc(maps.Keys(dump), func(a, b place) int { return strings.Compare(a.key, b.key) })
	put := func(at place, value []byte) {
		if err := at.store.Put(c.ctx, at.key, value, time.Now().Add(maxAge)); err != nil {
			c.failf("Put: %w", err)
		}
	}
	pairs := 0
	for i, one := range places {
		for _, other := range places[:i] {
			if c.leavesOut(pairs) {
				pairs++
				continue
			}
			pairs++
			put(one, dump[other])
			put(other, dump[one])
			when := fmt.Sprintf("%s and %s have changed places", one.key, other.key)
			mine := func(h holder, b *browser, how string) {
				if s := b.session(); s != nil && !s.is(h.person) {
					c.failf("%s: %s is signed in as %s by %s", when, h.name, s.User.Email, how)
				}
				if w.errors("Panic") > 0 {
					c.failf("%s: %s", when, w.journal())
				}
			}
			for _, h := range holders {
				mine(h, w.browser().with(h.token), "an old session")
			}
			for _, h := range holders {
				b := w.browser()
				b.get(h.link)
				mine(h, b, "a link")
				b = w.browser()
				b.enter(h.provider, h.person)
				mine(h, b, h.provider)
			}
			for at := range w.dump() {
				if _, known := dump[at]; !known {
					if err := at.store.Delete(c.ctx, at.key); err != nil {
						c.failf("Delete: %w", err)
					}
				}
			}
			for _, at := range places {
				put(at, dump[at])
			}
			for _, h := range holders {
				if !w.browser().with(h.token).session().is(h.person) {
					c.failf("%s, and back again: %s's session is dead", when, h.name)
				}
			}
		}
	}
	c.logf("%d pairs of %d records", pairs, len(places))
}
