package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/internal/storekey"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// read runs do on a snapshot.
func (s *Store) read(ctx context.Context, do func(records *bbolt.Bucket) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := s.db.Begin(false)
	if err != nil {
		return failure(err)
	}
	defer tx.Rollback() // of a snapshot: can't fail
	return do(tx.Bucket(bucket))
}

// write runs do in the one transaction that may write at a time, and commits it if
// something has changed. A context that ends while it waits for its turn changes nothing;
// one that ends later is too late.
func (s *Store) write(ctx context.Context, key string, do func(records *bbolt.Bucket) (changed bool, err error)) error {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return err
	}
	select {
	case s.writer <- struct{}{}:
		defer func() { <-s.writer }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := s.db.Begin(true)
	if err != nil {
		return failure(err)
	}
	defer tx.Rollback() // after Commit it does nothing
	records := tx.Bucket(bucket)
	changed, err := do(records)
	if err == nil && changed {
		err = s.sweep(records)
	}
	if err == nil && changed {
		err = tx.Commit()
	}
	return failure(err)
}

// sweepSize is how many records a write looks at for some that have expired. A write adds at
// most one record, so whatever has expired is gone after a number of writes that is a 16th
// of the number of records.
const sweepSize = 16

// sweep goes on where it last stopped, and begins again after the last record. It costs no
// fsync of its own, and no goroutine. If the transaction fails after it, what it deleted is
// met the next time around.
func (s *Store) sweep(records *bbolt.Bucket) error {
	now := time.Now()
	var ended [][]byte // a cursor that deletes while it goes on skips records
	c := records.Cursor()
	k, v := c.Seek(s.swept)
	for range sweepSize {
		if k == nil {
			break
		}
		// A malformed record is for who reads it to report.
		if end, _, err := decode(v); err == nil && hasEnded(end, now) {
			ended = append(ended, bytes.Clone(k))
		}
		k, v = c.Next()
	}
	s.swept = bytes.Clone(k)
	for _, key := range ended {
		if err := records.Delete(key); err != nil {
			return err
		}
	}
	return nil
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
