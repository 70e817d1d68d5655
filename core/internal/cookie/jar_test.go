package cookie_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core/internal/cookie"
)

func TestParseIsBounded(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "c%d=%d; ", i, i)
	}
	big := "a=" + strings.Repeat("x", 70<<10) + "; b=" + strings.Repeat("y", 70<<10) + "; c=z"
	for _, c := range []struct {
		what, header string
		cookies      int
		last         string
	}{
		{"5000 cookies", many.String(), 200, "c199"},
		{"5000 with one name", strings.Repeat("a=b;", 5000), 1, "a"},
		{"a storm of semicolons", strings.Repeat(";", 1<<20) + "a=b", 0, ""},
		{"semicolons within the limit", strings.Repeat(";", 100<<10) + "a=b", 1, "a"},
		{"half a cookie at the limit", big, 1, "a"},
		{"one cookie beyond the limit", "a=" + strings.Repeat("x", 1<<20), 0, ""},
		{"200 KiB of blanks", strings.Repeat(" ", 200<<10) + "a=b", 0, ""},
	} {
		n, last := 0, ""
		for name := range cookie.Parse(c.header).All() {
			n, last = n+1, name
		}
		if n != c.cookies || last != c.last {
			t.Errorf("%s: %d cookies, the last is %q; want %d, %q", c.what, n, last, c.cookies, c.last)
		}
	}
}

func TestZeroJar(t *testing.T) {
	t.Parallel()
	var j cookie.Jar
	if v, ok := j.Get("a"); ok {
		t.Errorf("Get = %q", v)
	}
	if v, names := cookie.Chunks(j, "a"), cookie.Names(j, "a"); v != "" || len(names) > 0 {
		t.Errorf("Chunks = %q, %q", v, names)
	}
}

func TestJarKeepsBytes(t *testing.T) {
	t.Parallel()
	const header = "a=\xff\xfe%20; b=%FF"
	if v, _ := cookie.Parse(header).Get("a"); v != "\xff\xfe " {
		t.Errorf("a = %q", v)
	}
	if v, _ := cookie.Parse(header).Get("b"); v != "%FF" {
		t.Errorf("b = %q, want it undecoded", v)
	}
}

func FuzzParse(f *testing.F) {
	for _, row := range readReference(f).Headers {
		f.Add(row[0].(string))
	}
	f.Fuzz(func(t *testing.T, header string) {
		var seen []string
		for name, value := range cookie.Parse(header).All() {
			if slices.Contains(seen, name) || strings.ContainsAny(name, ";=") {
				t.Fatalf("Parse(%q) has the name %q after %q", header, name, seen)
			}
			seen = append(seen, name)
			// What we set, a browser sends back, and it is read as it was.
			sent, _, _ := strings.Cut(cookie.Cookie{Name: "n", Value: value}.String(), ";")
			if back, ok := cookie.Parse(sent).Get("n"); !ok || back != value && strings.ToValidUTF8(value, "") == value {
				t.Errorf("%q is sent as %q and read as %q, %v", value, sent, back, ok)
			}
		}
	})
}
