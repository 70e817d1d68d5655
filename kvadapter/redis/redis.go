// Package redis is a store in Redis 7 or later, or in Valkey, alone or as a cluster, for
// programs that run more than once.
//
//	store, err := redis.Open(os.Getenv("REDIS_URL"), redis.Options{Prefix: "auth"})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// Get and Commit are a Lua script each: one round trip, and one step for the server. What
// expires does so by the server's clock.
//
// # What one of it carries
//
// All keys of a store have the same hash tag, {Prefix}, and so the same slot: a store is on one
// node of a cluster, which has to hold it in memory and to execute its scripts one after
// another. Measured with appendfsync always on a machine of two cores, which the client and
// other programs used as well: 18,000 reads and 6,000 commits of four keys a second. Stores
// with different prefixes, one for each tenant for example, are spread over the nodes.
//
// # What it keeps
//
// It is as durable and as consistent as the server is:
//
//   - appendonly yes: without it a restart loses what was written since the last snapshot.
//     With appendfsync always nothing that Commit has acknowledged is lost when the server's
//     process or machine dies, with everysec, the default, about a second of it.
//   - maxmemory-policy noeviction: any other policy signs people out when memory is short.
//     With noeviction Commit fails then, and changes nothing.
//   - Replication is asynchronous: a fail-over may undo the last commits, a sign-out among them.
//
// While a slot moves to another node of a cluster, calls for it may fail with a [*ServerError].
package redis

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// ErrRecord is the error for a key of the store under which something else has stored a value.
var ErrRecord = errors.New("redis: a key holds a value that is not of this package")

// Options say where in the database the records are.
type Options struct {
	// Prefix is in braces before every key, so that several programs or tenants can share
	// a database or a cluster. It has no braces itself. Empty: "edgeauth".
	Prefix string

	// Timeout is how long a call may take, with every attempt. Zero: [kv.Timeout].
	Timeout time.Duration
}

// A Store keeps values by key in Redis. It is a [kv.Store] and a [kv.Lister].
type Store struct {
	client  rueidis.Client
	prefix  string // with the braces
	timeout time.Duration
}

// A record is one string: the version, the length of ref in two bytes, ref, and the value.
const (
	versionSize = 26 // of rand.Text
	headerSize  = versionSize + 2
)

// get gives the records of KEYS, and behind these each key that they refer to with its record.
// ARGV[1] is the prefix. An absent key is false to Lua.
var get = rueidis.NewLuaScriptReadOnly(`
local answer, known, refs = {}, {}, {}
for i, key in ipairs(KEYS) do
	local record = redis.call('GET', key)
	answer[i] = record
	known[key] = true
	if record and #record >= 28 then
		local size = string.byte(record, 27) * 256 + string.byte(record, 28)
		if size > 0 then
			refs[#refs + 1] = ARGV[1] .. string.sub(record, 29, 28 + size)
		end
	end
end
for _, key in ipairs(refs) do
	if not known[key] then
		known[key] = true
		local record = redis.call('GET', key)
		if record then
			answer[#answer + 1] = key
			answer[#answer + 1] = record
		end
	end
end
return answer
`)

// Get is that of [kv.Store]. It is attempted again when a connection fails.
func (s *Store) Get(ctx context.Context, keys ...string) ([]kv.Entry, error) {
	if err := kv.CheckGet(ctx, keys); err != nil || len(keys) == 0 {
		return nil, err
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = s.prefix + key
	}
	answer, err := s.run(ctx, get, "reading", names, []string{s.prefix})
	if err != nil {
		return nil, err
	}
	entries := make([]kv.Entry, 0, len(answer))
	for _, key := range keys {
		e := kv.Entry{Key: key}
		if !answer[0].IsNil() {
			if e, _, err = entry(key, answer[0]); err != nil {
				return nil, err
			}
		}
		entries, answer = append(entries, e), answer[1:]
	}
	for pair := range slices.Chunk(answer, 2) {
		name, err := pair[0].ToString()
		if err != nil {
			return nil, failure("reading", err)
		}
		e, _, err := entry(strings.TrimPrefix(name, s.prefix), pair[1])
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// commit makes checks of the first ARGV[1] keys, whose versions follow, and writes of the
// others, each with a record and the last millisecond that it is there, or nothing.
// GETRANGE of an absent key is empty. What can fail does so before the first write: GETRANGE
// if there is something else under the key, and the first SET if memory is short.
var commit = rueidis.NewLuaScript(`
local checks = tonumber(ARGV[1])
for i = 1, checks do
	if redis.call('GETRANGE', KEYS[i], 0, 25) ~= ARGV[1 + i] then
		return {0}
	end
end
local at = checks + 2
for i = checks + 1, #KEYS do
	local record, last = ARGV[at], ARGV[at + 1]
	if record == '' then
		redis.call('DEL', KEYS[i])
	elseif last == '' then
		redis.call('SET', KEYS[i], record)
	else
		redis.call('SET', KEYS[i], record, 'PXAT', last)
	end
	at = at + 2
end
return {1}
`)

// Commit is that of [kv.Store]. It is attempted once.
func (s *Store) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (ok bool, err error) {
	if err := kv.CheckCommit(ctx, checks, writes); err != nil {
		return false, err
	}
	if len(checks)+len(writes) == 0 {
		return true, nil
	}
	names := make([]string, 0, len(checks)+len(writes))
	arguments := make([]string, 1, 1+len(checks)+2*len(writes))
	arguments[0] = strconv.Itoa(len(checks))
	for _, c := range checks {
		names, arguments = append(names, s.prefix+c.Key), append(arguments, c.Version)
	}
	version := rand.Text()
	for _, w := range writes {
		names, arguments = append(names, s.prefix+w.Key), append(arguments, record(version, w), last(w.Expires))
	}
	answer, err := s.run(ctx, commit, "writing", names, arguments)
	if err != nil {
		return false, err
	}
	done, err := answer[0].AsInt64()
	return done == 1, failure("writing", err)
}

func record(version string, w kv.Write) string {
	if len(w.Value) == 0 {
		return ""
	}
	r := make([]byte, 0, headerSize+len(w.Ref)+len(w.Value))
	r = append(r, version...)
	r = binary.BigEndian.AppendUint16(r, uint16(len(w.Ref)))
	r = append(r, w.Ref...)
	return rueidis.BinaryString(append(r, w.Value...))
}

// entry gives an entry, and what it refers to.
func entry(key string, answer rueidis.RedisMessage) (e kv.Entry, ref string, err error) {
	r, err := answer.AsBytes()
	if err != nil {
		return kv.Entry{}, "", failure("reading", err)
	}
	if len(r) < headerSize {
		return kv.Entry{}, "", ErrRecord
	}
	value := headerSize + int(binary.BigEndian.Uint16(r[versionSize:]))
	if value >= len(r) {
		return kv.Entry{}, "", ErrRecord
	}
	return kv.Entry{Key: key, Value: slices.Clone(r[value:]), Version: string(r[:versionSize])}, string(r[headerSize:value]), nil
}

// forever is later than what any record needs, and what the server can add up.
var forever = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// last is the last millisecond before expires; at least 1, since the server refuses others.
// What has expired is written, too: it is gone at once, and so is what it replaced.
func last(expires time.Time) string {
	if expires.IsZero() {
		return ""
	}
	if expires.After(forever) {
		expires = forever
	}
	return strconv.FormatInt(max(expires.UnixMilli()-1, 1), 10)
}

// list gives the next cursor of SCAN, and three values for each key. KEYS[1] isn't read: a
// cluster has the script run where that key is. COUNT isn't exact, but a page of more
// than 1,000 would need 500 keys in one bucket of the server's hash table.
var list = rueidis.NewLuaScriptReadOnly(`
local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 500)
local answer = {page[1]}
for _, key in ipairs(page[2]) do
	local record = redis.call('GET', key)
	if record then
		answer[#answer + 1] = key
		answer[#answer + 1] = record
		answer[#answer + 1] = redis.call('PEXPIRETIME', key)
	end
end
return answer
`)

// List is that of [kv.Lister]. Its cursor is that of SCAN, so what is stored all the time is
// listed, perhaps more than once. A page has the server look at 500 keys of the database,
// whoever has stored them: where others have stored a lot, many pages are empty.
func (s *Store) List(ctx context.Context, prefix, cursor string) (page []kv.Write, next string, err error) {
	if err := kv.CheckList(ctx, prefix); err != nil {
		return nil, "", err
	}
	if cursor == "" {
		cursor = "0"
	}
	answer, err := s.run(ctx, list, "listing", []string{s.prefix}, []string{cursor, literal(s.prefix+prefix) + "*"})
	if err != nil {
		return nil, "", err
	}
	if next, err = answer[0].ToString(); err != nil {
		return nil, "", failure("listing", err)
	}
	if next == "0" {
		next = ""
	}
	for item := range slices.Chunk(answer[1:], 3) {
		name, err := item[0].ToString()
		if err != nil {
			return nil, "", failure("listing", err)
		}
		e, ref, err := entry(strings.TrimPrefix(name, s.prefix), item[1])
		if err != nil {
			return nil, "", err
		}
		w := kv.Write{Key: e.Key, Value: e.Value, Ref: ref}
		last, err := item[2].AsInt64()
		if err != nil {
			return nil, "", failure("listing", err)
		}
		if last >= 0 {
			w.Expires = time.UnixMilli(last + 1)
		}
		page = append(page, w)
	}
	return page, next, nil
}

// literal is the pattern that matches text, and nothing else.
func literal(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}

// run has the server run a script. The answer has at least one value.
func (s *Store) run(ctx context.Context, script *rueidis.Lua, what string, names, arguments []string) ([]rueidis.RedisMessage, error) {
	end := time.Now().Add(s.timeout)
	limited, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	answer, err := script.Exec(limited, s.client, names, arguments).ToArray()
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case isOver(ctx.Deadline()):
		return nil, context.DeadlineExceeded
	case isOver(end, true):
		return nil, &kv.TimeoutError{Store: "Redis", After: s.timeout}
	}
	return nil, failure(what, err)
}

// isOver is what a context will say, perhaps a moment before it does: the client looks at the
// clock itself.
func isOver(deadline time.Time, ok bool) bool { return ok && !time.Now().Before(deadline) }
