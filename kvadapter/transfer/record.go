// Package transfer moves what is in a store: to a file and back, to another store, or in from
// the tables of Auth.js's SQL adapters. Its README.md has the commands; program authstore is made
// of this package, and [Handler] lets it reach a store that only a worker can open.
//
// # Format
//
// A file is NDJSON, one object a line. The first one says what follows:
//
//	{"format":"edgeauth-records","version":1}
//
// A record has its key, the key that it refers to, and when it ends, in milliseconds since 1970.
// The last two may be missing. The value is its JSON text, byte by byte; "base64" stands for it
// when it isn't JSON in UTF-8. Keys are without the prefix of kvadapter.Options, which values
// never have, so a file can go to a store with another one.
//
//	{"key":"session.Jc…","ref":"user.q0…","expires":1769817600000,"value":{"kind":"session",…}}
//
// Behind each page that a store gave is a line that says where the next one begins and how many
// records there were so far. An empty "next" is the end of a complete file:
//
//	{"next":"session.Jc…","records":1000}
package transfer

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

const headerLine = `{"format":"edgeauth-records","version":1}` + "\n"

// ErrFormat is the error for a file whose first line isn't that of this package, or of a version
// that is not known.
var ErrFormat = errors.New("transfer: the file doesn't begin with " + strings.TrimSpace(headerLine))

// A line is any line of a file.
type line struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Key     string          `json:"key"`
	Ref     string          `json:"ref"`
	Expires int64           `json:"expires"`
	Value   json.RawMessage `json:"value"`
	Base64  []byte          `json:"base64"`
	Next    *string         `json:"next"`
	Records int64           `json:"records"`
}

// isHeader reports whether a line is the first one of a file that this package can read.
func isHeader(text []byte) bool {
	var l line
	return json.Unmarshal(text, &l) == nil && l.Format == "edgeauth-records" && l.Version == 1
}

// appendRecord appends the line of a record, whose key begins with prefix.
func appendRecord(dst []byte, w kv.Write, prefix string) ([]byte, error) {
	key, ok := strings.CutPrefix(w.Key, prefix)
	ref, isInside := strings.CutPrefix(w.Ref, prefix)
	if !ok || w.Ref != "" && !isInside {
		return nil, fmt.Errorf("transfer: %.80q or what it refers to has another prefix than %q", w.Key, prefix)
	}
	dst = appendText(append(dst, `{"key":`...), key)
	if ref != "" {
		dst = appendText(append(dst, `,"ref":`...), ref)
	}
	if !w.Expires.IsZero() {
		dst = fmt.Appendf(dst, `,"expires":%d`, w.Expires.UnixMilli())
	}
	if isLine(w.Value) {
		dst = append(append(dst, `,"value":`...), w.Value...)
	} else {
		dst = append(base64.StdEncoding.AppendEncode(append(dst, `,"base64":"`...), w.Value), '"')
	}
	return append(dst, "}\n"...), nil
}

// isLine reports whether a value can stand in a line and comes out of it byte by byte.
func isLine(value []byte) bool {
	return json.Valid(value) && utf8.Valid(value) && !bytes.ContainsAny(value, "\r\n") && len(bytes.TrimSpace(value)) == len(value)
}

func appendText(dst []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // text can't fail
	return append(dst, quoted...)
}

// appendNext appends the line behind a page.
func appendNext(dst []byte, next string, records int64) []byte {
	return fmt.Appendf(appendText(append(dst, `{"next":`...), next), ",\"records\":%d}\n", records)
}

// parseLine reads a line. Without an error it is a record, unless next isn't nil.
func parseLine(text []byte, prefix string) (w kv.Write, next *string, reason string) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return w, nil, "not a JSON object of this format"
	}
	if l.Next != nil && l.Key == "" {
		return w, l.Next, ""
	}
	w = kv.Write{Key: prefix + l.Key, Value: l.Value}
	if len(l.Value) == 0 {
		w.Value = l.Base64
	}
	if l.Ref != "" {
		w.Ref = prefix + l.Ref
	}
	if l.Expires != 0 {
		w.Expires = time.UnixMilli(l.Expires)
	}
	switch {
	case l.Key == "" || kv.CheckKey(w.Key) != nil || w.Ref != "" && kv.CheckKey(w.Ref) != nil:
		return w, nil, "a key is missing, too long, or not printable ASCII"
	case len(w.Value) == 0:
		return w, nil, "the value is missing"
	case len(w.Value) > kv.MaxValue:
		return w, nil, "the value has more than 65,536 bytes"
	}
	return w, nil, ""
}
