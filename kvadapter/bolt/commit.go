package bolt

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"go.etcd.io/bbolt"
)

// A commit is a call of Commit that waits for its result.
type commit struct {
	checks []kv.Check
	writes []kv.Write

	done chan struct{} // closed when ok and err are final
	ok   bool
	err  error
}

// errUnfinished is what callers get if bbolt panics over a damaged file in the goroutine of
// another caller.
var errUnfinished = errors.New("the transaction was not finished")

// Commit is that of [kv.Store]. A context that ends while it waits for its turn changes nothing;
// one that ends later is too late. A Commit that changes nothing costs no sync.
func (s *Store) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (ok bool, err error) {
	if err := kv.CheckCommit(ctx, checks, writes); err != nil {
		return false, err
	}
	c := &commit{checks: checks, writes: writes, done: make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, c)
	s.mu.Unlock()
	select {
	case <-c.done: // another caller's transaction had room for it
	case s.writer <- struct{}{}:
		s.commitWaiting()
	case <-ctx.Done():
		if s.withdraw(c) {
			return false, ctx.Err()
		}
		<-c.done // a transaction has it already, and reads what the caller passed in
	}
	return c.ok, c.err
}

// withdraw reports whether c still waited.
func (s *Store) withdraw(c *commit) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.waiting)
	s.waiting = slices.DeleteFunc(s.waiting, func(other *commit) bool { return other == c })
	return len(s.waiting) < before
}

// commitWaiting makes all commits that wait in one transaction, in the order in which they
// came. The caller is the writer, which ends with it.
func (s *Store) commitWaiting() {
	defer func() { <-s.writer }()
	s.mu.Lock()
	batch := s.waiting
	s.waiting = nil
	s.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	err := errUnfinished
	defer func() {
		for _, c := range batch {
			// What a check saw in a transaction that failed is not so.
			if err != nil {
				c.ok, c.err = false, failure(err)
			}
			close(c.done)
		}
	}()
	err = s.transact(batch)
}

// transact decides each commit. An error is the end of all of them.
func (s *Store) transact(batch []*commit) error {
	tx, err := s.db.Begin(true)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after Commit it does nothing
	records := tx.Bucket(bucket)
	written := 0
	for _, c := range batch {
		if c.ok, c.err = s.holds(records, c.checks); !c.ok {
			continue
		}
		n, err := write(records, c.writes)
		if err != nil {
			return err
		}
		written += n
	}
	if written == 0 {
		return nil
	}
	if err := s.sweep(records, written); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *Store) holds(records *bbolt.Bucket, checks []kv.Check) (bool, error) {
	for _, check := range checks {
		r, err := s.live(records, check.Key)
		if err != nil || versionText(r.version) != check.Version {
			return false, err
		}
	}
	return true, nil
}

// write makes the writes of one commit, and gives how many changed something.
func write(records *bbolt.Bucket, writes []kv.Write) (written int, err error) {
	var version uint64
	for _, w := range writes {
		key := []byte(w.Key)
		switch {
		case len(w.Value) > 0:
			if version == 0 {
				if version, err = records.NextSequence(); err != nil {
					return written, err
				}
			}
			err = records.Put(key, newRecord(version, w).encode())
		case records.Get(key) != nil:
			err = records.Delete(key)
		default:
			continue
		}
		if err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}

// A transaction looks at minSweep records, and at sweepsPerWrite for each write it has, for some
// that have expired. So what has expired is gone after a fourth as many writes as there are
// records.
const (
	minSweep       = 16
	sweepsPerWrite = 4
)

// sweep goes on where it last stopped, and begins again after the last record. It costs no
// sync of its own, and no goroutine. If the transaction fails after it, what it deleted is
// met the next time around.
func (s *Store) sweep(records *bbolt.Bucket, written int) error {
	now := time.Now()
	var ended [][]byte // a cursor that deletes while it goes on skips records
	c := records.Cursor()
	k, v := c.Seek(s.swept)
	for range max(minSweep, sweepsPerWrite*written) {
		if k == nil {
			break
		}
		// A malformed record is for who reads it to report.
		if r, err := decode(v); err == nil && r.hasEnded(now) {
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
