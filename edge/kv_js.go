package edge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"syscall/js"
	"time"

	"github.com/edgeauth/edgeauth/edge/internal/jsx"
	"github.com/syumai/workers/cloudflare"
)

// KV is the Workers KV namespace bound as binding. It is looked up when it is
// used: a missing one makes every call return a *BindingError.
//
// Workers KV is eventually consistent (a change may take 60 seconds and more to
// be seen elsewhere, also the change from absent to present) and keeps a value
// for at least 60 seconds: Put raises a shorter time to that.
//
// It takes one write to a key in a second and refuses more with status 429. Put
// and Delete hold a write that was refused back for 1.1 seconds, by a timer of
// the platform, and try it three times in all, unless ctx ends first; the error
// then wraps ErrTooManyWrites. Nothing else is tried again.
func KV(binding string) Store { return namespace(binding) }

type namespace string

const (
	writeTries = 3
	writePause = 1100 * time.Millisecond
)

// lookup gives the namespace's JavaScript object.
func (n namespace) lookup() (js.Value, error) {
	v := cloudflare.GetBinding(string(n))
	if v.Type() != js.TypeObject || v.Get("put").Type() != js.TypeFunction {
		return js.Value{}, &BindingError{Binding: string(n)}
	}
	return v, nil
}

func (n namespace) check() error {
	_, err := n.lookup()
	return err
}

func (n namespace) call(ctx context.Context, method string, args ...any) (js.Value, error) {
	ns, err := n.lookup()
	if err != nil {
		return js.Value{}, err
	}
	v, err := jsx.Call(ctx, ns, method, args...)
	if err != nil {
		return v, fmt.Errorf("edge: KV %s: %s: %w", n, method, err)
	}
	return v, nil
}

// write is call for what changes a key.
func (n namespace) write(ctx context.Context, method string, args ...any) error {
	for try := 1; ; try++ {
		_, err := n.call(ctx, method, args...)
		if !isTooManyWrites(err) {
			return err
		}
		if try == writeTries {
			return fmt.Errorf("edge: KV %s: %s: %w", n, method, ErrTooManyWrites)
		}
		if err := jsx.Sleep(ctx, writePause); err != nil {
			return err
		}
	}
}

// isTooManyWrites reads the only place where the platform gives the status.
func isTooManyWrites(err error) bool {
	thrown, ok := errors.AsType[*jsx.Error](err)
	return ok && strings.Contains(thrown.Message, " failed: 429 ")
}

func (n namespace) Get(ctx context.Context, key string) ([]byte, bool, error) {
	if err := checkKey(key); err != nil {
		return nil, false, err
	}
	v, err := n.call(ctx, "get", key, "arrayBuffer")
	if err != nil || v.IsNull() {
		return nil, false, err
	}
	return jsx.Bytes(v), true, nil
}

func (n namespace) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if err := checkKey(key); err != nil {
		return err
	}
	options := map[string]any{}
	// A lifetime, not a point in time: 60 seconds from now by this clock are 59 by
	// the server's, and refused. So is one that needs more than 32 bits; it may as
	// well be for ever.
	seconds := max(60, int64(time.Until(expires)/time.Second)+1)
	if !expires.IsZero() && seconds <= math.MaxInt32 {
		options["expirationTtl"] = seconds
	}
	return n.write(ctx, "put", key, jsx.Array(value), options)
}

func (n namespace) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return n.write(ctx, "delete", key)
}

func (n namespace) List(ctx context.Context, prefix, cursor string) ([]string, string, error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, "", err
	}
	options := map[string]any{"prefix": prefix}
	if cursor != "" {
		options["cursor"] = cursor
	}
	page, err := n.call(ctx, "list", options)
	if err != nil {
		return nil, "", err
	}
	list := page.Get("keys")
	keys := make([]string, list.Length())
	for i := range keys {
		keys[i] = list.Index(i).Get("name").String()
	}
	if page.Get("list_complete").Bool() {
		return keys, "", nil
	}
	return keys, page.Get("cursor").String(), nil
}
