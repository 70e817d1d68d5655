package simstore

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Errors of Run. Calls of flows that it could not bring to an end by themselves fail with the
// same error.
var (
	ErrDeadlock = errors.New("simstore: every flow waits for another")
	ErrEndless  = errors.New("simstore: the flows make calls without end")
	ErrStuck    = errors.New("simstore: a flow waits for something that is no call to the store")
	// ErrStray is the error of a call that is not a flow's own: the flow has ended, has another
	// call under way, or the call's context is not the one that Run gave to the flow. The order of such calls
	// can't be decided, so they do nothing.
	ErrStray = errors.New("simstore: a call outside of the flows while they run, or after its flow has ended")
)

// A flow is a function that Run runs.
type flow struct {
	store  *Store
	run    *run
	number int
	turn   chan struct{}

	// Guarded by store.mu:
	state   state
	ready   func() bool // what it waits for, beside the time; nil: nothing
	wake    time.Time   // when it goes on; zero: at once
	problem error
}

type state int

const (
	running state = iota // between two calls: at most one flow of a run
	waiting              // for its turn
	crashed              // by a fault; its goroutine is ending
	ended
)

// place is the number of a flow, nil being code outside of flows.
func (f *flow) place() int {
	if f == nil {
		return Outside
	}
	return f.number
}

// A run is one call of Run.
type run struct {
	flows   []*flow
	arrived chan *flow // flows that wait or have ended
	failed  error      // guarded by store.mu; why the run is given up
	strays  int        // guarded by store.mu
}

type flowKey struct{}

// Run runs flows at the same time, as far as they can tell: one of them goes on at a time, from
// one store call to the next, and the seed says which. Each call waits for its turn before it
// takes effect; time passes only when all flows wait for it. Run returns when every flow has
// returned.
//
// A flow passes its context to the store; it makes one call at a time and waits for other
// flows only in [Store.Wait]. Its code before the first call runs in the order of the arguments.
//
// The error tells what kept flows from ending: ErrDeadlock, ErrEndless, ErrStuck; or a panic; or
// that there was a stray call. One Run at a time; it panics within another.
func (s *Store) Run(ctx context.Context, flows ...func(ctx context.Context)) error {
	r := &run{arrived: make(chan *flow, len(flows))}
	s.mu.Lock()
	if s.run != nil {
		s.mu.Unlock()
		panic("simstore: Run within Run")
	}
	s.run = r
	s.mu.Unlock()

	patience := time.NewTimer(s.options.Patience)
	defer patience.Stop()
	isStuck := false
	// resume lets f go on until its next call or its end.
	resume := func(f *flow, start func()) {
		patience.Reset(s.options.Patience)
		start()
		select {
		case <-r.arrived:
		case <-patience.C:
			isStuck = true
			s.giveUp(fmt.Errorf("%w: flow %d", ErrStuck, f.number))
		}
	}
	for i, do := range flows {
		f := &flow{store: s, run: r, number: i, turn: make(chan struct{}, 1)}
		s.mu.Lock()
		r.flows = append(r.flows, f)
		s.mu.Unlock()
		resume(f, func() { go f.do(context.WithValue(ctx, flowKey{}, f), do) })
		if isStuck {
			break
		}
	}
	for steps := 0; !isStuck; steps++ {
		if steps == s.options.MaxCalls {
			s.giveUp(ErrEndless)
		}
		f := s.next()
		if f == nil {
			break
		}
		resume(f, func() { f.turn <- struct{}{} })
	}
	if isStuck {
		// The others are released without turns: none of their calls does anything any more.
		for _, f := range r.flows {
			select {
			case f.turn <- struct{}{}:
			default:
			}
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = nil
	err := r.failed
	for _, f := range r.flows {
		err = errors.Join(err, f.problem)
	}
	if r.strays > 0 {
		err = errors.Join(err, ErrStray)
	}
	return err
}

// do is the goroutine of a flow.
func (f *flow) do(ctx context.Context, do func(context.Context)) {
	defer func() {
		p := recover()
		f.store.mu.Lock()
		defer f.store.mu.Unlock()
		if p != nil {
			f.problem = fmt.Errorf("simstore: flow %d panicked: %v\n%s", f.number, p, debug.Stack())
		}
		wasWaiting := f.state == waiting
		f.state = ended
		if wasWaiting { // a goroutine that the flow has left behind
			f.run.strays++
			f.turn <- struct{}{}
			return
		}
		f.run.arrived <- f
	}()
	do(ctx)
}

// next picks the flow to go on and gives it the turn, advancing the clock if all wait for a
// time; nil if all have ended.
func (s *Store) next() *flow {
	for {
		s.mu.Lock()
		var living, able []flow // as they are now: conditions may ask the store
		for _, f := range s.run.flows {
			if f.state == waiting {
				living = append(living, *f)
			}
		}
		hasFailed := s.run.failed != nil
		s.mu.Unlock()

		now := s.clock.Now()
		var wake time.Time
		for _, f := range living {
			switch {
			case hasFailed:
				able = append(able, f)
			case now.Before(f.wake):
				if wake.IsZero() || f.wake.Before(wake) {
					wake = f.wake
				}
			case f.ready == nil || f.ready():
				able = append(able, f)
			}
		}
		switch {
		case len(living) == 0:
			return nil
		case len(able) > 0:
			if f := s.grant(able[s.order.IntN(len(able))].number); f != nil {
				return f
			}
		case !wake.IsZero():
			s.clock.Advance(wake.Sub(now))
		default:
			s.giveUp(ErrDeadlock)
		}
	}
}

// grant gives a flow the turn, unless it has ended since.
func (s *Store) grant(number int) *flow {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.run.flows[number]
	if f.state != waiting {
		return nil
	}
	f.state, f.ready, f.wake = running, nil, time.Time{}
	return f
}

// giveUp makes all further calls of the run fail with err.
func (s *Store) giveUp(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run.failed == nil {
		s.run.failed = err
	}
}

// enter lets a call in when its flow has the turn. Without a flow it is in at once.
func (s *Store) enter(ctx context.Context) (*flow, error) {
	f, _ := ctx.Value(flowKey{}).(*flow)
	if f == nil || f.store != s {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.run != nil {
			s.run.strays++
			return nil, ErrStray
		}
		return nil, nil
	}
	return f, f.yield(nil, time.Time{})
}

// yield waits for the flow's next turn after a time and a condition.
func (f *flow) yield(ready func() bool, wake time.Time) error {
	f.store.mu.Lock()
	switch {
	case f.run.failed != nil:
		defer f.store.mu.Unlock()
		return f.run.failed
	case f.state == crashed:
		defer f.store.mu.Unlock()
		return ErrInjected
	case f.state != running:
		defer f.store.mu.Unlock()
		f.run.strays++
		return ErrStray
	}
	f.state, f.ready, f.wake = waiting, ready, wake
	f.store.mu.Unlock()
	f.run.arrived <- f
	<-f.turn
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	if f.state == ended {
		return ErrStray
	}
	return f.run.failed
}

// wait lets a time pass within a call.
func (s *Store) wait(f *flow, d time.Duration) error {
	if f == nil {
		s.clock.Advance(d)
		return nil
	}
	return f.yield(nil, s.clock.Now().Add(d))
}

// Sleep lets a virtual time pass for the flow of ctx, while others go on. Outside of flows it
// advances the clock.
func (s *Store) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, _ := ctx.Value(flowKey{}).(*flow)
	return s.wait(f, d)
}

// Wait lets other flows go on until the condition holds. It may look at what other flows have
// written. Outside of flows a condition that doesn't hold is ErrDeadlock.
func (s *Store) Wait(ctx context.Context, until func() bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f, _ := ctx.Value(flowKey{}).(*flow); f != nil {
		return f.yield(until, time.Time{})
	}
	if !until() {
		return ErrDeadlock
	}
	return nil
}
