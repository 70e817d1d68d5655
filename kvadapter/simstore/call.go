package simstore

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// An Op is an operation of the store.
type Op string

// The operations.
const (
	Get    Op = "Get"
	Put    Op = "Put"
	Delete Op = "Delete"
	List   Op = "List"
	Insert Op = "Insert"
	Take   Op = "Take"
	Swap   Op = "Swap"
)

// Places that have no number.
const (
	Everywhere = -1 // the location of calls to the strongly consistent store
	Outside    = -1 // the flow of calls outside of Run
)

// A Call is the record of one call.
type Call struct {
	Op       Op
	Key      string // of List: the prefix
	Location int
	Flow     int
	At       time.Time // the store's time when it took effect
	Size     int       // of the value, in bytes
	Expires  time.Time // as the caller asked; zero: never, or not a write
	Fault    Fault     // that befell it
	OK       bool      // what the caller was told: found, stored, swapped
	Err      error     // what the caller was told
}

// String describes the call in a line.
func (c Call) String() string {
	var b strings.Builder
	if c.Flow != Outside {
		fmt.Fprintf(&b, "flow %d ", c.Flow)
	}
	if c.Location == Everywhere {
		b.WriteString("atomic ")
	} else {
		fmt.Fprintf(&b, "at %d ", c.Location)
	}
	fmt.Fprintf(&b, "%s %s", c.Op, c.Key)
	if c.Size > 0 {
		fmt.Fprintf(&b, " (%d bytes)", c.Size)
	}
	if c.Fault != None {
		fmt.Fprintf(&b, " [%v]", c.Fault)
	}
	switch {
	case c.Err != nil:
		fmt.Fprintf(&b, ": %v", c.Err)
	case c.OK:
		b.WriteString(": ok")
	case c.Op != Put && c.Op != Delete && c.Op != List:
		b.WriteString(": no")
	}
	return b.String()
}

// Calls gives the calls since the store was made or ClearCalls, in the order in which they took effect.
func (s *Store) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// ClearCalls forgets the calls so far.
func (s *Store) ClearCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// Trace describes the calls, a line each with the time since the first: what a failing test
// shows beside its seed.
func (s *Store) Trace() string {
	var b strings.Builder
	calls := s.Calls()
	for i, c := range calls {
		fmt.Fprintf(&b, "%4d +%v %v\n", i+1, c.At.Sub(calls[0].At), c)
	}
	return b.String()
}

// A result is what a call gives beside its error.
type result struct {
	value []byte
	ok    bool
	keys  []string
	next  string
}

// perform makes one call: it waits until the call's flow has its turn, lets the fault plan
// decide, and records what came of it.
func (s *Store) perform(ctx context.Context, c Call, do func(effect) (result, error)) (result, error) {
	if err := ctx.Err(); err != nil {
		return result{}, err
	}
	f, err := s.enter(ctx)
	c.Flow = f.place()
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.record(c, result{}, err)
	}
	s.mu.Lock()
	rule := s.choose(c)
	c.Fault = rule.Fault
	if rule.Fault == Delay {
		s.mu.Unlock()
		err := s.wait(f, cmp.Or(rule.Delay, time.Second))
		s.mu.Lock()
		if err != nil {
			defer s.mu.Unlock()
			return s.record(c, result{}, err)
		}
	}
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return s.record(c, result{}, err)
	}
	if rule.Fault == FailBefore || rule.Fault == Throttle {
		return s.record(c, result{}, rule.failure())
	}
	out, err := do(rule.effect())
	if err != nil {
		return s.record(c, result{}, err)
	}
	if rule.Fault == Crash && f != nil {
		_, _ = s.record(c, result{}, ErrInjected)
		f.state = crashed
		runtime.Goexit()
	}
	if rule.Fault == FailAfter || rule.Fault == Crash {
		return s.record(c, result{}, rule.failure())
	}
	return s.record(c, out, nil)
}

func (s *Store) record(c Call, out result, err error) (result, error) {
	c.At, c.OK, c.Err = s.clock.Now(), out.ok, err
	s.calls = append(s.calls, c)
	return out, err
}
