package abi

import "time"

// Field is one header field. Name is a token in any case; Value has any bytes but CR, LF and NUL.
type Field struct {
	Name, Value string
}

// Request is what a client asked of the guest.
type Request struct {
	Method string // a token
	URL    string // absolute
	Remote string // address of the client; empty when unknown
	Fields []Field
	Body   []byte // nil: absent, which differs from empty
}

// Append appends the encoding of m to b.
func (m *Request) Append(b []byte) []byte {
	b = appendString(b, m.Method)
	b = appendString(b, m.URL)
	b = appendString(b, m.Remote)
	b = appendFields(b, m.Fields)
	return appendOptional(b, m.Body)
}

// Decode replaces m by the request encoded in b. Body shares b's memory. The error is ErrMalformed.
func (m *Request) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Request{Method: d.token(), URL: d.visible(), Remote: d.visible(), Fields: d.fields(), Body: d.optional()}
	if m.URL == "" {
		d.fail()
	}
	return d.end()
}

// Fetch is a request of the guest to the world.
type Fetch struct {
	Timeout time.Duration // whole milliseconds, at most 49 days; 0: the host's limit alone
	Method  string        // a token
	URL     string        // absolute
	Fields  []Field
	Body    []byte // nil: absent
}

// Append appends the encoding of m to b.
func (m *Fetch) Append(b []byte) []byte {
	b = appendUint32(b, uint32(min(max(m.Timeout/time.Millisecond, 0), 1<<32-1)))
	b = appendString(b, m.Method)
	b = appendString(b, m.URL)
	b = appendFields(b, m.Fields)
	return appendOptional(b, m.Body)
}

// Decode replaces m by the fetch encoded in b. Body shares b's memory. The error is ErrMalformed.
func (m *Fetch) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Fetch{Timeout: time.Duration(d.uint32()) * time.Millisecond, Method: d.token(), URL: d.visible(), Fields: d.fields(), Body: d.optional()}
	if m.URL == "" {
		d.fail()
	}
	return d.end()
}

// Response answers a Request or a Fetch.
type Response struct {
	Status int // 100 to 999
	Fields []Field
	Body   []byte // nil: absent
}

// Append appends the encoding of m to b.
func (m *Response) Append(b []byte) []byte {
	b = append(b, byte(m.Status), byte(m.Status>>8))
	b = appendFields(b, m.Fields)
	return appendOptional(b, m.Body)
}

// Decode replaces m by the response encoded in b. Body shares b's memory. The error is ErrMalformed.
func (m *Response) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Response{Status: d.uint16(), Fields: d.fields(), Body: d.optional()}
	if m.Status < 100 || m.Status > 999 {
		d.fail()
	}
	return d.end()
}

// Key names a record: the argument of kv_get and kv_delete.
type Key struct {
	Binding, Key string
}

// Append appends the encoding of m to b.
func (m *Key) Append(b []byte) []byte {
	return appendString(appendString(b, m.Binding), m.Key)
}

// Decode replaces m by the key encoded in b. The error is ErrMalformed.
func (m *Key) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Key{Binding: d.string(), Key: d.string()}
	return d.end()
}

// Put stores a record.
type Put struct {
	Binding, Key string
	Value        []byte
	Expires      time.Time // zero: never
}

// Append appends the encoding of m to b.
func (m *Put) Append(b []byte) []byte {
	b = appendString(b, m.Binding)
	b = appendString(b, m.Key)
	b = appendBytes(b, m.Value)
	if m.Expires.IsZero() {
		return append(b, 0)
	}
	b = appendUint64(append(b, 1), uint64(m.Expires.Unix()))
	return appendUint32(b, uint32(m.Expires.Nanosecond()))
}

// Decode replaces m by the record encoded in b. Value shares b's memory; Expires is in UTC. The error is ErrMalformed.
func (m *Put) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = Put{Binding: d.string(), Key: d.string(), Value: d.bytes()}
	if d.flag() {
		seconds, nanoseconds := int64(d.uint64()), d.uint32()
		m.Expires = time.Unix(seconds, int64(nanoseconds)).UTC()
		if nanoseconds >= 1e9 || m.Expires.IsZero() { // the instant of the zero Time would read as never
			d.fail()
		}
	}
	return d.end()
}

// List asks for the keys with a prefix.
type List struct {
	Binding, Prefix string
	Cursor          string // empty: from the start; otherwise the Next of the page before
}

// Append appends the encoding of m to b.
func (m *List) Append(b []byte) []byte {
	return appendString(appendString(appendString(b, m.Binding), m.Prefix), m.Cursor)
}

// Decode replaces m by the list encoded in b. The error is ErrMalformed.
func (m *List) Decode(b []byte) error {
	d := decoder{rest: b}
	*m = List{Binding: d.string(), Prefix: d.string(), Cursor: d.string()}
	return d.end()
}

// Value answers kv_get.
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
