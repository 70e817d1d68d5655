// Package edge runs one http.Handler on every platform. The same main function
// serves requests inside a JavaScript worker (GOOS=js), inside a WebAssembly
// host (GOOS=wasip1) and as an ordinary server (any other target):
//
//	func main() {
//		store := edge.Store("AUTH_DO")
//		edge.Serve(newHandler(store, edge.Transport, edge.Getenv))
//	}
//
// The exported names are the same everywhere; what stands behind them is not:
//
//	           js (workerd, Deno, Bun, Node)     wasip1 (a Go host)       native
//	Serve      the worker's fetch handler        the host's pool          net/http on $ADDR
//	Transport  fetch                             the host's transport     net/http's transport
//	Getenv     text bindings                     the host's settings      os.Getenv
//	Store      a Durable Object, or D1           the host's store         a file in $AUTH_STORE, or memory
//	KV         a Workers KV namespace            the host's cache         a file in $AUTH_STORE, or memory
//	WaitUntil  ctx.waitUntil                     the end of the request   a goroutine
//
// # What to build
//
// On js the program needs worker.mjs, program.mjs, calls.mjs, store.mjs and
// records.mjs (in the folder worker) and the wasm_exec.js of the toolchain that built it, next to app.wasm:
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
//   - Wait only for this request's own calls: Transport, Store, KV, the body.
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

// StoreOptions are for a Store that is a Durable Object. Any other store ignores them.
type StoreOptions struct {
	// Object is the name of the object. Another name is another object, which knows nothing of
	// the first: for tenants that are to be kept apart. Empty: "auth".
	Object string

	// Location is where the object is made if it isn't there yet, one of the platform's location
	// hints, such as "weur" or "enam". Empty: near whoever is first to ask for it.
	Location string

	// Jurisdiction is where the object must stay: "eu" or "fedramp". An object of the same name
	// without it, or with another one, is another object. Empty: anywhere.
	Jurisdiction string
}

// A Restorer is a Store that can go back to an earlier state, which Durable Objects on Cloudflare
// can for 30 days. Elsewhere, on workerd and in D1 too, the errors are ErrNoBookmarks.
type Restorer interface {
	// Bookmark gives a name for the state that the store had at a time; the zero time is now.
	Bookmark(ctx context.Context, at time.Time) (string, error)

	// Restore brings back the state that a bookmark names. The object starts anew for it: calls
	// at the same time fail, and what was written since is gone. To undo it, take a Bookmark before.
	Restore(ctx context.Context, bookmark string) error
}

var (
	// ErrTimeout is wrapped by the error Transport returns when an exchange,
	// headers and body together, takes more than 10 seconds. It is also
	// os.ErrDeadlineExceeded to errors.Is, and has Timeout() true.
	ErrTimeout error = timeoutError{}

	// ErrBodyTooLarge is wrapped by the error Transport returns when a response
	// body has more than 1 MiB after decompression.
	ErrBodyTooLarge = errors.New("edge: the response body is larger than 1 MiB")

	// ErrNoBookmarks is wrapped by the errors of a Restorer whose platform keeps no earlier state.
	// It is errors.ErrUnsupported to errors.Is.
	ErrNoBookmarks = fmt.Errorf("edge: this platform keeps no earlier state of a store: %w", errors.ErrUnsupported)
)

type timeoutError struct{}

func (timeoutError) Error() string        { return "edge: the exchange took longer than allowed" }
func (timeoutError) Timeout() bool        { return true }
func (timeoutError) Temporary() bool      { return true }
func (timeoutError) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// A BindingError says that the worker has no KV namespace, or neither a Durable Object class nor
// a D1 database, under this name. Every call on the store returns it; naming a store costs
// nothing and can't fail.
type BindingError struct {
	Binding string // the name passed to KV or Store

	isStore bool
}

func (e *BindingError) Error() string {
	if e.isStore {
		return fmt.Sprintf("edge: no Durable Object or D1 database is bound as %[1]s; add to wrangler.toml: [[durable_objects.bindings]] name = %[1]q, class_name = \"AuthStore\", and [[migrations]] tag = \"v1\", new_sqlite_classes = [\"AuthStore\"]", e.Binding)
	}
	return fmt.Sprintf("edge: no KV namespace is bound as %[1]s; add to wrangler.toml: [[kv_namespaces]] binding = %[1]q", e.Binding)
}

// Check tells what is wrong with what KV and Store have named, as far as it can be known without
// a call on them: a *BindingError on js, natively that the file can't be opened. On wasip1
// nothing is known before the first call. It is for the start of a program, whose log then names
// what is missing.
func Check(stores ...any) error {
	var errs []error
	for _, store := range stores {
		if store, ok := store.(interface{ check() error }); ok {
			errs = append(errs, store.check())
		}
	}
	return errors.Join(errs...)
}
