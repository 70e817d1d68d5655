package kvadapter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// version is that of the records this package writes. It reads later ones too, and keeps
// what it doesn't know in them.
const version = 1

// A header begins every value. It repeats what the record is, so that one that was copied to
// another key isn't taken for the record of that key.
type header struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	Key     string `json:"key"`  // without the prefix of Options
	Gone    bool   `json:"gone"` // a tombstone: there is no record any more
}

func (h *header) head() *header { return h }

// A record is the content of a value. Its fields are always written, so that a member of a
// stored value that isn't one of them is known to be foreign.
type record interface{ head() *header }

// A profile is what is stored of a core.User.
type profile struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	Email         string `json:"email"`
	Image         string `json:"image"`
	EmailVerified int64  `json:"emailVerified"` // milliseconds since 1970; 0: not yet
	Extra         extra  `json:"extra"`
}

// An extra is what a site keeps of its own. A number keeps its digits.
type extra map[string]any

func (e *extra) UnmarshalJSON(value []byte) error {
	if string(value) == "null" {
		*e = nil // as most are; a Decoder costs
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	return d.Decode((*map[string]any)(e))
}

func profileOf(u *core.User) profile {
	return profile{u.ID, u.Name, u.Email, u.Image, millis(u.EmailVerified), u.Extra}
}

func (p *profile) user() *core.User {
	return &core.User{ID: p.ID, Name: p.Name, Email: p.Email, Image: p.Image, EmailVerified: fromMillis(p.EmailVerified), Extra: p.Extra}
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

var (
	errForeign = errors.New("kvadapter: the value belongs to another key")
	errVersion = errors.New("kvadapter: the value has no version")
)

// encode writes a record for a key. What old, the value it replaces, has beyond the fields
// of the record is kept.
func encode(key string, rec record, old []byte) ([]byte, error) {
	h := rec.head()
	h.Kind, h.Key, h.Version = kindOf(key), key, max(h.Version, version)
	value, err := json.Marshal(rec)
	if err != nil || old == nil {
		return value, err
	}
	var kept, own map[string]json.RawMessage
	if json.Unmarshal(old, &kept) != nil || kept == nil {
		return value, nil
	}
	if err := json.Unmarshal(value, &own); err != nil {
		return nil, err
	}
	before := len(own)
	maps.Copy(kept, own)
	if len(kept) == before {
		return value, nil
	}
	return json.Marshal(kept)
}

// parse reads the record of a key.
func parse(key string, value []byte, rec record) error {
	if err := json.Unmarshal(value, rec); err != nil {
		return err
	}
	h := rec.head()
	switch {
	case h.Key != key || h.Kind != kindOf(key):
		return errForeign
	case h.Version < 1:
		return errVersion
	}
	return nil
}

// read is parse for those to whom a damaged record is an absent one. ok is whether the value
// is a record that isn't gone.
func (r *Records) read(ctx context.Context, key string, value []byte, rec record) (ok bool) {
	if err := parse(key, value, rec); err != nil {
		if r.onCorrupt != nil {
			r.onCorrupt(ctx, r.prefix+key, err)
		}
		return false
	}
	return !rec.head().Gone
}

// load reads the record of a key. ok is whether there is one; value is what the key holds
// even so.
func (r *Records) load(ctx context.Context, from Store, key string, rec record) (value []byte, ok bool, err error) {
	value, ok, err = from.Get(ctx, r.prefix+key)
	if err != nil || !ok {
		return nil, false, err
	}
	return value, r.read(ctx, key, value, rec), nil
}

// shortest is how long Workers KV keeps a value at least. Reads check when a record ends.
const shortest = time.Minute

// until is the end of a value that is of no use after a moment.
func until(expires time.Time) time.Time {
	if soonest := time.Now().Add(shortest + time.Second); expires.Before(soonest) {
		return soonest
	}
	return expires
}

// attempts bounds the loops around Swap. Each turn lost is a call of somebody else's that was
// done, so it takes that many of them at once to fail.
const attempts = 10_000

// edit reads a record, lets change change it, and writes it back if nobody else was faster.
// rec is new each time; change gets whether it was found and says whether to write it.
func edit[R any, P interface {
	*R
	record
}](ctx context.Context, r *Records, key string, expires time.Time, change func(rec P, found bool) (write bool, err error)) (P, error) {
	return editFrom(ctx, r, key, expires, nil, change)
}

// guessNone is the guess that there is no record.
func guessNone() []byte { return []byte{} }

// editFrom is edit where the caller can guess the value, and saves the first read; nil: it
// can't. If the guess is wrong, the write fails, and the value is read.
func editFrom[R any, P interface {
	*R
	record
}](ctx context.Context, r *Records, key string, expires time.Time, guess []byte, change func(rec P, found bool) (write bool, err error)) (P, error) {
	for try := range attempts {
		rec := P(new(R))
		var old []byte
		var found bool
		var err error
		switch {
		case try > 0 || guess == nil:
			old, found, err = r.load(ctx, r.atomic, key, rec)
		case len(guess) > 0:
			old, found = guess, r.read(ctx, key, guess, rec)
		}
		if err != nil {
			return nil, err
		}
		if !found {
			rec = new(R)
		}
		var keep []byte // old, where it has members of a later version
		if found {
			if same, err := json.Marshal(rec); err != nil || !bytes.Equal(same, old) {
				keep = old
			}
		}
		write, err := change(rec, found)
		if err != nil {
			return nil, err
		}
		if !write {
			return rec, nil
		}
		if rec.head().Gone {
			keep = nil
		}
		value, err := encode(key, rec, keep)
		if err != nil {
			return nil, err
		}
		end := expires
		if rec.head().Gone {
			end = until(time.Time{})
		}
		ok := false
		switch {
		case old == nil:
			ok, err = r.atomic.Insert(ctx, r.prefix+key, value, end)
		case bytes.Equal(old, value):
			return rec, nil
		default:
			ok, err = r.atomic.Swap(ctx, r.prefix+key, old, value, end)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			return rec, nil
		}
	}
	return nil, ErrBusy
}
