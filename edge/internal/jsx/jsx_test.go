package jsx

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNewRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		head string
		ok   bool
	}{
		{"plain", "GET\nhttps://a.example/\n", true},
		{"with a header", "GET\nhttps://a.example/x?y\naccept\n*/*\n", true},
		{"empty", "", false},
		{"no URL", "GET\n", false},
		{"no scheme", "GET\n/x\n", false},
		{"no path", "GET\nhttps://a.example\n", false},
		{"a name without value", "GET\nhttps://a.example/\naccept\n", false},
		{"a value without end", "GET\nhttps://a.example/\naccept\nx", false},
		{"an escape Go refuses", "GET\nhttps://a.example/%zz\n", false},
	} {
		if _, err := UTF8.NewRequest(t.Context(), c.head, nil); (err == nil) != c.ok {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

func TestNewRequestIsWhatAServerMakes(t *testing.T) {
	t.Parallel()
	var got, want *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { want = r }))
	defer s.Close()
	uri := "/a//../b%2Fc?x=a%2Fb&y=+"
	req, _ := http.NewRequest("POST", s.URL, nil)
	req.URL.Opaque = uri
	req.Header = http.Header{"Cookie": {"a=b, c"}, "X-Many": {"1", "2"}, "X-Empty": {""}, "User-Agent": {"t"}, "Accept-Encoding": {"gzip"}}
	if _, err := http.DefaultTransport.RoundTrip(req); err != nil {
		t.Fatal(err)
	}
	got, err := UTF8.NewRequest(t.Context(), "POST\n"+s.URL+uri+"\nhost\n"+want.Host+
		"\ncookie\na=b, c\nx-many\n1\nx-many\n2\nx-empty\n\nuser-agent\nt\naccept-encoding\ngzip\ncontent-length\n0\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	want.URL.Scheme, want.URL.Host = "http", want.Host
	for _, field := range []string{"Method", "URL", "Proto", "ProtoMajor", "ProtoMinor", "Header", "ContentLength", "Host", "RequestURI", "Body"} {
		g, w := reflect.ValueOf(got).Elem().FieldByName(field).Interface(), reflect.ValueOf(want).Elem().FieldByName(field).Interface()
		if !reflect.DeepEqual(g, w) {
			t.Errorf("%s: got %v, want %v", field, g, w)
		}
	}
}

func TestRemoteAddr(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{"192.0.2.1": "192.0.2.1:0", "2001:db8::1": "[2001:db8::1]:0"} {
		r, err := UTF8.NewRequest(t.Context(), "GET\nhttps://a.example/\ncf-connecting-ip\n"+ip+"\n", nil)
		if err != nil || r.RemoteAddr != want {
			t.Errorf("got %q, %v, want %q", r.RemoteAddr, err, want)
		}
	}
}

func TestCharset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		charset       Charset
		value, onHost string
	}{
		{Latin1, "plain", "plain"},
		{Latin1, "gr\xfcn", "gr\u00fcn"},
		{Latin1, "gr\u00fcn", "gr\u00c3\u00bcn"},
		{UTF8, "gr\u00fcn \u20ac", "gr\u00fcn \u20ac"},
	} {
		if got := c.charset.Encode(c.value); got != c.onHost {
			t.Errorf("Encode(%q): got %q, want %q", c.value, got, c.onHost)
		}
		if got := c.charset.decode(c.onHost); got != c.value {
			t.Errorf("decode(%q): got %q, want %q", c.onHost, got, c.value)
		}
	}
	if got := UTF8.Encode("gr\xfcn"); got != "gr\u00fcn" {
		t.Errorf("a byte that is no UTF-8 became %q", got)
	}
	if got := UTF8.Encode("a\r\nb\x00c"); got != "a  b c" {
		t.Errorf("line ends became %q", got)
	}
}

// The writer and net/http's server agree on what a handler's calls mean.
func TestResponseIsWhatAServerSends(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"nothing": func(w http.ResponseWriter, r *http.Request) {},
		"a body":  func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>") },
		"a type": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "x/y")
			w.Write([]byte("a"))
		},
		"no type": func(w http.ResponseWriter, r *http.Request) { w.Header()["Content-Type"] = nil; w.Write([]byte("a")) },
		"encoded": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "x")
			w.Write([]byte("a"))
		},
		"late header":         func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(201); w.Header().Set("X-Late", "1") },
		"two statuses":        func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(201); w.WriteHeader(500) },
		"redirect":            func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) },
		"no content":          func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204); w.Write([]byte("a")) },
		"informational":       func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(103); w.WriteHeader(404) },
		"cookies":             func(w http.ResponseWriter, r *http.Request) { w.Header()["Set-Cookie"] = []string{"a=1, 2", "b=2"} },
		"an impossible name":  func(w http.ResponseWriter, r *http.Request) { w.Header()["X A"] = []string{"1"} },
		"an impossible value": func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-A", "1\r\nX-B: 2") },
		"two writes": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "a")
			io.WriteString(w, strings.Repeat("b", 1000))
		},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			t.Run(name+" "+method, func(t *testing.T) {
				s := httptest.NewServer(h)
				defer s.Close()
				req, _ := http.NewRequest(method, s.URL, nil)
				want, err := http.DefaultTransport.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				defer want.Body.Close()
				wantBody, _ := io.ReadAll(want.Body)
				want.Header.Del("Date")
				if method == "GET" {
					want.Header.Del("Content-Length") // the host's work
				}

				w := &Response{Charset: UTF8, Method: method}
				h(w, req)
				status, head, body := w.Finish()
				header, err := UTF8.Header(string(head))
				if err != nil {
					t.Fatal(err)
				}
				if status != want.StatusCode || string(body) != string(wantBody) || !reflect.DeepEqual(header, want.Header) {
					t.Errorf("got  %d %q %v\nwant %d %q %v", status, body, header, want.StatusCode, wantBody, want.Header)
				}
			})
		}
	}
}

func TestWriteAfterNoContent(t *testing.T) {
	t.Parallel()
	w := &Response{}
	w.WriteHeader(http.StatusNoContent)
	if _, err := w.Write([]byte("a")); !errors.Is(err, http.ErrBodyNotAllowed) {
		t.Errorf("got %v", err)
	}
}

func FuzzNewRequest(f *testing.F) {
	f.Add("GET\nhttps://a.example/x?y\naccept\n*/*\ncookie\na=b\n", []byte("body"), 0)
	f.Add("POST\nhttp://[::1]:8080//\nx-\xc3\xbc\n\xc3\xbc\n", []byte(nil), 1)
	f.Add("\n\n\n\n", []byte(nil), 0)
	f.Fuzz(func(t *testing.T, head string, body []byte, charset int) {
		r, err := Charset(charset&1).NewRequest(t.Context(), head, body)
		if err != nil {
			return
		}
		if r.URL.Host != r.Host || r.RequestURI == "" || r.RequestURI[0] != '/' || r.ContentLength != int64(len(body)) {
			t.Errorf("%q: %+v", head, r)
		}
		for name, values := range r.Header {
			if len(values) == 0 || strings.Contains(name+strings.Join(values, ""), "\n") {
				t.Errorf("%q: header %q %q", head, name, values)
			}
		}
	})
}

func FuzzResponse(f *testing.F) {
	f.Add("X-A", "value", 200, "body", 0)
	f.Add("Set-Cookie", "a\r\nb\xfc\u20ac", 302, "", 1)
	f.Fuzz(func(t *testing.T, name, value string, status int, body string, charset int) {
		if status < 100 || status > 999 {
			return // the handler's mistake: WriteHeader panics
		}
		w := &Response{Charset: Charset(charset & 1)}
		w.Header()[name] = []string{value}
		w.WriteHeader(status)
		io.WriteString(w, body)
		_, head, _ := w.Finish()
		lines := strings.Split(string(head), "\n")
		if len(lines)%2 != 1 || lines[len(lines)-1] != "" || !utf8.Valid(head) || strings.ContainsAny(string(head), "\r\x00") {
			t.Fatalf("head %q", head)
		}
		for i := 0; i+1 < len(lines); i += 2 {
			if !token(lines[i]) {
				t.Errorf("header name %q", lines[i])
			}
		}
	})
}
