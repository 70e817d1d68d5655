package core

import (
	"encoding/json"
	"testing"
	"time"
)

// FuzzAppendText holds the writer of JSON strings against encoding/json.
func FuzzAppendText(f *testing.F) {
	for _, seed := range []string{"", "plain", `"\` + "\n\r\t\b\f\x00\x1f\x7f", "<script>&amp;</script>", "Zoë 日本 \U0001F600\u2028\u2029", "\xff\xc3\x28\xed\xa0\x80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendText(nil, text); string(got) != string(want) {
			t.Errorf("%q is written as %s, want %s", text, got, want)
		}
	})
}

func TestAppendJSON(t *testing.T) {
	t.Parallel()
	for _, value := range []any{
		nil, true, false, "text", int64(-5), 7, 1.5, json.Number("1e21"), []any{1, "a", nil}, map[string]any{},
		map[string]any{"b": map[string]any{"z": 1, "a": nil}, "a": []string{"x"}}, JWT{"sub": "x", "n": json.Number("9007199254740993")},
		map[string]any{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8, "i": 9, "j": 10, "k": 11, "l": 12, "m": 13, "n": 14, "o": 15, "p": 16, "q": 17},
	} {
		want, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := appendJSON(nil, value); err != nil || string(got) != string(want) {
			t.Errorf("%#v is written as %s, %v, want %s", value, got, err, want)
		}
	}
	if _, err := appendJSON(nil, map[string]any{"f": func() {}}); err == nil {
		t.Error("a function was written")
	}
}

// Whatever is in it, a session is written as an object of its members, each once.
func TestSessionIsWrittenWhole(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 12, 0, 0, 5e6, time.FixedZone("", 3600))
	for want, s := range map[string]Session{
		`{}`:                                     {},
		`{"user":{}}`:                            {User: &User{}},
		`{"expires":"2026-01-31T11:00:00.005Z"}`: {Expires: at},
		`{"expires":"2026-01-31T11:00:00.005Z","user":{"email":"e","id":"i","image":"p","name":"n"},"role":"admin"}`: {
			User: &User{ID: "i", Name: "n", Email: "e", Image: "p"}, Expires: at, Extra: map[string]any{"role": "admin"},
		},
		`{"user":{"name":null,"x":1}}`:              {User: &User{Name: "hidden", Extra: map[string]any{"name": nil, "x": 1}}},
		`{"expires":"never","user":"nobody"}`:       {User: &User{Name: "n"}, Expires: at, Extra: map[string]any{"expires": "never", "user": "nobody"}},
		`{"user":{"name":"\u003cb\u003e"},"a":[1]}`: {User: &User{Name: "<b>"}, Extra: map[string]any{"a": []int{1}}},
	} {
		got, err := json.Marshal(s)
		if err != nil || string(got) != want {
			t.Errorf("%+v is written as %s, %v, want %s", s, got, err, want)
		}
	}
}
