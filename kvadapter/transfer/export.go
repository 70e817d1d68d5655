package transfer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// ExportOptions say what is exported.
type ExportOptions struct {
	// Prefix is that of kvadapter.Options: only records whose keys begin with it are exported,
	// and without it. Empty: everything in the store.
	Prefix string

	// Cursor is the last "next" in a file that was cut off, to go on behind that line. Records is
	// the number in the same line. Empty: from the beginning.
	Cursor  string
	Records int64

	// Progress is told after each page how many records there are so far. Nil: nobody.
	Progress func(records int64)
}

// Export writes all records of a store as NDJSON, a page at a time. The bytes of a page go to w
// with the line that says where the next one begins in one Write. With a Cursor there is no first
// line, since the file has one.
//
// What is in the store from the beginning to the end of the export, unchanged, is in the file, at
// least once, and with a Cursor too. What is written or deleted meanwhile may be there as it was before,
// as it is after, or not at all, so records may contradict each other: a session may be missing in
// the index of its user, and SignOutEverywhere doesn't end it. For a file that is right, stop
// the program, or export a copy of its database.
func Export(ctx context.Context, from kv.Lister, w io.Writer, o ExportOptions) (records int64, err error) {
	var out []byte
	if o.Cursor == "" {
		out = append(out, headerLine...)
	}
	records, cursor := o.Records, o.Cursor
	for {
		page, next, err := from.List(ctx, o.Prefix, cursor)
		if err != nil {
			return records, err
		}
		for _, record := range page {
			if out, err = appendRecord(out, record, o.Prefix); err != nil {
				return records, err
			}
		}
		out = appendNext(out, next, records+int64(len(page)))
		if _, err := w.Write(out); err != nil {
			return records, err
		}
		records, cursor, out = records+int64(len(page)), next, out[:0]
		if o.Progress != nil {
			o.Progress(records)
		}
		if next == "" {
			return records, nil
		}
	}
}

// LastPage finds out how far a file of an export that was cut off is: up to which byte it is good,
// and with which Cursor and Records an export goes on behind that. Of a complete file the cursor
// is empty, and of one without a page everything is zero: an export of it begins anew.
func LastPage(file io.Reader) (size int64, cursor string, records int64, err error) {
	in := bufio.NewReader(file)
	at, begun := int64(0), false
	for {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			if !begun && !bytes.HasPrefix([]byte(headerLine), text) {
				return 0, "", 0, ErrFormat // whatever it is, it stays
			}
			return size, cursor, records, nil // what has no end was cut off
		}
		if err != nil {
			return 0, "", 0, err
		}
		at += int64(len(text))
		if !begun {
			if begun = isHeader(text); !begun {
				return 0, "", 0, ErrFormat
			}
			continue
		}
		var l line
		if bytes.HasPrefix(text, []byte(`{"next":`)) && json.Unmarshal(text, &l) == nil && l.Next != nil {
			size, cursor, records = at, *l.Next, l.Records
		}
	}
}
