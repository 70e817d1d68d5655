package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

const (
	rounds  = 10  // how often the cases that race do so
	writers = 10  // who change a value that others change, too, and try again: each makes the others lose
	callers = 100 // who call once
)

func contextEnded(c *check) {
	c.put(set("a", "value"))
	a := c.at("a")
	canceled, cancel := context.WithCancel(c.ctx)
	cancel()
	late, cancelLate := context.WithDeadline(c.ctx, time.Unix(1, 0))
	defer cancelLate()
	for _, ctx := range []context.Context{canceled, late} {
		_, err := c.Get(ctx, "a", "absent")
		errs := []error{err}
		for _, checks := range [][]kv.Check{nil, {a}, {absent("a")}} {
			_, err = c.Commit(ctx, checks, []kv.Write{set("a", "new"), set("b", "new")})
			errs = append(errs, err)
		}
		if lister, ok := c.Store.(kv.Lister); ok {
			_, _, err = lister.List(ctx, "", "")
			errs = append(errs, err)
		}
		for i, err := range errs {
			if !errors.Is(err, ctx.Err()) {
				c.failf("call %d of Get, Commit, Commit, Commit, List gave the error %v, want %v", i, err, ctx.Err())
			}
		}
	}
	c.holds("after calls that failed", "a", "value", "b", "")
}

func memoryGiven(c *check) {
	w := set("a", "value")
	c.put(w)
	copy(w.Value, "XXXXX")
	c.holds("after the caller changed what it had written", "a", "value")
	w = set("a", "newer")
	c.commit(true, checks(c.at("a")), w)
	copy(w.Value, "XXXXX")
	c.holds("after the caller changed what it had written", "a", "newer")
}

func memoryReturned(c *check) {
	c.put(refer("a", "user"), set("user", "value"))
	own, referred := c.get("a")
	if len(referred) != 1 {
		c.failf("Get gave %d references, want 1", len(referred))
	}
	copy(own[0].Value, "XXXXXXXXXXX")
	copy(referred[0].Value, "XXXXX")
	own, referred = c.get("a")
	if string(own[0].Value) != "refers to user" || string(referred[0].Value) != "value" {
		c.failf("after the caller changed what it had got, Get gave %q and %q", own[0].Value, referred[0].Value)
	}
	c.put(set("a", "another value"), set("user", "other"))
	if string(own[0].Value) != "refers to user" || string(referred[0].Value) != "value" {
		c.failf("after another write, what Get had given became %q and %q", own[0].Value, referred[0].Value)
	}
}

// numbers reads keys that hold numbers, with the checks that they have not changed.
func (c *check) numbers(keys ...string) (numbers []int, same []kv.Check) {
	own, _ := c.get(keys...)
	for _, e := range own {
		n, err := strconv.Atoi(string(e.Value))
		c.done("reading a number", err)
		numbers = append(numbers, n)
		same = append(same, kv.Check{Key: e.Key, Version: e.Version})
	}
	return numbers, same
}

// try commits and reports whether the checks held.
func (c *check) try(checks []kv.Check, writes ...kv.Write) bool {
	ok, err := c.Commit(c.ctx, checks, writes)
	c.done("Commit by many at once", err)
	return ok
}

// again calls change until it has succeeded in every round. Each time it fails another writer has
// succeeded.
func (c *check) again(change func() bool) {
	const enough = 10 * writers * rounds
	done := 0
	for range enough {
		if change() {
			done++
		}
		if done == rounds {
			return
		}
	}
	c.failf("of %d attempts of one of %d writers %d succeeded", enough, writers, done)
}

func raceCounter(c *check) {
	c.put(set("count", "0"))
	c.together(writers, func(int) {
		c.again(func() bool {
			n, same := c.numbers("count")
			return c.try(same, set("count", strconv.Itoa(n[0]+1)))
		})
	})
	c.holds("after all have counted", "count", strconv.Itoa(writers*rounds))
}

func raceClaim(c *check) {
	for round := range rounds {
		key := fmt.Sprintf("claim:%d", round)
		won := make([]bool, callers)
		c.together(callers, func(i int) {
			won[i] = c.try(checks(absent(key)), set(fmt.Sprintf("%s:%d", key, i), "mine"), set(key, strconv.Itoa(i)))
		})
		winners, winner := 0, 0
		for i, ok := range won {
			if ok {
				winners, winner = winners+1, i
			}
		}
		if winners != 1 {
			c.failf("%d of %d concurrent callers claimed one key, want 1", winners, callers)
		}
		loser := (winner + 1) % callers
		c.holds("after a race", key, strconv.Itoa(winner), fmt.Sprintf("%s:%d", key, winner), "mine", fmt.Sprintf("%s:%d", key, loser), "")
	}
}

// raceTransfer moves amounts between accounts, in both directions at once.
func raceTransfer(c *check) {
	keys, sum := []string{"x", "y", "z"}, 0
	for _, key := range keys {
		c.put(set(key, "1000"))
	}
	c.together(writers, func(int) {
		c.again(func() bool {
			order := rand.Perm(len(keys))
			from, to := keys[order[0]], keys[order[1]]
			n, same := c.numbers(from, to)
			amount := 1 + rand.IntN(1e6) // so that two that are lost don't make up for each other
			return c.try(same, set(from, strconv.Itoa(n[0]-amount)), set(to, strconv.Itoa(n[1]+amount)))
		})
	})
	all, _ := c.numbers(keys...)
	for _, n := range all {
		sum += n
	}
	if sum != 3000 {
		c.failf("after transfers between three keys of 3,000 in all they have %v, %d in all", all, sum)
	}
}

// raceCrossed has pairs of callers who each write a key if the other's is absent: never both.
func raceCrossed(c *check) {
	for round := range rounds {
		key := func(i int) string { return fmt.Sprintf("%d:%d", round, i) }
		won := make([]bool, callers)
		c.together(callers, func(i int) { won[i] = c.try(checks(absent(key(i^1))), set(key(i), "mine")) })
		for i := 0; i < callers; i += 2 {
			if won[i] == won[i+1] {
				c.failf("of two callers who each write a key if the other's is absent both got %v", won[i])
			}
		}
	}
}
