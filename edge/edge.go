// Package edge runs one http.Handler on every platform. The same main function
// serves requests inside a JavaScript worker (GOOS=js), inside a WebAssembly
// host (GOOS=wasip1) and as an ordinary server (any other target):
//
//	func main() {
//		store := edge.KV("AUTH")
//		edge.Serve(newHandler(store, edge.Transport, edge.Getenv))
//	}
//
// The exported names are the same everywhere; what stands behind them is not:
//
//	           js (workerd, Deno, Bun, Node)     wasip1 (a Go host)       native
//	Serve      the worker's fetch handler        the host's pool          net/http on $ADDR
//	Transport  fetch                             the host's transport     net/http's transport
//	Getenv     text bindings                     the host's settings      os.Getenv
//	KV         a Workers KV namespace            the host's store         a file in $AUTH_STORE, or memory
//	Atomic     Durable Objects with SQLite       the host's store         a file in $AUTH_STORE, or memory
//	WaitUntil  ctx.waitUntil                     the end of the request   a goroutine
//
// # What to build
//
// On js the program needs worker.mjs, program.mjs, calls.mjs and store.mjs (in the
// folder worker) and the wasm_exec.js of the toolchain that built it, next to app.wasm:
//
//	GOOS=js GOARCH=wasm go build -tags nethttpomithttp2 -ldflags="-s -w" -trimpath -o app.wasm .
//	cp "$(go env GOROOT)/lib/wasm/wasm_exec.js" .
//
// On wasip1 it is a reactor, which package wasmtest and its local server run:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -tags nethttpomithttp2 -ldflags="-s -w" -trimpath -o app.wasm .
//
// Naming http.Client, http.DefaultClient or http.DefaultTransport anywhere in
// the program adds about a megabyte to it, compressed; call Transport directly.
//
// # One instance for all requests (js)
//
// All requests of an isolate share one instance of the program, each in its own
// goroutine: starting an instance costs milliseconds and megabytes, entering a
// running one a few microseconds. Package variables live as long as the
// instance, so request data belongs in the request's context only.
//
// The platform ties every promise and timer to the request that made it, and
// cancels a request that waits on anything else. Go's scheduler knows nothing of
// this, hence the rules for handlers on js:
//
//   - Wait only for this request's own calls: Transport, KV, Atomic, the body.
//   - No Go timers on the request's path: no time.Sleep, time.After or
//     context.WithTimeout. Transport has its own time limit, kept by the platform.
//   - No waiting for another request: no mutex held, sync.Once, singleflight or
//     channel awaited while a call is pending. Locks around plain memory are fine.
//     Shared caches are plain data, and each request fetches what it misses.
//   - A goroutine the handler starts ends before the handler returns; work for
//     afterwards goes to WaitUntil.
//   - A body is complete before the handler sees it and is sent when the handler
//     returns; there is no streaming in either direction.
//   - Header values are bytes in Go and text on the platform. Valid UTF-8 passes
//     unchanged both ways on workerd, which reads and writes headers as UTF-8;
//     hosts that keep to the Fetch standard, such as Node, pass every byte. On
//     workerd a byte that is no UTF-8 is sent as the character of that number in
//     Latin-1, and has been replaced by U+FFFD before it is received.
//
// A client that goes away does not cancel its request: the handler runs to its
// end (the platform allows 30 seconds), so that a store is never left between
// two writes. The request's context ends when the handler has returned.
//
// A handler that must use Go timers or locks can have instances to itself: the
// text binding EDGE_EXCLUSIVE=n makes the worker keep at most n instances, one
// request at a time in each. It costs an instance's memory (10 MB and more) per
// waiting request; further requests wait up to ten seconds, then get 503.
//
// # When things go wrong (js)
//
// A panic in a handler is logged with its stack and answered with 500; other
// requests don't notice. http.ErrAbortHandler is answered with 500, unlogged.
// When the program itself ends (log.Fatal, a panic in a goroutine, a stack
// overflow, memory exhausted) every pending request is answered with 500 at
// once, and the next request starts a new instance. A program that ends before
// it calls Serve, for instance because it refuses its configuration, is tried
// again at each request; the reason is in the log. An instance whose memory has
// grown past 64 MiB, or which holds 32 requests older than a minute (one, with
// EDGE_EXCLUSIVE), gets no new requests and is dropped when it has answered those
// it has.
package edge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// MaxBodyBytes is the largest request body a handler gets. A request that
// declares a larger one is answered with 413 and never reaches the handler. One
// that turns out larger while it is read is answered with 413 on js; native
// handlers get an *http.MaxBytesError from the body.
const MaxBodyBytes = 1 << 20

// A Store is a small key-value store. Absence is not an error: err means that
// the store failed and nothing is known about the key. Implementations are safe
// for concurrent use.
//
// Keys are 1 to 512 bytes of printable ASCII and neither "." nor "..", which
// every store can hold; any other key, and a prefix that no key can begin with,
// is refused with ErrKey. Values are up to 1 MiB.
type Store interface {
	// Get returns the value of key. ok is false when there is none or it has
	// expired. The caller owns value.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)

	// Put sets the value of key until expires; the zero time means for ever. A
	// store may keep a value longer than that (Workers KV keeps it for at least
	// 60 seconds), so a caller whose records must end on time checks that itself.
	// A write that comes too soon after another one may be held back, see
	// ErrTooManyWrites.
	Put(ctx context.Context, key string, value []byte, expires time.Time) error

	// Delete removes key. Deleting an absent key is no error.
	Delete(ctx context.Context, key string) error

	// List returns keys that begin with prefix, in lexicographic order, a page at
	// a time. The first call passes an empty cursor, later ones the previous next;
	// an empty next means that was the last page. A page may be empty before that.
	List(ctx context.Context, prefix, cursor string) (keys []string, next string, err error)
}

// An AtomicStore is strongly consistent: what a call that returned has written
// is what every later call reads, and each of its own three methods is one step
// that no other call can come between.
type AtomicStore interface {
	Store

	// Insert is Put if there is no value that has not expired. ok is whether it
	// was stored.
	Insert(ctx context.Context, key string, value []byte, expires time.Time) (ok bool, err error)

	// Take is Get and Delete in one step: of concurrent callers one gets the value.
	Take(ctx context.Context, key string) (value []byte, ok bool, err error)

	// Swap replaces the value old, byte by byte, by new until expires. ok is
	// whether old was there.
	Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (ok bool, err error)
}

var (
	// ErrTimeout is wrapped by the error Transport returns when an exchange,
	// headers and body together, takes more than 10 seconds. It is also
	// os.ErrDeadlineExceeded to errors.Is, and has Timeout() true.
	ErrTimeout error = timeoutError{}

	// ErrBodyTooLarge is wrapped by the error Transport returns when a response
	// body has more than 1 MiB after decompression.
	ErrBodyTooLarge = errors.New("edge: the response body is larger than 1 MiB")

	// ErrTooManyWrites is wrapped by the error that Put and Delete of KV return on
	// Workers when the platform has refused the write three times, 1.1 seconds
	// apart, because the key was written less than a second before. No other
	// target has such a limit.
	ErrTooManyWrites = errors.New("edge: Workers KV takes one write to a key in a second")

	// ErrKey is wrapped by the error a Store returns for a key it can't hold.
	ErrKey = errors.New("edge: a key has 1 to 512 bytes of printable ASCII, and is neither . nor ..")
)

type timeoutError struct{}

func (timeoutError) Error() string        { return "edge: the exchange took longer than allowed" }
func (timeoutError) Timeout() bool        { return true }
func (timeoutError) Temporary() bool      { return true }
func (timeoutError) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// A BindingError says that the worker has no KV namespace, or no Durable Object
// class, under this name. Every call on the store returns it; naming a store
// costs nothing and can't fail.
type BindingError struct {
	Binding string // the name passed to KV or Atomic

	object bool
}

func (e *BindingError) Error() string {
	if e.object {
		return fmt.Sprintf("edge: no Durable Object is bound as %[1]s; add to wrangler.toml: [[durable_objects.bindings]] name = %[1]q, class_name = \"AuthStore\", and [[migrations]] tag = \"v1\", new_sqlite_classes = [\"AuthStore\"]", e.Binding)
	}
	return fmt.Sprintf("edge: no KV namespace is bound as %[1]s; add to wrangler.toml: [[kv_namespaces]] binding = %[1]q", e.Binding)
}

// Check tells what is wrong with stores that KV and Atomic have named, as far as
// it can be known without a call on them: a *BindingError on js, natively that
// the file can't be opened. On wasip1 nothing is known before the first call. It
// is for the start of a program, whose log then names what is missing.
func Check(stores ...Store) error {
	var errs []error
	for _, store := range stores {
		if store, ok := store.(interface{ check() error }); ok {
			errs = append(errs, store.check())
		}
	}
	return errors.Join(errs...)
}

const maxKeyBytes = 512

// checkKey gives ErrKey for a key that some store can't hold.
func checkKey(key string) error {
	if key == "" || key == "." || key == ".." {
		return ErrKey
	}
	return checkPrefix(key)
}

// checkPrefix gives ErrKey for what no key can begin with.
func checkPrefix(prefix string) error {
	if len(prefix) > maxKeyBytes {
		return ErrKey
	}
	for i := range len(prefix) {
		if prefix[i] < ' ' || prefix[i] > '~' {
			return ErrKey
		}
	}
	return nil
}
