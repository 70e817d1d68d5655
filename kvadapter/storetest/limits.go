package storetest

import (
	"fmt"
	"strings"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// allBytes is every byte, in both orders.
func allBytes() string {
	all := make([]byte, 512)
	for i := range 256 {
		all[i], all[511-i] = byte(i), byte(i)
	}
	return string(all)
}

func valueBytes(c *check) {
	for _, value := range []string{"\x00", "a\x00b\x00", "\xff\xfe", "a\r\n", "  ", " a ", `"'\`, "1e3", "007", "null", `{"a":null}`, "%00%41", "é", "e\u0301", allBytes()} {
		c.put(set("a", value), refer("b", "a"))
		c.holds("after it was written", "a", value)
		c.refers("after it was written", "b", "a")
	}
	for i := range 256 {
		c.put(set("a", string([]byte{byte(i)})))
		c.holds("after a single byte was written", "a", string([]byte{byte(i)}))
	}
}

func valueSize(c *check) {
	large := strings.Repeat(allBytes(), kv.MaxValue/512)
	for _, value := range []string{"1", large, large[1:]} {
		c.put(set("a", value))
		c.holds("after it was written", "a", value)
	}
	_, err := c.Commit(c.ctx, nil, []kv.Write{set("b", "value"), set("a", large+"1")})
	c.limited("Commit of a value of 64 KiB and a byte", err)
	c.holds("after it was refused", "a", large[1:], "b", "")
}

func keyDistinct(c *check) {
	keys := []string{
		"a", "A", "a ", " a", "a/", "/a", "a//", "a/b", "a/../a", "./a", "a.", "...", ".a", `a\`, `\a`, "a%", "%61", "%", "_", "a_", "a*", "*", "?", "a?b", "[a]", "{a}", "{a}b", "a'", "''", `"`, `""`,
		"a:b", "a:", ":a", "a+b", "a b", "a&b", "a=b", "a#b", "a;b", "$a", "@a", "~", "-a", "--", "null", "0", "00", "1e3", "1000", "__proto__", "constructor", " ", "  ", "${a}", "<a>", "|", "^", "`",
	}
	var pairs []string
	for i, key := range keys {
		c.commit(true, checks(absent(key)), set(key, fmt.Sprint("value ", i)))
		pairs = append(pairs, key, fmt.Sprint("value ", i))
	}
	for b := byte(' '); b <= '~'; b++ { // every byte there is, in a key of its own
		key := "byte " + string(b)
		c.commit(true, checks(absent(key)), set(key, key))
		pairs = append(pairs, key, key)
	}
	c.holds("after all were written", pairs...)
	c.put(remove("a"), remove("*"), remove("%"))
	c.holds("after three were deleted", "a", "", "*", "", "%", "", "_", "value 18", "A", "value 1", "?", "value 22")
}

func keyLength(c *check) {
	for _, n := range []int{2, 64, 255, 256, 257, kv.MaxKey - 1, kv.MaxKey} {
		one, other := strings.Repeat("k", n), strings.Repeat("k", n-1)+"l"
		c.commit(true, checks(absent(one), absent(other)), refer(one, other))
		c.put(set(other, "value"))
		c.refers(fmt.Sprintf("of a key of %d bytes", n), one, other)
		c.commit(true, checks(c.at(one), c.at(other)), set(one, "one"), remove(other))
		c.holds("after the other one was deleted", one, "one", other, "")
	}
}

func keyRefused(c *check) {
	for _, key := range []string{"", ".", "..", strings.Repeat("k", kv.MaxKey+1), "a\x00", "\n", "a\tb", "\x7f", "é", "\xff", "a\u2028"} {
		_, err := c.Get(c.ctx, "a", key)
		c.limited(fmt.Sprintf("Get of %.10q", key), err)
		_, err = c.Commit(c.ctx, checks(absent(key)), []kv.Write{set("a", "value")})
		c.limited(fmt.Sprintf("a check of %.10q", key), err)
		for what, write := range map[string]kv.Write{"write": set(key, "value"), "deletion": remove(key), "reference": refer("b", key)} {
			if what == "reference" && key == "" {
				continue // there is none
			}
			_, err = c.Commit(c.ctx, nil, []kv.Write{set("a", "value"), write})
			c.limited(fmt.Sprintf("a %s of %.10q", what, key), err)
		}
	}
	c.holds("after Commits that were refused", "a", "", "b", "")
}

// crowd gives n keys, and writes of them.
func crowd(prefix string, n int) (keys []string, writes []kv.Write) {
	for i := range n {
		key := fmt.Sprintf("%s:%04d", prefix, i)
		keys = append(keys, key)
		writes = append(writes, set(key, "value of "+key))
	}
	return keys, writes
}

func limitMost(c *check) {
	keys, writes := crowd("session", kv.MaxKeys)
	users, others := crowd("user", kv.MaxKeys)
	absence := make([]kv.Check, kv.MaxKeys)
	for i := range writes {
		writes[i].Ref, absence[i] = users[i], absent(keys[i])
	}
	c.commit(true, absence, others...) // the checked keys are others than the written ones
	c.commit(true, absence, writes...)
	c.refers("of 256 keys", strings.Join(keys, " "), strings.Join(users, " "))
	own, _ := c.get(keys...)
	same := make([]kv.Check, kv.MaxKeys)
	for i, e := range own {
		same[i] = kv.Check{Key: e.Key, Version: e.Version}
		writes[i].Value = nil
	}
	same[kv.MaxKeys-1].Version = ""
	c.commit(false, same, writes...)
	c.holds("after the last check stopped 256 deletions", keys[0], "value of "+keys[0], users[0], "value of "+users[0])
	same[kv.MaxKeys-1] = c.at(keys[kv.MaxKeys-1])
	c.commit(true, same, writes...)
	c.holds("after 256 deletions", keys[0], "", keys[kv.MaxKeys-1], "")
}

func limitMore(c *check) {
	keys, writes := crowd("key", kv.MaxKeys+1)
	_, err := c.Get(c.ctx, keys...)
	c.limited("Get of 257 keys", err)
	_, err = c.Commit(c.ctx, nil, writes)
	c.limited("Commit of 257 writes", err)
	var absence []kv.Check
	for _, key := range keys {
		absence = append(absence, absent(key))
	}
	_, err = c.Commit(c.ctx, absence, writes[:1])
	c.limited("Commit with 257 checks", err)
	c.holds("after Commits that were refused", keys[0], "", keys[kv.MaxKeys], "")
}
