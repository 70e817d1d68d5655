package flowtest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter"
)

// A fault is what may happen to a call to the store.
type fault int

const (
	noFault    fault = iota
	failBefore       // the call does nothing and fails
	failAfter        // the call does all and fails
	throttled        // the call does nothing, since the key was written too often; nor do later ones at a plain store
	timedOut         // the call does nothing, and the request's time is over
	stale            // a read gives what was there before the last write
	corrupt          // a read gives half of the value
)

var faultNames = map[fault]string{
	failBefore: "error before", failAfter: "error after", throttled: "throttled", timedOut: "timeout", stale: "stale value", corrupt: "corrupt value",
}

func (f fault) String() string { return faultNames[f] }

// befalls reports whether a fault can happen to a call.
func (f fault) befalls(op string) bool {
	switch f {
	case stale:
		return op == "Get"
	case corrupt:
		return op == "Get" || op == "Take"
	}
	return true
}

var (
	errFault     = errors.New("flowtest: the store failed")
	errThrottled = errors.New("flowtest: too many writes to the key")
)

// A call is a call to a store, about to be made.
type call struct {
	number   int // from 1
	op, key  string
	isWrite  bool
	isAtomic bool // of the store
}

// A probe stands before the stores of a site. It counts calls and makes them fail.
type probe struct {
	mu       sync.Mutex
	gate     func(ctx context.Context)  // called before each call, outside the lock; nil: nothing
	plan     func(c call) fault         // nil: no faults
	ops      []string                   // of all calls
	writes   int                        // that changed something
	shortest time.Duration              // that a value was to be kept; 0: none that ends was written
	versions map[versionKey]*[2]version // what a key holds, and held before
}

type versionKey struct {
	isAtomic bool
	key      string
}

type version struct {
	value []byte
	ok    bool
}

func newProbe() *probe { return &probe{versions: map[versionKey]*[2]version{}} }

// over puts the probe before a store. The result is Atomic if the store is.
func (p *probe) over(store kvadapter.Store) kvadapter.Store {
	if atomic, ok := store.(kvadapter.Atomic); ok {
		return p.overAtomic(atomic)
	}
	return probed{p, store, false}
}

func (p *probe) overAtomic(store kvadapter.Atomic) kvadapter.Atomic {
	return probedAtomic{probed{p, store, true}, store}
}

// set replaces the plan, and forgets what was counted.
func (p *probe) set(plan func(c call) fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan, p.ops, p.writes = plan, nil, 0
}

// at is a plan of one fault at the nth call. hit is set when it has happened.
func at(n int, f fault, hit *bool) func(call) fault {
	var key string
	return func(c call) fault {
		switch {
		case c.number == n:
			*hit, key = true, c.key
			return f
		case *hit && f == throttled && c.isWrite && c.key == key && !c.isAtomic:
			return f // for a second, which is the rest of the flow; only plain stores are like that
		}
		return noFault
	}
}

// counted gives the calls, and how many of them changed something, since the last set.
func (p *probe) counted() (ops []string, writes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ops, p.writes
}

func (p *probe) call(ctx context.Context, c call, do func() (wrote bool, err error)) (fault, error) {
	if p.gate != nil {
		p.gate(ctx)
	}
	p.mu.Lock()
	p.ops = append(p.ops, c.op)
	c.number = len(p.ops)
	f := noFault
	if p.plan != nil {
		f = p.plan(c)
	}
	p.mu.Unlock()
	switch f {
	case failBefore:
		return f, errFault
	case throttled:
		return f, errThrottled
	case timedOut:
		return f, endRequest(ctx)
	}
	wrote, err := do()
	if wrote {
		p.mu.Lock()
		p.writes++
		p.mu.Unlock()
	}
	if err == nil && f == failAfter {
		err = errFault
	}
	return f, err
}

// wrote notes what a key holds by now, and for how long.
func (p *probe) wrote(isAtomic bool, key string, now version, expires time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.versions[versionKey{isAtomic, key}]
	if v == nil {
		v = new([2]version)
		p.versions[versionKey{isAtomic, key}] = v
	}
	v[1], v[0] = v[0], now
	if left := time.Until(expires); !expires.IsZero() && (p.shortest == 0 || left < p.shortest) {
		p.shortest = left
	}
}

func (p *probe) before(isAtomic bool, key string) version {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.versions[versionKey{isAtomic, key}]; v != nil {
		return v[1]
	}
	return version{}
}

// probed is a Store with a probe before it.
type probed struct {
	*probe
	store    kvadapter.Store
	isAtomic bool
}

func (s probed) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	f, err := s.call(ctx, call{op: "Get", key: key, isAtomic: s.isAtomic}, func() (bool, error) {
		value, ok, err = s.store.Get(ctx, key)
		return false, err
	})
	switch {
	case err != nil:
		return nil, false, err
	case f == stale:
		old := s.before(s.isAtomic, key)
		return append([]byte(nil), old.value...), old.ok, nil
	case f == corrupt && ok:
		value = value[:len(value)/2]
	}
	return value, ok, nil
}

func (s probed) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	_, err := s.call(ctx, call{op: "Put", key: key, isWrite: true, isAtomic: s.isAtomic}, func() (bool, error) {
		err := s.store.Put(ctx, key, value, expires)
		if err == nil {
			s.wrote(s.isAtomic, key, version{value, true}, expires)
		}
		return err == nil, err
	})
	return err
}

func (s probed) Delete(ctx context.Context, key string) error {
	_, err := s.call(ctx, call{op: "Delete", key: key, isWrite: true, isAtomic: s.isAtomic}, func() (bool, error) {
		err := s.store.Delete(ctx, key)
		if err == nil {
			s.wrote(s.isAtomic, key, version{}, time.Time{})
		}
		return err == nil, err
	})
	return err
}

func (s probed) List(ctx context.Context, prefix, cursor string) (keys []string, next string, err error) {
	_, err = s.call(ctx, call{op: "List", key: prefix, isAtomic: s.isAtomic}, func() (bool, error) {
		keys, next, err = s.store.List(ctx, prefix, cursor)
		return false, err
	})
	if err != nil {
		return nil, "", err
	}
	return keys, next, nil
}

// probedAtomic is an Atomic store with a probe before it.
type probedAtomic struct {
	probed
	store kvadapter.Atomic
}

func (s probedAtomic) Insert(ctx context.Context, key string, value []byte, expires time.Time) (ok bool, err error) {
	_, err = s.call(ctx, call{op: "Insert", key: key, isWrite: true, isAtomic: s.isAtomic}, func() (bool, error) {
		if ok, err = s.store.Insert(ctx, key, value, expires); ok {
			s.wrote(true, key, version{value, true}, expires)
		}
		return ok, err
	})
	return ok && err == nil, err
}

func (s probedAtomic) Take(ctx context.Context, key string) (value []byte, ok bool, err error) {
	f, err := s.call(ctx, call{op: "Take", key: key, isWrite: true, isAtomic: s.isAtomic}, func() (bool, error) {
		if value, ok, err = s.store.Take(ctx, key); ok {
			s.wrote(true, key, version{}, time.Time{})
		}
		return ok, err
	})
	if err != nil {
		return nil, false, err
	}
	if f == corrupt && ok {
		value = value[:len(value)/2]
	}
	return value, ok, nil
}

func (s probedAtomic) Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (ok bool, err error) {
	_, err = s.call(ctx, call{op: "Swap", key: key, isWrite: true, isAtomic: s.isAtomic}, func() (bool, error) {
		if ok, err = s.store.Swap(ctx, key, old, new, expires); ok {
			s.wrote(true, key, version{new, true}, expires)
		}
		return ok, err
	})
	return ok && err == nil, err
}

// A requestContext is a request's context, whose time can be over at any moment.
type requestContext struct {
	context.Context
	once sync.Once
	over chan struct{}
}

type requestKey struct{}

func newRequestContext(parent context.Context) *requestContext {
	return &requestContext{Context: parent, over: make(chan struct{})}
}

// Done implements context.Context.
func (r *requestContext) Done() <-chan struct{} { return r.over }

// Err implements context.Context.
func (r *requestContext) Err() error {
	select {
	case <-r.over:
		return context.DeadlineExceeded
	default:
		return r.Context.Err()
	}
}

// Value implements context.Context.
func (r *requestContext) Value(key any) any {
	if key == (requestKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// endRequest ends the time of the request that a context is of.
func endRequest(ctx context.Context) error {
	if r, ok := ctx.Value(requestKey{}).(*requestContext); ok {
		r.once.Do(func() { close(r.over) })
	}
	return context.DeadlineExceeded
}
