package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/edgeauth/edgeauth/kvadapter"
)

// SingleUse puts a value and has consumers take it at once, as often as rounds says. Its
// error tells if in a round there was not exactly one who got it, the value that was put.
// The suite does so with 100 consumers and 10 rounds.
func SingleUse(ctx context.Context, store kvadapter.Atomic, consumers, rounds int) error {
	for round := range rounds {
		key, value := fmt.Sprintf("token:%d", round), fmt.Appendf(nil, "value of round %d", round)
		if err := store.Put(ctx, key, value, never); err != nil {
			return fmt.Errorf("storetest: Put failed: %w", err)
		}
		answers := make([]answer, consumers)
		if err := together(consumers, func(i int) { answers[i] = of(store.Take(ctx, key)) }); err != nil {
			return err
		}
		winners := 0
		for _, got := range answers {
			switch {
			case got.err != nil:
				return fmt.Errorf("storetest: Take by many at once failed: %w", got.err)
			case got.ok && !bytes.Equal(got.value, value):
				return fmt.Errorf("storetest: Take by many at once gave %s, want %s", shown(got.value), shown(value))
			case got.ok:
				winners++
			}
		}
		if winners != 1 {
			return fmt.Errorf("storetest: Take: %d of %d concurrent callers got the value, want 1", winners, consumers)
		}
		switch _, ok, err := store.Get(ctx, key); {
		case err != nil:
			return fmt.Errorf("storetest: Get after the race failed: %w", err)
		case ok:
			return errors.New("storetest: Get after the race gave a value that was taken")
		}
	}
	return nil
}

func atomicTakeRace(c *check) {
	if err := SingleUse(c.ctx, c.atomic(), crowd, rounds); err != nil {
		panic(broken{err})
	}
}

// oneInserts has a crowd insert a key that is free.
func (c *check) oneInserts(key string, round int) {
	a := c.atomic()
	won := make([]bool, crowd)
	c.together(crowd, func(i int) {
		ok, err := a.Insert(c.ctx, key, fmt.Appendf(nil, "%d in round %d", i, round), never)
		c.done("Insert by many at once", err)
		won[i] = ok
	})
	winners, winner := 0, 0
	for i, ok := range won {
		if ok {
			winners, winner = winners+1, i
		}
	}
	if winners != 1 {
		c.failf("Insert: %d of %d concurrent callers stored a value, want 1", winners, crowd)
	}
	c.equal("Get after the race", c.get(key), fmt.Sprintf("%d in round %d", winner, round))
}

func atomicInsertRace(c *check) {
	c.atomic()
	for round := range rounds {
		c.oneInserts("a", round)
		c.delete("a")
	}
}

// A value is put while another one is taken. If the old one was taken the new one is there.
func atomicTakePutRace(c *check) {
	c.atomic()
	for round := range rounds {
		key := func(i int) string { return fmt.Sprintf("%d:%d", round, i) }
		for i := range crowd / 2 {
			c.put(key(i), "old", never)
		}
		taken := make([]answer, crowd/2)
		c.together(crowd, func(i int) {
			if i%2 == 0 {
				c.put(key(i/2), "new", never)
			} else {
				taken[i/2] = c.take(key(i / 2))
			}
		})
		for i, got := range taken {
			if string(got.value) == "old" {
				c.equal("Get of what was put while the old value was taken", c.get(key(i)), "new")
			} else {
				c.equal("Take while a value was put", got, "new")
				c.absent("Get after Take", c.get(key(i)))
			}
		}
	}
}

func atomicSwapRace(c *check) {
	a := c.atomic()
	for round := range rounds {
		c.put("one", "old", never)
		var winners atomic.Int64
		c.together(crowd, func(i int) {
			ok, err := a.Swap(c.ctx, "one", []byte("old"), fmt.Appendf(nil, "%d in round %d", i, round), never)
			c.done("Swap by many at once", err)
			if ok {
				winners.Add(1)
			}
		})
		if n := winners.Load(); n != 1 {
			c.failf("Swap: %d of %d concurrent callers replaced one value, want 1", n, crowd)
		}
	}
	const counters = 10 // so that a store that is far has not too many losers
	c.put("count", "0", never)
	c.together(counters, func(int) {
		for added := 0; added < rounds; {
			got := c.get("count")
			c.done("Get while others swap", got.err)
			n, err := strconv.Atoi(string(got.value))
			c.done("reading the counter", err)
			ok, err := a.Swap(c.ctx, "count", got.value, strconv.AppendInt(nil, int64(n+1), 10), never)
			c.done("Swap by many at once", err)
			if ok {
				added++
			}
		}
	})
	c.equal("Get of what many have counted", c.get("count"), strconv.Itoa(counters*rounds))
}

// This is a session that is extended while its user signs out.
func atomicSwapGoneRace(c *check) {
	a := c.atomic()
	for round := range rounds {
		key := func(i int) string { return fmt.Sprintf("%d:%d", round, i) }
		for i := range crowd / 2 {
			c.put(key(i), "old", never)
		}
		swapped, taken := make([]bool, crowd/2), make([]answer, crowd/2)
		deletes := func(i int) bool { return i%2 == 0 }
		c.together(crowd, func(i int) {
			pair := i / 2
			switch {
			case i%2 == 0:
				ok, err := a.Swap(c.ctx, key(pair), []byte("old"), []byte("new"), never)
				c.done("Swap", err)
				swapped[pair] = ok
			case deletes(pair):
				c.delete(key(pair))
			default:
				taken[pair] = c.take(key(pair))
			}
		})
		for i := range crowd / 2 {
			c.absent("Get after Swap and Delete or Take at once", c.get(key(i)))
			if !deletes(i) {
				want := "old"
				if swapped[i] {
					want = "new"
				}
				c.equal(fmt.Sprintf("Take at once with a Swap that gave %v", swapped[i]), taken[i], want)
			}
		}
	}
}
