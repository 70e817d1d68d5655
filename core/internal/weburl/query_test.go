package weburl_test

import (
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

type nodeForms struct {
	Node       string
	Forms      [][3]any
	Components [][3]any
}

func readForms(t testing.TB) (f nodeForms) {
	t.Helper()
	readJSON(t, "testdata/forms.json", &f)
	if len(f.Forms) < 300 || len(f.Components) < 300 {
		t.Fatal("the vectors are missing")
	}
	return f
}

func TestFormsAgreeWithNode(t *testing.T) {
	t.Parallel()
	for _, row := range readForms(t).Forms {
		var want weburl.Query
		for _, pair := range row[1].([]any) {
			p := pair.([]any)
			want = append(want, weburl.Param{Name: p[0].(string), Value: p[1].(string)})
		}
		got := weburl.ParseQuery(row[0].(string))
		if !slices.Equal(got, want) {
			t.Errorf("ParseQuery(%q) = %q, want %q", row[0], got, want)
		}
		if s := got.Encode(); s != row[2] {
			t.Errorf("ParseQuery(%q).Encode() = %q, want %q", row[0], s, row[2])
		}
	}
}

func TestComponentsAgreeWithNode(t *testing.T) {
	t.Parallel()
	for _, row := range readForms(t).Components {
		in := row[0].(string)
		if got := weburl.EncodeComponent(in); got != row[1] {
			t.Errorf("EncodeComponent(%q) = %q, want %q", in, got, row[1])
		}
		got, ok := weburl.DecodeComponent(in)
		if want, wantOK := row[2].(string); got != want || ok != wantOK {
			t.Errorf("DecodeComponent(%q) = %q, %v; want %q, %v", in, got, ok, want, wantOK)
		}
	}
}

func TestBytesThatAreNotText(t *testing.T) {
	t.Parallel()
	if got := weburl.EncodeComponent("a\xffb"); got != "a%FFb" {
		t.Errorf("EncodeComponent = %q", got)
	}
	if got, ok := weburl.DecodeComponent("\xff%20\xe2%20"); got != "\xff \xe2 " || !ok {
		t.Errorf("DecodeComponent of raw bytes = %q, %v", got, ok)
	}
	if got, ok := weburl.DecodeComponent("\xe2%82%AC"); ok {
		t.Errorf("DecodeComponent joined a raw byte with escapes: %q", got)
	}
	if got := weburl.ParseQuery("a=\xff%FF+"); !slices.Equal(got, weburl.Query{{Name: "a", Value: "\ufffd\ufffd "}}) {
		t.Errorf("ParseQuery = %q", got)
	}
}

func TestGetAndLast(t *testing.T) {
	t.Parallel()
	q := weburl.ParseQuery("?a=1&b=&a=2")
	for _, c := range []struct {
		name, first, last string
		ok                bool
	}{{"a", "1", "2", true}, {"b", "", "", true}, {"c", "", "", false}, {"A", "", "", false}} {
		if v, ok := q.Get(c.name); v != c.first || ok != c.ok {
			t.Errorf("Get(%q) = %q, %v", c.name, v, ok)
		}
		if v, ok := q.Last(c.name); v != c.last || ok != c.ok {
			t.Errorf("Last(%q) = %q, %v", c.name, v, ok)
		}
	}
}

func FuzzParseQuery(f *testing.F) {
	for _, row := range readForms(f).Forms {
		f.Add(row[0].(string))
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := weburl.ParseQuery(s)
		for _, p := range q {
			if !utf8.ValidString(p.Name) || !utf8.ValidString(p.Value) {
				t.Fatalf("ParseQuery(%q) = %q, which is not UTF-8", s, q)
			}
		}
		if again := weburl.ParseQuery("?" + q.Encode()); !slices.Equal(again, q) {
			t.Errorf("%q reads as %q, then as %q", s, q, again)
		}
	})
}

func FuzzComponent(f *testing.F) {
	for _, row := range readForms(f).Components {
		f.Add(row[0].(string))
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, ok := weburl.DecodeComponent(weburl.EncodeComponent(s)); utf8.ValidString(s) && (!ok || got != s) {
			t.Errorf("%q comes back as %q, %v", s, got, ok)
		}
		if got, ok := weburl.DecodeComponent(s); ok && utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("DecodeComponent(%q) = %q, which is not UTF-8", s, got)
		}
	})
}
