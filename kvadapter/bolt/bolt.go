// Package bolt is a key-value store in one file, for a program of which there is one: on a
// server at home, or on the host that runs the wasip1 guest. It keeps the contract of
// kvadapter.Atomic.
//
//	store, err := bolt.Open("auth.db", bolt.Options{})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// What a call that returned has written is on the disk: each write that changes something is
// a transaction of its own with one fsync, and there is no option to leave it out, since a
// sign-out that a power cut undoes was none. So writes take as long as the disk does, one
// after the other; reads wait for nobody.
//
// What has expired is invisible at once. Its space is reclaimed by later writes: each looks
// at a few records more. The file never shrinks; what is free in it is used again.
package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/internal/storekey"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

var (
	// ErrLocked is wrapped by the error Open returns when another process, or another Store
	// of this one, has the file open: there can be one.
	ErrLocked = errors.New("bolt: the file is in use")

	// ErrKey is the error for a key that not every store can hold.
	ErrKey = storekey.Err

	// ErrClosed is wrapped by the error of every call on a store that was closed.
	ErrClosed = errors.New("bolt: the store is closed")
)

// A FormatError says that the file is not one that this package wrote, or was damaged.
type FormatError struct {
	Path string
	Err  error // what bbolt says about it, or nil when a record is malformed
}

func (e *FormatError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("bolt: %s has a malformed record", e.Path)
	}
	return fmt.Sprintf("bolt: %s is not a store: %v", e.Path, e.Err)
}

// Unwrap gives what bbolt says.
func (e *FormatError) Unwrap() error { return e.Err }

// Options say how a file is opened.
type Options struct {
	// Wait is how long Open waits for another process to close the file, as the old one does
	// while a new one starts; zero: one second.
	Wait time.Duration

	// Mode is what the file is created with, before umask; zero: 0600, since who reads it
	// reads everybody's sessions.
	Mode fs.FileMode
}

// bucket is where the records are. Its name is part of the file format.
var bucket = []byte("records")

// A Store keeps values by key in a file. It is safe for concurrent use.
type Store struct {
	db     *bbolt.DB
	writer chan struct{} // has room for the one writer; unlike bbolt's lock, waiting for it can end with a context
	swept  []byte        // the key at which the last sweep stopped; the writer's
}

// Open opens the store in the file at path, and creates it if there is none; its folder must
// be there. The file must be on a local disk: bbolt maps it into memory and locks it. Errors
// wrap [ErrLocked], are a [*FormatError], or come from package os.
func Open(path string, options Options) (*Store, error) {
	if options.Wait == 0 {
		options.Wait = time.Second
	}
	if options.Mode == 0 {
		options.Mode = 0o600
	}
	db, err := bbolt.Open(path, options.Mode, &bbolt.Options{
		Timeout:      options.Wait,
		FreelistType: bbolt.FreelistMapType, // the other one gets slow as free pages scatter
		NoStatistics: true,
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%w: %s", ErrLocked, path)
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch), errors.Is(err, bolterrors.ErrChecksum):
		return nil, &FormatError{path, err}
	case err != nil:
		return nil, fmt.Errorf("bolt: opening the file failed: %w", err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("bolt: preparing the file failed: %w", err), db.Close())
	}
	return &Store{db: db, writer: make(chan struct{}, 1)}, nil
}

// Close waits for calls that are under way, and closes the file. Closing again does nothing.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("bolt: closing the file failed: %w", err)
	}
	return nil
}

// Get gives a copy of the value of key; ok is false when there is none or it has expired.
func (s *Store) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	if err := storekey.Check(key); err != nil {
		return nil, false, err
	}
	err = s.read(ctx, func(records *bbolt.Bucket) error {
		value, ok, err = s.live(records, key)
		value = bytes.Clone(value) // the original is gone with the transaction
		return err
	})
	return value, ok, err
}

// Put sets the value of key until expires; the zero time means for ever.
func (s *Store) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	return s.write(ctx, key, func(records *bbolt.Bucket) (changed bool, err error) {
		return true, records.Put([]byte(key), encode(value, expires))
	})
}

// Delete removes key. Deleting an absent key is no error, and costs no fsync.
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.write(ctx, key, func(records *bbolt.Bucket) (changed bool, err error) {
		if records.Get([]byte(key)) == nil {
			return false, nil
		}
		return true, records.Delete([]byte(key))
	})
}

// pageSize is that of Workers KV.
const pageSize = 1000

// List gives keys that begin with prefix, in order, a page at a time. The first call passes
// an empty cursor, later ones the previous next; an empty next means that was the last page.
// It reads that page of the file, and what has expired between its keys.
func (s *Store) List(ctx context.Context, prefix, cursor string) (keys []string, next string, err error) {
	err = s.read(ctx, func(records *bbolt.Bucket) error {
		now := time.Now()
		c := records.Cursor()
		for k, v := c.Seek([]byte(max(prefix, cursor))); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, v = c.Next() {
			end, _, err := decode(v)
			switch {
			case err != nil:
				return &FormatError{Path: s.db.Path()}
			case string(k) == cursor || hasEnded(end, now):
				continue
			case len(keys) == pageSize:
				next = keys[pageSize-1]
				return nil
			}
			keys = append(keys, string(k))
		}
		return nil
	})
	return keys, next, err
}

// Insert is Put if there is no value that has not expired. ok is whether it was stored.
func (s *Store) Insert(ctx context.Context, key string, value []byte, expires time.Time) (ok bool, err error) {
	err = s.write(ctx, key, func(records *bbolt.Bucket) (changed bool, err error) {
		if _, there, err := s.live(records, key); there || err != nil {
			return false, err
		}
		ok = true
		return true, records.Put([]byte(key), encode(value, expires))
	})
	return ok && err == nil, err
}

// Take is Get and Delete in one step: of concurrent callers one gets the value. What it gave
// is gone from the disk, too.
func (s *Store) Take(ctx context.Context, key string) (value []byte, ok bool, err error) {
	err = s.write(ctx, key, func(records *bbolt.Bucket) (changed bool, err error) {
		value, ok, err = s.live(records, key)
		if !ok || err != nil {
			return false, err
		}
		value = bytes.Clone(value) // before the page it is on is free
		return true, records.Delete([]byte(key))
	})
	if err != nil {
		return nil, false, err
	}
	return value, ok, nil
}

// Swap replaces the value old, byte by byte, by new until expires. ok is whether old was
// there.
func (s *Store) Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (ok bool, err error) {
	err = s.write(ctx, key, func(records *bbolt.Bucket) (changed bool, err error) {
		value, there, err := s.live(records, key)
		if !there || err != nil || !bytes.Equal(value, old) {
			return false, err
		}
		ok = true
		return true, records.Put([]byte(key), encode(new, expires))
	})
	return ok && err == nil, err
}

// live gives the value of key if it has not expired. It is part of the transaction's memory.
func (s *Store) live(records *bbolt.Bucket, key string) (value []byte, ok bool, err error) {
	stored := records.Get([]byte(key))
	if stored == nil {
		return nil, false, nil
	}
	end, value, err := decode(stored)
	if err != nil {
		return nil, false, &FormatError{Path: s.db.Path()}
	}
	if hasEnded(end, time.Now()) {
		return nil, false, nil
	}
	return value, true, nil
}
