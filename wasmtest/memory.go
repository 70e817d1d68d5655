package wasmtest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// pageSize is Workers KV's.
const pageSize = 1000

// memory is the Store of a binding when the configuration names none. A record is gone the moment it expires.
type memory struct {
	now     func() time.Time
	mu      sync.Mutex
	records map[string]record
}

type record struct {
	value   []byte
	expires time.Time
}

func newMemory(now func() time.Time) *memory {
	return &memory{now: now, records: map[string]record{}}
}

func (m *memory) live(r record) bool {
	return r.expires.IsZero() || m.now().Before(r.expires)
}

func (m *memory) Get(_ context.Context, key string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[key]
	if ok && !m.live(r) {
		delete(m.records, key)
		ok = false
	}
	if !ok {
		return nil, false, nil
	}
	return bytes.Clone(r.value), true, nil
}

func (m *memory) Put(_ context.Context, key string, value []byte, expires time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[key] = record{append([]byte{}, value...), expires}
	return nil
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, key)
	return nil
}

// List's cursor is the last key of the page before.
func (m *memory) List(_ context.Context, prefix, cursor string) ([]string, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for key, r := range m.records {
		if strings.HasPrefix(key, prefix) && key > cursor && m.live(r) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if len(keys) > pageSize {
		return keys[:pageSize], keys[pageSize-1], nil
	}
	return keys, "", nil
}
