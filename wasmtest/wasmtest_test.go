package wasmtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/edgeauth/edgeauth/wasmtest"
)

const echo = "./testdata/echo"

// get sends a request without a body and returns status and body.
func get(t testing.TB, h http.Handler, target string) (int, string) {
	t.Helper()
	return do(t, h, "GET", target, nil)
}

func do(t testing.TB, h http.Handler, method, target string, body io.Reader) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, body))
	return w.Code, w.Body.String()
}

func expect(t testing.TB, h http.Handler, target string, status int, body string) {
	t.Helper()
	if gotStatus, got := get(t, h, target); gotStatus != status || got != body {
		t.Errorf("GET %s: %d %q, want %d %q", target, gotStatus, got, status, body)
	}
}

type echoed struct {
	Method, URL, Path, Host, URI, Remote string
	Header                               map[string][]string
	Length                               int64
	Absent                               bool
	Body                                 int
}

func TestRequestsArriveWhole(t *testing.T) {
	t.Parallel()
	h := wasmtest.New(t, echo, wasmtest.Config{MaxInstances: 1})
	overWire := httptest.NewServer(h)
	t.Cleanup(overWire.Close)

	cases := []struct {
		name    string
		request func() *http.Request
		want    echoed
	}{
		{"a plain GET", func() *http.Request {
			return httptest.NewRequest("GET", "/", nil)
		}, echoed{Method: "GET", URL: "http://example.com/", Path: "/", URI: "/", Host: "example.com", Absent: true}},
		{"https and a port", func() *http.Request {
			return httptest.NewRequest("GET", "https://auth.example:8443/a%2Fb/c?x=%20&y", nil)
		}, echoed{Method: "GET", URL: "https://auth.example:8443/a%2Fb/c?x=%20&y", Path: "/a/b/c", URI: "/a%2Fb/c?x=%20&y", Host: "auth.example:8443", Absent: true}},
		{"a path that looks like a host", func() *http.Request {
			return httptest.NewRequest("GET", "http://example.com//evil.example/x", nil)
		}, echoed{Method: "GET", URL: "http://example.com//evil.example/x", Path: "//evil.example/x", URI: "//evil.example/x", Host: "example.com", Absent: true}},
		{"an odd method", func() *http.Request {
			return httptest.NewRequest("M-SEARCH", "/", nil)
		}, echoed{Method: "M-SEARCH", URL: "http://example.com/", Path: "/", URI: "/", Host: "example.com", Absent: true}},
		{"a body", func() *http.Request {
			return httptest.NewRequest("POST", "/", strings.NewReader("hello"))
		}, echoed{Method: "POST", URL: "http://example.com/", Path: "/", URI: "/", Host: "example.com", Length: 5, Body: 5}},
		{"a body of unknown length", func() *http.Request {
			return httptest.NewRequest("POST", "/", io.MultiReader(strings.NewReader("hello"), strings.NewReader("!")))
		}, echoed{Method: "POST", URL: "http://example.com/", Path: "/", URI: "/", Host: "example.com", Length: 6, Body: 6}},
		{"a body of one mebibyte", func() *http.Request {
			return httptest.NewRequest("PUT", "/", strings.NewReader(strings.Repeat("x", 1<<20)))
		}, echoed{Method: "PUT", URL: "http://example.com/", Path: "/", URI: "/", Host: "example.com", Length: 1 << 20, Body: 1 << 20}},
		{"an empty body", func() *http.Request {
			r := httptest.NewRequest("POST", "/", nil)
			r.Header.Set("Content-Length", "0")
			return r
		}, echoed{Method: "POST", URL: "http://example.com/", Path: "/", URI: "/", Host: "example.com",
			Header: map[string][]string{"Content-Length": {`"0"`}}}},
		{"header bytes", func() *http.Request {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header["X-Bytes"] = []string{"\xff\xfe caf\u00e9\t", "", "a, b"}
			r.Header["Cookie"] = []string{"a=1; b=2", "c=\"3\""}
			return r
		}, echoed{Method: "GET", URL: "http://example.com/", Path: "/", URI: "/", Host: "example.com", Absent: true,
			Header: map[string][]string{"X-Bytes": {`"\xff\xfe caf\u00e9\t"`, `""`, `"a, b"`}, "Cookie": {`"a=1; b=2"`, `"c=\"3\""`}}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, c.request())
			var got echoed
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatalf("%d %s: %v", w.Code, w.Body, err)
			}
			c.want.Remote = "192.0.2.1:1234" // httptest's
			if c.want.Header == nil {
				c.want.Header = map[string][]string{}
			}
			gotText, _ := json.Marshal(got)
			wantText, _ := json.Marshal(c.want)
			if string(gotText) != string(wantText) {
				t.Errorf("got  %s\nwant %s", gotText, wantText)
			}
		})
	}

	t.Run("over a socket, absent and empty differ", func(t *testing.T) {
		for body, absent := range map[io.Reader]bool{nil: true, strings.NewReader(""): false} {
			method := "GET"
			if !absent {
				method = "POST" // which Go's client sends with Content-Length: 0
			}
			r, _ := http.NewRequestWithContext(t.Context(), method, overWire.URL+"/", body)
			res, err := overWire.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			var got echoed
			err = json.NewDecoder(res.Body).Decode(&got)
			_ = res.Body.Close()
			if err != nil || got.Absent != absent || got.Length != 0 {
				t.Errorf("%s: %+v, %v; want absent %t", method, got, err, absent)
			}
		}
	})
}

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	h := wasmtest.New(t, echo, wasmtest.Config{MaxInstances: 1})
	over := strings.Repeat("x", 1<<20+1)
	for name, c := range map[string]struct {
		request *http.Request
		want    int
	}{
		"a declared body over the limit":    {httptest.NewRequest("POST", "/", strings.NewReader(over)), 413},
		"an undeclared body over the limit": {httptest.NewRequest("POST", "/", io.MultiReader(strings.NewReader(over))), 413},
		"OPTIONS *":                         {httptest.NewRequest("OPTIONS", "*", nil), 400},
		"a host with a space": {func() *http.Request {
			r := httptest.NewRequest("GET", "/", nil)
			r.Host = "a b"
			return r
		}(), 400},
		"a host that smuggles credentials": {func() *http.Request {
			r := httptest.NewRequest("GET", "/", nil)
			r.Host = "trusted.example@evil.example"
			return r
		}(), 400},
		"no host": {func() *http.Request {
			r := httptest.NewRequest("GET", "/", nil)
			r.Host = ""
			return r
		}(), 400},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, c.request)
		if w.Code != c.want {
			t.Errorf("%s: %d, want %d", name, w.Code, c.want)
		}
	}
	expect(t, h, "/count", 200, "1")
}

func TestResponsesArriveWhole(t *testing.T) {
	t.Parallel()
	h := wasmtest.New(t, echo, wasmtest.Config{MaxInstances: 1})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/respond?status=418&size=5&cookie=a%3D1%3B+Path%3D/&cookie=b%3D%222%22&x=%FF%20%C3%A9&x=a%0D%0ASet-Cookie:%20c=3", nil))
	if w.Code != 418 || w.Body.String() != "xxxxx" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	if got, want := w.Header()["Set-Cookie"], []string{"a=1; Path=/", `b="2"`}; !slices.Equal(got, want) {
		t.Errorf("Set-Cookie %q, want %q", got, want)
	}
	if got, want := w.Header()["X-Bytes"], []string{"\xff \u00e9", "a  Set-Cookie: c=3"}; !slices.Equal(got, want) {
		t.Errorf("X-Bytes %q, want %q: a line break becomes a space", got, want)
	}
	if w.Header().Get("X-Late") != "" {
		t.Error("a field set after WriteHeader was sent")
	}
	for target, want := range map[string]struct{ status, size int }{
		"/respond":               {200, 0},
		"/respond?status=204":    {204, 0},
		"/respond?status=304":    {304, 0},
		"/respond?status=103":    {200, 0}, // informational: not sent
		"/respond?size=15728640": {200, 15 << 20},
		"/respond?size=15728641": {500, -1},
		"/respond?status=99":     {500, -1},
	} {
		status, body := get(t, h, target)
		if status != want.status || want.size >= 0 && len(body) != want.size {
			t.Errorf("%s: %d and %d bytes, want %d and %d", target, status, len(body), want.status, want.size)
		}
	}
	if status, body := do(t, h, "HEAD", "/respond?size=5", nil); status != 200 || body != "" {
		t.Errorf("HEAD: %d %q", status, body)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	h := wasmtest.New(t, echo, wasmtest.Config{Env: map[string]string{"GREETING": "h\u00e9llo=\n"}})
	expect(t, h, "/env", 200, `"héllo=\n" "héllo=\n" ["GREETING=héllo=\n"]`)
}

func TestInstancesAreReused(t *testing.T) {
	t.Parallel()
	h := wasmtest.New(t, echo, wasmtest.Config{})
	for n := range 5 {
		expect(t, h, "/count", 200, strconv.Itoa(n+1))
	}
}

func TestManyRequestsShareAFewInstances(t *testing.T) {
	t.Parallel()
	h := wasmtest.New(t, echo, wasmtest.Config{MaxInstances: 4})
	boots := map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			status, body := get(t, h, "/random")
			boot, _, _ := strings.Cut(body, " ")
			mu.Lock()
			defer mu.Unlock()
			boots[boot] = true
			if status != 200 {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	all.Wait()
	if len(boots) > 4 {
		t.Errorf("%d instances, want at most 4", len(boots))
	}
}

func TestABusyPoolAnswers503(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	h := wasmtest.New(t, echo, wasmtest.Config{MaxInstances: 1, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		close(entered)
		<-leave
		return answer(200, "ok")(r)
	})})
	var first sync.WaitGroup
	first.Go(func() { expect(t, h, "/fetch?url=http://world.example/", 200, "ok") })
	<-entered
	gone := httptest.NewRequestWithContext(cancelled(t), "GET", "/count", nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, gone)
	if w.Code != 503 {
		t.Errorf("%d, want 503", w.Code)
	}
	close(leave)
	first.Wait()
	expect(t, h, "/count", 200, "1")
}
