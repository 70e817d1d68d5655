package storetest

import (
	"fmt"
	"slices"
	"strings"
)

// many is more keys than two pages of Workers KV have.
const many = 2500

// fill puts keys, several at a time so that it takes not too long on a store that is far.
func (c *check) fill(keys []string) {
	const writers = 50
	c.together(writers, func(i int) {
		for k := i; k < len(keys); k += writers {
			c.put(keys[k], "value", never)
		}
	})
}

func numbered(prefix string, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s%04d", prefix, i)
	}
	return keys
}

func listPrefix(c *check) {
	c.lists("")
	c.lists("a")
	keys := []string{
		"a", "a:", "a:1", "a:1:x", "a:2", "a;", "aa", "aa:1", "A:1", "b", ":", "::", ".a", "..a", "a.", "a/", "a/b",
		"*", "*a", "a*", "a?", "a[b]", "a[", "a]", "a^", `a\`, `a\*`, "a%", "a_", "a%3A", "{a}", "-a", strings.Repeat("k", maxKey), strings.Repeat("k", maxKey-1),
	}
	c.fill(keys)
	slices.Sort(keys)
	for _, prefix := range append([]string{"", "c", "a:x", "a::", "k", "a[^", "[a]", "a-"}, keys...) {
		var want []string
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) {
				want = append(want, key)
			}
		}
		c.lists(prefix, want...)
	}
}

func listOrder(c *check) {
	keys := []string{"b", "a", "B", "A", "aa", "a ", "a~", "a!", "a0", "a9", "a10", "Z", "z", "_", "~", "-", "ab", "aB", "0", "10", "9", "a:b", "a/b", "a.b"}
	c.fill(keys)
	slices.Sort(keys)
	c.lists("", keys...)
}

func listPages(c *check) {
	keys := numbered("many:", many)
	c.fill(append([]string{"many", "many;", "a", "z"}, keys...))
	c.lists("many:", keys...)
	c.lists("many:1", keys[1000:2000]...)
	c.lists("many:249", keys[2490:]...)
	all := append(append([]string{"a", "many"}, keys...), "many;", "z")
	c.lists("", all...)
}

func listDeleted(c *check) {
	for _, key := range []string{"a1", "a2", "a3", "a4"} {
		c.put(key, "value", never)
	}
	c.delete("a2")
	c.delete("a4")
	c.put("a4", "again", never)
	c.lists("a", "a1", "a3", "a4")
	for _, key := range []string{"a1", "a3", "a4"} {
		c.delete(key)
	}
	c.lists("")
}

// Whoever deletes what it lists, page by page, must come to the last key.
func listChanges(c *check) {
	keys := numbered("many:", many)
	c.fill(keys)
	got := c.pages("many:", func(page []string) {
		for i, key := range page {
			if i%50 == 0 || i == len(page)-1 {
				c.delete(key)
			}
		}
		c.put("many", "value", never)
		c.put("many:0000:new", "value", never)
		c.put("many;", "value", never)
	})
	got = slices.DeleteFunc(got, func(key string) bool { return key == "many:0000:new" })
	if !slices.Equal(got, keys) {
		c.failf("List gave %d keys that stayed until they were listed, want %d", len(got), len(keys))
	}
}

func listSharing(c *check) {
	keys := []string{"a1", "a2", "a3"}
	c.fill(keys)
	page, _, err := c.List(c.ctx, "a", "")
	c.done("List", err)
	for i := range page {
		page[i] = "changed"
	}
	c.lists("a", keys...)
}
