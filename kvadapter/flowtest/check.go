package flowtest

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

// A check is one case at work. A demand that is not met ends the case.
type check struct {
	ctx      context.Context
	options  Options
	logf     func(format string, args ...any)
	sessions kvadapter.Store
	atomic   kvadapter.Atomic // nil: sessions is it
	broken   breakage
	worlds   atomic.Int64
}

// A breakage is a way in which a site can be wrong, for this package's own tests. The zero
// value breaks nothing.
type breakage struct {
	options func(*kvadapter.Options)
	adapter func(*world, *core.Adapter)
	config  func(*world, *core.Config)
	handler func(*world, http.Handler) http.Handler
}

func (c *check) failf(format string, args ...any) {
	panic(failure{fmt.Errorf(format, args...)})
}

// leavesOut reports whether the fault at a call, or a pair of records, is left out.
func (c *check) leavesOut(n int) bool { return c.options.isSparse && n%4 != 0 }

// crowd does something n times at once, and waits.
func (c *check) crowd(n int, do func(i int)) {
	var all sync.WaitGroup
	seen := make([]error, n)
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			defer func() { seen[i] = caught(recover()) }()
			<-start
			do(i)
		})
	}
	close(start)
	all.Wait()
	for _, err := range seen {
		if err != nil {
			panic(failure{err})
		}
	}
}

// inTurns is the largest crowd that takes turns at the store.
const inTurns = 200

// race is crowd for those who call the store. A small crowd takes turns there, so that people
// see what others have done by half even on a store that never waits; a large one comes as it
// comes, since of n who want to write one record each tries about n/2 times.
func (w *world) race(n int, do func(i int, scope any)) {
	if n > inTurns {
		w.crowd(n, func(i int) { do(i, nil) })
		return
	}
	tasks := make([]func(any), n)
	for i := range tasks {
		tasks[i] = func(scope any) { do(i, scope) }
	}
	w.interleave(uint64(n), tasks...)
}

// visit is get by somebody who may take turns.
func (b *browser) visit(path string, scope any) answer {
	b.scope = scope
	defer func() { b.scope = nil }()
	return b.get(path)
}

// crowds runs a case with a crowd that takes turns, and with a large one.
func crowds(try func(c *check, n int)) func(*check) {
	return func(c *check) {
		const small = 40
		if c.options.Clients > small {
			try(c, small)
		}
		try(c, c.options.Clients)
	}
}

// until waits for a moment.
func (c *check) until(moment time.Time) {
	timer := time.NewTimer(time.Until(moment))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
		c.failf("the context ended while the case waited: %w", c.ctx.Err())
	}
}
