// Package kv says what a store of package kvadapter is: a small key-value store with one
// primitive, a commit of several keys that happens as a whole or not at all. A Durable Object,
// D1, Postgres, Redis, bbolt, etcd, FoundationDB, Deno KV and DynamoDB can all do it.
//
// Whoever writes a store imports this package, which imports nothing but the standard
// library, and tests it with package storetest.
package kv

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// A Store is strongly consistent: what a call that returned has written is what every later
// call reads. An error means that the store failed, and that nothing is known: a Commit may
// have happened, or still happen. Implementations are safe for concurrent use, share no memory
// with their callers, and check what they are given with [CheckGet] and [CheckCommit].
type Store interface {
	// Get reads up to [MaxKeys] keys in one round trip. The first entries are those of the keys,
	// in their order. They are followed by the entries of the keys that these refer to (see
	// Write.Ref), each once, unless it is among them already; a reference to an absent key gives
	// none. References are followed one step.
	Get(ctx context.Context, keys ...string) ([]Entry, error)

	// Commit makes all writes if every check holds, in one step that no other call can come
	// between. ok is whether it did: false changes nothing, and means that somebody else was
	// faster. A check and a write of one key are usual; two writes of one key are refused.
	Commit(ctx context.Context, checks []Check, writes []Write) (ok bool, err error)
}

// A Lister is a store that can say what is in it.
type Lister interface {
	// List gives what is stored under keys that begin with prefix, each as the write that would
	// store it again, in no order. A page has at most 1,000 of them. The first call passes
	// an empty cursor, later ones the previous next; an empty next means that was the last page,
	// and a page may be empty before that. What is written meanwhile may be missing, and a record may
	// come twice.
	List(ctx context.Context, prefix, cursor string) (page []Write, next string, err error)
}

// A Sleeper is a store on a platform where Go's timers can't be waited for in a request.
type Sleeper interface {
	// Sleep waits for d, or for the end of ctx, whose error it then returns.
	Sleep(ctx context.Context, d time.Duration) error
}

// A Cache holds copies for a while. It may be eventually consistent, as Workers KV is: a read
// may show what was there a minute ago, or miss what was written a moment ago.
type Cache interface {
	// Get returns the value of key. ok is false when there is none or it has expired.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Put sets the value of key until expires. It may be kept longer (Workers KV: 60 seconds at
	// least).
	Put(ctx context.Context, key string, value []byte, expires time.Time) error
	// Delete removes key. Deleting an absent key is no error.
	Delete(ctx context.Context, key string) error
}

// An Entry is what is stored under a key.
type Entry struct {
	Key   string
	Value []byte

	// Version is opaque text of up to 64 bytes that changes with every write of the key and never
	// comes back, not even after a deletion. Empty: there is no such key, or it has expired.
	Version string
}

// A Check is the version that a key must have. Empty: the key must be absent.
type Check struct {
	Key     string
	Version string
}

// A Write sets the value of a key, or deletes it. Deleting an absent key is no error.
type Write struct {
	Key   string
	Value []byte // up to MaxValue bytes; empty: the key is deleted

	// Ref is a key whose entry whoever reads this one needs as well: Get returns both. Empty: none.
	Ref string

	// Expires is when the key becomes absent, to the millisecond; it may be removed later. The
	// zero time: never.
	Expires time.Time
}

// The limits are what the smallest of the stores named above can do.
const (
	MaxKey   = 512       // bytes of a key
	MaxValue = 64 * 1024 // bytes of a value
	MaxKeys  = 256       // keys of a Get, checks or writes of a Commit
)

// A LimitError is the error for what not every store can do.
type LimitError struct {
	Key  string // that it is about; empty: none alone
	Text string // what is wrong
}

func (e *LimitError) Error() string {
	if e.Key == "" {
		return "kv: " + e.Text
	}
	return fmt.Sprintf("kv: %.80q: %s", e.Key, e.Text)
}

// A TimeoutError is the error for an answer that came too late: a Commit may have happened. It is
// os.ErrDeadlineExceeded to errors.Is.
type TimeoutError struct {
	Store string // such as "Durable Object AUTH_DO"
	After time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("kv: %s has not answered within %s", e.Store, e.After)
}

// Timeout is true, as package net has it.
func (e *TimeoutError) Timeout() bool { return true }

// Is reports whether target is os.ErrDeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// Timeout is how long a store may take to answer, unless it says otherwise.
const Timeout = 10 * time.Second

// CheckKey gives a *LimitError for a key that not every store can hold: it must have 1 to
// [MaxKey] bytes of printable ASCII and be neither "." nor "..".
func CheckKey(key string) error {
	if key == "" || key == "." || key == ".." {
		return &LimitError{key, "a key is neither empty nor . nor .."}
	}
	return CheckPrefix(key)
}

// CheckPrefix gives a *LimitError for what no key can begin with.
func CheckPrefix(prefix string) error {
	if len(prefix) > MaxKey {
		return &LimitError{prefix, "a key has at most 512 bytes"}
	}
	for i := range len(prefix) {
		if prefix[i] < ' ' || prefix[i] > '~' {
			return &LimitError{prefix, "a key is printable ASCII"}
		}
	}
	return nil
}

// CheckGet gives an error for keys that Get does not take, and ctx's error if it has ended.
func CheckGet(ctx context.Context, keys []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(keys) > MaxKeys {
		return &LimitError{Text: "a Get has at most 256 keys"}
	}
	for _, key := range keys {
		if err := CheckKey(key); err != nil {
			return err
		}
	}
	return nil
}

// CheckList gives an error for a prefix that no key can have, and ctx's error if it has ended.
func CheckList(ctx context.Context, prefix string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return CheckPrefix(prefix)
}

// CheckCommit gives an error for what Commit does not take, and ctx's error if it has ended.
func CheckCommit(ctx context.Context, checks []Check, writes []Write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(checks) > MaxKeys || len(writes) > MaxKeys {
		return &LimitError{Text: "a Commit has at most 256 checks and 256 writes"}
	}
	for _, c := range checks {
		if err := CheckKey(c.Key); err != nil {
			return err
		}
	}
	written := make(map[string]bool, len(writes))
	for _, w := range writes {
		if err := CheckKey(w.Key); err != nil {
			return err
		}
		if w.Ref != "" {
			if err := CheckKey(w.Ref); err != nil {
				return err
			}
		}
		if len(w.Value) > MaxValue {
			return &LimitError{w.Key, "a value has at most 65,536 bytes"}
		}
		if written[w.Key] {
			return &LimitError{w.Key, "a Commit writes a key once"}
		}
		written[w.Key] = true
	}
	return nil
}

// Follow gives what Get does, for a store that has its entries at hand: read gives the entry of
// a key and what it refers to.
func Follow(keys []string, read func(key string) (e Entry, ref string)) []Entry {
	entries := make([]Entry, 0, len(keys)+1)
	var refs []string
	for _, key := range keys {
		e, ref := read(key)
		entries = append(entries, e)
		if ref != "" && !slices.Contains(keys, ref) && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	for _, ref := range refs {
		if e, _ := read(ref); e.Version != "" {
			entries = append(entries, e)
		}
	}
	return entries
}
