package storetest

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

const maxKey = 512

// refused are keys that no store takes.
func refused() []string {
	return []string{"", ".", "..", strings.Repeat("k", maxKey+1), "a\x00", "a\nb", "\x7f", "caf\u00e9", "\xff", "\xc3"}
}

// allBytes has every byte once.
func allBytes() string {
	out := make([]byte, 256)
	for i := range out {
		out[i] = byte(i)
	}
	return string(out)
}

func keysDistinct(c *check) {
	keys := []string{
		"a", "A", "a ", " a", " ", "a/", "/a", "a/b", "a//b", "a/./b", "a/x/../b", "a\\b", "a:b", "a::b", "a.b", "...", ".a", "..a", "a.",
		"a%2Fb", "a%b", "a+b", "a b", "a?b", "a#b", "a*", "*", "a[b]", "{a}b", "{b}a", "a'b", `a"b`, "a;b", "$a", "-a", "--", "0", "00", "~",
	}
	for b := byte(' '); b <= '~'; b++ {
		keys = append(keys, "ascii "+string(rune(b))+".")
	}
	for _, key := range keys {
		c.absent(fmt.Sprintf("Get of %q before it was put", key), c.get(key))
		c.put(key, "the value of "+key, never)
	}
	for _, key := range keys {
		c.equal(fmt.Sprintf("Get of %q", key), c.get(key), "the value of "+key)
	}
}

func keysLength(c *check) {
	for _, n := range []int{1, 2, 255, 256, 257, maxKey - 1, maxKey} {
		one, other := strings.Repeat("k", n), strings.Repeat("k", n-1)+"l"
		c.put(one, "one", never)
		c.absent(fmt.Sprintf("Get of a key whose last byte, number %d, is another", n), c.get(other))
		c.put(other, "other", never)
		c.equal(fmt.Sprintf("Get of a key of %d bytes", n), c.get(one), "one")
		c.equal(fmt.Sprintf("Get of a key of %d bytes", n), c.get(other), "other")
	}
}

func keysRefused(c *check) {
	for _, key := range refused() {
		c.fails(fmt.Sprintf("Get of %.10q", key), c.get(key).err)
		c.fails(fmt.Sprintf("Put of %.10q", key), c.Put(c.ctx, key, []byte("value"), never))
		c.fails(fmt.Sprintf("Delete of %.10q", key), c.Delete(c.ctx, key))
	}
	c.lists("")
}

func valuesBytes(c *check) {
	for name, value := range map[string]string{
		"empty": "", "NUL": "\x00", "NULs": "a\x00b\x00", "0xFF": "\xff\xfe", "a line end": "a\r\n", "spaces": "  ", "quotes": `"'\`, "number": "1e3", "JSON": `{"a":null}`, "every byte": allBytes(),
	} {
		c.put(name, value, never)
		c.equal("Get of "+name, c.get(name), value)
	}
	if err := c.Put(c.ctx, "nil", nil, never); err != nil {
		c.failf("Put of a nil value failed: %w", err)
	}
	c.equal("Get of a nil value", c.get("nil"), "")
}

func valuesLarge(c *check) {
	value := strings.Repeat(allBytes(), 1<<20/256)
	c.put("large", value, never)
	c.equal("Get of 1 MiB", c.get("large"), value)
	c.put("large", value[:1<<20-1], c.now().Add(time.Hour))
	c.equal("Get of 1 MiB less 1", c.get("large"), value[:1<<20-1])
}

func valuesAbsent(c *check) {
	c.absent("Get from an empty store", c.get("a"))
	c.put("ab", "value", never)
	c.absent("Get of the first half of a key", c.get("a"))
	c.absent("Get of a key and something behind", c.get("abc"))
}

func valuesOverwrite(c *check) {
	for _, value := range []string{"first", "a longer second", "3", "", "fifth", "fifth"} {
		c.put("a", value, never)
		c.equal("Get of what was put last", c.get("a"), value)
	}
	c.lists("", "a")
}

func valuesDelete(c *check) {
	c.delete("a")
	for _, key := range []string{"a", "ab", "b"} {
		c.put(key, "value of "+key, never)
	}
	c.delete("a")
	c.absent("Get of what was deleted", c.get("a"))
	c.delete("a")
	c.equal("Get of another key", c.get("ab"), "value of ab")
	c.equal("Get of another key", c.get("b"), "value of b")
	c.put("a", "again", never)
	c.equal("Get of what was put after it was deleted", c.get("a"), "again")
}

func valuesSharing(c *check) {
	given := []byte("value")
	c.done("Put", c.Put(c.ctx, "a", given, never))
	copy(given, "XXXXX")
	got := c.get("a")
	c.equal("Get after the caller changed what it had given", got, "value")
	copy(got.value, "YYYYY")
	_ = append(got.value, "ZZZZZ"...)
	c.equal("Get after the caller changed what it had got", c.get("a"), "value")
	one, other := c.get("a"), c.get("a")
	copy(one.value, "YYYYY")
	c.equal("one Get after the caller changed what another gave", other, "value")
	one = c.get("a")
	c.put("a", "other", never)
	c.put("b", "other", never)
	c.equal("what Get gave, after the value was replaced", one, "value")
}

func valuesConcurrent(c *check) {
	c.put("all", "0", never)
	c.together(crowd, func(i int) {
		key := fmt.Sprintf("mine:%03d", i)
		for round := range 3 {
			value := strings.Repeat(fmt.Sprintf("%d of %d.", round, i), 1+i)
			c.put(key, value, never)
			c.equal("Get by the only one who puts", c.get(key), value)
		}
		if i%2 == 0 {
			c.put("all", strings.Repeat(string(rune('a'+i%26)), 1000), never)
		}
		got := c.get("all")
		c.done("Get while others put", got.err)
		if len(got.value) != 1 && (len(got.value) != 1000 || bytes.Count(got.value, got.value[:1]) != 1000) {
			c.failf("Get while others put gave what nobody put: %s", shown(got.value))
		}
		if i%2 == 0 {
			c.delete(key)
			c.absent("Get by the only one who deletes", c.get(key))
		}
		if i%10 == 0 {
			c.pages("mine:", nil)
		}
	})
	if keys := c.pages("mine:", nil); len(keys) != crowd/2 {
		c.failf("%d keys are left, want %d", len(keys), crowd/2)
	}
}

func contextRead(c *check) {
	c.put("a", "value", never)
	for _, ctx := range c.ended() {
		_, _, err := c.Get(ctx, "a")
		c.fails("Get", err)
		_, _, err = c.Get(ctx, "absent")
		c.fails("Get of an absent key", err)
		_, _, err = c.List(ctx, "", "")
		c.fails("List", err)
	}
}

func contextWrite(c *check) {
	c.put("a", "value", never)
	for _, ctx := range c.ended() {
		c.fails("Put", c.Put(ctx, "a", []byte("other"), never))
		c.fails("Put of a new key", c.Put(ctx, "b", []byte("other"), never))
		c.fails("Delete", c.Delete(ctx, "a"))
	}
	c.equal("Get after calls that failed", c.get("a"), "value")
	c.absent("Get after Put failed", c.get("b"))
}
