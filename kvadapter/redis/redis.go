// Package redis is a key-value store in Redis 6.2 or later, or in Valkey, for programs that
// run more than once. It keeps the contract of kvadapter.Atomic.
//
//	store, err := redis.Open(os.Getenv("REDIS_URL"), redis.Options{Prefix: "auth:"})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// The commands are GET, SET with PXAT and NX, GETDEL, DEL, SCAN, EVALSHA and EVAL, one for
// each method, so each is one step. What expires does so by the server's clock, to the
// millisecond.
//
// It is as durable and as consistent as the server is. A server that keeps its data in memory
// only, or that evicts keys when memory is short, ends sessions; set maxmemory-policy to
// noeviction, and appendonly to yes. Replication is asynchronous: a fail-over may undo the
// last writes, a sign-out among them.
package redis

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/internal/storekey"
	"github.com/redis/rueidis"
)

// ErrKey is the error for a key that not every store can hold.
var ErrKey = storekey.Err

// Options say where in the database the records are.
type Options struct {
	// Prefix is put before every key, so that several programs can share a database. None
	// should begin with another one: List with an empty prefix would find the other's keys.
	// Empty: nothing is put there.
	Prefix string
}

// A Store keeps values by key in a database of Redis. It is safe for concurrent use.
type Store struct {
	client rueidis.Client
	prefix string
}

// Get gives the value of key; ok is false when there is none or it has expired.
func (s *Store) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return nil, false, err
	}
	return found("GET", s.client.Do(ctx, s.client.B().Get().Key(s.prefix+key).Build()))
}

// Put sets the value of key until expires; the zero time means for ever.
func (s *Store) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return err
	}
	command := s.client.B().Arbitrary("SET").Keys(s.prefix + key).Args(rueidis.BinaryString(value))
	return failure("SET", s.client.Do(ctx, command.Args(until(expires)...).Build()).Error())
}

// Delete removes key. Deleting an absent key is no error.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return err
	}
	return failure("DEL", s.client.Do(ctx, s.client.B().Del().Key(s.prefix+key).Build()).Error())
}

// Insert is Put if there is no value that has not expired. ok is whether it was stored. After
// an error it may have been: the connection can fail before the answer is here.
func (s *Store) Insert(ctx context.Context, key string, value []byte, expires time.Time) (ok bool, err error) {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return false, err
	}
	command := s.client.B().Arbitrary("SET").Keys(s.prefix+key).Args(rueidis.BinaryString(value), "NX")
	err = s.client.Do(ctx, command.Args(until(expires)...).Build()).Error()
	if rueidis.IsRedisNil(err) {
		return false, nil
	}
	return err == nil, failure("SET NX", err)
}

// Take is Get and Delete in one step: of concurrent callers one gets the value. After an
// error nobody may get it.
func (s *Store) Take(ctx context.Context, key string) (value []byte, ok bool, err error) {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return nil, false, err
	}
	return found("GETDEL", s.client.Do(ctx, s.client.B().Getdel().Key(s.prefix+key).Build()))
}

// swap is the one command that Redis lacks. An absent key is false to Lua, and so no string.
// What is behind ARGV[2] are the options of SET, which without any drops the old expiry.
var swap = rueidis.NewLuaScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
	return 0
end
redis.call('SET', KEYS[1], unpack(ARGV, 2))
return 1
`)

// Swap replaces the value old, byte by byte, by new until expires. ok is whether old was
// there.
func (s *Store) Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (ok bool, err error) {
	if err := errors.Join(ctx.Err(), storekey.Check(key)); err != nil {
		return false, err
	}
	arguments := append([]string{rueidis.BinaryString(old), rueidis.BinaryString(new)}, until(expires)...)
	swapped, err := swap.Exec(ctx, s.client, []string{s.prefix + key}, arguments).AsInt64()
	return swapped == 1, failure("EVALSHA", err)
}

const (
	// pageSize is that of Workers KV.
	pageSize = 1000

	// scanSize is how many keys the server looks at before it serves somebody else.
	scanSize = 1000
)

// List gives keys that begin with prefix, in order, a page at a time. The first call passes
// an empty cursor, later ones the previous next, which is the last key of that page; an empty
// next means that was the last page.
//
// Redis has no order, so each page has the server look at every key of the database, and
// keeps those that come next: a database of a million keys takes a second or so a page. It
// blocks nobody meanwhile. List is for operators and for rare events, such as deleting a user.
func (s *Store) List(ctx context.Context, prefix, cursor string) (keys []string, next string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	pattern := literal(s.prefix+prefix) + "*"
	for position, more := uint64(0), true; more; more = position != 0 {
		command := s.client.B().Scan().Cursor(position).Match(pattern).Count(scanSize).Build()
		page, err := s.client.Do(ctx, command).AsScanEntry()
		if err != nil {
			return nil, "", failure("SCAN", err)
		}
		position = page.Cursor
		for _, key := range page.Elements {
			if key = strings.TrimPrefix(key, s.prefix); key > cursor {
				keys = append(keys, key)
			}
		}
		if len(keys) > 4*pageSize {
			keys = smallest(keys)
		}
	}
	if keys = smallest(keys); len(keys) > pageSize {
		return keys[:pageSize], keys[pageSize-1], nil
	}
	return keys, "", nil
}

// smallest gives the first keys in order, one more than a page has so that it shows whether
// there are more. SCAN may give a key twice.
func smallest(keys []string) []string {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	return keys[:min(len(keys), pageSize+1)]
}

// literal is the pattern that matches text, and nothing else.
func literal(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}

// forever is later than what any record needs, and what the server can add up.
var forever = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// until gives the options of SET for an expiry. The server keeps a value while its clock, in
// whole milliseconds, is not past PXAT. So PXAT is the last millisecond that begins before
// expires; and at least 1, since the server refuses others. What has expired is set, too:
// it is gone at once, and so is what it replaced.
func until(expires time.Time) []string {
	if expires.IsZero() {
		return nil
	}
	if expires.After(forever) {
		expires = forever
	}
	last := expires.Add(-1).UnixMilli()
	return []string{"PXAT", strconv.FormatInt(max(last, 1), 10)}
}

// found is what a command that gives a value has answered.
func found(command string, result rueidis.RedisResult) (value []byte, ok bool, err error) {
	value, err = result.AsBytes()
	if rueidis.IsRedisNil(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, failure(command, err)
	}
	return value, true, nil
}
