package storetest

import (
	"fmt"
	"strings"
	"time"
)

func atomicKeys(c *check) {
	a := c.atomic()
	for _, key := range refused() {
		_, err := a.Insert(c.ctx, key, []byte("value"), never)
		c.fails(fmt.Sprintf("Insert of %.10q", key), err)
		_, _, err = a.Take(c.ctx, key)
		c.fails(fmt.Sprintf("Take of %.10q", key), err)
		_, err = a.Swap(c.ctx, key, nil, []byte("value"), never)
		c.fails(fmt.Sprintf("Swap of %.10q", key), err)
	}
	c.lists("")
}

func (c *check) insert(key, value string, expires time.Time, want bool) {
	ok, err := c.atomic().Insert(c.ctx, key, []byte(value), expires)
	c.says("Insert of "+shown([]byte(value)), ok, err, want)
}

func (c *check) take(key string) answer { return of(c.atomic().Take(c.ctx, key)) }

func (c *check) swap(key, old, new string, expires time.Time, want bool) {
	ok, err := c.atomic().Swap(c.ctx, key, []byte(old), []byte(new), expires)
	c.says(fmt.Sprintf("Swap of %s by %s", shown([]byte(old)), shown([]byte(new))), ok, err, want)
}

func atomicInsert(c *check) {
	for _, value := range []string{"value", "", "\x00", allBytes()} {
		c.insert("a", value, never, true)
		c.equal("Get after Insert", c.get("a"), value)
		c.insert("a", "other", never, false)
		c.insert("a", value, c.now().Add(-time.Hour), false)
		c.equal("Get after an Insert that stored nothing", c.get("a"), value)
		c.lists("", "a")
		c.delete("a")
		c.insert("a", "again", never, true)
		c.equal("Get after Delete and Insert", c.get("a"), "again")
		c.delete("a")
	}
	c.put("a", "value", never)
	c.insert("a", "other", never, false)
	c.equal("Get after Put and Insert", c.get("a"), "value")
	c.insert("A", "other", never, true)
}

func atomicInsertExpired(c *check) {
	end := c.soon()
	c.put("a", "old", end)
	c.put("race", "old", end)
	c.nearly(end)
	ok, err := c.atomic().Insert(c.ctx, "a", []byte("early"), end)
	if c.now().Before(end) {
		c.says("Insert before the old value ended", ok, err, false)
	}
	c.until(end)
	c.insert("a", "value", never, true)
	c.equal("Get after Insert", c.get("a"), "value")
	c.insert("a", "other", never, false)
	c.oneInserts("race", 0)
}

func atomicInsertExpiry(c *check) {
	end := c.soon()
	c.insert("a", "value", end, true)
	c.nearly(end)
	if got := c.get("a"); c.now().Before(end) {
		c.equal("Get before the end", got, "value")
	}
	c.until(end)
	c.absent("Get at the end", c.get("a"))
}

func atomicTake(c *check) {
	c.absent("Take of an absent key", c.take("a"))
	for _, value := range []string{"value", "", "\x00", allBytes(), strings.Repeat("x", 1<<20)} {
		c.put("a", value, c.now().Add(time.Hour))
		c.put("ab", "other", never)
		c.equal("Take", c.take("a"), value)
		c.absent("Take, again", c.take("a"))
		c.absent("Get after Take", c.get("a"))
	}
	c.lists("", "ab")
	c.insert("a", "new", never, true)
	c.equal("Take of another value", c.take("a"), "new")
	c.equal("Get of another key", c.get("ab"), "other")
}

func atomicTakeExpired(c *check) {
	end := c.soon()
	c.put("a", "value", end)
	c.put("later", "value", end.Add(time.Hour))
	c.put("past", "value", c.now().Add(-time.Hour))
	c.absent("Take of what had ended when it was put", c.take("past"))
	c.until(end)
	c.absent("Take at the end", c.take("a"))
	c.absent("Get after it", c.get("a"))
	c.equal("Take of what ends later", c.take("later"), "value")
}

func atomicSwap(c *check) {
	c.swap("a", "", "new", never, false)
	c.swap("a", "old", "new", never, false)
	c.absent("Get after Swap of an absent key", c.get("a"))
	c.put("b", "other", never)
	c.put("a", "old", never)
	for _, wrong := range []string{"", "ol", "olds", "OLD", "old\x00", "old ", "other"} {
		c.swap("a", wrong, "new", never, false)
		c.equal("Get after Swap of another value", c.get("a"), "old")
	}
	last := "old"
	for _, value := range []string{"new", "", "\x00", "\x00\x00", allBytes(), allBytes(), strings.Repeat("x", 1<<20), "end"} {
		c.swap("a", last, value, never, true)
		c.equal("Get after Swap", c.get("a"), value)
		if value != last {
			c.swap("a", last, "stale", never, false)
		}
		last = value
	}
	c.equal("Get of another key", c.get("b"), "other")
	c.delete("a")
	c.swap("a", "end", "new", never, false)
	c.absent("Get after Swap of what was deleted", c.get("a"))
	c.lists("", "b")
}

func atomicSwapExpired(c *check) {
	end := c.soon()
	c.put("a", "value", end)
	c.put("past", "value", c.now().Add(-time.Hour))
	c.swap("past", "value", "new", never, false)
	c.swap("past", "", "new", never, false)
	c.absent("Get of what had ended when it was put", c.get("past"))
	c.until(end)
	c.swap("a", "value", "new", never, false)
	c.swap("a", "", "new", never, false)
	c.absent("Get after Swap of what has ended", c.get("a"))
}

func atomicSwapExpiry(c *check) {
	end := c.soon()
	for _, key := range []string{"longer", "for ever"} {
		c.put(key, "old", end)
	}
	c.put("shorter", "old", never)
	c.put("past", "old", never)
	c.swap("longer", "old", "new", end.Add(time.Hour), true)
	c.swap("for ever", "old", "new", never, true)
	c.swap("shorter", "old", "new", end, true)
	c.swap("past", "old", "new", c.now().Add(-time.Hour), true)
	c.absent("Get of what had ended when it was swapped", c.get("past"))
	c.nearly(end)
	if got := c.get("shorter"); c.now().Before(end) {
		c.equal("Get before the end", got, "new")
	}
	c.until(end)
	c.equal("Get of what was swapped for longer", c.get("longer"), "new")
	c.equal("Get of what was swapped for ever", c.get("for ever"), "new")
	c.absent("Get of what was swapped for less long", c.get("shorter"))
}

func atomicSharing(c *check) {
	a := c.atomic()
	given := []byte("value")
	ok, err := a.Insert(c.ctx, "a", given, never)
	c.says("Insert", ok, err, true)
	copy(given, "XXXXX")
	c.equal("Get after the caller changed what it had inserted", c.get("a"), "value")
	old, new := []byte("value"), []byte("newer")
	ok, err = a.Swap(c.ctx, "a", old, new, never)
	c.says("Swap", ok, err, true)
	if string(old) != "value" || string(new) != "newer" {
		c.failf("Swap changed what it was given to %q and %q", old, new)
	}
	copy(old, "XXXXX")
	copy(new, "YYYYY")
	c.equal("Get after the caller changed what it had swapped", c.get("a"), "newer")
	got := c.take("a")
	c.put("a", "other", never)
	c.put("b", "other", never)
	c.equal("what Take gave, after the key was put again", got, "newer")
	copy(got.value, "ZZZZZ")
	c.equal("Get after the caller changed what it had taken", c.get("a"), "other")
}

func atomicContext(c *check) {
	a := c.atomic()
	c.put("a", "value", never)
	for _, ctx := range c.ended() {
		_, err := a.Insert(ctx, "b", []byte("other"), never)
		c.fails("Insert", err)
		_, err = a.Insert(ctx, "a", []byte("other"), never)
		c.fails("Insert of what is there", err)
		_, _, err = a.Take(ctx, "a")
		c.fails("Take", err)
		_, _, err = a.Take(ctx, "b")
		c.fails("Take of an absent key", err)
		_, err = a.Swap(ctx, "a", []byte("value"), []byte("other"), never)
		c.fails("Swap", err)
		_, err = a.Swap(ctx, "a", []byte("wrong"), []byte("other"), never)
		c.fails("Swap of another value", err)
	}
	c.equal("Get after calls that failed", c.get("a"), "value")
	c.absent("Get after Insert failed", c.get("b"))
}
