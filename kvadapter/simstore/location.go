package simstore

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/internal/storekey"
)

// A Location is the eventually consistent store as seen from one place.
//
// Without faults its reads are monotone: it never gives an older version of a key after a
// newer one.
type Location struct {
	store  *Store
	number int
	skew   time.Duration
	cache  map[string]cached // guarded by store.mu
}

// cached is what a location remembers of a key.
type cached struct {
	version
	since time.Time
}

// Now is what the clock of the location shows: the store's, wrong by the location's Skew.
func (l *Location) Now() time.Time { return l.store.clock.Now().Add(l.skew) }

// Get gives a copy of the value of key as the location knows it, at most CacheTTL + Lag old.
func (l *Location) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	out, err := l.store.perform(ctx, Call{Op: Get, Key: key, Location: l.number}, func(f effect) (result, error) {
		if err := storekey.Check(key); err != nil {
			return result{}, err
		}
		now := l.store.clock.Now()
		v := l.look(key, now)
		if f.is(Stale) {
			v = l.store.central[key].before(v, f.versions)
			l.cache[key] = cached{v, now}
		}
		if !v.is(l.Now(), l.store.options.Linger) {
			return result{}, nil
		}
		return result{value: f.cut(v.value), ok: true}, nil
	})
	return out.value, out.ok, err
}

// Put sets the value of key until expires; the zero time means for ever. Of two writes the later wins,
// wherever they come from.
func (l *Location) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	_, err := l.store.perform(ctx, Call{Op: Put, Key: key, Location: l.number, Size: len(value), Expires: expires}, func(f effect) (result, error) {
		if len(value) > l.store.options.MaxValue {
			return result{}, ErrValueTooLarge
		}
		until := expires
		if first := l.Now().Add(l.store.options.MinTTL); l.store.options.MinTTL > 0 && !until.IsZero() && until.Before(first) {
			if !l.store.options.KeepShort {
				return result{}, ErrExpiration
			}
			until = first
		}
		return result{}, l.write(key, version{record: record{f.cut(value), until}}, f)
	})
	return err
}

// Delete removes key. Deleting an absent key is no error.
func (l *Location) Delete(ctx context.Context, key string) error {
	_, err := l.store.perform(ctx, Call{Op: Delete, Key: key, Location: l.number}, func(f effect) (result, error) {
		return result{}, l.write(key, version{isGone: true}, f)
	})
	return err
}

// List gives keys that begin with prefix, in order, a page at a time, as they were ListLag ago.
// The first call passes an empty cursor, later ones the previous next; an empty next means that
// was the last page. A page may be empty before that.
func (l *Location) List(ctx context.Context, prefix, cursor string) (keys []string, next string, err error) {
	out, err := l.store.perform(ctx, Call{Op: List, Key: prefix, Location: l.number}, func(f effect) (result, error) {
		now := l.store.clock.Now()
		then := now.Add(-l.store.options.ListLag)
		var all []string
		for key, h := range l.store.central {
			if !strings.HasPrefix(key, prefix) {
				continue
			}
			h.settle(now)
			v := h.newest(func(v version) bool { return !v.at.After(then) })
			if v.is(l.Now(), l.store.options.Linger) {
				all = append(all, key)
			}
		}
		return l.store.page(all, cursor), nil
	})
	return out.keys, out.next, err
}

// look gives the version of key that the location gives at now, and remembers it.
func (l *Location) look(key string, now time.Time) version {
	s := l.store
	h := s.history(key)
	h.settle(now)
	known, ok := l.cache[key]
	if !ok || now.Sub(known.since) >= s.options.CacheTTL {
		seen := now.Add(-s.options.Lag)
		known = cached{h.newest(func(v version) bool { return v.by == l.number || !v.at.After(seen) }), now}
		l.cache[key] = known
	}
	return known.version
}

// write makes v the newest version of key, if the limits and the fault allow it.
func (l *Location) write(key string, v version, f effect) error {
	if err := storekey.Check(key); err != nil {
		return err
	}
	s := l.store
	now := s.clock.Now()
	h := s.history(key)
	h.settle(now)
	if !h.accepted.IsZero() && now.Sub(h.accepted) < s.options.WriteInterval {
		return ErrTooManyWrites
	}
	h.accepted = now
	v.at, v.by = now, l.number
	if !f.is(Reorder) {
		h.write(v)
	}
	if f.is(Reorder) || f.is(Duplicate) {
		h.held = append(h.held, held{v, now.Add(s.options.CacheTTL)})
	}
	if !s.options.StaleOwnWrites {
		v.number = max(h.last, 1)
		l.cache[key] = cached{v, now}
	}
	return nil
}

func (s *Store) history(key string) *history {
	h := s.central[key]
	if h == nil {
		h = &history{}
		s.central[key] = h
	}
	return h
}

// Keys gives the keys that have a value, in order: those that reads find once every cache has
// ended.
func (s *Store) Keys() (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	for key, h := range s.central {
		if h.settle(now); h.newest(always).is(now, 0) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Value gives the newest value of key, wherever it was written, and its end. It is no call:
// it is not recorded and fills no cache.
func (s *Store) Value(key string) (value []byte, expires time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.history(key)
	now := s.clock.Now()
	h.settle(now)
	v := h.newest(always)
	if !v.is(now, 0) {
		return nil, time.Time{}, false
	}
	return bytes.Clone(v.value), v.expires, true
}

// Damage replaces the value of key by what change makes of it, at every location at once and
// without any limit: for tests of corrupted records. An absent key stays absent.
func (s *Store) Damage(key string, change func(value []byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.history(key)
	now := s.clock.Now()
	h.settle(now)
	v := h.newest(always)
	if !v.is(now, 0) {
		return
	}
	v.value, v.at = change(bytes.Clone(v.value)), now.Add(-s.options.Lag)
	h.write(v)
	for _, l := range s.locations {
		delete(l.cache, key)
	}
}

func always(version) bool { return true }

// page gives the page of keys after cursor.
func (s *Store) page(keys []string, cursor string) result {
	if cursor == "" && s.options.EmptyPages {
		return result{next: firstKey}
	}
	after := strings.TrimPrefix(cursor, firstKey)
	keys = slices.DeleteFunc(keys, func(key string) bool { return key <= after })
	slices.Sort(keys)
	if len(keys) <= s.options.PageSize {
		return result{keys: keys}
	}
	keys = keys[:s.options.PageSize]
	return result{keys: keys, next: firstKey + keys[len(keys)-1]}
}

// firstKey begins every cursor, so that nobody takes one for a key.
const firstKey = ">"
