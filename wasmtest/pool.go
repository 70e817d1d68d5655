package wasmtest

import (
	"context"
	"errors"
	"sync"
)

var errClosed = errors.New("wasmtest: the module is closed")

// pool bounds the instances of a module. A slot is the right to one instance; whoever takes a slot also gets an idle
// instance when there is one, the last one used first, so that a burst's instances fall asleep together.
type pool struct {
	slots  chan struct{}
	closed chan struct{}

	mu   sync.Mutex
	idle []*instance
}

func (p *pool) init(size int) {
	p.slots = make(chan struct{}, size)
	p.closed = make(chan struct{})
}

// take waits for a slot. The instance is nil when the caller has to make one; either way put ends it.
func (p *pool) take(ctx context.Context) (*instance, error) {
	select {
	case <-p.closed:
		return nil, errClosed
	default:
	}
	select {
	case p.slots <- struct{}{}:
	case <-p.closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil, nil
	}
	in := p.idle[n-1]
	p.idle[n-1], p.idle = nil, p.idle[:n-1]
	return in, nil
}

// put gives a slot back, with its instance, or nil when that is gone.
func (p *pool) put(in *instance) {
	if in != nil {
		p.mu.Lock()
		p.idle = append(p.idle, in)
		p.mu.Unlock()
	}
	<-p.slots
}

// each calls f with every instance, once nobody holds a slot. It is called by one goroutine at a time.
func (p *pool) each(ctx context.Context, f func(*instance) error) error {
	for range cap(p.slots) {
		select {
		case p.slots <- struct{}{}:
			defer func() { <-p.slots }()
		case <-p.closed:
			return errClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, in := range p.idle {
		if err := f(in); err != nil {
			return err
		}
	}
	return nil
}

// close waits until nobody holds a slot and keeps all of them. It is called once.
func (p *pool) close() {
	close(p.closed)
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	p.idle = nil
}
