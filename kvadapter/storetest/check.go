package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// A check is one case at work: the store, its clock, and what is required of its answers. The
// first answer that is wrong ends the case.
type check struct {
	kv.Store
	ctx     context.Context
	now     func() time.Time
	advance func(time.Duration) // nil: wait
}

func newCheck(ctx context.Context, store kv.Store, options Options) *check {
	c := &check{Store: store, ctx: ctx, now: options.Now, advance: options.Advance}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

func (c *check) failf(format string, args ...any) {
	panic(broken{fmt.Errorf(format, args...)})
}

// done requires that a call did not fail.
func (c *check) done(call string, err error) {
	if err != nil {
		c.failf("%s failed: %w", call, err)
	}
}

// limited requires that a call was refused for what it was given.
func (c *check) limited(call string, err error) {
	if limit := (*kv.LimitError)(nil); !errors.As(err, &limit) {
		c.failf("%s: the error is %v, want a *kv.LimitError", call, err)
	}
}

func set(key, value string) kv.Write { return kv.Write{Key: key, Value: []byte(value)} }

func refer(key, ref string) kv.Write {
	return kv.Write{Key: key, Value: []byte("refers to " + ref), Ref: ref}
}

func until(key, value string, expires time.Time) kv.Write {
	return kv.Write{Key: key, Value: []byte(value), Expires: expires}
}

func remove(key string) kv.Write { return kv.Write{Key: key} }

// put commits writes without checks.
func (c *check) put(writes ...kv.Write) { c.commit(true, nil, writes...) }

// commit requires that a Commit succeeds, or that a check stops it.
func (c *check) commit(want bool, checks []kv.Check, writes ...kv.Write) {
	ok, err := c.Commit(c.ctx, checks, writes)
	call := fmt.Sprintf("Commit with checks %.300q and %d writes", checks, len(writes))
	c.done(call, err)
	if ok != want {
		c.failf("%s gave %v, want %v", call, ok, want)
	}
}

// get separates the entries of keys from those that they refer to, and requires what is true of
// every answer.
func (c *check) get(keys ...string) (own, referred []kv.Entry) {
	entries, err := c.Get(c.ctx, keys...)
	call := fmt.Sprintf("Get of %.200q", keys)
	c.done(call, err)
	if len(entries) < len(keys) {
		c.failf("%s gave %d entries, want %d at least", call, len(entries), len(keys))
	}
	own, referred = entries[:len(keys)], entries[len(keys):]
	for i, e := range own {
		if e.Key != keys[i] {
			c.failf("%s: entry %d is %.60q", call, i, e.Key)
		}
		if (e.Version == "") != (len(e.Value) == 0) {
			c.failf("%s: %.60q has the value %s and the version %q: both are empty, or neither", call, e.Key, shown(e.Value), e.Version)
		}
	}
	for i, e := range referred {
		if e.Version == "" || len(e.Value) == 0 {
			c.failf("%s: the entry of a reference, %.60q, is empty", call, e.Key)
		}
		if slices.Contains(keys, e.Key) || slices.ContainsFunc(referred[:i], func(other kv.Entry) bool { return other.Key == e.Key }) {
			c.failf("%s gave the reference %.60q although it is there already", call, e.Key)
		}
	}
	for _, e := range entries {
		if len(e.Version) > 64 || !utf8.ValidString(e.Version) {
			c.failf("%s: the version %q is not text of up to 64 bytes", call, e.Version)
		}
	}
	return own, referred
}

// holds requires, with one Get, the values of keys, which follow each other: key, value, key,
// value. An empty value means that the key is absent.
func (c *check) holds(when string, pairs ...string) {
	var keys []string
	for pair := range slices.Chunk(pairs, 2) {
		keys = append(keys, pair[0])
	}
	own, referred := c.get(keys...)
	for i, e := range own {
		if want := pairs[2*i+1]; string(e.Value) != want {
			c.failf("%s, %.60q has the value %s, want %s", when, e.Key, shown(e.Value), shown([]byte(want)))
		}
	}
	if len(referred) > 0 {
		c.failf("%s, Get of %.200q gave %.60q, too, which nobody referred to", when, keys, referred[0].Key)
	}
}

// refers requires which entries Get of keys gives besides, in any order. Both are separated by
// spaces.
func (c *check) refers(when, keys, want string) {
	_, referred := c.get(strings.Fields(keys)...)
	var got []string
	for _, e := range referred {
		got = append(got, e.Key)
		alone, _ := c.get(e.Key)
		if alone[0].Version != e.Version || !bytes.Equal(alone[0].Value, e.Value) {
			c.failf("%s, the reference %q has the value %s and the version %q, but read alone %s and %q", when, e.Key, shown(e.Value), e.Version, shown(alone[0].Value), alone[0].Version)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, strings.Fields(want)) {
		c.failf("%s, Get of %s gave the references %q, want %q", when, keys, got, want)
	}
}

// at gives the check that a key is as it is now.
func (c *check) at(key string) kv.Check {
	own, _ := c.get(key)
	return kv.Check{Key: key, Version: own[0].Version}
}

// soon is a moment in less than a second that is not near a whole second, so that a store that
// rounds is found out.
func (c *check) soon() time.Time {
	end := c.now().Add(300 * time.Millisecond).Truncate(time.Millisecond)
	switch ms := end.Nanosecond() / 1e6; {
	case ms < 200:
		return end.Add(time.Duration(200-ms) * time.Millisecond)
	case ms > 800:
		return end.Add(time.Duration(1200-ms) * time.Millisecond)
	}
	return end
}

// before waits until shortly before end, and runs look, which requires that something has not
// ended. On a busy machine it may be too late for that: then what look saw doesn't count.
func (c *check) before(end time.Time, look func()) {
	margin := 100 * time.Millisecond
	if c.advance != nil {
		margin = time.Millisecond
	}
	c.wait(end.Add(-margin))
	defer func() {
		if seen := recover(); seen != nil && c.now().Before(end) {
			panic(seen)
		}
	}()
	look()
}

// after waits until end has passed for the store, whose clock may be another process's.
func (c *check) after(end time.Time) {
	if c.advance == nil {
		end = end.Add(20 * time.Millisecond)
	}
	c.wait(end)
}

func (c *check) wait(moment time.Time) {
	d := moment.Sub(c.now())
	switch {
	case d <= 0:
	case c.advance != nil:
		c.advance(d)
	default:
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.ctx.Done():
			c.failf("the context ended while the case waited: %w", c.ctx.Err())
		}
	}
}

// together makes n calls at once and waits for all of them.
func (c *check) together(n int, call func(i int)) {
	var (
		mu    sync.Mutex
		first error
		all   sync.WaitGroup
		start = make(chan struct{})
	)
	for i := range n {
		all.Go(func() {
			defer func() {
				if seen := caught(recover()); seen != nil {
					mu.Lock()
					defer mu.Unlock()
					first = errors.Join(first, seen)
				}
			}()
			<-start
			call(i)
		})
	}
	close(start)
	all.Wait()
	if first != nil {
		panic(broken{first})
	}
}

// shown is a value for an error message, which must stay readable when the value is large.
func shown(value []byte) string {
	if len(value) > 60 {
		return fmt.Sprintf("%q... (%d bytes)", value[:60], len(value))
	}
	return fmt.Sprintf("%q", value)
}
