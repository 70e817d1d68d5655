//go:build !js && !wasip1

package edge_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/edge"
)

// echo is what testdata/app saw of a request.
type echo struct {
	Method, URL, Host, RequestURI, RemoteAddr string

	Header        http.Header
	ContentLength int64
	NoBody        bool
	Body          int
}

func TestRequestReachesTheHandlerWhole(t *testing.T) {
	t.Parallel()
	w := start(t, "app", nil)

	cookie := `a={"x":1,"y":[2,3]}; b=c,d`
	date := "Mon, 02 Jan 2006 15:04:05 GMT"
	req, _ := http.NewRequest("PATCH", "http://"+w.addr+"/echo?x=a%2Fb&y=%C3%BC+z", strings.NewReader("hello"))
	req.Host = "app.example:8443"
	req.Header = http.Header{
		"Cookie":            {cookie},
		"If-Modified-Since": {date},
		"X-Utf8":            {"grün, €"},
		"X-Many":            {"1", "2"},
		"X-Empty":           {""},
		"Cf-Connecting-Ip":  {"2001:db8::1"},
		"User-Agent":        {"Mozilla/5.0 (X11; Linux, x86_64)"},
	}
	got := do[echo](t, req)
	want := echo{
		Method: "PATCH", URL: "http://app.example:8443/echo?x=a%2Fb&y=%C3%BC+z", Host: "app.example:8443",
		RequestURI: "/echo?x=a%2Fb&y=%C3%BC+z", RemoteAddr: "[2001:db8::1]:0", ContentLength: 5, Body: 5,
	}
	header := got.Header
	got.Header = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for name, want := range map[string]string{
		"Cookie": cookie, "If-Modified-Since": date, "X-Utf8": "grün, €", "X-Many": "1, 2", "X-Empty": "",
		"User-Agent": "Mozilla/5.0 (X11; Linux, x86_64)", "Content-Length": "5", "Host": "<none>",
	} {
		value := "<none>"
		if v := header[name]; v != nil {
			value = strings.Join(v, "|")
		}
		if value != want {
			t.Errorf("%s: got %q, want %q", name, value, want)
		}
	}
}

func do[T any](t *testing.T, req *http.Request) T {
	t.Helper()
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	var v T
	if err := json.Unmarshal(body, &v); resp.StatusCode != 200 || err != nil {
		t.Fatalf("%s %s: %d %q %v", req.Method, req.URL, resp.StatusCode, body, err)
	}
	return v
}

func TestBodyLimits(t *testing.T) {
	t.Parallel()
	w := start(t, "app", nil)
	chunked := func(n int) io.Reader { return io.MultiReader(strings.NewReader(strings.Repeat("x", n))) }
	for _, c := range []struct {
		name   string
		body   io.Reader
		status int
		length int
		noBody bool
	}{
		{"none", nil, 200, 0, true},
		{"small", strings.NewReader("abc"), 200, 3, false},
		{"the limit", strings.NewReader(strings.Repeat("x", edge.MaxBodyBytes)), 200, edge.MaxBodyBytes, false},
		{"over the limit", strings.NewReader(strings.Repeat("x", edge.MaxBodyBytes+1)), 413, 0, false},
		{"the limit, length not declared", chunked(edge.MaxBodyBytes), 200, edge.MaxBodyBytes, false},
		{"over the limit, length not declared", chunked(edge.MaxBodyBytes + 1), 413, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, err := client(t).Post("http://"+w.addr+"/echo", "application/octet-stream", c.body)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != c.status {
				t.Fatalf("got status %d, want %d", resp.StatusCode, c.status)
			}
			if c.status != 200 {
				return
			}
			var got echo
			if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
				t.Fatal(err)
			}
			if got.Body != c.length || got.NoBody != c.noBody || got.ContentLength != int64(c.length) {
				t.Errorf("got %d bytes, NoBody %v, ContentLength %d", got.Body, got.NoBody, got.ContentLength)
			}
		})
	}
	t.Run("Content-Length: 0", func(t *testing.T) {
		got := w.raw("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
		if !strings.Contains(got.body, `"Content-Length":["0"]`) || !strings.Contains(got.body, `"NoBody":true`) {
			t.Error(got.body)
		}
	})
	t.Run("no Content-Length", func(t *testing.T) {
		got := w.raw("POST /echo HTTP/1.1\r\nHost: x\r\n\r\n")
		if strings.Contains(got.body, "Content-Length") || !strings.Contains(got.body, `"NoBody":true`) {
			t.Error(got.body)
		}
	})
	t.Run("a URL Go cannot read", func(t *testing.T) {
		if got := w.raw("GET /echo/%zz HTTP/1.1\r\nHost: x\r\n\r\n"); got.status != 400 {
			t.Errorf("got status %d, want 400", got.status)
		}
	})
}

type rawResponse struct {
	status int
	header http.Header
	body   string
}

// raw sends bytes no HTTP client would.
func (w *worker) raw(request string) rawResponse {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: request[:strings.IndexByte(request, ' ')]})
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return rawResponse{resp.StatusCode, resp.Header, string(body)}
}

func TestResponseReachesTheClientWhole(t *testing.T) {
	t.Parallel()
	w := start(t, "app", nil)
	for _, c := range []struct {
		name   string
		method string
		query  url.Values
		status int
		header http.Header // at least
		absent string
		body   string
	}{
		{
			name:  "headers",
			query: url.Values{"h": {"Set-Cookie:a=1; Expires=Mon, 02 Jan 2006 15:04:05 GMT", "Set-Cookie:b=x,y", "X-Date:Mon, 02 Jan 2006", "X-Many:1", "X-Many:2"}, "body": {"{}"}},
			header: http.Header{
				"Set-Cookie": {"a=1; Expires=Mon, 02 Jan 2006 15:04:05 GMT", "b=x,y"}, "X-Date": {"Mon, 02 Jan 2006"},
				"X-Many": {"1", "2"}, "Content-Type": {"text/plain; charset=utf-8"}, "Content-Length": {"2"},
			},
			body: "{}", status: 200,
		},
		// workerd writes header text as UTF-8: valid UTF-8 arrives as it was, and
		// the byte FC, which is none, as the character it stands for in Latin-1.
		{name: "UTF-8", query: url.Values{"h": {"Location:/gr\u00fcn"}, "status": {"302"}}, status: 302, header: http.Header{"Location": {"/gr\u00fcn"}}},
		{name: "Latin-1", query: url.Values{"h": {"Location:/gr\xfcn"}, "status": {"302"}}, status: 302, header: http.Header{"Location": {"/gr\u00fcn"}}},
		{name: "line ends in a value", query: url.Values{"h": {"X-A:b\r\nX-Injected: c"}}, status: 200, header: http.Header{"X-A": {"b  X-Injected: c"}}, absent: "X-Injected"},
		{name: "an impossible name", query: url.Values{"h": {"X A:b"}, "body": {"ok"}}, status: 200, body: "ok", absent: "X A"},
		{name: "a status no response can have", query: url.Values{"status": {"999"}}, status: 500, body: "Internal Server Error\n"},
		{name: "no content", query: url.Values{"status": {"204"}, "body": {"ignored"}}, status: 204},
		{name: "reset content", query: url.Values{"status": {"205"}, "body": {"ignored"}}, status: 205},
		{name: "not modified", query: url.Values{"status": {"304"}, "h": {`Etag:"x"`}}, status: 304, header: http.Header{"Etag": {`"x"`}}},
		{name: "redirect without body", query: url.Values{"status": {"302"}, "h": {"Location:/x?a=b,c"}}, status: 302, header: http.Header{"Location": {"/x?a=b,c"}}},
		{name: "HEAD", method: "HEAD", query: url.Values{"body": {"12345"}}, status: 200, header: http.Header{"Content-Length": {"5"}}},
		{name: "empty", query: nil, status: 200, header: http.Header{"Content-Length": {"0"}}, absent: "Content-Type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			method := c.method
			if method == "" {
				method = "GET"
			}
			got := w.raw(method + " /respond?" + c.query.Encode() + " HTTP/1.1\r\nHost: x\r\n\r\n")
			if got.status != c.status || got.body != c.body {
				t.Errorf("got %d %q, want %d %q", got.status, got.body, c.status, c.body)
			}
			for name, want := range c.header {
				if !reflect.DeepEqual(got.header[name], want) {
					t.Errorf("%s: got %q, want %q", name, got.header[name], want)
				}
			}
			if v, ok := got.header[c.absent]; ok {
				t.Errorf("%s: got %q, want none", c.absent, v)
			}
		})
	}
	t.Run("a body the handler compressed", func(t *testing.T) {
		got := w.raw("GET /gzip HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
		z, err := gzip.NewReader(strings.NewReader(got.body))
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := io.ReadAll(z); string(b) != "compressed by the handler" {
			t.Errorf("got %q", b)
		}
	})
}

// upstream is a server the worker calls: /slow answers after 300 ms.
func upstream(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func slow(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(300 * time.Millisecond):
	case <-r.Context().Done():
	}
}

// state returns the number of goroutines of the instance and its memory in bytes.
func (w *worker) state() (goroutines, memory int) {
	w.t.Helper()
	_, body := w.get("/state")
	if _, err := fmt.Sscan(body, &goroutines, &memory); err != nil {
		w.t.Fatal(body)
	}
	return goroutines, memory
}

// settles waits until the instance has as many goroutines as it began with.
func (w *worker) settles(goroutines int) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		n, _ := w.state()
		if n == goroutines {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("the idle instance has %d goroutines, it began with %d", n, goroutines)
		}
	}
}

func TestThousandRequestsAtOnce(t *testing.T) {
	t.Parallel()
	w := start(t, "app", nil)
	up := upstream(t, slow)
	goroutines, _ := w.state()

	c := client(t)
	var wg sync.WaitGroup
	var answered, gone, wrong atomic.Int32
	begin := time.Now()
	for i := range 1000 {
		wg.Go(func() {
			ctx, leaves := t.Context(), i%10 < 3
			if leaves {
				c, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
				ctx = c
			}
			path := fmt.Sprintf("/work?id=%d", i)
			if i%3 != 0 {
				path += "&url=" + url.QueryEscape(up)
			}
			req, _ := http.NewRequestWithContext(ctx, "GET", "http://"+w.addr+path, nil)
			resp, err := c.Do(req)
			var body []byte
			if err == nil {
				body, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			switch {
			case leaves && errors.Is(err, context.DeadlineExceeded):
				gone.Add(1)
			case err != nil || string(body) != fmt.Sprintf("id %d", i):
				wrong.Add(1)
				t.Logf("request %d: %q %v", i, body, err)
			default:
				answered.Add(1)
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(begin)
	w.settles(goroutines)
	_, memory := w.state()
	t.Logf("%d answered, %d clients gone, %d wrong in %v; the instance has %.1f MB, workerd %.1f MB",
		answered.Load(), gone.Load(), wrong.Load(), elapsed, float64(memory)/1e6, float64(residentBytes(w.pid))/1e6)
	if wrong.Load() > 0 || answered.Load() < 700 {
		t.Fail()
	}
}

// residentBytes is the memory of a process, or 0 where there is no /proc.
func residentBytes(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	var size, resident int64
	if err == nil {
		fmt.Sscan(string(b), &size, &resident)
	}
	return resident * int64(os.Getpagesize())
}

func TestWaitUntilRunsAfterTheResponse(t *testing.T) {
	t.Parallel()
	w := start(t, "app", nil)
	calls := make(chan string, 10)
	up := upstream(t, func(_ http.ResponseWriter, r *http.Request) { calls <- r.URL.RawQuery })
	goroutines, _ := w.state()
	begin := time.Now()
	if _, body := w.get("/after?url=" + url.QueryEscape(up)); body != "sent" {
		t.Fatalf("got %q", body)
	}
	// The work holds up the isolate for a second before its first call.
	if d := time.Since(begin); d > time.Second {
		t.Errorf("the response took %v: it waited for the work", d)
	}
	// The client has closed its connection by now.
	for _, want := range []string{"n=1", "n=2"} {
		select {
		case got := <-calls:
			if got != want {
				t.Errorf("got call %q, want %q", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("call %q never came", want)
		}
	}
	w.settles(goroutines)
	w.logs("panic in WaitUntil: after the response", 1)
}

func TestContextEndsWithTheHandler(t *testing.T) {
	t.Parallel()
	w := start(t, "app", nil)
	for _, want := range []string{"<nil> after <nil>", "<nil> after context canceled"} {
		if _, got := w.get("/context"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestGetenvReadsTextBindings(t *testing.T) {
	t.Parallel()
	w := start(t, "app", map[string]string{"AUTH_SECRET": "s\u00fc\u20acret"})
	for name, want := range map[string]string{"AUTH_SECRET": `"sü€ret"`, "MISSING": `""`, "constructor": `""`} {
		if _, got := w.get("/env?name=" + name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
