//go:build !js && !wasip1

package edge

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/bolt"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// KV is a store in a file of its own, kv-NAME.db in the folder $AUTH_STORE, which
// is created if need be. With AUTH_STORE unset or empty it is in memory, and lost
// when the program ends. Every call with one name gives the same store.
//
// The file is opened by the first call on the store, or by Check, and stays open
// until the program ends. Only one process can have it open: in another one every
// call fails, after a second, with an error that wraps bolt.ErrLocked.
func KV(binding string) Store { return storeOf("kv", binding) }

// Atomic is as KV, and has stores of its own, in atomic-NAME.db.
func Atomic(binding string) AtomicStore { return storeOf("atomic", binding) }

var stores sync.Map // of *store, by name or path

func storeOf(kind, binding string) *store {
	s := new(store)
	name := kind + "-" + url.PathEscape(binding) + ".db"
	if folder := os.Getenv("AUTH_STORE"); folder != "" {
		name = filepath.Join(folder, name)
		s.file = name
	}
	first, _ := stores.LoadOrStore(name, s)
	return first.(*store)
}

// A store is opened when it is first used, and keeps to the rules for keys.
type store struct {
	file string // empty: in memory

	mu     sync.Mutex
	opened AtomicStore
}

// get gives the store behind this one. Opening a file that failed is tried again by the next call.
func (s *store) get() (AtomicStore, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.opened != nil:
	case s.file == "":
		s.opened = memory.New(nil)
	default:
		if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
			return nil, fmt.Errorf("edge: AUTH_STORE is no folder for files: %w", err)
		}
		opened, err := bolt.Open(s.file, bolt.Options{})
		if err != nil {
			return nil, fmt.Errorf("edge: AUTH_STORE: %w", err)
		}
		s.opened = opened
	}
	return s.opened, nil
}

func (s *store) check() error {
	_, err := s.get()
	return err
}

// at is get for a call on one key.
func (s *store) at(key string) (AtomicStore, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	return s.get()
}

func (s *store) Get(ctx context.Context, key string) ([]byte, bool, error) {
	to, err := s.at(key)
	if err != nil {
		return nil, false, err
	}
	return to.Get(ctx, key)
}

func (s *store) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	to, err := s.at(key)
	if err != nil {
		return err
	}
	return to.Put(ctx, key, value, expires)
}

func (s *store) Delete(ctx context.Context, key string) error {
	to, err := s.at(key)
	if err != nil {
		return err
	}
	return to.Delete(ctx, key)
}

func (s *store) List(ctx context.Context, prefix, cursor string) ([]string, string, error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, "", err
	}
	to, err := s.get()
	if err != nil {
		return nil, "", err
	}
	return to.List(ctx, prefix, cursor)
}

func (s *store) Insert(ctx context.Context, key string, value []byte, expires time.Time) (bool, error) {
	to, err := s.at(key)
	if err != nil {
		return false, err
	}
	return to.Insert(ctx, key, value, expires)
}

func (s *store) Take(ctx context.Context, key string) ([]byte, bool, error) {
	to, err := s.at(key)
	if err != nil {
		return nil, false, err
	}
	return to.Take(ctx, key)
}

func (s *store) Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
	to, err := s.at(key)
	if err != nil {
		return false, err
	}
	return to.Swap(ctx, key, old, new, expires)
}
