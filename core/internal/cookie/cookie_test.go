package cookie_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/cookie"
)

// reference is testdata/cookies.json, written by cookies.mjs.
type reference struct {
	Version string
	Name    string // of the session cookie
	Headers [][2]any
	Set     []struct {
		Name, Value string
		Options     struct {
			MaxAge                        *int
			Domain, Path, SameSite        string
			Expires                       time.Time
			HTTPOnly, Secure, Partitioned bool
		}
		Header *string // null where it throws
	}
	Sessions []struct {
		Header, Value string
		Cleared       [][3]any
		Chunked       [][2]any
	}
}

func readReference(t testing.TB) (r reference) {
	t.Helper()
	b, err := os.ReadFile("testdata/cookies.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if len(r.Headers) < 50 || len(r.Set) < 500 || len(r.Sessions) < 10 {
		t.Fatal("the vectors are missing")
	}
	return r
}

func TestParseAgreesWithReference(t *testing.T) {
	t.Parallel()
	for _, row := range readReference(t).Headers {
		var want [][2]string
		for _, p := range row[1].([]any) {
			want = append(want, [2]string{p.([]any)[0].(string), p.([]any)[1].(string)})
		}
		jar := cookie.Parse(row[0].(string))
		var got [][2]string
		for n, v := range jar.All() {
			got = append(got, [2]string{n, v})
			if value, ok := jar.Get(n); !ok || value != v {
				t.Errorf("Parse(%q).Get(%q) = %q, %v; want %q", row[0], n, value, ok, v)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("Parse(%q) = %q, want %q", row[0], got, want)
		}
	}
}

func TestStringAgreesWithReference(t *testing.T) {
	t.Parallel()
	for _, v := range readReference(t).Set {
		o := cookie.Options{
			HTTPOnly: v.Options.HTTPOnly, Secure: v.Options.Secure, Partitioned: v.Options.Partitioned,
			SameSite: v.Options.SameSite, Path: v.Options.Path, Domain: v.Options.Domain, Expires: v.Options.Expires,
		}
		if v.Options.MaxAge != nil {
			if o.MaxAge = *v.Options.MaxAge; o.MaxAge == 0 {
				o.MaxAge = -1
			}
		}
		want := ""
		if v.Header != nil {
			want = *v.Header
		}
		if got := (cookie.Cookie{Name: v.Name, Value: v.Value, Options: o}).String(); got != want {
			t.Errorf("%q=%q with %+v:\n got %q\nwant %q", v.Name, v.Value, o, got, want)
		}
	}
}

func TestChunksAgreeWithReference(t *testing.T) {
	t.Parallel()
	r := readReference(t)
	options := cookie.Options{HTTPOnly: true, Secure: true, SameSite: "lax", Path: "/", Expires: time.Date(2026, 10, 21, 7, 28, 0, 999e6, time.UTC)}
	for _, s := range r.Sessions {
		jar := cookie.Parse(s.Header)
		value, names := cookie.Chunks(jar, r.Name), cookie.Names(jar, r.Name)
		if value != s.Value {
			t.Errorf("Chunks(%.60q) = %.60q, want %.60q", s.Header, value, s.Value)
		}
		if got := brief(cookie.Clear(cookie.Cookie{Name: r.Name, Options: options}, names)); !slices.Equal(got, rows(s.Cleared)) {
			t.Errorf("Clear after %.60q:\n got %v\nwant %v", s.Header, got, rows(s.Cleared))
		}
		for _, c := range s.Chunked {
			value := strings.Repeat("v", int(c[0].(float64)))
			got := brief(cookie.Split(nil, cookie.Cookie{Name: r.Name, Value: value, Options: options}, names))
			if want := rows(c[1].([]any)); !slices.Equal(got, want) {
				t.Errorf("Split of %d bytes after %.60q:\n got %v\nwant %v", len(value), s.Header, got, want)
			}
		}
	}
}

// line is a cookie to be set: its name, the length of its value, its header without the value.
type line struct {
	name   string
	length int
	header string
}

func brief(cookies []cookie.Cookie) (lines []line) {
	for _, c := range cookies {
		n := len(c.Value)
		c.Value = ""
		lines = append(lines, line{c.Name, n, c.String()})
	}
	return lines
}

func rows[R any](list []R) (lines []line) {
	for _, r := range list {
		var row []any
		switch r := any(r).(type) {
		case [3]any:
			row = r[:]
		case []any:
			row = r
		}
		lines = append(lines, line{row[0].(string), int(row[1].(float64)), row[2].(string)})
	}
	return lines
}

func TestValid(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a b", "a;b", "a=b", "a\r\nb", "a\x00", "ä", "a,b", "\"a\""} {
		if cookie.ValidName(s) {
			t.Errorf("ValidName(%q)", s)
		}
	}
	for _, s := range []string{"a", "__Host-authjs.csrf-token", "!#$%&'*+-.^_`|~"} {
		if !cookie.ValidName(s) {
			t.Errorf("!ValidName(%q)", s)
		}
	}
	for _, s := range []string{"", ".", "a..b", "a.b.", "a b", "a;b", "-a", "a-", "a:1", "a/b", "ä.example", "a\r\n"} {
		if cookie.ValidDomain(s) {
			t.Errorf("ValidDomain(%q)", s)
		}
	}
	for _, s := range []string{"localhost", ".example.com", "a-b.example", "127.0.0.1", strings.Repeat("a", 63) + ".example"} {
		if !cookie.ValidDomain(s) {
			t.Errorf("!ValidDomain(%q)", s)
		}
	}
	for _, s := range []string{"/;", "/\r\n", "/\x7f", "/ä", "/<", "/\t"} {
		if cookie.ValidPath(s) {
			t.Errorf("ValidPath(%q)", s)
		}
	}
	for _, s := range []string{"", "/", "/auth", "/a b,c=d"} {
		if !cookie.ValidPath(s) {
			t.Errorf("!ValidPath(%q)", s)
		}
	}
}

func TestStringNeverInjects(t *testing.T) {
	t.Parallel()
	const evil = "x; Domain=evil.example\r\nSet-Cookie: a=b"
	for what, c := range map[string]cookie.Cookie{
		"name":     {Name: evil},
		"domain":   {Name: "a", Options: cookie.Options{Domain: evil}},
		"path":     {Name: "a", Options: cookie.Options{Path: evil}},
		"SameSite": {Name: "a", Options: cookie.Options{SameSite: evil}},
	} {
		if s := c.String(); s != "" {
			t.Errorf("an evil %s is written: %q", what, s)
		}
	}
	if s := (cookie.Cookie{Name: "a", Value: evil}).String(); strings.ContainsAny(s, "; \r\n") {
		t.Errorf("an evil value is written raw: %q", s)
	}
}

// Expires is written as net/http writes dates, whatever the date.
func TestExpiresIsAnHTTPDate(t *testing.T) {
	t.Parallel()
	moment := time.Date(1000, 1, 1, 0, 0, 0, 0, time.FixedZone("east", 3600))
	for moment.Year() < 10000 {
		want := "a=; Expires=" + moment.UTC().Format(http.TimeFormat)
		if got := (cookie.Cookie{Name: "a", Options: cookie.Options{Expires: moment}}).String(); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		moment = moment.Add(1234567*time.Second + 890123456*time.Nanosecond)
	}
}
