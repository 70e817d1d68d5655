// Package memory is a key-value store that forgets everything when the program ends: for
// tests, demos and programs of which there is one. It keeps the rules of the stores it stands
// in for, so that what works with it works with them.
package memory

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/internal/storekey"
)

// ErrKey is the error for a key that not every store can hold.
var ErrKey = storekey.Err

// pageSize is that of Workers KV, so that callers that forget the cursor fail early.
const pageSize = 1000

// A Store keeps values by key. It is safe for concurrent use.
type Store struct {
	now     func() time.Time
	mu      sync.Mutex
	records map[string]record
}

type record struct {
	value   []byte
	expires time.Time // zero: never
}

// New gives an empty store. now is its clock; nil: time.Now.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{now: now, records: map[string]record{}}
}

// Get gives a copy of the value of key; ok is false when there is none or it has expired.
func (s *Store) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records[key]
	if !ok || s.hasEnded(r) {
		delete(s.records, key)
		return nil, false, nil
	}
	return append([]byte{}, r.value...), true, nil
}

// Put sets the value of key until expires; the zero time means for ever.
func (s *Store) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[key] = record{bytes.Clone(value), expires}
	return nil
}

// Delete removes key. Deleting an absent key is no error.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.records, key)
	return nil
}

// List gives keys that begin with prefix, in order, a page at a time. The first call passes
// an empty cursor, later ones the previous next; an empty next means that was the last page.
func (s *Store) List(ctx context.Context, prefix, cursor string) (keys []string, next string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.records, func(_ string, r record) bool { return s.hasEnded(r) })
	for key := range s.records {
		if strings.HasPrefix(key, prefix) && key > cursor {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if len(keys) <= pageSize {
		return keys, "", nil
	}
	return keys[:pageSize], keys[pageSize-1], nil
}

// Insert is Put if there is no value that has not expired. ok is whether it was stored.
func (s *Store) Insert(ctx context.Context, key string, value []byte, expires time.Time) (ok bool, err error) {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.records[key]; ok && !s.hasEnded(r) {
		return false, nil
	}
	s.records[key] = record{bytes.Clone(value), expires}
	return true, nil
}

// Take is Get and Delete in one step: of concurrent callers one gets the value.
func (s *Store) Take(ctx context.Context, key string) (value []byte, ok bool, err error) {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records[key]
	delete(s.records, key)
	if !ok || s.hasEnded(r) {
		return nil, false, nil
	}
	return append([]byte{}, r.value...), true, nil
}

// Swap replaces the value old, byte by byte, by new until expires. ok is whether old was
// there.
func (s *Store) Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (ok bool, err error) {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records[key]
	if !ok || s.hasEnded(r) || !bytes.Equal(r.value, old) {
		return false, nil
	}
	s.records[key] = record{bytes.Clone(new), expires}
	return true, nil
}

func (s *Store) hasEnded(r record) bool {
	return !r.expires.IsZero() && !s.now().Before(r.expires)
}
