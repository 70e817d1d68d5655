package bolt

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// A record is what is stored under a key:
//
//	1 byte   the number of this format
//	8 bytes  the version
//	8 bytes  the expiry, in milliseconds since 1970, signed
//	2 bytes  the length of the reference
//	         the reference
//	         the value
//
// Numbers are big-endian.
type record struct {
	version uint64 // of the commit that wrote it; never 0
	expires int64  // in milliseconds since 1970, or forever
	ref     string
	value   []byte // never empty
}

const (
	format     = 2
	headerSize = 1 + 8 + 8 + 2
	forever    = math.MaxInt64
)

var errRecord = errors.New("bolt: malformed record")

func newRecord(version uint64, w kv.Write) record {
	r := record{version: version, expires: forever, ref: w.Ref, value: w.Value}
	if !w.Expires.IsZero() {
		r.expires = w.Expires.UnixMilli()
	}
	return r
}

func (r record) encode() []byte {
	out := make([]byte, 0, headerSize+len(r.ref)+len(r.value))
	out = append(out, format)
	out = binary.BigEndian.AppendUint64(out, r.version)
	out = binary.BigEndian.AppendUint64(out, uint64(r.expires))
	out = binary.BigEndian.AppendUint16(out, uint16(len(r.ref)))
	out = append(out, r.ref...)
	return append(out, r.value...)
}

// decode reads what encode wrote, and nothing else. The value is part of stored.
func decode(stored []byte) (record, error) {
	if len(stored) < headerSize || stored[0] != format {
		return record{}, errRecord
	}
	r := record{version: binary.BigEndian.Uint64(stored[1:]), expires: int64(binary.BigEndian.Uint64(stored[9:]))}
	refSize, rest := int(binary.BigEndian.Uint16(stored[17:])), stored[headerSize:]
	if r.version == 0 || refSize >= len(rest) || len(rest)-refSize > kv.MaxValue {
		return record{}, errRecord
	}
	r.ref, r.value = string(rest[:refSize]), rest[refSize:]
	if r.ref != "" && kv.CheckKey(r.ref) != nil {
		return record{}, errRecord
	}
	return r, nil
}

func (r record) hasEnded(now time.Time) bool { return r.expires <= now.UnixMilli() }

// end is the expiry as callers see it.
func (r record) end() time.Time {
	if r.expires == forever {
		return time.Time{}
	}
	return time.UnixMilli(r.expires)
}
