package wasmtest

import (
	"context"
	"time"

	"github.com/tetratelabs/wazero/sys"
)

// clock is the time of one instance. It asks package time, not the system as wazero's clocks do, so that it is also
// the time of a testing/synctest bubble.
type clock struct {
	now    func() time.Time
	pinned bool            // now is the test's: sleeping takes no time
	ctx    context.Context // of the call into the program, whose end is the program's
	base   time.Time       // where the monotonic clock began
	slept  time.Duration   // under a pinned clock
	latest int64           // reading of the monotonic clock
}

func newClock(now func() time.Time) *clock {
	c := &clock{now: now, pinned: now != nil}
	if now == nil {
		c.now = time.Now
	}
	c.base = c.now()
	return c
}

func (c *clock) wall() (seconds int64, nanoseconds int32) {
	t := c.now()
	return t.Unix(), int32(t.Nanosecond())
}

func (c *clock) monotonic() int64 {
	c.check()
	// The Go runtime takes 0 for a clock that failed.
	c.latest = max(c.latest, int64(c.now().Sub(c.base)+c.slept)+1)
	return c.latest
}

func (c *clock) sleep(nanoseconds int64) {
	d := time.Duration(max(nanoseconds, 0))
	if c.pinned {
		c.check()
		c.slept += d
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
		c.check()
	}
}

// check ends the program when its time is over, the way WASI's proc_exit does.
func (c *clock) check() {
	if c.ctx.Err() != nil {
		panic(sys.NewExitError(sys.ExitCodeDeadlineExceeded))
	}
}
