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
