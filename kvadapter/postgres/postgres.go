// Package postgres is a store in a table of PostgreSQL 12 or later, or of a database that speaks
// its protocol and its SQL, for programs that run more than once.
//
//	store, err := postgres.Open(ctx, os.Getenv("DATABASE_URL"), postgres.Options{})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// Get is one statement and Commit one transaction, and each is one round trip on a connection
// that has been used before. What expires does so by the server's clock, and is removed a few
// rows at a time behind commits.
//
// # What one of it carries
//
// No statement looks at more rows than it is asked about, however many there are, and commits
// wait for each other if they have a key in common. Measured with synchronous_commit on, on
// a machine of two cores that the client and other programs used as well: 4,000 reads and 1,900
// commits of four keys a second.
//
// # What it keeps
//
// What Commit has acknowledged is on disk, unless synchronous_commit is off, in which case
// a crash of the server loses the last commits. A fail-over to a replica that isn't
// synchronous does so, too. The URL must be that of the primary: what a replica answers may
// be old.
//
// # Other databases
//
// The statements use no functions that are stored in the database, no advisory locks and no
// collations: unnest of several arrays, INSERT ON CONFLICT in a common table expression, FOR
// UPDATE SKIP LOCKED and a partial index are all that is special in them. CockroachDB and
// YugabyteDB set out to understand these, and spread the table over their nodes by key, but it
// has been tested with neither: run package storetest on yours first.
package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// A Store keeps values by key in a table. It is a [kv.Store] and a [kv.Lister].
type Store struct {
	pool     *pgxpool.Pool
	sql      statements
	timeout  time.Duration
	password string // which no error may hold
	written  atomic.Int64
}

// Get is that of [kv.Store]. It is attempted again when a connection fails.
func (s *Store) Get(ctx context.Context, keys ...string) ([]kv.Entry, error) {
	if err := kv.CheckGet(ctx, keys); err != nil || len(keys) == 0 {
		return nil, err
	}
	type record struct {
		entry kv.Entry
		ref   string
	}
	found := make(map[string]record, 2*len(keys))
	err := s.read(ctx, "reading", func(ctx context.Context) error {
		clear(found) // of an attempt that broke off
		rows, err := s.pool.Query(ctx, s.sql.get, byteStrings(keys))
		if err != nil {
			return err
		}
		var key, value, ref []byte
		var version string
		_, err = pgx.ForEachRow(rows, []any{&key, &value, &version, &ref}, func() error {
			found[string(key)] = record{kv.Entry{Key: string(key), Value: value, Version: version}, string(ref)}
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return kv.Follow(keys, func(key string) (kv.Entry, string) {
		r, ok := found[key]
		if !ok {
			return kv.Entry{Key: key}, ""
		}
		r.entry.Value = bytes.Clone(r.entry.Value) // who asks for a key twice gets two values
		return r.entry, r.ref
	}), nil
}

// Commit is that of [kv.Store]. Commits that have a key in common wait for each other. If a server
// can't have one wait, as CockroachDB, and says that it has written nothing, it is attempted
// again.
func (s *Store) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (ok bool, err error) {
	if err := kv.CheckCommit(ctx, checks, writes); err != nil {
		return false, err
	}
	if len(checks)+len(writes) == 0 {
		return true, nil
	}
	c := newCommit(checks, writes)
	after := s.written.Add(int64(len(c.keys)))
	if before := after - int64(len(c.keys)); before/sweepEvery != after/sweepEvery {
		c.sweep = 2 * max(sweepEvery, len(c.keys))
	}
	err = s.limit(ctx, "writing", func(ctx context.Context) error {
		for attempt := 1; ; attempt++ {
			ok, err = s.attempt(ctx, c)
			if !isRefused(err) {
				return err
			}
			select {
			case <-time.After(mathrand.N(time.Duration(min(attempt, 10)) * time.Millisecond)):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	return ok && err == nil, err
}

// sweepEvery is how many rows are written between two removals of what has expired. Each removes
// twice as many at most, so that they can't fall behind.
const sweepEvery = 64

// A commit is the arguments of the statements.
type commit struct {
	all      [][]byte // keys of checks and of writes, each once
	checked  [][]byte
	versions []string
	keys     [][]byte // that are written
	values   [][]byte // empty: to be removed
	refs     [][]byte // nil: none
	expires  []*int64 // in milliseconds; nil: never
	version  string
	sweep    int // how many rows to remove that have expired
}

func newCommit(checks []kv.Check, writes []kv.Write) *commit {
	c := &commit{version: rand.Text()}
	for _, check := range checks {
		c.checked, c.versions = append(c.checked, []byte(check.Key)), append(c.versions, check.Version)
	}
	for _, w := range writes {
		value, ref, expires := w.Value, []byte(nil), (*int64)(nil)
		if w.Ref != "" {
			ref = []byte(w.Ref)
		}
		if !w.Expires.IsZero() {
			expires = new(w.Expires.UnixMilli())
		}
		if len(value) == 0 {
			value, expires = []byte{}, nil
		}
		c.keys, c.values = append(c.keys, []byte(w.Key)), append(c.values, value)
		c.refs, c.expires = append(c.refs, ref), append(c.expires, expires)
	}
	c.all = slices.Concat(c.checked, c.keys)
	slices.SortFunc(c.all, bytes.Compare)
	c.all = slices.CompactFunc(c.all, bytes.Equal)
	return c
}

// attempt sends everything at once, and reads the answers. The server passes over what follows
// an error, so nothing is committed after one.
func (s *Store) attempt(ctx context.Context, c *commit) (ok bool, err error) {
	connection, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer connection.Release()
	batch := &pgx.Batch{}
	batch.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	batch.Queue(s.sql.lock, c.all)
	batch.Queue(s.sql.commit, c.checked, c.versions, c.keys, c.values, c.refs, c.expires, c.version).
		QueryRow(func(row pgx.Row) error { return row.Scan(&ok) })
	batch.Queue(s.sql.remove, c.all)
	committed := false
	batch.Queue("COMMIT").Exec(func(pgconn.CommandTag) error {
		committed = true
		return nil
	})
	if c.sweep > 0 {
		batch.Queue(s.sql.sweep, c.sweep)
	}
	err = connection.SendBatch(ctx, batch).Close()
	if committed {
		return ok, nil // whatever became of the sweep
	}
	if err == nil {
		err = errors.New("the transaction was not committed")
	}
	if isRefused(err) {
		_, _ = connection.Exec(ctx, "ROLLBACK") // if that fails, Release closes the connection
	}
	return false, err
}

// isRefused is whether the server has undone a transaction for another one's sake: a
// serialization failure, or a deadlock.
func isRefused(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && (refused.Code == "40001" || refused.Code == "40P01")
}

// pageSize bounds a page of List, in records.
const pageSize = 1000

// List is that of [kv.Lister]. The cursor is the last key of a page in the order of keys.
func (s *Store) List(ctx context.Context, prefix, cursor string) (page []kv.Write, next string, err error) {
	if err := kv.CheckList(ctx, prefix); err != nil {
		return nil, "", err
	}
	// No key has a byte above "~".
	first, end := []byte(max(prefix, cursor)), []byte(prefix+"\x7f")
	err = s.read(ctx, "listing", func(ctx context.Context) error {
		page = nil
		rows, err := s.pool.Query(ctx, s.sql.list, first, end, []byte(cursor), pageSize)
		if err != nil {
			return err
		}
		var key, value, ref []byte
		var expires *int64
		_, err = pgx.ForEachRow(rows, []any{&key, &value, &ref, &expires}, func() error {
			w := kv.Write{Key: string(key), Value: value, Ref: string(ref)}
			if expires != nil {
				w.Expires = time.UnixMilli(*expires)
			}
			page = append(page, w)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, "", err
	}
	if len(page) == pageSize {
		next = page[pageSize-1].Key
	}
	return page, next, nil
}

// limit calls do with a context that ends after the store's timeout, and gives its error as
// callers see it.
func (s *Store) limit(ctx context.Context, what string, do func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	err := do(limited)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return &kv.TimeoutError{Store: "Postgres", After: s.timeout}
	}
	return failure(what, err, s.password)
}

// read is limit for what may be done twice. When one connection has failed, others that have been
// there for as long may have, too, and aren't used again.
func (s *Store) read(ctx context.Context, what string, do func(context.Context) error) error {
	return s.limit(ctx, what, func(ctx context.Context) error {
		err := do(ctx)
		var answer *pgconn.PgError
		if err == nil || ctx.Err() != nil || errors.As(err, &answer) && answer.SeverityUnlocalized != "FATAL" {
			return err
		}
		s.pool.Reset()
		return do(ctx)
	})
}

func byteStrings(texts []string) [][]byte {
	all := make([][]byte, len(texts))
	for i, text := range texts {
		all[i] = []byte(text)
	}
	return all
}
