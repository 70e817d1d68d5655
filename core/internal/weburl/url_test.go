package weburl_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

// nodeURL is one row of urls.json.
type nodeURL struct {
	input, base string
	ok          bool
	href        string
	origin      string
	host        string
	user        bool
}

func nodeURLs(t testing.TB) []nodeURL {
	t.Helper()
	var file struct {
		Node  string
		Bases []string
		Cases [][]any
	}
	readJSON(t, "testdata/urls.json", &file)
	if len(file.Cases) < 2000 {
		t.Fatalf("%d cases: the vectors are missing", len(file.Cases))
	}
	var all []nodeURL
	for _, row := range file.Cases {
		v := nodeURL{input: row[0].(string), origin: "null"}
		if i := int(row[1].(float64)); i >= 0 {
			v.base = file.Bases[i]
		}
		if len(row) > 2 {
			v.ok, v.href, v.host, v.user = true, row[2].(string), row[4].(string), row[5] != 0.0
			if origin, ok := row[3].(string); ok {
				v.origin = origin
			}
		}
		all = append(all, v)
	}
	return all
}

func readJSON(t testing.TB, name string, to any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		t.Fatal(err)
	}
}

func parse(t testing.TB, input, base string) (*weburl.URL, bool) {
	t.Helper()
	if base == "" {
		return weburl.Parse(input)
	}
	b, ok := weburl.Parse(base)
	if !ok {
		t.Fatalf("Parse(%q) of a base failed", base)
	}
	return weburl.ParseFrom(input, b)
}

// standard holds what the standard says where Node 20 errs. Neither can be our own URL.
var standard = map[string]string{
	"foo:/a/../..":   "foo:/",
	"file:///C:x/..": "file:///",
}

// foreign says that the package's deviation applies: the host is not ASCII, or it has punycode, which isn't decoded.
func foreign(u *weburl.URL) bool {
	host := u.Origin()
	if u.Scheme == "file" {
		host = u.Host
	}
	return strings.Contains(host, "%") || strings.Contains(host, "xn--")
}

var notASCII = regexp.MustCompile(`[^\x00-\x7f]|%[89a-fA-F][0-9a-fA-F]|(?i:xn--)`)

func TestParseAgreesWithNode(t *testing.T) {
	t.Parallel()
	for _, v := range nodeURLs(t) {
		u, ok := parse(t, v.input, v.base)
		if ok && foreign(u) {
			if !notASCII.MatchString(v.input) {
				t.Errorf("%q from %q: host %q of an ASCII input", v.input, v.base, u.Host)
			}
			if v.ok && !strings.HasSuffix(v.href, u.Path+u.Query+u.Fragment) {
				t.Errorf("%q from %q: path %q, want the end of %q", v.input, v.base, u.Path+u.Query+u.Fragment, v.href)
			}
			if strings.Contains(u.Origin(), "%") && v.ok && u.Origin() == v.origin {
				t.Errorf("%q from %q: a host that is not ASCII has the ASCII origin %q", v.input, v.base, v.origin)
			}
			continue
		}
		if ok != v.ok {
			t.Errorf("%q from %q: ok = %v, want %v (%s)", v.input, v.base, ok, v.ok, v.href)
			continue
		}
		if !ok {
			if u != nil {
				t.Errorf("%q from %q: failed with a URL: %v", v.input, v.base, u)
			}
			continue
		}
		if right, found := standard[v.input]; found {
			v.href = right
		}
		scheme, _, _ := strings.Cut(v.href, ":")
		if u.String() != v.href || u.Origin() != v.origin || u.Host != v.host || u.User != v.user || u.Scheme != scheme {
			t.Errorf("%q from %q:\n got %s, origin %s, host %q, user %v\nwant %s, origin %s, host %q, user %v",
				v.input, v.base, u, u.Origin(), u.Host, u.User, v.href, v.origin, v.host, v.user)
		}
	}
}

func TestHostBeyondASCIIIsForeign(t *testing.T) {
	t.Parallel()
	// Each of these leads a browser to our.example.
	for _, s := range []string{
		"https://ｏｕｒ.example/", "https://our。example/", "https://%ef%bd%8fur.example/", "https://our%e3%80%82example/", "https://ou\u00adr.example/", "https://OUR\u200b.example",
	} {
		u, ok := weburl.Parse(s)
		if !ok || u.Origin() == "https://our.example" || !strings.Contains(u.Origin(), "%") {
			t.Errorf("Parse(%q) = %v, %v; want a foreign origin", s, u, ok)
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		input string
		want  weburl.URL
	}{
		{"HTTPS://u:p@Our.Example:444/a/../b?q=ü#f g", weburl.URL{Scheme: "https", Host: "our.example:444", User: true, Path: "/b", Query: "?q=%C3%BC", Fragment: "#f%20g"}},
		{"http://h", weburl.URL{Scheme: "http", Host: "h", Path: "/"}},
		{"http://h?#", weburl.URL{Scheme: "http", Host: "h", Path: "/", Query: "?", Fragment: "#"}},
		{"javascript:alert(1)", weburl.URL{Scheme: "javascript", Path: "alert(1)", Opaque: true}},
		{"foo://h", weburl.URL{Scheme: "foo", Host: "h"}},
	} {
		u, ok := weburl.Parse(c.input)
		if !ok {
			t.Errorf("Parse(%q) failed", c.input)
			continue
		}
		got := weburl.URL{Scheme: u.Scheme, Host: u.Host, User: u.User, Path: u.Path, Query: u.Query, Fragment: u.Fragment, Opaque: u.Opaque}
		if got != c.want {
			t.Errorf("Parse(%q) = %+v, want %+v", c.input, got, c.want)
		}
	}
}

func TestParseFromNeedsWebBase(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"file:///x", "foo://h/", "data:x", "ftp://h/"} {
		b, ok := weburl.Parse(base)
		if !ok {
			t.Fatalf("Parse(%q) failed", base)
		}
		if u, ok := weburl.ParseFrom("/x", b); ok {
			t.Errorf("ParseFrom with base %q = %v, want failure", base, u)
		}
	}
	if _, ok := weburl.ParseFrom("https://h/", nil); ok {
		t.Error("ParseFrom without a base succeeded")
	}
}

func TestInvalidUTF8BecomesReplacement(t *testing.T) {
	t.Parallel()
	// The counts are those of Node's TextDecoder.
	for in, want := range map[string]string{
		"http://h/\xff":                   "http://h/%EF%BF%BD",
		"http://h/\xe2\x82x":              "http://h/%EF%BF%BDx",
		"http://h/\xf0\x9f\x98":           "http://h/%EF%BF%BD",
		"http://h/\xed\xa0\x80":           "http://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD",
		"http://h/\xc0\x80?\xf5#\xe2\x28": "http://h/%EF%BF%BD%EF%BF%BD?%EF%BF%BD#%EF%BF%BD(",
	} {
		if u, ok := weburl.Parse(in); !ok || u.String() != want {
			t.Errorf("Parse(%q) = %v, %v; want %s", in, u, ok, want)
		}
	}
	if u, ok := weburl.Parse("http://\xff/"); ok {
		t.Errorf("a host that is not UTF-8 parsed as %v", u)
	}
}

// A serialised URL is read as itself: whatever decided about it decides the same after a round trip.
func FuzzParse(f *testing.F) {
	for i, v := range nodeURLs(f) {
		if i%8 == 0 {
			f.Add(v.input, v.base)
		}
	}
	f.Fuzz(func(t *testing.T, input, base string) {
		u, ok := weburl.Parse(input)
		if b, isBase := weburl.Parse(base); isBase {
			u, ok = weburl.ParseFrom(input, b)
		}
		if !ok {
			return
		}
		again, ok := weburl.Parse(u.String())
		if !ok || again.String() != u.String() || again.Origin() != u.Origin() || again.User != u.User || again.Opaque != u.Opaque {
			t.Errorf("Parse(%q) = %q, which parses as %v, %v", input, u, again, ok)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	base, _ := weburl.Parse("https://our.example")
	b.ReportAllocs()
	for b.Loop() {
		weburl.ParseFrom("/deep/page?x=1", base)
	}
}
