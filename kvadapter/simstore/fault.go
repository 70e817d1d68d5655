package simstore

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Fault is what can befall a call.
type Fault int

// The faults, and the calls that each can befall.
const (
	None       Fault = iota
	FailBefore       // any: fails and does nothing
	FailAfter        // any: does its work and fails, so the caller cannot know
	Delay            // any: its work is done Rule.Delay later, other flows go on meanwhile
	Throttle         // writes: fails with ErrTooManyWrites and does nothing
	Truncate         // Get, Take, Put, Insert, Swap: half of the value, rounded down, is given or kept
	Stale            // Get at a location: gives, and caches, the version Rule.Versions before the one that was due
	Duplicate        // writes: delivered twice
	Reorder          // Put and Delete at a location: reported as done, and overtaken by the next write to the key
	Crash            // any: does its work, and the flow ends: its goroutine exits, deferred calls of the store fail
)

var faultNames = [...]string{"None", "FailBefore", "FailAfter", "Delay", "Throttle", "Truncate", "Stale", "Duplicate", "Reorder", "Crash"}

func (f Fault) String() string { return faultNames[f] }

// Faults gives every fault but None, for tests that try each.
func Faults() []Fault {
	return []Fault{FailBefore, FailAfter, Delay, Throttle, Truncate, Stale, Duplicate, Reorder, Crash}
}

// Befalls reports whether the fault can befall a call of op at a location, or [Everywhere].
func (f Fault) Befalls(op Op, location int) bool {
	isWrite := op != Get && op != List
	switch f {
	case None:
		return false
	case Throttle, Duplicate:
		return isWrite
	case Truncate:
		return op != List && op != Delete
	case Stale:
		return op == Get && location != Everywhere
	case Reorder:
		return isWrite && location != Everywhere
	}
	return true
}

// A Rule has a fault befall some calls: those that it can befall and that every field selects.
type Rule struct {
	Fault       Fault
	Nth         int     // only the nth of the selected calls, from 1; zero: each
	Probability float64 // of each selected call; zero: certain
	Ops         []Op    // nil: every operation
	Prefix      string  // of the key, for a List of its prefix; empty: every key
	Locations   []int   // with Everywhere for the strongly consistent store; nil: all
	Flows       []int   // by their place in Run, or Outside; nil: all

	Delay    time.Duration // of Delay; zero: one second
	Versions int           // of Stale; zero: 1
	Err      error         // what the caller gets of a fault that fails; nil: ErrInjected or ErrTooManyWrites
}

// planned is a rule and how many calls it has selected.
type planned struct {
	Rule
	selected int
}

// Plan replaces the fault plan. The first rule that hits a call decides. Counting begins anew.
// No rules: nothing fails but what the limits refuse.
func (s *Store) Plan(rules ...Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan = nil
	for _, r := range rules {
		s.plan = append(s.plan, planned{Rule: r})
	}
}

// choose gives the rule that hits a call, counting it for all that select it.
func (s *Store) choose(c Call) (hit Rule) {
	for i := range s.plan {
		p := &s.plan[i]
		if !p.selects(c) {
			continue
		}
		p.selected++
		hits := p.Nth == 0 || p.Nth == p.selected
		if hits && p.Probability > 0 {
			hits = s.chance.Float64() < p.Probability
		}
		if hits && hit.Fault == None {
			hit = p.Rule
		}
	}
	return hit
}

func (r Rule) selects(c Call) bool {
	return r.Fault.Befalls(c.Op, c.Location) &&
		strings.HasPrefix(c.Key, r.Prefix) &&
		(r.Ops == nil || slices.Contains(r.Ops, c.Op)) &&
		(r.Locations == nil || slices.Contains(r.Locations, c.Location)) &&
		(r.Flows == nil || slices.Contains(r.Flows, c.Flow))
}

// failure gives the error of a rule whose fault fails.
func (r Rule) failure() error {
	switch {
	case r.Err != nil:
		return r.Err
	case r.Fault == Throttle:
		return ErrTooManyWrites
	}
	return ErrInjected
}

// An effect is what a fault does within the work of a call.
type effect struct {
	fault    Fault
	versions int
}

func (r Rule) effect() effect { return effect{r.Fault, cmp.Or(r.Versions, 1)} }

func (e effect) is(f Fault) bool { return e.fault == f }

// cut gives a copy of value, never nil, or half of it.
func (e effect) cut(value []byte) []byte {
	if e.is(Truncate) {
		value = value[:len(value)/2]
	}
	return append([]byte{}, value...)
}
