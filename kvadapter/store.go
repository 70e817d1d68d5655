// Package kvadapter keeps the records of package core in a small key-value store: at the edge
// in Workers KV and a Durable Object, at home in a file or in Redis.
package kvadapter

import (
	"context"
	"time"
)

// A Store is a small key-value store. Absence is not an error: err means that the store
// failed and nothing is known about the key. Implementations are safe for concurrent use and
// share no memory with their callers. Package storetest checks all of this.
//
// Keys are 1 to 512 bytes of printable ASCII and neither "." nor "..", which every store can
// hold; values are up to 1 MiB.
type Store interface {
	// Get returns the value of key. ok is false when there is none or it has expired.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)

	// Put sets the value of key until expires; the zero time means for ever. A store may keep a
	// value longer than that (Workers KV for at least 60 seconds), so a caller whose records must
	// end on time checks that itself. A store that takes only so many writes to a key in a second
	// holds back those that come too soon, as long as ctx and reason allow.
	Put(ctx context.Context, key string, value []byte, expires time.Time) error

	// Delete removes key. Deleting an absent key is no error.
	Delete(ctx context.Context, key string) error

	// List returns keys that begin with prefix, in lexicographic order, a page at a time. The
	// first call passes an empty cursor, later ones the previous next; an empty next means that
	// was the last page. A page may be empty before that.
	List(ctx context.Context, prefix, cursor string) (keys []string, next string, err error)
}

// An Atomic store is strongly consistent: what a call that returned has written is what every
// later call reads, and each of the three methods below is one step that no other call can
// come between. It is what makes single use single, and an address one user's.
type Atomic interface {
	Store

	// Insert is Put if there is no value that has not expired. ok is whether it was stored.
	Insert(ctx context.Context, key string, value []byte, expires time.Time) (ok bool, err error)

	// Take is Get and Delete in one step: of concurrent callers one gets the value.
	Take(ctx context.Context, key string) (value []byte, ok bool, err error)

	// Swap replaces the value old, byte by byte, by new until expires. ok is whether old was
	// there.
	Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (ok bool, err error)
}
