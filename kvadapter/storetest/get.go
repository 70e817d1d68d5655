package storetest

import "fmt"

func getAbsent(c *check) {
	c.holds("in an empty store", "a", "")
	c.put(set("ab", "value"))
	c.holds("after another key was written", "a", "", "abc", "", "AB", "", "ab", "value")
}

func getMany(c *check) {
	if entries, err := c.Get(c.ctx); err != nil || len(entries) > 0 {
		c.failf("Get of no keys gave %d entries and the error %v", len(entries), err)
	}
	var pairs []string
	for i := range 20 {
		key, value := fmt.Sprintf("k%02d", i*7%20), ""
		if i%3 != 0 {
			value = "value of " + key
			c.put(set(key, value))
		}
		pairs = append(pairs, key, value)
	}
	c.holds("of many", pairs...)
}

func getTwice(c *check) {
	c.put(set("a", "value"))
	c.holds("asked for again", "a", "value", "b", "", "a", "value", "b", "", "a", "value")
}

func refFollow(c *check) {
	c.put(refer("session", "user"), set("user", "name"))
	c.refers("after both were written at once", "session", "user")
	c.refers("with an absent key beside", "absent session", "user")
	c.put(set("user", "another name"))
	c.refers("after what is referred to has changed", "session", "user")
	c.put(refer("early", "late"))
	c.put(set("late", "value"))
	c.refers("of what was written later", "early", "late")
	c.refers("of two", "early session", "late user")
}

func refOnce(c *check) {
	c.put(refer("a", "u"), refer("b", "u"), refer("c", "v"), refer("self", "self"), set("u", "U"), set("v", "V"))
	c.refers("of two with the same reference", "a b", "u")
	c.refers("of one that is asked for twice", "a a", "u")
	c.refers("of three with two references", "a c b", "u v")
	c.refers("with the reference before it", "u a", "")
	c.refers("with the reference behind it", "a u", "")
	c.refers("of one that refers to itself", "self", "")
}

func refAbsent(c *check) {
	c.put(refer("a", "nowhere"), refer("b", "user"), set("user", "name"))
	c.refers("to what never was", "a", "")
	c.refers("to what never was, with another one", "a b", "user")
	c.put(remove("user"))
	c.refers("to what was deleted", "b", "")
}

func refOneStep(c *check) {
	c.put(refer("a", "b"), refer("b", "c"), refer("c", "d"), set("d", "end"))
	c.refers("of the first", "a", "b")
	c.refers("of the first two", "a b", "c")
	c.refers("of the first and the third", "a c", "b d")
}

func refReplaced(c *check) {
	c.put(set("u", "U"), set("v", "V"), refer("a", "u"))
	c.put(refer("a", "v"))
	c.refers("after another reference was written", "a", "v")
	stale := c.at("a")
	c.put(set("a", "value"))
	c.refers("after a value without a reference was written", "a", "")
	c.commit(false, checks(stale), refer("a", "u"))
	c.refers("after a Commit that changed nothing", "a", "")
	c.put(refer("a", "u"))
	c.refers("after a reference was written again", "a", "u")
	c.put(remove("a"))
	c.refers("of what was deleted", "a", "")
	c.put(set("a", "value"))
	c.refers("of what was written after it was deleted", "a", "")
}
