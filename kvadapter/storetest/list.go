package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// list gives everything under prefix, sorted by key.
func (c *check) list(prefix string) (all []kv.Write) {
	lister, ok := c.Store.(kv.Lister)
	if !ok {
		c.failf("%T has no List; if that is on purpose, skip the group \"list\" and say why", c.Store)
	}
	const enough = 10_000
	cursor := ""
	for range enough {
		page, next, err := lister.List(c.ctx, prefix, cursor)
		c.done(fmt.Sprintf("List of %.60q", prefix), err)
		if len(page) > 1000 {
			c.failf("List of %.60q gave a page of %d", prefix, len(page))
		}
		all = append(all, page...)
		switch next {
		case "":
			slices.SortFunc(all, func(a, b kv.Write) int { return strings.Compare(a.Key, b.Key) })
			return all
		case cursor:
			c.failf("List of %.60q gave the cursor that it was given", prefix)
		}
		cursor = next
	}
	c.failf("List of %.60q has not come to an end after %d pages", prefix, enough)
	return nil
}

// lists requires the keys under prefix.
func (c *check) lists(prefix string, want ...string) {
	var got []string
	for _, w := range c.list(prefix) {
		got = append(got, w.Key)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		c.failf("List of %.60q gave %d keys, %.400q, want %d, %.400q", prefix, len(got), got, len(want), want)
	}
}

func listPages(c *check) {
	c.lists("")
	keys, writes := crowd("page", 2500)
	for chunk := range slices.Chunk(writes, kv.MaxKeys) {
		c.put(chunk...)
	}
	c.put(set("other", "value"))
	c.lists("page:", keys...)
	c.lists("", append(keys, "other")...)
}

func listPrefix(c *check) {
	keys := []string{"a", "ab", "abc", "A", "b", "a%", "a%b", "a_", "a*", "a?b", "a[b]", "a/", "a/b", `a\b`, "~", "~~", " ", "{a}", "'"}
	for _, key := range keys {
		c.put(set(key, "value"))
	}
	for _, prefix := range append(keys, "", "absent", "abcd", "a/b/", ".", "..", "a[", strings.Repeat("k", kv.MaxKey)) {
		var want []string
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) {
				want = append(want, key)
			}
		}
		c.lists(prefix, want...)
	}
	for _, prefix := range []string{"é", "\x00", strings.Repeat("k", kv.MaxKey+1)} {
		_, _, err := c.Store.(kv.Lister).List(c.ctx, prefix, "")
		c.limited(fmt.Sprintf("List of %.10q", prefix), err)
	}
}

func listAgain(c *check) {
	end := c.soon()
	session := refer("session", "user")
	session.Expires = end.Add(time.Hour)
	want := []kv.Write{refer("account", "user"), session, until("token", "value", end), set("user", allBytes())}
	c.put(want...)
	for range 2 {
		all := c.list("")
		if !slices.EqualFunc(all, want, func(a, b kv.Write) bool {
			return a.Key == b.Key && string(a.Value) == string(b.Value) && a.Ref == b.Ref && a.Expires.Equal(b.Expires)
		}) {
			c.failf("List gave %.1000q, want %.1000q", all, want)
		}
		c.put(remove("session"), remove("user"), remove("token"), remove("account"))
		c.put(all...)
	}
	c.before(end, func() { c.holds("after it was listed and stored again", "user", allBytes(), "token", "value") })
	c.refers("after it was listed and stored again", "session", "user")
	c.refers("after it was listed and stored again", "account", "user")
	c.after(end)
	c.holds("at the end of what was listed and stored again", "token", "")
}

func listGone(c *check) {
	end := c.soon()
	c.put(set("stays", "value"), set("deleted", "value"), until("ends", "value", end), until("past", "value", c.now().Add(-time.Hour)))
	c.put(remove("deleted"))
	c.before(end, func() { c.lists("", "stays", "ends") })
	c.after(end)
	c.lists("", "stays")
	c.put(set("deleted", "again"), set("ends", "again"))
	c.lists("", "deleted", "ends", "stays")
}
