package simstore

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/internal/storekey"
)

// An Atomic is a strongly consistent store: each call is one step, and what it has written is
// what every later call reads. It has no limit on how often a key is written and none on how
// short a value lives; its clock is the store's.
type Atomic struct{ store *Store }

// Get gives a copy of the value of key.
func (a *Atomic) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	out, err := a.call(ctx, Call{Op: Get, Key: key}, func(f effect) (result, error) {
		r, ok := a.read(key)
		return result{value: f.cut(r.value), ok: ok}, nil
	})
	return out.value, out.ok, err
}

// Put sets the value of key until expires; the zero time means for ever.
func (a *Atomic) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	_, err := a.call(ctx, Call{Op: Put, Key: key, Size: len(value), Expires: expires}, func(f effect) (result, error) {
		return result{}, a.write(key, f.cut(value), expires)
	})
	return err
}

// Delete removes key. Deleting an absent key is no error.
func (a *Atomic) Delete(ctx context.Context, key string) error {
	_, err := a.call(ctx, Call{Op: Delete, Key: key}, func(effect) (result, error) {
		delete(a.store.atomic, key)
		return result{}, nil
	})
	return err
}

// List gives keys that begin with prefix, in order, a page at a time, as they are.
func (a *Atomic) List(ctx context.Context, prefix, cursor string) (keys []string, next string, err error) {
	out, err := a.store.perform(ctx, Call{Op: List, Key: prefix, Location: Everywhere}, func(effect) (result, error) {
		var all []string
		for key := range a.store.atomic {
			if _, ok := a.read(key); ok && strings.HasPrefix(key, prefix) {
				all = append(all, key)
			}
		}
		return a.store.page(all, cursor), nil
	})
	return out.keys, out.next, err
}

// Insert is Put if there is no value that has not expired. ok is whether it was stored.
func (a *Atomic) Insert(ctx context.Context, key string, value []byte, expires time.Time) (ok bool, err error) {
	out, err := a.call(ctx, Call{Op: Insert, Key: key, Size: len(value), Expires: expires}, func(f effect) (result, error) {
		if _, ok := a.read(key); ok {
			return result{}, nil
		}
		err := a.write(key, f.cut(value), expires)
		return result{ok: err == nil}, err
	})
	return out.ok, err
}

// Take is Get and Delete in one step.
func (a *Atomic) Take(ctx context.Context, key string) (value []byte, ok bool, err error) {
	out, err := a.call(ctx, Call{Op: Take, Key: key}, func(f effect) (result, error) {
		r, ok := a.read(key)
		delete(a.store.atomic, key)
		return result{value: f.cut(r.value), ok: ok}, nil
	})
	return out.value, out.ok, err
}

// Swap replaces the value old by new until expires. ok is whether old was there.
func (a *Atomic) Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (ok bool, err error) {
	out, err := a.call(ctx, Call{Op: Swap, Key: key, Size: len(new), Expires: expires}, func(f effect) (result, error) {
		r, ok := a.read(key)
		if !ok || !bytes.Equal(r.value, old) {
			return result{}, nil
		}
		err := a.write(key, f.cut(new), expires)
		return result{ok: err == nil}, err
	})
	return out.ok, err
}

// AtomicKeys gives the keys of the strongly consistent store that have a value, in order.
func (s *Store) AtomicKeys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for key, r := range s.atomic {
		if !r.hasEnded(s.clock.Now()) {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}

func (a *Atomic) call(ctx context.Context, c Call, do func(effect) (result, error)) (result, error) {
	c.Location = Everywhere
	return a.store.perform(ctx, c, func(f effect) (result, error) {
		if err := storekey.Check(c.Key); err != nil {
			return result{}, err
		}
		if f.is(Duplicate) {
			if out, err := do(f); err != nil {
				return out, err
			}
		}
		return do(f)
	})
}

func (a *Atomic) read(key string) (record, bool) {
	r, ok := a.store.atomic[key]
	if !ok || r.hasEnded(a.store.clock.Now()) {
		return record{}, false
	}
	return r, true
}

func (a *Atomic) write(key string, value []byte, expires time.Time) error {
	if len(value) > a.store.options.MaxValue {
		return ErrValueTooLarge
	}
	a.store.atomic[key] = record{value, expires}
	return nil
}
