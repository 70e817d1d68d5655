package edge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/edge/internal/jsx"
)

// Atomic is the Durable Object class AuthStore, which worker.mjs exports, bound
// as binding. It is looked up when it is used: a missing one makes every call
// return a *BindingError.
//
// The records are spread over 16 objects by a hash of their keys. Each call is
// one request to the object of its key; a List is one to every object for each
// page, at once. An object lives near the first caller that needed it, keeps
// to one thread, and serves some hundred calls a second. A record that has
// expired is gone at once; an alarm removes it within minutes.
//
// What an object throws, and a failing way to it, is returned as the error: the
// operation has then happened or it has not. Get and List, which change nothing,
// are tried once more where the platform says that this may help (its error is
// retryable, and not for too much load); whatever else is never tried again,
// since a second Take or Insert would say something else than the first.
func Atomic(binding string) AtomicStore { return objects(binding) }

type objects string

// shards is part of the stored data: with another number records are not found.
const shards = 16

func shard(key string) int {
	h := fnv.New32a()
	h.Write([]byte(key))
	return int(h.Sum32() % shards)
}

func (o objects) check() error {
	if !isBound(string(o), "idFromName") {
		return &BindingError{Binding: string(o), object: true}
	}
	return nil
}

// call sends one operation to an object. ok is false when what it needs was not
// there. worker/store.mjs is the other side.
func (o objects) call(ctx context.Context, shard int, operation string, query url.Values, body []byte) (answer []byte, ok bool, err error) {
	ask := func() (jsx.Reply, error) {
		return jsx.Call(ctx, body, "object", string(o), strconv.Itoa(shard), operation+"?"+query.Encode())
	}
	r, err := ask()
	if thrown, ok := errors.AsType[*jsx.Error](err); ok && thrown.Retryable && (operation == "get" || operation == "list") {
		r, err = ask() // with a stub of its own: the other one is broken
	}
	if isUnbound(err) {
		return nil, false, &BindingError{Binding: string(o), object: true}
	}
	if err == nil && r.Status != http.StatusOK && r.Status != http.StatusNotFound {
		err = fmt.Errorf("the object answered with status %d", r.Status)
	}
	if err != nil {
		return nil, false, fmt.Errorf("edge: Atomic %s: %s: %w", o, operation, err)
	}
	return r.Body, r.Status == http.StatusOK, nil
}

// at is call for one key, in the object that has it.
func (o objects) at(ctx context.Context, key, operation string, query url.Values, body []byte) ([]byte, bool, error) {
	if err := checkKey(key); err != nil {
		return nil, false, err
	}
	if query == nil {
		query = url.Values{}
	}
	query.Set("key", key)
	return o.call(ctx, shard(key), operation, query, body)
}

// until is the query of a value that ends.
func until(expires time.Time) url.Values {
	if expires.IsZero() {
		return nil
	}
	// The platform counts milliseconds: the next one, since a value may last longer but not
	// shorter, and no later than an alarm can be set for.
	const latest = 253402300799999 // the end of the year 9999
	ms := min(max(expires.Add(time.Millisecond-1).UnixMilli(), 0), latest)
	return url.Values{"expires": {strconv.FormatInt(ms, 10)}}
}

func (o objects) Get(ctx context.Context, key string) ([]byte, bool, error) {
	return o.at(ctx, key, "get", nil, nil)
}

func (o objects) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	_, _, err := o.at(ctx, key, "put", until(expires), value)
	return err
}

func (o objects) Delete(ctx context.Context, key string) error {
	_, _, err := o.at(ctx, key, "delete", nil, nil)
	return err
}

func (o objects) Insert(ctx context.Context, key string, value []byte, expires time.Time) (bool, error) {
	_, ok, err := o.at(ctx, key, "insert", until(expires), value)
	return ok, err
}

func (o objects) Take(ctx context.Context, key string) ([]byte, bool, error) {
	return o.at(ctx, key, "take", nil, nil)
}

func (o objects) Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
	query := until(expires)
	if query == nil {
		query = url.Values{}
	}
	query.Set("old", strconv.Itoa(len(old)))
	_, ok, err := o.at(ctx, key, "swap", query, slices.Concat(old, new))
	return ok, err
}

// listed is how many keys an object is asked for at once.
const listed = 100

// List asks every object for its first keys after cursor. An object that gave
// all it was asked for may have more, after its last: the page ends there.
func (o objects) List(ctx context.Context, prefix, cursor string) ([]string, string, error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, "", err
	}
	query := url.Values{"prefix": {prefix}, "cursor": {cursor}, "limit": {strconv.Itoa(listed)}}
	var wg sync.WaitGroup
	var pages [shards][]string
	var errs [shards]error
	for i := range shards {
		wg.Go(func() {
			answer, _, err := o.call(ctx, i, "list", query, nil)
			if err == nil {
				err = json.Unmarshal(answer, &pages[i])
			}
			errs[i] = err
		})
	}
	wg.Wait()
	var keys []string
	next := ""
	for i, page := range pages {
		if errs[i] != nil {
			return nil, "", errs[i]
		}
		keys = append(keys, page...)
		if len(page) == listed && (next == "" || page[listed-1] < next) {
			next = page[listed-1]
		}
	}
	slices.Sort(keys)
	if next != "" {
		end, _ := slices.BinarySearch(keys, next)
		keys = keys[:end+1]
	}
	return keys, next, nil
}
