package abi_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/edge/abi"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

type message interface {
	Append([]byte) []byte
	Decode([]byte) error
}

func samples() map[string][]message {
	fields := []abi.Field{{"Set-Cookie", "a=1; Path=/"}, {"X", "\xe9\xff caf\u00e9"}, {"set-cookie", ""}}
	writes := []kv.Write{
		{Key: "gone"},
		{Key: "k", Value: []byte("\x00v\xff"), Ref: "user:1", Expires: time.UnixMilli(1).UTC()},
		{Key: "l", Value: []byte("v"), Expires: time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)},
	}
	return map[string][]message{
		"Request": {
			&abi.Request{Method: "GET", URL: "http://h/"},
			&abi.Request{Method: "POST", URL: "https://h:1/a?b=%20", Remote: "[::1]:80", Fields: fields, Body: []byte("body")},
			&abi.Request{Method: "POST", URL: "https://h/", Body: []byte{}},
		},
		"Fetch": {
			&abi.Fetch{Method: "GET", URL: "https://h/"},
			&abi.Fetch{Timeout: 1500 * time.Millisecond, Method: "PUT", URL: "https://h/", Fields: fields, Body: []byte{}},
		},
		"Response": {
			&abi.Response{Status: 204},
			&abi.Response{Status: 999, Fields: fields, Body: bytes.Repeat([]byte{0}, 300)},
		},
		"Call":    {&abi.Call{Message: []byte{}}, &abi.Call{Store: abi.Store{Cache: true, Binding: "AUTH"}, Message: []byte("m")}},
		"Get":     {&abi.Get{}, &abi.Get{Keys: []string{"", "user:\x00\xff"}}},
		"Commit":  {&abi.Commit{}, &abi.Commit{Checks: []kv.Check{{Key: "k"}, {Key: "l", Version: "1"}}, Writes: writes}},
		"List":    {&abi.List{}, &abi.List{Prefix: "user:", Cursor: "user:9"}},
		"Entries": {&abi.Entries{}, &abi.Entries{Entries: []kv.Entry{{Key: "absent"}, {Key: "k", Value: []byte("v"), Version: "1"}}}},
		"Done":    {&abi.Done{}, &abi.Done{OK: true}},
		"Page":    {&abi.Page{}, &abi.Page{Writes: writes, Next: "l"}},
	}
}

func blank(m message) message {
	return reflect.New(reflect.TypeOf(m).Elem()).Interface().(message)
}

func TestMessagesSurviveTheTrip(t *testing.T) {
	t.Parallel()
	for name, messages := range samples() {
		for _, want := range messages {
			got := blank(want)
			if err := got.Decode(want.Append(nil)); err != nil {
				t.Errorf("%s %+v: %v", name, want, err)
			} else if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %+v, want %+v", name, got, want)
			}
		}
	}
}

func TestEveryPrefixAndEveryTailIsMalformed(t *testing.T) {
	t.Parallel()
	for name, messages := range samples() {
		if name == "Call" {
			continue // its message is whatever follows
		}
		for _, m := range messages {
			encoded := m.Append(nil)
			for n := range encoded {
				if err := blank(m).Decode(encoded[:n]); !errors.Is(err, abi.ErrMalformed) {
					t.Errorf("%s %+v cut to %d bytes: %v", name, m, n, err)
				}
			}
			if err := blank(m).Decode(append(encoded, 0)); !errors.Is(err, abi.ErrMalformed) {
				t.Errorf("%s %+v and one byte more: %v", name, m, err)
			}
		}
	}
}

func TestValuesOutsideTheRulesAreMalformed(t *testing.T) {
	t.Parallel()
	for rule, m := range map[string]message{
		"empty method":           &abi.Request{URL: "http://h/"},
		"space in method":        &abi.Request{Method: "GET /", URL: "http://h/"},
		"empty url":              &abi.Request{Method: "GET"},
		"space in url":           &abi.Request{Method: "GET", URL: "http://h/ HTTP/1.1"},
		"newline in url":         &abi.Fetch{Method: "GET", URL: "http://h/\n"},
		"control in remote":      &abi.Request{Method: "GET", URL: "http://h/", Remote: "\x7f"},
		"empty field name":       &abi.Response{Status: 200, Fields: []abi.Field{{"", "v"}}},
		"colon in field name":    &abi.Response{Status: 200, Fields: []abi.Field{{"a:", "v"}}},
		"non-ASCII field name":   &abi.Response{Status: 200, Fields: []abi.Field{{"\xe9", "v"}}},
		"newline in field value": &abi.Response{Status: 200, Fields: []abi.Field{{"a", "v\r\nSet-Cookie: x=1"}}},
		"NUL in field value":     &abi.Response{Status: 200, Fields: []abi.Field{{"a", "\x00"}}},
		"status 99":              &abi.Response{Status: 99},
		"status 1000":            &abi.Response{Status: 1000},
	} {
		if err := blank(m).Decode(m.Append(nil)); !errors.Is(err, abi.ErrMalformed) {
			t.Errorf("%s: %v", rule, err)
		}
	}
	for rule, c := range map[string]struct {
		encoded string // in hexadecimal
		message message
	}{
		"flag 2 in a call":           {"0200000000", new(abi.Call)},
		"binding past the end":       {"00ffffffff", new(abi.Call)},
		"flag 2":                     {"02", new(abi.Done)},
		"key past the end":           {"01000000ffffffff", new(abi.Get)},
		"more keys than bytes":       {"02000000" + "00000000", new(abi.Get)},
		"expiry after the year 9999": {"00000000" + "01000000" + "00000000" + "00000000" + "00000000" + "00dc1fd277e60000", new(abi.Commit)},
	} {
		b, err := hex.DecodeString(c.encoded)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.message.Decode(b); !errors.Is(err, abi.ErrMalformed) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

func TestExpiriesAreMillisecondsUntilTheYear9999(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Time]time.Time{
		{}:                          {},
		time.Unix(7, 1_999_999):     time.UnixMilli(7001).UTC(),
		time.Unix(0, 0):             time.UnixMilli(1).UTC(), // 0 is never
		time.Unix(-1, 0):            time.UnixMilli(1).UTC(),
		time.Unix(math.MaxInt32, 0): time.Unix(math.MaxInt32, 0).UTC(),
		time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC): time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC),
	} {
		sent := abi.Commit{Writes: []kv.Write{{Key: "k", Value: []byte("v"), Expires: in}}}
		var got abi.Commit
		if err := got.Decode(sent.Append(nil)); err != nil || got.Writes[0].Expires != want {
			t.Errorf("%v became %v (%v), want %v", in, got.Writes, err, want)
		}
	}
}

func TestDecodeAllocatesInProportion(t *testing.T) { // not parallel: it counts the bytes of the whole process
	huge := []byte{0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0} // a page of 268 million keys in 8 bytes
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_ = new(abi.Page).Decode(huge)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<10 {
		t.Errorf("decoding 8 bytes allocated %d", got)
	}
}

func TestFetchTimeoutsAreWholeMilliseconds(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]time.Duration{
		-time.Second:     0,
		1999999:          time.Millisecond,
		math.MaxInt64:    (1<<32 - 1) * time.Millisecond,
		10 * time.Second: 10 * time.Second,
	} {
		var got abi.Fetch
		if err := got.Decode((&abi.Fetch{Timeout: in, Method: "GET", URL: "http://h/"}).Append(nil)); err != nil || got.Timeout != want {
			t.Errorf("%v became %v (%v), want %v", in, got.Timeout, err, want)
		}
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	if m, err := abi.Open(abi.Result([]byte("m"))); err != nil || string(m) != "m" {
		t.Errorf("result: %q, %v", m, err)
	}
	var failure *abi.Error
	if _, err := abi.Open(abi.Fail(abi.CodeTimeout, strings.Repeat("x", 9999))); !errors.As(err, &failure) ||
		failure.Code != abi.CodeTimeout || len(failure.Text) != abi.MaxText {
		t.Errorf("failure: %v", err)
	}
	for _, malformed := range [][]byte{nil, {6}, {255, 'x'}, append([]byte{4}, make([]byte, abi.MaxText+1)...)} {
		if _, err := abi.Open(malformed); !errors.Is(err, abi.ErrMalformed) {
			t.Errorf("% x: %v", malformed[:min(len(malformed), 4)], err)
		}
	}
}

// FuzzDecode feeds one input to every decoder: none may panic, and what one accepts it must write back the same.
func FuzzDecode(f *testing.F) {
	var kinds []message
	for _, messages := range samples() {
		kinds = append(kinds, messages[0])
		for _, m := range messages {
			f.Add(m.Append(nil))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range kinds {
			m := blank(kind)
			if err := m.Decode(b); err != nil {
				continue
			}
			if got := m.Append(nil); !bytes.Equal(got, b) {
				t.Errorf("%T: % x became % x", m, b, got)
			}
		}
	})
}

// FuzzOpen holds the same for results.
func FuzzOpen(f *testing.F) {
	f.Add(abi.Result([]byte("m")))
	f.Add(abi.Fail(abi.CodeFailed, "text"))
	f.Fuzz(func(t *testing.T, b []byte) {
		message, err := abi.Open(b)
		got := abi.Result(message)
		var failure *abi.Error
		if errors.As(err, &failure) {
			got = abi.Fail(failure.Code, failure.Text)
		} else if err != nil {
			return
		}
		if !bytes.Equal(got, b) {
			t.Errorf("% x became % x", b, got)
		}
	})
}
