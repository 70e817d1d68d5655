package bolt

import (
	"encoding/binary"
	"errors"
	"time"
)

// A record is a header and the value. The header is what the first byte says: forever, or
// until, which 12 bytes follow: the expiry as seconds since 1970 and nanoseconds, big-endian.
const (
	forever    = 0
	until      = 1
	headerSize = 13
)

var errRecord = errors.New("bolt: malformed record")

func encode(value []byte, expires time.Time) []byte {
	out := make([]byte, 0, headerSize+len(value))
	if expires.IsZero() {
		out = append(out, forever)
	} else {
		out = append(out, until)
		out = binary.BigEndian.AppendUint64(out, uint64(expires.Unix()))
		out = binary.BigEndian.AppendUint32(out, uint32(expires.Nanosecond()))
	}
	return append(out, value...)
}

// decode gives the expiry, which is zero for a record that stays, and the value, which is
// part of record.
func decode(record []byte) (expires time.Time, value []byte, err error) {
	switch {
	case len(record) >= 1 && record[0] == forever:
		return time.Time{}, record[1:], nil
	case len(record) >= headerSize && record[0] == until:
		seconds, nanoseconds := binary.BigEndian.Uint64(record[1:]), binary.BigEndian.Uint32(record[9:])
		if nanoseconds >= uint32(time.Second) {
			return time.Time{}, nil, errRecord
		}
		return time.Unix(int64(seconds), int64(nanoseconds)), record[headerSize:], nil
	default:
		return time.Time{}, nil, errRecord
	}
}

func hasEnded(expires, now time.Time) bool {
	return !expires.IsZero() && !now.Before(expires)
}
