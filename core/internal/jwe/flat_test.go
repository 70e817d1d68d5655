package jwe

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzParseFlat: whatever the short way reads, encoding/json reads the same.
func FuzzParseFlat(f *testing.F) {
	for _, seed := range []string{
		`{"name":"Ada","iat":1,"exp":9007199254740993,"n":null,"t":true,"f":false}`, `{"a":"b","a":"c"}`, `{"":""}`, `{"a":0}`, `{}`,
		`{"a":01}`, `{"a":-1}`, `{"a":1.5}`, `{"a":1e3}`, `{"a":"\u0041"}`, `{"a":{}}`, `{"a":1,}`, `{"a":1}}`, `{"a":tru}`, `{"a":`, ` {"a":1}`, `{"a" :1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		got, ok := parseFlat(payload)
		if !ok || !bytes.Equal(payload, bytes.ToValidUTF8(payload, nil)) {
			return // ParseClaims refuses bad UTF-8 before
		}
		d := json.NewDecoder(bytes.NewReader(payload))
		d.UseNumber()
		var want map[string]any
		if err := d.Decode(&want); err != nil || d.InputOffset() != int64(len(payload)) {
			t.Fatalf("%q was read, but encoding/json says %v after %d bytes", payload, err, d.InputOffset())
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v, want %v", payload, got, want)
		}
	})
}

func TestParseFlatReadsWhatTokensHold(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]bool{
		`{"name":"Zoë","email":"z@x","picture":null,"sub":"1","iat":1760000000,"exp":1762592000,"jti":"x"}`: true,
		`{"a":"with \"quotes\""}`: false,
		`{"nested":{"a":1}}`:      false,
		`{}`:                      false,
	} {
		if _, ok := parseFlat([]byte(payload)); ok != want {
			t.Errorf("parseFlat(%s) = %v, want %v", payload, ok, want)
		}
	}
}
