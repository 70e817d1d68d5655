// Package bolt is a store in one file, for a program that runs once: on a server at home, or on
// the host that runs the wasip1 guest. It is a [kv.Store] and a [kv.Lister].
//
//	store, err := bolt.Open("auth.db", bolt.Options{})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// What a Commit that returned has written is on the disk, and there is no option to skip the
// sync: a sign-out that a power cut undoes is worse than a slow one. Commits that come in while
// the disk is busy share the next transaction, so that the disk bounds how long one takes and
// not how many there are. Reads wait for nothing.
//
// # What one of it carries
//
// On a shared disk that syncs in about a millisecond: 800 commits of three keys a second by one
// caller, 10,000 by 64 at once, and some hundred thousand reads.
//
// What has expired is invisible at once. Its space is reclaimed by later commits: each looks at
// a few records more. The file never shrinks; what is free in it is used again.
package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

var (
	// ErrLocked is wrapped by the error Open returns when another process, or another Store
	// of this one, has the file open: there can be one.
	ErrLocked = errors.New("bolt: the file is in use")

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

	mu      sync.Mutex
	waiting []*commit // for a writer, which commits them all
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

// Get is that of [kv.Store].
func (s *Store) Get(ctx context.Context, keys ...string) (entries []kv.Entry, err error) {
	if err := kv.CheckGet(ctx, keys); err != nil {
		return nil, err
	}
	err = s.read(func(records *bbolt.Bucket) error {
		var malformed error
		entries = kv.Follow(keys, func(key string) (kv.Entry, string) {
			r, err := s.live(records, key)
			if r.version == 0 {
				malformed = errors.Join(malformed, err)
				return kv.Entry{Key: key}, ""
			}
			// The original of the value is gone with the transaction.
			return kv.Entry{Key: key, Value: bytes.Clone(r.value), Version: versionText(r.version)}, r.ref
		})
		return malformed
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

const (
	pageSize  = 1000    // records of a page of List
	pageBytes = 4 << 20 // of values, after which a page ends early
)

// List is that of [kv.Lister]. It reads that page of the file, and what has expired between its
// keys. The cursor is the last key of a page.
func (s *Store) List(ctx context.Context, prefix, cursor string) (page []kv.Write, next string, err error) {
	if err := kv.CheckList(ctx, prefix); err != nil {
		return nil, "", err
	}
	err = s.read(func(records *bbolt.Bucket) error {
		now, size := time.Now(), 0
		c := records.Cursor()
		for k, v := c.Seek([]byte(max(prefix, cursor))); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, v = c.Next() {
			r, err := decode(v)
			switch {
			case err != nil:
				return &FormatError{Path: s.db.Path()}
			case string(k) == cursor || r.hasEnded(now):
				continue
			case len(page) == pageSize || size > pageBytes:
				next = page[len(page)-1].Key
				return nil
			}
			size += len(r.value)
			page = append(page, kv.Write{Key: string(k), Value: bytes.Clone(r.value), Ref: r.ref, Expires: r.end()})
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// read runs do on a snapshot.
func (s *Store) read(do func(records *bbolt.Bucket) error) error {
	tx, err := s.db.Begin(false)
	if err != nil {
		return failure(err)
	}
	defer tx.Rollback() // of a snapshot: can't fail
	return do(tx.Bucket(bucket))
}

// live gives the record of key, or the zero one if there is none or it has expired. Its value is
// part of the transaction's memory.
func (s *Store) live(records *bbolt.Bucket, key string) (record, error) {
	stored := records.Get([]byte(key))
	if stored == nil {
		return record{}, nil
	}
	r, err := decode(stored)
	if err != nil {
		return record{}, &FormatError{Path: s.db.Path()}
	}
	if r.hasEnded(time.Now()) {
		return record{}, nil
	}
	return r, nil
}

// versionText is a version as callers see it; that of an absent record is empty.
func versionText(version uint64) string {
	if version == 0 {
		return ""
	}
	return strconv.FormatUint(version, 36)
}

// failure is err as callers see it: what this package doesn't know is the disk's.
func failure(err error) error {
	switch format := (*FormatError)(nil); {
	case err == nil, errors.As(err, &format):
		return err
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen):
		return ErrClosed
	default:
		return fmt.Errorf("bolt: the file failed: %w", err)
	}
}
