package abi

import (
	"encoding/binary"
	"errors"
	"strings"
)

// ErrMalformed is the error of every Decode: the bytes are not an encoding of the message.
var ErrMalformed = errors.New("abi: malformed message")

func appendUint32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
func appendUint64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

func appendFlag(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendString(b []byte, s string) []byte {
	return append(appendUint32(b, uint32(len(s))), s...)
}

func appendBytes(b, p []byte) []byte {
	return append(appendUint32(b, uint32(len(p))), p...)
}

func appendOptional(b, p []byte) []byte {
	if p == nil {
		return append(b, 0)
	}
	return appendBytes(append(b, 1), p)
}

func appendFields(b []byte, fields []Field) []byte {
	b = appendUint32(b, uint32(len(fields)))
	for _, f := range fields {
		b = appendString(appendString(b, f.Name), f.Value)
	}
	return b
}

// decoder reads a message from rest. After the first violation every read returns zero and end reports it, so that a
// Decode is a list of reads. It allocates no more than a small multiple of the bytes it was given.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) fail() {
	d.bad, d.rest = true, nil
}

func (d *decoder) end() error {
	if d.bad || len(d.rest) != 0 {
		return ErrMalformed
	}
	return nil
}

func (d *decoder) next(n int) []byte {
	if n > len(d.rest) {
		d.fail()
		return nil
	}
	p := d.rest[:n:n]
	d.rest = d.rest[n:]
	return p
}

func (d *decoder) uint16() int {
	if p := d.next(2); p != nil {
		return int(binary.LittleEndian.Uint16(p))
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if p := d.next(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if p := d.next(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

func (d *decoder) flag() bool {
	p := d.next(1)
	if p == nil {
		return false
	}
	if p[0] > 1 {
		d.fail()
	}
	return p[0] == 1
}

// count reads the length of a list whose elements take at least size bytes each.
func (d *decoder) count(size int) int {
	n := d.uint32()
	if uint64(n)*uint64(size) > uint64(len(d.rest)) {
		d.fail()
		return 0
	}
	return int(n)
}

// bytes returns a slice that is never nil unless the message is malformed.
func (d *decoder) bytes() []byte {
	n := d.count(1)
	if d.bad {
		return nil
	}
	return d.next(n)
}

func (d *decoder) string() string { return string(d.bytes()) }

func (d *decoder) optional() []byte {
	if d.flag() {
		return d.bytes()
	}
	return nil
}

func (d *decoder) token() string {
	s := d.string()
	if !IsToken(s) {
		d.fail()
	}
	return s
}

// visible reads a string without control characters and spaces.
func (d *decoder) visible() string {
	s := d.string()
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			d.fail()
			return ""
		}
	}
	return s
}

func (d *decoder) fields() []Field {
	n := d.count(8)
	if n == 0 {
		return nil
	}
	fields := make([]Field, n)
	for i := range fields {
		fields[i] = Field{Name: d.token(), Value: d.string()}
		if !IsFieldValue(fields[i].Value) {
			d.fail()
		}
	}
	return fields
}

// IsToken reports whether s may be a method or the name of a header field: a token of RFC 9110, 5.6.2.
func IsToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0 {
			continue
		}
		return false
	}
	return s != ""
}

// IsFieldValue reports whether s may be the value of a header field: no byte of it could end or split the field.
func IsFieldValue(s string) bool {
	return !strings.ContainsAny(s, "\r\n\x00")
}
