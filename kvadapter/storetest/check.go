package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter"
)

const (
	crowd  = 100 // how many call at once in the cases that race
	rounds = 10  // how often they do
)

// never is the expiry of a value that stays.
var never time.Time

// A check is one case at work: the store, its clock, and what is demanded of its answers. A
// demand that is not met ends the case.
type check struct {
	kvadapter.Store
	ctx     context.Context
	now     func() time.Time
	advance func(time.Duration) // nil: wait
}

func newCheck(ctx context.Context, store kvadapter.Store, options Options) *check {
	c := &check{Store: store, ctx: ctx, now: options.Now, advance: options.Advance}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

func (c *check) failf(format string, args ...any) {
	panic(broken{fmt.Errorf(format, args...)})
}

// atomic gives the store's other methods, which the case needs.
func (c *check) atomic() kvadapter.Atomic {
	a, ok := c.Store.(kvadapter.Atomic)
	if !ok {
		c.failf("%T does not have Insert, Take and Swap; if that is on purpose, skip the group \"atomic\" and say why", c.Store)
	}
	return a
}

// until waits, or moves the clock, until the store's clock reads moment.
func (c *check) until(moment time.Time) {
	wait := moment.Sub(c.now())
	switch {
	case wait <= 0:
	case c.advance != nil:
		c.advance(wait)
	default:
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.ctx.Done():
			c.failf("the context ended while the case waited: %w", c.ctx.Err())
		}
	}
}

// soon is a moment of one to two seconds from now. It is a whole second, which every store
// that keeps an expiry can keep.
func (c *check) soon() time.Time {
	return c.now().Truncate(time.Second).Add(2 * time.Second)
}

// nearly waits until shortly before moment and tells whether it is still before it, which on
// a busy machine it may not be: ask again after the call that must see a value.
func (c *check) nearly(moment time.Time) { c.until(moment.Add(-100 * time.Millisecond)) }

// An answer is what Get or Take gave.
type answer struct {
	value []byte
	ok    bool
	err   error
}

func of(value []byte, ok bool, err error) answer { return answer{value, ok, err} }

func (c *check) get(key string) answer { return of(c.Get(c.ctx, key)) }

// done demands that a call did not fail.
func (c *check) done(call string, err error) {
	if err != nil {
		c.failf("%s failed: %w", call, err)
	}
}

// fails demands an error, whichever.
func (c *check) fails(call string, err error) {
	if err == nil {
		c.failf("%s succeeded, want an error", call)
	}
}

// equal demands a value.
func (c *check) equal(call string, got answer, want string) {
	c.done(call, got.err)
	if !got.ok {
		c.failf("%s gave nothing, want %s", call, shown([]byte(want)))
	}
	if !bytes.Equal(got.value, []byte(want)) {
		c.failf("%s gave %s, want %s", call, shown(got.value), shown([]byte(want)))
	}
}

// absent demands that there is no value, which is not an error.
func (c *check) absent(call string, got answer) {
	if got.err != nil {
		c.failf("%s gave an error where there is no value: %w", call, got.err)
	}
	if got.ok {
		c.failf("%s gave a value that should not be there: %s", call, shown(got.value))
	}
}

// says demands that a call which says whether it did something says want.
func (c *check) says(call string, ok bool, err error, want bool) {
	c.done(call, err)
	if ok != want {
		c.failf("%s gave %v, want %v", call, ok, want)
	}
}

func (c *check) put(key, value string, expires time.Time) {
	c.done(fmt.Sprintf("Put of %.60q", key), c.Put(c.ctx, key, []byte(value), expires))
}

func (c *check) delete(key string) {
	c.done(fmt.Sprintf("Delete of %.60q", key), c.Delete(c.ctx, key))
}

// pages lists all keys that begin with prefix. between is called with each page that is not
// the last; nil: nothing is.
func (c *check) pages(prefix string, between func(page []string)) (keys []string) {
	const enough = 10_000
	cursor := ""
	for range enough {
		page, next, err := c.List(c.ctx, prefix, cursor)
		c.done(fmt.Sprintf("List of %.60q", prefix), err)
		keys = append(keys, page...)
		switch next {
		case "":
			return keys
		case cursor:
			c.failf("List of %.60q gave the cursor that it was given", prefix)
		}
		if between != nil {
			between(page)
		}
		cursor = next
	}
	c.failf("List of %.60q has not come to an end after %d pages", prefix, enough)
	return nil
}

// lists demands the keys that begin with prefix.
func (c *check) lists(prefix string, want ...string) {
	if got := c.pages(prefix, nil); !slices.Equal(got, want) {
		c.failf("List of %.60q gave %.400q, want %.400q", prefix, got, want)
	}
}

// ended are contexts that have ended.
func (c *check) ended() []context.Context {
	canceled, cancel := context.WithCancel(c.ctx)
	cancel()
	late, cancelLate := context.WithDeadline(c.ctx, time.Unix(1, 0))
	cancelLate()
	return []context.Context{canceled, late}
}

// together makes n calls at once and waits for all of them.
func (c *check) together(n int, call func(i int)) {
	if err := together(n, call); err != nil {
		panic(broken{err})
	}
}

func together(n int, call func(i int)) error {
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
	return first
}

// shown is a value for an error message, which must stay readable when the value is 1 MiB.
func shown(value []byte) string {
	if len(value) > 60 {
		return fmt.Sprintf("%q... (%d bytes)", value[:60], len(value))
	}
	return fmt.Sprintf("%q", value)
}
