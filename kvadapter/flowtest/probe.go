package flowtest

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter"
)

// A fault is what may happen to a call to the store.
type fault int

const (
	noFault     fault = iota
	failBefore        // the call does nothing and fails
	failAfter         // the call does all and fails
	timedOut          // the call does nothing, and the request's time is over
	crashBefore       // the call does nothing, and the process is gone
	crashAfter        // the call does all, and the process is gone
)

func (f fault) String() string {
	return [...]string{"no fault", "error before", "error after", "timeout", "crash before", "crash after"}[f]
}

var errFault = errors.New("flowtest: the store failed")

// A probe stands before the store of a site. It counts calls and makes them fail.
type probe struct {
	store   kvadapter.Store
	delay   time.Duration // before each call
	mu      sync.Mutex
	plan    func(n int, op string) fault // n from 1; nil: no faults
	ops     []string                     // of all calls
	commits int                          // that were made
	records map[string]string            // values by key, as commits have left them
}

// set replaces the plan, and forgets what was counted.
func (p *probe) set(plan func(n int, op string) fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan, p.ops, p.commits = plan, nil, 0
}

// counted gives the calls, and how many commits were made, since the last set.
func (p *probe) counted() (ops []string, commits int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ops, p.commits
}

// stored gives the records, by key.
func (p *probe) stored() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.records)
}

func (p *probe) call(ctx context.Context, op string, do func() error) error {
	time.Sleep(p.delay)
	p.mu.Lock()
	p.ops = append(p.ops, op)
	f := noFault
	if p.plan != nil {
		f = p.plan(len(p.ops), op)
	}
	p.mu.Unlock()
	switch f {
	case failBefore:
		return errFault
	case timedOut:
		return endRequest(ctx)
	case crashBefore:
		runtime.Goexit() // browsers have each request in a goroutine of its own
	}
	err := do()
	if err == nil && f == failAfter {
		err = errFault
	}
	if f == crashAfter {
		runtime.Goexit()
	}
	return err
}

// Get implements kvadapter.Store.
func (p *probe) Get(ctx context.Context, keys ...string) (entries []kvadapter.Entry, err error) {
	err = p.call(ctx, "Get", func() error {
		entries, err = p.store.Get(ctx, keys...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// Commit implements kvadapter.Store.
func (p *probe) Commit(ctx context.Context, checks []kvadapter.Check, writes []kvadapter.Write) (ok bool, err error) {
	err = p.call(ctx, "Commit", func() error {
		if ok, err = p.store.Commit(ctx, checks, writes); ok {
			p.mu.Lock()
			p.commits++
			for _, w := range writes {
				if p.records[w.Key] = string(w.Value); len(w.Value) == 0 {
					delete(p.records, w.Key)
				}
			}
			p.mu.Unlock()
		}
		return err
	})
	return ok && err == nil, err
}

type cancelKey struct{}

// newRequestContext gives the context of a request, whose time can be over at any moment.
func newRequestContext(parent context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	return context.WithValue(ctx, cancelKey{}, cancel)
}

// endRequest ends the time of the request that a context is of.
func endRequest(ctx context.Context) error {
	ctx.Value(cancelKey{}).(context.CancelFunc)()
	return context.DeadlineExceeded
}
