package remote

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// A cache keeps the edge's answers by the cookies they were given for. Only sessions are in it:
// who is signed out has no cookie, soon, and a token that the edge refused may be one that it
// has not heard of yet. It holds the JSON, so that each request gets a session of its own, and
// hashes of cookies in place of what would sign somebody in.
type cache struct {
	mu      sync.Mutex // never held while anything waits
	entries map[key]entry
	order   []key // a ring of all keys, oldest at next
	next    int
}

type key [sha256.Size]byte

type entry struct {
	body []byte
	ends time.Time
}

func newCache(size int) *cache {
	return &cache{entries: map[key]entry{}, order: make([]key, 0, min(size, 64)), next: -size}
}

// keyOf identifies a set of cookies, in whatever order the browser sends them.
func keyOf(pairs []string) key {
	pairs = slices.Sorted(slices.Values(pairs))
	h := sha256.New()
	for _, pair := range pairs {
		h.Write([]byte(pair))
		h.Write([]byte{';'}) // in no cookie
	}
	return key(h.Sum(nil))
}

func (c *cache) get(k key, now time.Time) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, ok := c.entries[k]; ok && now.Before(found.ends) {
		return found.body
	}
	return nil
}

// put keeps an answer; when all places are taken, in that of the oldest.
func (c *cache) put(k key, body []byte, ends time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[k]; !ok {
		if c.next < 0 {
			c.order = append(c.order, k)
			c.next++
		} else {
			delete(c.entries, c.order[c.next])
			c.order[c.next] = k
			c.next = (c.next + 1) % len(c.order)
		}
	}
	c.entries[k] = entry{body, ends}
}
