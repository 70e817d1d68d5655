// Package simstore is the key-value store that the tests of package kvadapter run on. It has the
// guarantees of Workers KV and no better ones (locations that cache what they read, misses
// too; a write a second for each key; lists that lag), beside a strongly consistent store as a
// Durable Object is one. It fails as it is told, and all of it is decided by a seed: the same
// seed gives the same calls in the same order with the same results.
//
// Local emulators of Workers KV have one location and show none of this.
//
// Time is virtual and stands still unless it is advanced. Flows that are to run at the same
// time are given to [Store.Run], which lets one of them go on at a time, from one store call to
// the next, in an order that comes from the seed. Calls outside of Run take effect at once.
//
//	for seed := range uint64(10_000) {
//		s := simstore.New(simstore.Options{Seed: seed})
//		err := s.Run(ctx, signOut, refresh) // functions that call s.At(0), s.At(1), s.Atomic()
//		// … look at the outcome; s.Trace() shows how it came about.
//	}
package simstore

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/internal/storekey"
)

// Errors of calls. A call with one of these has changed nothing, unless a rule of the fault plan says
// [FailAfter] or [Crash].
var (
	ErrKey           = storekey.Err
	ErrValueTooLarge = errors.New("simstore: the value is too large")
	ErrExpiration    = errors.New("simstore: a value lives at least 60 seconds")
	ErrTooManyWrites = errors.New("simstore: 429, too many writes to one key")
	ErrInjected      = errors.New("simstore: a fault of the test's plan") // what a rule without an Err gives
)

// Options are the knobs of a store. The zero value is Workers KV as Cloudflare documents it, seen from two
// locations.
type Options struct {
	Seed      uint64 // decides the order of flows and which calls a Probability hits
	Locations int    // how many places the store is used from; zero: 2
	Clock     Clock  // nil: NewClock(Epoch)

	// CacheTTL is how long a location goes on giving what it has read, a miss too. Cloudflare:
	// "up to 60 seconds or more". Zero: 60 s; negative: nothing is cached.
	CacheTTL time.Duration
	// Lag is how long a write takes to leave its location. Other locations see it after
	// CacheTTL + Lag at the latest. Zero or negative: at once.
	Lag time.Duration
	// ListLag is how old the state is that List shows, at the writer's location too. Zero:
	// CacheTTL; negative: lists are current.
	ListLag time.Duration
	// StaleOwnWrites leaves the cache of the location that writes as it is: Cloudflare calls
	// reading one's own write "usually immediate", "not guaranteed". False: a location sees its
	// writes at once.
	StaleOwnWrites bool

	// WriteInterval is the time between two writes to one key, Put or Delete, from anywhere. Zero: 1 s; negative: no limit.
	WriteInterval time.Duration
	// MinTTL is how far ahead the end of a value must be when it is put. Zero: 60 s; negative: no limit.
	MinTTL time.Duration
	// KeepShort keeps a value whose end is nearer than MinTTL for MinTTL. False: ErrExpiration.
	KeepShort bool
	// Linger is how long a value is still given after its end. Zero or negative: not at all.
	Linger time.Duration
	// Skew is by how much the clock of each location is wrong, by its number; it decides what has ended there and what
	// MinTTL means. Missing ones: right.
	Skew []time.Duration

	MaxValue   int  // bytes; zero: 25 MiB
	PageSize   int  // keys that a List gives at most; zero: 1,000
	EmptyPages bool // the first page of a List is empty and has a successor; false: only if there is no key

	// Patience is how long Run waits, in real time, for a flow to come to its next call. It has
	// no influence on results: it ends tests that would hang. Zero: 10 s.
	Patience time.Duration
	// MaxCalls is how many steps a Run has before it ends with ErrEndless. Zero: 100,000.
	MaxCalls int
}

// A Store is one simulated store with all of its locations. It is safe for concurrent use.
type Store struct {
	options   Options
	clock     Clock
	locations []*Location

	mu      sync.Mutex // guards all below, and the caches of locations
	order   *rand.Rand // picks flows
	chance  *rand.Rand // decides probabilities
	central map[string]*history
	atomic  map[string]record
	plan    []planned
	calls   []Call
	run     *run // nil unless under way
}

// New gives an empty store.
func New(o Options) *Store {
	o.Locations = cmp.Or(o.Locations, 2)
	o.CacheTTL = max(cmp.Or(o.CacheTTL, time.Minute), 0)
	o.Lag = max(o.Lag, 0)
	o.ListLag = max(cmp.Or(o.ListLag, o.CacheTTL), 0)
	o.WriteInterval = max(cmp.Or(o.WriteInterval, time.Second), 0)
	o.MinTTL = max(cmp.Or(o.MinTTL, time.Minute), 0)
	o.Linger = max(o.Linger, 0)
	o.MaxValue = cmp.Or(o.MaxValue, 25<<20)
	o.PageSize = cmp.Or(o.PageSize, 1000)
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	o.MaxCalls = cmp.Or(o.MaxCalls, 100_000)
	o.Skew = slices.Clone(o.Skew)
	if o.Clock == nil {
		o.Clock = NewClock(Epoch)
	}
	s := &Store{
		options: o,
		clock:   o.Clock,
		order:   rand.New(rand.NewPCG(o.Seed, 1)),
		chance:  rand.New(rand.NewPCG(o.Seed, 2)),
		central: map[string]*history{},
		atomic:  map[string]record{},
	}
	for i := range o.Locations {
		l := &Location{store: s, number: i, cache: map[string]cached{}}
		if i < len(o.Skew) {
			l.skew = o.Skew[i]
		}
		s.locations = append(s.locations, l)
	}
	return s
}

// Clock gives the clock that the store was made with.
func (s *Store) Clock() Clock { return s.clock }

// At gives the eventually consistent store as one location sees it. Locations are numbered
// from 0; it panics for one that the options don't have.
func (s *Store) At(location int) *Location {
	if location < 0 || location >= len(s.locations) {
		panic(fmt.Sprintf("simstore: there is no location %d", location))
	}
	return s.locations[location]
}

// Atomic gives the strongly consistent store. It has keys of its own and is the same from
// everywhere.
func (s *Store) Atomic() *Atomic { return &Atomic{s} }
