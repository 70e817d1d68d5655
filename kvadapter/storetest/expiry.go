package storetest

import "time"

func expiryNever(c *check) {
	c.put("a", "value", never)
	c.put("far", "value", time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))
	c.put("zone", "value", c.now().Add(time.Hour).In(time.FixedZone("east", 14*3600)))
	if c.advance != nil {
		c.advance(59 * time.Minute)
	}
	for _, key := range []string{"a", "far", "zone"} {
		c.equal("Get of "+key, c.get(key), "value")
	}
	if c.advance != nil {
		c.advance(10 * 365 * 24 * time.Hour)
		c.equal("Get of a value that stays, ten years later", c.get("a"), "value")
	}
}

func expiryEnd(c *check) {
	end := c.soon()
	c.put("a", "value", end)
	c.put("later", "value", end.Add(time.Hour))
	c.nearly(end)
	if got := c.get("a"); c.now().Before(end) {
		c.equal("Get before the end", got, "value")
	}
	c.until(end)
	c.absent("Get at the end", c.get("a"))
	c.equal("Get of what ends later", c.get("later"), "value")
	c.delete("a")
	c.put("a", "again", never)
	c.equal("Get of what was put after the end", c.get("a"), "again")
}

func expiryPast(c *check) {
	now := c.now()
	for name, end := range map[string]time.Time{
		"now": now, "a second ago": now.Add(-time.Second), "a year ago": now.AddDate(-1, 0, 0),
		"1970": time.Unix(0, 0), "1969": time.Unix(-1, 0), "the year 1": time.Time{}.Add(time.Second),
	} {
		c.put(name, "old", never)
		c.put(name, "value", end)
		// A store that keeps milliseconds is allowed what is left of this one.
		c.until(now.Add(time.Millisecond))
		c.absent("Get of what ended "+name, c.get(name))
	}
	c.lists("")
}

func expiryRenewed(c *check) {
	end := c.soon()
	c.put("longer", "old", end)
	c.put("longer", "value", end.Add(time.Hour))
	c.put("for ever", "old", end)
	c.put("for ever", "value", never)
	c.put("shorter", "old", never)
	c.put("shorter", "value", end)
	c.until(end)
	c.equal("Get of what was put again for longer", c.get("longer"), "value")
	c.equal("Get of what was put again for ever", c.get("for ever"), "value")
	c.absent("Get of what was put again for less long", c.get("shorter"))
}

func expiryList(c *check) {
	end := c.soon()
	c.put("a1", "value", never)
	c.put("a2", "value", end)
	c.put("a3", "value", end.Add(time.Hour))
	c.put("a4", "value", c.now().Add(-time.Minute))
	c.nearly(end)
	if got := c.pages("a", nil); c.now().Before(end) && len(got) != 3 {
		c.failf("List before the end gave %q, want a1, a2 and a3", got)
	}
	c.until(end)
	c.lists("a", "a1", "a3")
}
