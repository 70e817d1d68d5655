package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/transfer/internal/lines"
)

// Existing says what becomes of a record whose key is in the store with another value. One
// with the same value is there already, and stays.
type Existing string

const (
	Refuse    Existing = ""          // the import ends with an *ExistsError
	Skip      Existing = "skip"      // the one in the store stays
	Overwrite Existing = "overwrite" // the one in the file replaces it
)

// ImportOptions say how records are imported.
type ImportOptions struct {
	// Prefix is that of kvadapter.Options and begins every key. Empty: none.
	Prefix string

	// Existing is for a store that isn't empty. Skip and Overwrite decide about each record alone:
	// where both sides have changed since they were the same, a user and their sessions may
	// contradict each other afterwards.
	Existing Existing

	// SkipLines is how many lines behind the first one are passed over: Progress of an import
	// that was cut off. Zero: none. It only saves time: the same import may run again.
	SkipLines int

	// Rejected takes lines that can't be read; its error ends the import. Nil: the first one ends
	// it with a *RejectError.
	Rejected func(Reject) error

	// Progress is told after each commit. Nil: nobody.
	Progress func(Imported)
}

// Imported says what an import has done so far. All of it is in the store.
type Imported struct {
	Lines    int  `json:"lines"`    // without the first one; with SkipLines
	Written  int  `json:"written"`  // records
	Same     int  `json:"same"`     // records that were there already
	Skipped  int  `json:"skipped"`  // records that were there with another value
	Expired  int  `json:"expired"`  // records that have ended, and are left out
	Rejected int  `json:"rejected"` // lines that could not be read
	Complete bool `json:"complete"` // the file has its last line
}

func (i *Imported) add(more Imported) {
	i.Lines += more.Lines
	i.Written += more.Written
	i.Same += more.Same
	i.Skipped += more.Skipped
	i.Expired += more.Expired
	i.Rejected += more.Rejected
	i.Complete = more.Complete
}

// reject gives a line to whom it may concern; its error ends the import.
func (o *ImportOptions) reject(number int, reason string, text []byte) error {
	bad := Reject{Line: number, Reason: reason, Text: text, Header: []byte(headerLine)}
	if o.Rejected == nil {
		return &RejectError{bad}
	}
	return o.Rejected(bad)
}

// An ExistsError is the error for a record that is in the store with another value.
type ExistsError struct {
	Line int // of the file
	Key  string
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("transfer: line %d: the store has %s with another value: import into an empty store, or say what becomes of it", e.Line, e.Key)
}

// ErrBusy is the error when the records of an import keep changing in the store.
var ErrBusy = errors.New("transfer: others keep changing the records that are imported")

const (
	batchKeys  = kv.MaxKeys
	batchBytes = 512 << 10 // of lines, so that a commit is no burden to any store
)

// A batch is what goes into a commit.
type batch struct {
	writes  []kv.Write
	numbers map[string]int // lines, by key
	bytes   int
}

// Import writes the records of a file to a store, some hundred in each commit. It writes what it
// reads in its order, and may be run again at any time with the same file: what is there stays.
// No program should use the store before it is done.
func Import(ctx context.Context, to kv.Store, r io.Reader, o ImportOptions) (done Imported, err error) {
	if !slices.Contains([]Existing{Refuse, Skip, Overwrite}, o.Existing) {
		return done, fmt.Errorf("transfer: Existing is %.20q", o.Existing)
	}
	in := lines.NewReader(r)
	first, _, err := in.Next()
	if err != nil && err != io.EOF {
		return done, err
	}
	if !isHeader(first) {
		return done, ErrFormat
	}
	read, b := done, batch{numbers: map[string]int{}}
	flush := func() error {
		if err := b.commit(ctx, to, o.Existing, &read); err != nil {
			return err
		}
		b = batch{numbers: map[string]int{}}
		if done = read; o.Progress != nil {
			o.Progress(done)
		}
		return nil
	}
	for {
		text, tooLong, err := in.Next()
		if err == io.EOF {
			return done, flush()
		}
		if err != nil {
			return done, errors.Join(err, flush())
		}
		if in.Number-1 <= o.SkipLines {
			read.Lines++
			continue
		}
		w, next, reason := parseLine(text, o.Prefix)
		if tooLong {
			next, reason = nil, reasonTooLong
		}
		_, twice := b.numbers[w.Key]
		twice = twice && reason == "" && next == nil
		if len(b.writes) == batchKeys || b.bytes+len(text) > batchBytes || twice {
			if err := flush(); err != nil {
				return done, err
			}
		}
		read.Lines++
		switch {
		case reason != "":
			if err := o.reject(in.Number, reason, text); err != nil {
				read.Lines--
				return done, errors.Join(err, flush())
			}
			read.Rejected++
		case next != nil:
			read.Complete = *next == ""
		case !w.Expires.IsZero() && !time.Now().Before(w.Expires):
			read.Expired++
		default:
			b.writes, b.numbers[w.Key], b.bytes = append(b.writes, w), in.Number, b.bytes+len(text)
		}
	}
}

// mostTries bounds how often a batch is tried.
const mostTries = 10

// commit writes a batch. At first it takes for granted that the store has none of it.
func (b *batch) commit(ctx context.Context, to kv.Store, existing Existing, done *Imported) error {
	keys := make([]string, len(b.writes))
	checks := make([]kv.Check, len(b.writes))
	for i, w := range b.writes {
		keys[i], checks[i] = w.Key, kv.Check{Key: w.Key}
	}
	writes, same, skipped := b.writes, 0, 0
	for range mostTries {
		ok := len(writes) == 0
		if !ok {
			var err error
			if ok, err = to.Commit(ctx, checks, writes); err != nil {
				return err
			}
		}
		if ok {
			done.Written += len(writes)
			done.Same += same
			done.Skipped += skipped
			return nil
		}
		entries, err := to.Get(ctx, keys...)
		if err != nil {
			return err
		}
		checks, writes, same, skipped = nil, nil, 0, 0
		for i, w := range b.writes {
			e := entries[i]
			switch {
			case bytes.Equal(e.Value, w.Value):
				same++
			case e.Version == "" || existing == Overwrite:
				checks, writes = append(checks, kv.Check{Key: w.Key, Version: e.Version}), append(writes, w)
			case existing == Skip:
				skipped++
			default:
				return &ExistsError{b.numbers[w.Key], w.Key}
			}
		}
	}
	return ErrBusy
}
