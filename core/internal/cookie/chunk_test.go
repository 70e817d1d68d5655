package cookie_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core/internal/cookie"
)

// Where ours is deliberately stricter than @auth/core, or where that gives a value nobody has sealed.
func TestStrayCookiesSignNobodyOut(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("f", 3936)
	for _, c := range []struct {
		what, header, value string
		names               []string
	}{
		{"a longer name", "s=good; s-extra=zzz", "good", []string{"s"}},
		{"a longer name alone", "s-extra=good", "", nil},
		{"a longer name with a dot", "s=good; s.x=zzz; s.0x=zzz; s.=zzz; sx.0=zzz", "good", []string{"s"}},
		{"signs, zeros and blanks in a number", "s=good; s.00=z; s.01=z; s.+1=z; s.-1=z; s.1e1=z; s.1 2=z", "good", []string{"s"}},
		{"a number beyond a header", "s=good; s.200=z; s.999=z; s.1000=z; s.18446744073709551616=z", "good", []string{"s"}},
		{"a leftover chunk", "s=good; s.0=old", "good", []string{"s", "s.0"}},
		{"a leftover set of chunks", "s.0=old; s.1=er; s=good", "good", []string{"s.0", "s.1", "s"}},
		{"a number after a gap", "s=good; s.99=zzz", "good", []string{"s", "s.99"}},
		{"chunks and a number after a gap", "s.0=go; s.1=od; s.99=zzz", "good", []string{"s.0", "s.1", "s.99"}},
		{"a short plain cookie and .1", "s=good; s.1=zzz", "good", []string{"s", "s.1"}},
		{"a full plain cookie as first chunk", "s.2=c; s=" + full + "; s.1=b", full + "bc", []string{"s.2", "s", "s.1"}},
		{"a full plain cookie and .0", "s=" + full + "; s.0=a; s.1=b", full, []string{"s", "s.0", "s.1"}},
		{"a full plain cookie and .2", "s=" + full + "; s.2=c", full, []string{"s", "s.2"}},
		{"no first chunk", "s.1=b; s.2=c; s.4=d", "bc", []string{"s.1", "s.2", "s.4"}},
		{"an empty chunk is a gap", "s.0=a; s.1=; s.2=c", "a", []string{"s.0", "s.2"}},
	} {
		jar := cookie.Parse(c.header)
		value, names := cookie.Chunks(jar, "s"), cookie.Names(jar, "s")
		if value != c.value || !slices.Equal(names, c.names) {
			t.Errorf("%s: Chunks(%.60q) = %.60q, %q; want %.60q, %q", c.what, c.header, value, names, c.value, c.names)
		}
	}
}

func TestClearSkipsRepeatedNames(t *testing.T) {
	t.Parallel()
	got := cookie.Clear(cookie.Cookie{Options: cookie.Options{MaxAge: 900, Path: "/"}}, []string{"a", "b", "a"})
	if len(got) != 2 || got[0].String() != "a=; Max-Age=0; Path=/" || got[1].String() != "b=; Max-Age=0; Path=/" {
		t.Errorf("Clear = %v", got)
	}
}

// Whatever the browser had, after Split it has the value and nothing else that counts.
func FuzzSplit(f *testing.F) {
	for _, s := range readReference(f).Sessions {
		f.Add(s.Header, uint16(1))
		f.Add(s.Header, uint16(3937))
	}
	f.Add("authjs.session-token.3=a; authjs.session-token.99=b", uint16(20000))
	f.Fuzz(func(t *testing.T, header string, length uint16) {
		const name = "authjs.session-token"
		value := strings.Repeat("0123456789", int(length)/10+1)[:max(length, 1)]
		browser := map[string]string{}
		for n, v := range cookie.Parse(header).All() {
			browser[n] = v
		}
		have := cookie.Names(cookie.Parse(header), name)
		for _, c := range cookie.Split(nil, cookie.Cookie{Name: name, Value: value}, have) {
			if len(c.Value) > 3936 {
				t.Fatalf("%s has %d bytes", c.Name, len(c.Value))
			}
			if browser[c.Name] = c.Value; c.MaxAge < 0 {
				delete(browser, c.Name)
			}
		}
		var sent strings.Builder
		for n, v := range browser {
			if strings.HasPrefix(n, name) && cookie.ValidName(n) {
				sent.WriteString(n + "=" + cookie.Cookie{Name: "n", Value: v}.String()[len("n="):] + "; ")
			}
		}
		back := cookie.Parse(sent.String())
		if got := cookie.Chunks(back, name); got != value {
			t.Errorf("%d bytes come back as %d from %q", len(value), len(got), cookie.Names(back, name))
		}
	})
}
