//go:build !js && !wasip1

package edge_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

// fetched is what testdata/app got from edge.Transport.
type fetched struct {
	Status       int
	Header       http.Header
	Body         int
	Text         string
	Uncompressed bool

	Err                string
	Timeout, TooLarge  bool
	DeadlineExceeded   bool
	ContextWasCanceled bool
}

func TestTransport(t *testing.T) {
	t.Parallel()
	w := start(t, "app", nil)
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			w.Header().Set("Location", "/elsewhere?a=b,c")
			w.WriteHeader(302)
		case "/headers":
			w.Header()["Set-Cookie"] = []string{"a=1; Expires=Mon, 02 Jan 2006 15:04:05 GMT", "b=2"}
			w.Header().Set("X-Utf8", "grün, €")
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %q %q %s", r.Method, r.RequestURI, r.Header["X-Sent"], r.Header.Get("User-Agent"), body)
		case "/limit", "/over":
			w.Write(make([]byte, 1<<20))
			if r.URL.Path == "/over" {
				w.Write([]byte("x"))
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write(make([]byte, 2<<20))
			z.Close()
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.WriteString(z, "hello")
			z.Close()
		case "/hang", "/trickle":
			if r.URL.Path == "/trickle" {
				io.WriteString(w, "a beginning")
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
		}
	})
	for _, c := range []struct {
		name, path, query string
		check             func(fetched) bool
	}{
		{"redirect is not followed", "/redirect", "", func(f fetched) bool {
			return f.Status == 302 && f.Header.Get("Location") == "/elsewhere?a=b,c"
		}},
		{"headers and body", "/headers?x=%2F", "&method=PUT&body=hello", func(f fetched) bool {
			return f.Text == `PUT /headers?x=%2F ["a, b; ü"] "Go-http-client/1.1" hello` && f.Header.Get("X-Utf8") == "grün, €" &&
				reflect.DeepEqual(f.Header["Set-Cookie"], []string{"a=1; Expires=Mon, 02 Jan 2006 15:04:05 GMT", "b=2"})
		}},
		{"credentials in the URL are not sent", "/headers", "&userinfo=1", func(f fetched) bool {
			return f.Status == 200
		}},
		{"1 MiB", "/limit", "", func(f fetched) bool { return f.Body == 1<<20 }},
		{"1 MiB and one byte", "/over", "", func(f fetched) bool { return f.TooLarge && f.Status == 0 }},
		{"1 MiB after decompression", "/bomb", "", func(f fetched) bool { return f.TooLarge }},
		{"compressed", "/gzip", "", func(f fetched) bool {
			return f.Text == "hello" && f.Uncompressed && f.Header.Get("Content-Encoding") == ""
		}},
		{"canceled context", "/headers", "&cancel=1", func(f fetched) bool { return f.ContextWasCanceled }},
		{"no headers within the limit", "/hang", "", func(f fetched) bool { return f.Timeout && f.DeadlineExceeded }},
		{"no body within the limit", "/trickle", "", func(f fetched) bool { return f.Timeout }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && (c.path == "/hang" || c.path == "/trickle") {
				t.Skip("takes 10 seconds")
			}
			target := up + c.path
			if strings.Contains(c.query, "userinfo") {
				target = strings.Replace(target, "http://", "http://user:secret@", 1)
			}
			w := &worker{t: t, addr: w.addr, log: w.log}
			got := getJSON[fetched](w, "/fetch?url="+url.QueryEscape(target)+c.query)
			if !c.check(got) {
				t.Errorf("got %+v", got)
			}
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		t.Parallel()
		w := &worker{t: t, addr: w.addr, log: w.log}
		got := getJSON[fetched](w, "/fetch?url="+url.QueryEscape("http://127.0.0.1:1/?code=canary"))
		if got.Err == "" || strings.Contains(got.Err, "canary") || !strings.Contains(got.Err, "127.0.0.1:1") {
			t.Errorf("got error %q, want one that names the host only", got.Err)
		}
	})
}

func TestNoGoroutineStaysBehind(t *testing.T) {
	t.Parallel()
	w := start(t, "app", nil)
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, 2<<20)) })
	goroutines, before := w.state()
	for range 50 {
		w.get("/fetch?url=" + url.QueryEscape(up))
		w.get("/fetch?cancel=1&url=" + url.QueryEscape(up))
		w.get("/kv?op=get&key=x&binding=MISSING")
	}
	w.settles(goroutines)
	_, after := w.state()
	t.Logf("memory of the instance: %.1f MB, after 100 refused exchanges %.1f MB", float64(before)/1e6, float64(after)/1e6)
}
