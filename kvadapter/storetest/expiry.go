package storetest

import (
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

func expiryNever(c *check) {
	c.put(set("a", "value"), until("b", "value", time.Date(2286, 11, 20, 17, 46, 40, 0, time.UTC))) // more than 32 bits of seconds
	c.holds("at first", "a", "value", "b", "value")
	if c.advance != nil {
		c.advance(50 * 365 * 24 * time.Hour)
		c.holds("after 50 years", "a", "value", "b", "value")
	}
}

func expiryEnd(c *check) {
	end := c.soon()
	far := time.FixedZone("far", 14*60*60)
	c.put(until("a", "value", end), until("b", "value", end.In(far)), until("c", "value", end.Add(999*time.Microsecond)), until("later", "value", end.Add(time.Hour)))
	c.before(end, func() { c.holds("before the end", "a", "value", "b", "value", "c", "value") })
	c.after(end)
	c.holds("at the end", "a", "", "b", "", "later", "value")
	c.after(end.Add(time.Millisecond))
	c.holds("a millisecond after the end", "c", "")
}

func expiryPast(c *check) {
	for _, past := range []time.Time{c.now().Add(-time.Hour), c.now().Add(-time.Millisecond), time.Unix(1, 0), time.Unix(0, 0), time.Unix(-1, 0)} {
		c.put(set("old", "value"))
		c.put(until("old", "new", past), until("new", "new", past))
		c.holds("after a write that had expired at "+past.String(), "old", "", "new", "")
		c.commit(true, checks(absent("old"), absent("new")), set("old", "value"))
	}
}

func expiryRenewed(c *check) {
	end := c.soon()
	c.put(until("longer", "old", end), until("for ever", "old", end), set("shorter", "old"), until("stopped", "old", end))
	c.commit(false, checks(absent("stopped")), set("stopped", "new"))
	for _, w := range []kv.Write{until("longer", "new", end.Add(time.Hour)), set("for ever", "new"), until("shorter", "new", end)} {
		c.commit(true, checks(c.at(w.Key)), w)
	}
	c.before(end, func() { c.holds("before the end", "shorter", "new", "stopped", "old") })
	c.after(end)
	c.holds("at the end", "longer", "new", "for ever", "new", "shorter", "", "stopped", "")
}

func expiryCheck(c *check) {
	end := c.soon()
	c.put(until("a", "old", end), until("b", "old", end), until("c", "old", end))
	a, b, third := c.at("a"), c.at("b"), c.at("c")
	c.before(end, func() {
		c.commit(false, checks(absent("a")), set("a", "early"))
		c.commit(true, checks(a), set("other", "1"))
	})
	c.after(end)
	c.commit(false, checks(b), set("b", "stale"))
	c.commit(false, checks(third), set("other", "stale"))
	c.commit(true, checks(absent("a"), absent("b"), absent("c")), set("a", "new"))
	c.commit(false, checks(absent("a")), set("a", "again"))
	c.commit(false, checks(a), set("a", "stale"))
	c.commit(true, checks(c.at("a")), remove("b"))
	c.holds("after it was claimed once", "a", "new", "b", "", "c", "")
}

func expiryRef(c *check) {
	end := c.soon()
	session := refer("session", "user")
	session.Expires = end
	c.put(session, set("user", "name"), refer("early", "token"), until("token", "value", end))
	c.before(end, func() { c.refers("before the end", "session early", "token user") })
	c.after(end)
	c.refers("of what has expired", "session", "")
	c.refers("to what has expired", "early", "")
	c.put(set("session", "value"), set("token", "value"))
	c.refers("of what was written again without one", "session", "")
	c.refers("to what was written again", "early", "token")
}
