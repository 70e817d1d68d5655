package authjs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/kvadapter/transfer"
	"github.com/edgeauth/edgeauth/kvadapter/transfer/internal/lines"
)

// A table reads rows as NDJSON or as CSV (RFC 4180) whose first line has the names of columns. JSON
// with one object a line is read, too, be it in brackets and with commas, as sqlite3 writes it.
type table struct {
	name   string
	in     *lines.Reader
	buffer []physicalLine // of CSV: read, and not yet part of a row
	end    error          // behind buffer
	kind   byte           // 'j', 'c' or 0: nothing was read yet
	header []byte
	names  []string // of CSV's columns
}

type physicalLine struct {
	text    []byte
	number  int
	tooLong bool
}

// A row is the columns that have a value, by their names in lower case without underscores: JSON
// text if it is from NDJSON, else a string.
type row struct {
	line    int
	text    []byte
	columns map[string]any
	names   map[string]string // the columns' own
}

func newTable(name string, r io.Reader) *table { return &table{name: name, in: lines.NewReader(r)} }

// next gives a row, or a reason why it can't be read. The error is io.EOF behind the last one.
func (t *table) next() (r row, reason string, err error) {
	for {
		first, err := t.peek(0)
		if err != nil {
			return row{}, "", err
		}
		blank := len(bytes.TrimSpace(first.text)) == 0 && !first.tooLong
		switch {
		case blank && t.kind != 'c':
			t.drop(1)
		case t.kind == 0:
			if err := t.begin(first); err != nil {
				return row{}, "", err
			}
		case t.kind == 'j':
			t.drop(1)
			if r, reason, isRow := t.object(first); isRow {
				return r, reason, nil
			}
		case blank:
			t.drop(1)
		default:
			return t.record(first)
		}
	}
}

// What can be wrong with a row of either kind.
const (
	reasonTooLong = "the line is longer than 1 MiB"
	reasonText    = "not UTF-8"
)

// peek gives the line that is n behind the next one.
func (t *table) peek(n int) (physicalLine, error) {
	for len(t.buffer) <= n {
		if t.end != nil {
			return physicalLine{}, t.end
		}
		text, tooLong, err := t.in.Next()
		if err != nil {
			t.end = err
			return physicalLine{}, err
		}
		t.buffer = append(t.buffer, physicalLine{text, t.in.Number, tooLong})
	}
	return t.buffer[n], nil
}

func (t *table) drop(n int) { t.buffer = slices.Delete(t.buffer, 0, n) }

// begin finds out what the file is, by its first line.
func (t *table) begin(first physicalLine) error {
	if first := bytes.TrimLeft(first.text, " \t"); bytes.HasPrefix(first, []byte("{")) || bytes.HasPrefix(first, []byte("[")) {
		t.kind = 'j'
		return nil
	}
	t.kind, t.header = 'c', append(bytes.Clone(first.text), '\n')
	names, err := csv.NewReader(bytes.NewReader(first.text)).Read()
	if err != nil || first.tooLong {
		return t.rejectError(first)
	}
	t.names = names
	t.drop(1)
	return nil
}

func (t *table) rejectError(l physicalLine) error {
	return &transfer.RejectError{Reject: transfer.Reject{Table: t.name, Line: l.number, Reason: "neither a JSON object nor CSV's names of columns", Text: l.text}}
}

// object reads a line of JSON. Brackets alone are not a row.
func (t *table) object(l physicalLine) (r row, reason string, isRow bool) {
	r = row{line: l.number, text: l.text}
	if l.tooLong {
		return r, reasonTooLong, true
	}
	if !utf8.Valid(l.text) {
		return r, reasonText, true
	}
	text := bytes.TrimSpace(l.text)
	if len(bytes.Trim(text, "[], \t")) == 0 {
		return r, "", false
	}
	if !bytes.HasPrefix(text, []byte("{")) {
		text = bytes.TrimLeft(text, "[, \t")
	}
	text = bytes.TrimRight(text, "], \t")
	var columns map[string]json.RawMessage
	if json.Unmarshal(text, &columns) != nil || columns == nil {
		return r, "not a JSON object", true
	}
	r.columns, r.names = make(map[string]any, len(columns)), make(map[string]string, len(columns))
	for name, value := range columns {
		if string(value) != "null" && string(value) != `""` {
			r.columns[columnName(name)], r.names[columnName(name)] = value, name
		}
	}
	return r, "", true
}

// record reads a row of CSV, which goes on while a quoted field does. If it can't be read, only its
// first line is rejected: a stray quotation mark doesn't take the rest of the file with it.
func (t *table) record(first physicalLine) (row, string, error) {
	r := row{line: first.number, text: first.text}
	if first.tooLong {
		t.drop(1)
		return r, reasonTooLong, nil
	}
	text := bytes.Clone(first.text)
	n := 1
	for ; bytes.Count(text, []byte(`"`))%2 != 0; n++ {
		l, err := t.peek(n)
		if err != nil && err != io.EOF {
			return row{}, "", err
		}
		if err == io.EOF || l.tooLong || len(text)+len(l.text) >= transfer.MaxLine {
			t.drop(1)
			return r, "a quoted field has no end", nil
		}
		text = append(append(text, '\n'), l.text...)
	}
	fields := csv.NewReader(bytes.NewReader(text))
	fields.FieldsPerRecord = len(t.names)
	values, err := fields.Read()
	if err != nil {
		t.drop(1)
		return r, "not CSV with as many fields as the first line", nil
	}
	if !utf8.Valid(text) {
		t.drop(1)
		return r, reasonText, nil
	}
	t.drop(n)
	r.text, r.columns, r.names = text, make(map[string]any, len(values)), make(map[string]string, len(values))
	for i, value := range values {
		if value != "" && value != `\N` {
			r.columns[columnName(t.names[i])], r.names[columnName(t.names[i])] = value, t.names[i]
		}
	}
	return r, "", nil
}

// columnName makes one of userId, user_id, userid and USER_ID.
func columnName(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(name), "_", ""))
}

// A fields reads columns of a row. reason is what is wrong with the first bad one.
type fields struct {
	row    row
	reason string
}

func (f *fields) fail(column, reason string) {
	if f.reason == "" {
		f.reason = column + " " + reason
	}
}

// text gives a column as text; empty: there is no value. Numbers keep their digits.
func (f *fields) text(column string) string {
	switch value := f.row.columns[columnName(column)].(type) {
	case string:
		return value
	case json.RawMessage:
		var text string
		switch c := value[0]; {
		case c == '"':
			if json.Unmarshal(value, &text) == nil {
				return text
			}
		case c != '{' && c != '[':
			return string(value)
		}
		f.fail(column, "is not text")
	}
	return ""
}

// must is text of a column that every row has.
func (f *fields) must(column string) string {
	text := f.text(column)
	if text == "" {
		f.fail(column, "is missing")
	}
	return text
}

func (f *fields) truth(column string) bool {
	switch strings.ToLower(f.text(column)) {
	case "true", "t", "1":
		return true
	case "false", "f", "0", "":
		return false
	}
	f.fail(column, "is neither true nor false")
	return false
}

// time reads a column of a time; zero: there is none.
func (f *fields) time(column string) time.Time {
	text := f.text(column)
	if text == "" || text == "0" {
		return time.Time{}
	}
	t, ok := parseTime(text)
	if !ok {
		f.fail(column, "is not a time")
	}
	return t
}

// timeLayouts are those of ISO 8601 and of the databases. Without a zone it is UTC, which is what
// Auth.js's adapters store.
var timeLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05",
}

// millisFrom is the number from which on an epoch is in milliseconds: in seconds it would be the
// year 5138, in milliseconds it is 1973.
const millisFrom = 100_000_000_000

// parseTime reads a time as ISO 8601, as SQL's timestamp, or in seconds or milliseconds since 1970.
func parseTime(text string) (t time.Time, ok bool) {
	if strings.Trim(text, "0123456789.") == "" {
		n, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || n <= 0 || n >= 253_402_300_800_000: // the year 10000
			return time.Time{}, false
		case n < millisFrom:
			n *= 1000
		}
		return time.UnixMilli(int64(n)).UTC(), true
	}
	if len(text) > 10 && text[10] == ' ' {
		text = text[:10] + "T" + strings.Replace(text[11:], " ", "", 1) // as in "12:00:00 +00:00"
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), t.UnixMilli() > 0 && t.Year() < 10000
		}
	}
	return time.Time{}, false
}
