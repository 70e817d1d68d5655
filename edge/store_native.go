//go:build !js && !wasip1

package edge

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/edgeauth/edgeauth/kvadapter/bolt"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// Store is a store in a file of its own, store-NAME.db in the folder $AUTH_STORE, which is
// created if need be. With AUTH_STORE unset or empty it is in memory, and lost when the program
// ends. Every call with one name gives the same store, which is a [kv.Lister]. The options are
// for Durable Objects.
//
// The file is opened by the first call on the store, or by Check, and stays open until the
// program ends. Only one process can have it open: in another one every call fails, after a
// second, with an error that wraps bolt.ErrLocked.
func Store(binding string, _ ...StoreOptions) kv.Store { return storeOf("store", binding) }

// KV is a cache in a file, as Store, in kv-NAME.db.
func KV(binding string) kv.Cache {
	s := storeOf("kv", binding)
	return cache{kv.CacheOf(s), s.check}
}

// A cache is no store: a program has no more at home than at the edge.
type cache struct {
	kv.Cache
	isOpen func() error
}

func (c cache) check() error { return c.isOpen() }

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

// A store is opened when it is first used.
type store struct {
	file string // empty: in memory

	mu     sync.Mutex
	opened fileStore
}

type fileStore interface {
	kv.Store
	kv.Lister
}

// get gives the store behind this one. Opening a file that failed is tried again by the next call.
func (s *store) get() (fileStore, error) {
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

func (s *store) Get(ctx context.Context, keys ...string) ([]kv.Entry, error) {
	to, err := s.get()
	if err != nil {
		return nil, err
	}
	return to.Get(ctx, keys...)
}

func (s *store) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
	to, err := s.get()
	if err != nil {
		return false, err
	}
	return to.Commit(ctx, checks, writes)
}

func (s *store) List(ctx context.Context, prefix, cursor string) ([]kv.Write, string, error) {
	to, err := s.get()
	if err != nil {
		return nil, "", err
	}
	return to.List(ctx, prefix, cursor)
}
