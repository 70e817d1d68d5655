package abi

import (
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// Store names a store of the host.
type Store struct {
	Cache   bool // edge.KV, which is not the edge.Store of the same binding
	Binding string
}

// Call is a Get, a Commit or a List on a store of the host.
type Call struct {
	Store   Store
	Message []byte // the encoding of the Get, Commit or List
}

// Append appends the encoding of m to b.
func (m *Call) Append(b []byte) []byte {
	b = appendString(appendFlag(b, m.Store.Cache), m.Store.Binding)
	return append(b, m.Message...)
}

// Decode replaces m by the call encoded in b. Message shares b's memory and is not looked at. The error is ErrMalformed.
func (m *Call) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Call{Store: Store{Cache: d.flag(), Binding: d.string()}}
	m.Message, d.rest = d.rest, nil
	return d.end()
}

// Get asks for the entries of keys.
type Get struct {
	Keys []string
}

// Append appends the encoding of m to b.
func (m *Get) Append(b []byte) []byte {
	b = appendUint32(b, uint32(len(m.Keys)))
	for _, key := range m.Keys {
		b = appendString(b, key)
	}
	return b
}

// Decode replaces m by the get encoded in b. The error is ErrMalformed.
func (m *Get) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Get{Keys: list(&d, 4, d.string)}
	return d.end()
}

// Commit asks for writes that happen if all checks hold.
type Commit struct {
	Checks []kv.Check
	Writes []kv.Write
}

// Append appends the encoding of m to b.
func (m *Commit) Append(b []byte) []byte {
	b = appendUint32(b, uint32(len(m.Checks)))
	for _, c := range m.Checks {
		b = appendString(appendString(b, c.Key), c.Version)
	}
	return appendWrites(b, m.Writes)
}

// Decode replaces m by the commit encoded in b. Values share b's memory; times are in UTC. The error is ErrMalformed.
func (m *Commit) Decode(b []byte) error {
	d := decoder{rest: b}
	check := func() kv.Check { return kv.Check{Key: d.string(), Version: d.string()} }
	*m = Commit{Checks: list(&d, 8, check), Writes: d.writes()}
	return d.end()
}

// List asks for a page of what is stored.
type List struct {
	Prefix string
	Cursor string // empty: from the start; otherwise the Next of the page before
}

// Append appends the encoding of m to b.
func (m *List) Append(b []byte) []byte {
	return appendString(appendString(b, m.Prefix), m.Cursor)
}

// Decode replaces m by the list encoded in b. The error is ErrMalformed.
func (m *List) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = List{Prefix: d.string(), Cursor: d.string()}
	return d.end()
}

// Entries answers a Get.
type Entries struct {
	Entries []kv.Entry
}

// Append appends the encoding of m to b.
func (m *Entries) Append(b []byte) []byte {
	b = appendUint32(b, uint32(len(m.Entries)))
	for _, e := range m.Entries {
		b = appendString(appendBytes(appendString(b, e.Key), e.Value), e.Version)
	}
	return b
}

// Decode replaces m by the entries encoded in b, whose memory the values share. The error is ErrMalformed.
func (m *Entries) Decode(b []byte) error {
	d := decoder{rest: b}
	entry := func() kv.Entry { return kv.Entry{Key: d.string(), Value: d.value(), Version: d.string()} }
	*m = Entries{list(&d, 12, entry)}
	return d.end()
}

// Done answers a Commit.
type Done struct {
	OK bool // whether the checks held, and the writes happened
}

// Append appends the encoding of m to b.
func (m *Done) Append(b []byte) []byte {
	return appendFlag(b, m.OK)
}

// Decode replaces m by what is encoded in b. The error is ErrMalformed.
func (m *Done) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Done{OK: d.flag()}
	return d.end()
}

// Page answers a List.
type Page struct {
	Writes []kv.Write
	Next   string // cursor of the next page; empty: this is the last
}

// Append appends the encoding of m to b.
func (m *Page) Append(b []byte) []byte {
	return appendString(appendWrites(b, m.Writes), m.Next)
}

// Decode replaces m by the page encoded in b. Values share b's memory; times are in UTC. The error is ErrMalformed.
func (m *Page) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Page{Writes: d.writes(), Next: d.string()}
	return d.end()
}

func appendWrites(b []byte, writes []kv.Write) []byte {
	b = appendUint32(b, uint32(len(writes)))
	for _, w := range writes {
		b = appendString(appendBytes(appendString(b, w.Key), w.Value), w.Ref)
		b = appendUint64(b, milliseconds(w.Expires))
	}
	return b
}

func (d *decoder) writes() []kv.Write {
	return list(d, 20, func() kv.Write {
		return kv.Write{Key: d.string(), Value: d.value(), Ref: d.string(), Expires: d.expiry()}
	})
}

// latest is the end of the year 9999, in milliseconds since 1970.
const latest = 253402300799999

// milliseconds is the number for an expiry. An end that the number can't say is as long ago, or as far away, as it can.
func milliseconds(expires time.Time) uint64 {
	if expires.IsZero() {
		return 0
	}
	return uint64(min(max(expires.UnixMilli(), 1), latest))
}

func (d *decoder) expiry() time.Time {
	n := d.uint64()
	if n > latest {
		d.fail()
	}
	if n == 0 || d.bad {
		return time.Time{}
	}
	return time.UnixMilli(int64(n)).UTC()
}

// value is bytes, but nil when there are none.
func (d *decoder) value() []byte {
	if b := d.bytes(); len(b) > 0 {
		return b
	}
	return nil
}

// list reads elements that take at least size bytes each. An empty list is nil.
func list[T any](d *decoder, size int, element func() T) []T {
	n := d.count(size)
	if n == 0 {
		return nil
	}
	elements := make([]T, n)
	for i := range elements {
		elements[i] = element()
	}
	return elements
}
