package simstore

import (
	"sync"
	"time"
)

// A Clock tells the time of a store. Nothing but Advance moves it.
type Clock interface {
	Now() time.Time
	Advance(time.Duration)
}

// Epoch is when a clock starts that nobody has set.
var Epoch = time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)

// NewClock gives a clock that stands at start.
func NewClock(start time.Time) Clock { return &clock{now: start} }

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A Bubble is the clock of the testing/synctest bubble that it is used in, for code under test
// that asks time.Now. Outside of a bubble it is the real one.
type Bubble struct{}

// Now is time.Now.
func (Bubble) Now() time.Time { return time.Now() }

// Advance is time.Sleep.
func (Bubble) Advance(d time.Duration) { time.Sleep(d) }
