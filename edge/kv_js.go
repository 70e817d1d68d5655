package edge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/edge/internal/jsx"
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

func (n namespace) check() error {
	if !isBound(string(n), "put") {
		return &BindingError{Binding: string(n)}
	}
	return nil
}

// call runs an operation of worker/calls.mjs. The option may be empty.
func (n namespace) call(ctx context.Context, operation, key, option string, value []byte) (jsx.Reply, error) {
	r, err := jsx.Call(ctx, value, "kv", string(n), operation, key, option)
	if isUnbound(err) {
		return r, &BindingError{Binding: string(n)}
	}
	if err != nil {
		return r, fmt.Errorf("edge: KV %s: %s: %w", n, operation, err)
	}
	return r, nil
}

// write is call for what changes a key.
func (n namespace) write(ctx context.Context, operation, key, option string, value []byte) error {
	for try := 1; ; try++ {
		_, err := n.call(ctx, operation, key, option, value)
		if !isTooManyWrites(err) {
			return err
		}
		if try == writeTries {
			return fmt.Errorf("edge: KV %s: %s: %w", n, operation, ErrTooManyWrites)
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
	r, err := n.call(ctx, "get", key, "", nil)
	return r.Body, r.Status == http.StatusOK, err
}

func (n namespace) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if err := checkKey(key); err != nil {
		return err
	}
	option := ""
	// A lifetime, not a point in time: 60 seconds from now by this clock are 59 by
	// the server's, and refused. So is one that needs more than 32 bits; it may as
	// well be for ever.
	seconds := max(60, int64(time.Until(expires)/time.Second)+1)
	if !expires.IsZero() && seconds <= math.MaxInt32 {
		option = strconv.FormatInt(seconds, 10)
	}
	return n.write(ctx, "put", key, option, value)
}

func (n namespace) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return n.write(ctx, "delete", key, "", nil)
}

func (n namespace) List(ctx context.Context, prefix, cursor string) ([]string, string, error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, "", err
	}
	r, err := n.call(ctx, "list", prefix, cursor, nil)
	if err != nil {
		return nil, "", err
	}
	var keys []string
	for key := range strings.Lines(r.Lines) {
		keys = append(keys, key[:len(key)-1])
	}
	return keys, string(r.Body), nil
}
