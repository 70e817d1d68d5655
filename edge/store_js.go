package edge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"syscall/js"
	"time"

	"github.com/edgeauth/edgeauth/edge/internal/jsx"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/syumai/workers/cloudflare"
)

// Store is what is bound as binding: a namespace of the Durable Object class AuthStore, which
// worker.mjs exports, or a D1 database. It is looked up when it is used: a missing one makes
// every call return a *BindingError. At most one StoreOptions may be given.
//
// All records are in one object, near where it was first asked for. It keeps to one thread,
// holds 10 GB, and also is a [Restorer]. In D1 they are in the table auth_records, which is made
// when it is missing. The store is a [kv.Lister] and a [kv.Sleeper].
//
// A call may take 10 seconds, by a timer of the platform; later its error is a
// *[kv.TimeoutError]. What an object throws, and a failing way to it, is returned as the error.
// Get and List, which change nothing, are tried once more where the platform says that this may
// help (its error is retryable, and not for too much load).
func Store(binding string, options ...StoreOptions) kv.Store {
	s := &records{binding: binding}
	if len(options) > 0 {
		s.StoreOptions = options[0]
	}
	s.Object = cmp.Or(s.Object, "auth")
	s.remote = remote{s.call}
	return s
}

type records struct {
	remote
	binding string
	StoreOptions
}

func (s *records) check() error {
	if !has(s.binding, "idFromName") && !has(s.binding, "batch") {
		return &BindingError{Binding: s.binding, isStore: true}
	}
	return nil
}

// has reports whether something with this method is bound.
func has(binding, method string) bool {
	v := cloudflare.GetBinding(binding)
	return v.Type() == js.TypeObject && v.Get(method).Type() == js.TypeFunction
}

// call asks the store to do an operation. worker/calls.mjs is the other side.
func (s *records) call(ctx context.Context, operation string, message []byte) ([]byte, error) {
	ask := func() (jsx.Reply, error) {
		return jsx.Call(ctx, message, "store", s.binding, limit(), operation, s.Object, s.Location, s.Jurisdiction)
	}
	r, err := ask()
	if thrown, ok := errors.AsType[*jsx.Error](err); ok && thrown.Retryable && (operation == "get" || operation == "list") {
		r, err = ask() // with a stub of its own: the other one is broken
	}
	if err != nil {
		return nil, failed(err, "Store", s.binding, operation)
	}
	switch r.Status {
	case http.StatusOK:
		return r.Body, nil
	case http.StatusNotImplemented:
		return nil, fmt.Errorf("edge: Store %s: %w", s.binding, ErrNoBookmarks)
	}
	return nil, fmt.Errorf("edge: Store %s: %s: the object answered with status %d", s.binding, operation, r.Status)
}

// limit is how long a call may take, in milliseconds.
func limit() string { return strconv.FormatInt(kv.Timeout.Milliseconds(), 10) }

// failed gives the error for what a call has thrown.
func failed(err error, kind, binding, operation string) error {
	if thrown, ok := errors.AsType[*jsx.Error](err); ok {
		switch thrown.Name {
		case "BindingError":
			return &BindingError{Binding: binding, isStore: kind == "Store"}
		case "TimeoutError":
			return &kv.TimeoutError{Store: kind + " " + binding, After: kv.Timeout}
		}
	}
	return fmt.Errorf("edge: %s %s: %s: %w", kind, binding, operation, err)
}

func (s *records) Sleep(ctx context.Context, d time.Duration) error { return jsx.Sleep(ctx, d) }

func (s *records) Bookmark(ctx context.Context, at time.Time) (string, error) {
	var when []byte
	if !at.IsZero() {
		when = strconv.AppendInt(nil, at.UnixMilli(), 10)
	}
	bookmark, err := s.call(ctx, "bookmark", when)
	return string(bookmark), err
}

func (s *records) Restore(ctx context.Context, bookmark string) error {
	_, err := s.call(ctx, "restore", []byte(bookmark))
	return err
}

// KV is the Workers KV namespace bound as binding. It is looked up when it is used: a missing
// one makes every call return a *BindingError.
//
// Workers KV is eventually consistent (a change may take 60 seconds and more to be seen
// elsewhere, also the change from absent to present), keeps a value for at least 60 seconds,
// and refuses a second write to a key within a second. A call may take 10 seconds, as with Store.
func KV(binding string) kv.Cache { return namespace(binding) }

type namespace string

func (n namespace) check() error {
	if !has(string(n), "put") {
		return &BindingError{Binding: string(n)}
	}
	return nil
}

func (n namespace) call(ctx context.Context, operation, key, seconds string, value []byte) (jsx.Reply, error) {
	if err := kv.CheckGet(ctx, []string{key}); err != nil {
		return jsx.Reply{}, err
	}
	r, err := jsx.Call(ctx, value, "kv", string(n), limit(), operation, key, seconds)
	if err != nil {
		return r, failed(err, "KV", string(n), operation)
	}
	return r, nil
}

func (n namespace) Get(ctx context.Context, key string) ([]byte, bool, error) {
	r, err := n.call(ctx, "get", key, "", nil)
	return r.Body, r.Status == http.StatusOK, err
}

func (n namespace) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	lifetime := ""
	// A lifetime, not a point in time: 60 seconds from now by this clock are 59 by the server's, and refused. So is one that
	// needs more than 32 bits; it may as well be for ever.
	seconds := max(60, int64(time.Until(expires)/time.Second)+1)
	if !expires.IsZero() && seconds <= math.MaxInt32 {
		lifetime = strconv.FormatInt(seconds, 10)
	}
	_, err := n.call(ctx, "put", key, lifetime, value)
	return err
}

// Sleep is for whoever keeps records in a cache alone.
func (n namespace) Sleep(ctx context.Context, d time.Duration) error { return jsx.Sleep(ctx, d) }

func (n namespace) Delete(ctx context.Context, key string) error {
	_, err := n.call(ctx, "delete", key, "", nil)
	return err
}
