package kvadapter_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// A workersKV is a cache with the guarantees of Workers KV and no better ones. A location keeps what it
// has read for a minute, be it a miss; a write is seen elsewhere after a while, which is another one
// each time; a key takes a write a second, and all together so many a day.
// Time is that of the bubble.
type workersKV struct {
	mu     sync.Mutex
	random *rand.Rand
	lag    time.Duration            // that a write takes to another location, at most
	quota  int                      // writes a day; 0: any number
	writes map[int64]int            // by day
	values map[string][]kvValue     // by key, oldest first
	seen   map[string]*kvSeen       // by location and key
	last   map[string]time.Time     // write of a key
	hits   map[bool]int             // reads that a location answered by itself, by whether there was a value
	delay  func(*rand.Rand) float64 // of the lag; nil: all of it
}

type kvValue struct {
	value   []byte // nil: deleted
	expires time.Time
	from    string    // location
	visible time.Time // elsewhere
}

type kvSeen struct {
	kvValue
	at time.Time
}

const (
	kvCacheTTL = time.Minute // for which a location keeps what it has read
	kvShortest = time.Minute // for which a value is kept
)

var (
	errTooMany = errors.New("KV PUT failed: 429 Too Many Requests")
	errQuota   = errors.New("KV put() limit exceeded for the day")
)

func newWorkersKV(seed uint64, lag time.Duration) *workersKV {
	return &workersKV{
		random: rand.New(rand.NewPCG(seed, 0)), lag: lag, writes: map[int64]int{}, values: map[string][]kvValue{},
		seen: map[string]*kvSeen{}, last: map[string]time.Time{}, hits: map[bool]int{},
	}
}

// A location is the cache as it is seen from one place.
type location struct {
	kv   *workersKV
	name string
}

func (l location) Get(ctx context.Context, key string) ([]byte, bool, error) {
	l.kv.mu.Lock()
	defer l.kv.mu.Unlock()
	now, at := time.Now(), l.name+" "+key
	known := l.kv.seen[at]
	if known == nil || now.Sub(known.at) >= kvCacheTTL {
		known = &kvSeen{at: now}
		for _, v := range l.kv.values[key] {
			if v.from == l.name || !now.Before(v.visible) {
				known.kvValue = v
			}
		}
		l.kv.seen[at] = known
	} else {
		l.kv.hits[known.value != nil]++
	}
	if known.value == nil || !known.expires.IsZero() && !now.Before(known.expires) {
		return nil, false, ctx.Err()
	}
	return bytes.Clone(known.value), true, ctx.Err()
}

func (l location) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if least := time.Now().Add(kvShortest); !expires.IsZero() && expires.Before(least) {
		expires = least
	}
	return l.write(ctx, key, kvValue{value: bytes.Clone(value), expires: expires})
}

func (l location) Delete(ctx context.Context, key string) error { return l.write(ctx, key, kvValue{}) }

func (l location) write(ctx context.Context, key string, v kvValue) error {
	l.kv.mu.Lock()
	defer l.kv.mu.Unlock()
	now := time.Now()
	day := now.Unix() / 86400
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case l.kv.quota > 0 && l.kv.writes[day] >= l.kv.quota:
		return errQuota
	case now.Sub(l.kv.last[key]) < time.Second:
		return errTooMany
	}
	l.kv.writes[day]++
	l.kv.last[key] = now
	lag := l.kv.lag
	if l.kv.delay != nil {
		lag = time.Duration(float64(lag) * l.kv.delay(l.kv.random))
	}
	v.from, v.visible = l.name, now.Add(lag)
	l.kv.values[key] = append(l.kv.values[key], v)
	l.kv.seen[l.name+" "+key] = &kvSeen{v, now}
	return nil
}
