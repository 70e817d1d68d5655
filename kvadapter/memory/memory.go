// Package memory is a store that forgets everything when the program ends: for tests, demos and
// programs of which there is one. One of it carries what fits into memory, and some hundred
// thousand commits a second.
package memory

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// A Store keeps values by key. It is a [kv.Store] and a [kv.Lister].
type Store struct {
	now     func() time.Time
	mu      sync.Mutex
	commits uint64 // so far; each is the version of what it wrote
	records map[string]record
	sweepAt int // how many records make the next sweep
}

type record struct {
	value   []byte
	version uint64
	ref     string
	expires time.Time // zero: never
}

// New gives an empty store. now is its clock; nil: time.Now.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{now: now, records: map[string]record{}, sweepAt: minSweep}
}

// Get is that of [kv.Store].
func (s *Store) Get(ctx context.Context, keys ...string) ([]kv.Entry, error) {
	if err := kv.CheckGet(ctx, keys); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return kv.Follow(keys, s.entry), nil
}

// entry gives an entry, and what it refers to.
func (s *Store) entry(key string) (kv.Entry, string) {
	version := s.version(key)
	if version == "" {
		return kv.Entry{Key: key}, ""
	}
	r := s.records[key]
	return kv.Entry{Key: key, Value: bytes.Clone(r.value), Version: version}, r.ref
}

// version gives that of a key, empty if it is absent.
func (s *Store) version(key string) string {
	r, ok := s.live(key)
	if !ok {
		return ""
	}
	return strconv.FormatUint(r.version, 36)
}

func (s *Store) live(key string) (record, bool) {
	r, ok := s.records[key]
	return r, ok && !r.hasEnded(s.now())
}

func (r record) hasEnded(now time.Time) bool { return !r.expires.IsZero() && !now.Before(r.expires) }

// Commit is that of [kv.Store].
func (s *Store) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (ok bool, err error) {
	if err := kv.CheckCommit(ctx, checks, writes); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range checks {
		if s.version(c.Key) != c.Version {
			return false, nil
		}
	}
	s.commits++
	for _, w := range writes {
		if len(w.Value) == 0 {
			delete(s.records, w.Key)
			continue
		}
		s.records[w.Key] = record{bytes.Clone(w.Value), s.commits, w.Ref, w.Expires.Truncate(time.Millisecond)}
	}
	s.sweep()
	return true, nil
}

// minSweep is how many records there are at least before those that have ended are removed.
const minSweep = 1000

// sweep removes what has ended each time the number of records has doubled, which costs a
// commit nothing on average.
func (s *Store) sweep() {
	if len(s.records) < s.sweepAt {
		return
	}
	now := s.now()
	for key, r := range s.records {
		if r.hasEnded(now) {
			delete(s.records, key)
		}
	}
	s.sweepAt = max(2*len(s.records), minSweep)
}

// pageSize bounds a page of List, in records.
const pageSize = 1000

// List is that of [kv.Lister]. The cursor is the last key of a page in the order of keys.
func (s *Store) List(ctx context.Context, prefix, cursor string) (page []kv.Write, next string, err error) {
	if err := kv.CheckList(ctx, prefix); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for key := range s.records {
		if key > cursor && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
		if len(keys) > 8*pageSize {
			keys = firstKeys(keys)
		}
	}
	keys = firstKeys(keys)
	if len(keys) > pageSize {
		keys, next = keys[:pageSize], keys[pageSize-1]
	}
	for _, key := range keys {
		if r, ok := s.live(key); ok {
			page = append(page, kv.Write{Key: key, Value: bytes.Clone(r.value), Ref: r.ref, Expires: r.expires})
		}
	}
	return page, next, nil
}

// firstKeys gives the first keys in order, one more than a page has so that it shows whether
// there are more.
func firstKeys(keys []string) []string {
	slices.Sort(keys)
	return keys[:min(len(keys), pageSize+1)]
}
