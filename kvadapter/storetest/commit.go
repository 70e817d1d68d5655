package storetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

func checks(checks ...kv.Check) []kv.Check { return checks }

func absent(key string) kv.Check { return kv.Check{Key: key} }

func commitAll(c *check) {
	c.put(set("a", "1"), set("b", "2"), set("c", "3"))
	c.holds("after three writes", "a", "1", "b", "2", "c", "3")
	c.commit(true, checks(c.at("a"), absent("d"), c.at("b")), set("d", "4"), remove("b"), set("a", "5"))
	c.holds("after a write, a deletion and a new key", "a", "5", "b", "", "c", "3", "d", "4")
}

func commitNone(c *check) {
	c.put(set("a", "old"), set("b", "old"), set("c", "old"))
	stale := checks(c.at("a"), c.at("b"), c.at("c"), kv.Check{Key: "d", Version: c.at("a").Version}, absent("a"))
	c.put(set("a", "1"), set("b", "2"), set("c", "3"))
	right := checks(c.at("a"), c.at("b"), absent("d"), c.at("c"))
	for _, wrong := range stale {
		for position := range len(right) + 1 {
			c.commit(false, slices.Insert(slices.Clone(right), position, wrong), set("a", "new"), remove("b"), set("d", "4"))
			c.holds("after a Commit that changed nothing", "a", "1", "b", "2", "c", "3", "d", "")
		}
	}
	c.commit(true, right, set("a", "new"), remove("b"), set("d", "4"))
}

func commitAbsence(c *check) {
	c.commit(true, checks(absent("a"), absent("b")), set("a", "1"))
	c.commit(false, checks(absent("a")), set("a", "2"))
	c.commit(false, checks(absent("b"), absent("a")), set("b", "2"))
	c.holds("after one claim that was won and two that were lost", "a", "1", "b", "")
	c.put(remove("a"))
	c.commit(true, checks(absent("a")), set("a", "3"))
	c.holds("after it was deleted and claimed again", "a", "3")
}

func commitVersion(c *check) {
	c.put(set("a", "1"))
	first := c.at("a")
	c.commit(true, checks(first), set("a", "2"))
	c.commit(false, checks(first), set("a", "3"))
	v := c.at("a").Version
	for _, wrong := range []string{v + "0", v + " ", " " + v, "0" + v, "+" + v, v[:len(v)-1], "0", "-1", "no-version", strings.Repeat("9", 64)} {
		if wrong != v {
			c.commit(false, checks(kv.Check{Key: "a", Version: wrong}), set("a", "3"))
		}
		c.commit(false, checks(kv.Check{Key: "absent", Version: v}), set("absent", "3"))
	}
	c.holds("after checks that didn't hold", "a", "2", "absent", "")
	c.commit(true, checks(kv.Check{Key: "a", Version: v}), set("a", "3"))
	c.holds("after one that did", "a", "3")
}

func commitUnwritten(c *check) {
	c.put(set("a", "1"), set("b", "1"))
	b := c.at("b")
	c.commit(true, checks(b, absent("d")), set("a", "2"))
	c.commit(true, checks(b))
	if now := c.at("b"); now != b {
		c.failf("a check alone changed the version from %q to %q", b.Version, now.Version)
	}
	c.put(set("b", "2"))
	c.commit(false, checks(b), set("a", "3"))
	c.commit(false, checks(b))
	c.commit(false, checks(absent("b")), set("a", "3"))
	c.commit(true, nil)
	c.holds("after all of it", "a", "2", "b", "2", "d", "")
}

func commitUnchecked(c *check) {
	for _, value := range []string{"first", "a longer second", "3", "3", "fifth"} {
		c.put(set("a", value))
		c.holds("after it was written last", "a", value)
	}
}

func commitDelete(c *check) {
	c.put(remove("a"))
	c.put(set("a", "1"), set("ab", "2"), set("b", "3"))
	c.put(remove("a"), remove("absent"))
	c.holds("after one was deleted", "a", "", "ab", "2", "b", "3")
	stale := c.at("b")
	c.put(set("b", "4"))
	c.commit(false, checks(stale), remove("b"))
	c.holds("after a deletion that a check stopped", "b", "4")
	c.commit(true, checks(c.at("b")), kv.Write{Key: "b", Value: []byte{}, Ref: "ab", Expires: c.now().AddDate(1, 0, 0)})
	c.holds("after a deletion", "b", "")
	c.commit(true, checks(absent("b")), set("b", "5"))
}

func commitTwice(c *check) {
	c.put(set("a", "1"))
	for _, writes := range [][]kv.Write{
		{set("a", "2"), set("a", "3")}, {set("a", "2"), remove("a")}, {remove("a"), set("b", "2"), set("a", "2")}, {set("b", "2"), set("b", "2")},
	} {
		_, err := c.Commit(c.ctx, nil, writes)
		c.limited("Commit of two writes of one key", err)
	}
	c.holds("after Commits that were refused", "a", "1", "b", "")
	a := c.at("a")
	c.commit(false, checks(a, absent("a")), set("b", "2"))
	c.commit(false, checks(absent("b"), kv.Check{Key: "b", Version: a.Version}), set("b", "2"))
	c.commit(true, checks(a, absent("b"), a, absent("b")), set("a", "2"), set("b", "2"))
}

func versionChanges(c *check) {
	seen := map[string]bool{}
	c.put(set("other", "value"))
	other := c.at("other")
	for i := range 20 {
		c.put(set("a", "value"), set(fmt.Sprint("b", i), "value"))
		a := c.at("a")
		if seen[a.Version] {
			c.failf("the version %q is that of an earlier write of the same bytes", a.Version)
		}
		seen[a.Version] = true
		c.commit(false, checks(absent("a")), set("a", "value"))
		c.commit(true, checks(a, other), remove("absent"))
		if now := c.at("a"); now != a {
			c.failf("the version changed from %q to %q without a write", a.Version, now.Version)
		}
	}
	if now := c.at("other"); now != other {
		c.failf("the version of a key that nobody wrote changed from %q to %q", other.Version, now.Version)
	}
}

func versionBack(c *check) {
	seen := map[string]bool{}
	for i := range 20 {
		end := c.soon()
		if i < 18 { // the last two expire, which may take a second
			end = c.now().AddDate(1, 0, 0)
		}
		c.commit(true, checks(absent("a")), until("a", "value", end))
		a := c.at("a")
		if seen[a.Version] {
			c.failf("the version %q has come back", a.Version)
		}
		seen[a.Version] = true
		if i < 18 {
			c.put(remove("a")) // and the store is empty
		} else if c.after(end); i == 18 {
			c.put(set("other", "value")) // which may remove what has expired
		}
		for version := range seen {
			c.commit(false, checks(kv.Check{Key: "a", Version: version}), set("a", "stale"))
		}
	}
}
