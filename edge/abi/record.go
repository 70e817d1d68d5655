package abi

import "time"

// Store names a store of the host.
type Store struct {
	Atomic  bool // edge.Atomic, which is not edge.KV of the same binding
	Binding string
}

func (s *Store) append(b []byte) []byte {
	return appendString(appendFlag(b, s.Atomic), s.Binding)
}

func (d *decoder) store() Store {
	return Store{Atomic: d.flag(), Binding: d.string()}
}

// appendExpiry takes the zero time for never.
func appendExpiry(b []byte, t time.Time) []byte {
	b = appendFlag(b, !t.IsZero())
	if t.IsZero() {
		return b
	}
	return appendUint32(appendUint64(b, uint64(t.Unix())), uint32(t.Nanosecond()))
}

func (d *decoder) expiry() time.Time {
	if !d.flag() {
		return time.Time{}
	}
	seconds, nanoseconds := int64(d.uint64()), d.uint32()
	t := time.Unix(seconds, int64(nanoseconds)).UTC()
	if nanoseconds >= 1e9 || t.IsZero() { // the instant of the zero Time would read as never
		d.fail()
	}
	return t
}

// Key names a record: the argument of kv_get, kv_delete and kv_take.
type Key struct {
	Store Store
	Key   string
}

// Append appends the encoding of m to b.
func (m *Key) Append(b []byte) []byte {
	return appendString(m.Store.append(b), m.Key)
}

// Decode replaces m by the key encoded in b. The error is ErrMalformed.
func (m *Key) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Key{Store: d.store(), Key: d.string()}
	return d.end()
}

// Put is a record to store: the argument of kv_put and kv_insert.
type Put struct {
	Store   Store
	Key     string
	Value   []byte
	Expires time.Time // zero: never
}

// Append appends the encoding of m to b.
func (m *Put) Append(b []byte) []byte {
	b = appendString(m.Store.append(b), m.Key)
	return appendExpiry(appendBytes(b, m.Value), m.Expires)
}

// Decode replaces m by the record encoded in b. Value shares b's memory; Expires is in UTC. The error is ErrMalformed.
func (m *Put) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Put{Store: d.store(), Key: d.string(), Value: d.bytes(), Expires: d.expiry()}
	return d.end()
}

// Swap replaces the value of a record: the argument of kv_swap.
type Swap struct {
	Store    Store
	Key      string
	Old, New []byte
	Expires  time.Time // of the new value; zero: never
}

// Append appends the encoding of m to b.
func (m *Swap) Append(b []byte) []byte {
	b = appendString(m.Store.append(b), m.Key)
	return appendExpiry(appendBytes(appendBytes(b, m.Old), m.New), m.Expires)
}

// Decode replaces m by the swap encoded in b. Old and New share b's memory; Expires is in UTC. The error is ErrMalformed.
func (m *Swap) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Swap{Store: d.store(), Key: d.string(), Old: d.bytes(), New: d.bytes(), Expires: d.expiry()}
	return d.end()
}

// List asks for the keys with a prefix.
type List struct {
	Store  Store
	Prefix string
	Cursor string // empty: from the start; otherwise the Next of the page before
}

// Append appends the encoding of m to b.
func (m *List) Append(b []byte) []byte {
	return appendString(appendString(m.Store.append(b), m.Prefix), m.Cursor)
}

// Decode replaces m by the list encoded in b. The error is ErrMalformed.
func (m *List) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = List{Store: d.store(), Prefix: d.string(), Cursor: d.string()}
	return d.end()
}

// Value answers kv_get and kv_take.
type Value struct {
	Bytes []byte // nil: no such record, which differs from an empty one
}

// Append appends the encoding of m to b.
func (m *Value) Append(b []byte) []byte {
	return appendOptional(b, m.Bytes)
}

// Decode replaces m by the value encoded in b, sharing its memory. The error is ErrMalformed.
func (m *Value) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Value{Bytes: d.optional()}
	return d.end()
}

// Done answers kv_insert and kv_swap.
type Done struct {
	OK bool // whether the record was stored
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

// Page answers kv_list.
type Page struct {
	Keys []string
	Next string // cursor of the next page; empty: this is the last
}

// Append appends the encoding of m to b.
func (m *Page) Append(b []byte) []byte {
	b = appendUint32(b, uint32(len(m.Keys)))
	for _, key := range m.Keys {
		b = appendString(b, key)
	}
	return appendString(b, m.Next)
}

// Decode replaces m by the page encoded in b. The error is ErrMalformed.
func (m *Page) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Page{}
	n := d.count(4)
	if n > 0 {
		m.Keys = make([]string, n)
	}
	for i := range m.Keys {
		m.Keys[i] = d.string()
	}
	m.Next = d.string()
	return d.end()
}
