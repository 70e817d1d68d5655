package kvadapter

import (
	"bytes"
	"cmp"
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
	Key     string `json:"key"`    // without the prefix of Options
	Commit  string `json:"commit"` // random, of the commit that wrote it
}

func (h *header) head() *header { return h }

// A record is the content of a value.
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

// change sets the fields of a change that aren't zero.
func (p *profile) change(to *core.User) {
	p.Name = cmp.Or(to.Name, p.Name)
	p.Email = cmp.Or(to.Email, p.Email)
	p.Image = cmp.Or(to.Image, p.Image)
	p.EmailVerified = cmp.Or(millis(to.EmailVerified), p.EmailVerified)
	if to.Extra != nil {
		p.Extra = to.Extra
	}
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

func hasEnded(expires int64) bool { return !time.Now().Before(fromMillis(expires)) }

var (
	errForeign = errors.New("kvadapter: the value belongs to another key")
	errVersion = errors.New("kvadapter: the value has no version")
)

// encode writes a record for a key. Of old, the value it replaces, it keeps what a later
// version of this package has put there.
func encode(key, commit string, rec record, old []byte) ([]byte, error) {
	h := rec.head()
	h.Kind, h.Key, h.Commit, h.Version = kindOf(key), key, commit, max(h.Version, version)
	value, err := json.Marshal(rec)
	if err != nil || h.Version == version {
		return value, err
	}
	var kept, own map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(old, &kept), json.Unmarshal(value, &own)); err != nil {
		return nil, err
	}
	maps.Copy(kept, own)
	return json.Marshal(kept)
}

// parse reads the record of a key.
func parse(key string, value []byte, rec record) error {
	isRead := false
	if quick, ok := rec.(scanned); ok {
		s := scanner{rest: string(value)}
		quick.scan(&s)
		isRead = !s.failed && s.rest == ""
	}
	if !isRead {
		if err := json.Unmarshal(value, rec); err != nil {
			return err
		}
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

// load reads a record from what was read. ok is whether there is one.
func (r *Records) load(ctx context.Context, v *view, key string, rec record) (ok bool) {
	e := v.entry(key)
	if e.Version == "" {
		return false
	}
	if err := parse(key, e.Value, rec); err != nil {
		r.log(ctx, r.prefix+key, err)
		return false
	}
	return true
}
