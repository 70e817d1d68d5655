//go:build !js && !wasip1

package edge

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serveTest runs h as Serve does and returns its URL and what ends it: stop
// returns when serve has.
func serveTest(t *testing.T, h http.HandlerFunc) (base string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, listener, h) }()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		done <- nil
	}
	t.Cleanup(stop)
	return "http://" + listener.Addr().String(), stop
}

func TestServeAnswersAPanicWith500(t *testing.T) {
	base, _ := serveTest(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "a=b")
		if r.URL.Path == "/late" {
			io.WriteString(w, "begun")
		}
		if r.URL.Path == "/abort" {
			panic(http.ErrAbortHandler)
		}
		panic("boom")
	})
	var logged bytes.Buffer
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	for _, path := range []string{"/", "/abort"} {
		resp, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 500 || string(body) != "Internal Server Error\n" || resp.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: got %d %q %v", path, resp.StatusCode, body, resp.Header)
		}
	}
	if n := strings.Count(logged.String(), "edge: panic in handler: boom\n"); n != 1 {
		t.Errorf("the panic was logged %d times:\n%s", n, logged.String())
	}
	if resp, err := http.Get(base + "/late"); err == nil {
		if _, err := io.ReadAll(resp.Body); err == nil {
			t.Error("a response cut off by a panic looks complete")
		}
	}
}

func TestServeLimitsBodies(t *testing.T) {
	t.Parallel()
	base, _ := serveTest(t, func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		var tooLarge *http.MaxBytesError
		fmt.Fprint(w, n, errors.As(err, &tooLarge))
	})
	limit := strings.Repeat("x", MaxBodyBytes)
	for _, c := range []struct {
		name   string
		body   io.Reader
		status int
		answer string
	}{
		{"the limit", strings.NewReader(limit), 200, "1048576 false"},
		{"declared over the limit", strings.NewReader(limit + "x"), 413, "Request Entity Too Large\n"},
		{"over the limit", io.MultiReader(strings.NewReader(limit + "x")), 200, "1048576 true"},
	} {
		resp, err := http.Post(base, "text/plain", c.body)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.status || string(body) != c.answer {
			t.Errorf("%s: got %d %q, want %d %q", c.name, resp.StatusCode, body, c.status, c.answer)
		}
	}
}

func TestServeFinishesWhatItBegan(t *testing.T) {
	began, release := make(chan bool), make(chan bool)
	var after []string
	base, stop := serveTest(t, func(w http.ResponseWriter, r *http.Request) {
		type key struct{}
		ctx := context.WithValue(r.Context(), key{}, "value")
		WaitUntil(ctx, func(ctx context.Context) {
			<-release
			after = append(after, fmt.Sprintf("%v %v", ctx.Value(key{}), ctx.Err()))
		})
		WaitUntil(ctx, func(context.Context) { panic("contained") })
		close(began)
		<-release
	})
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	status := make(chan int, 1)
	go func() {
		resp, err := http.Get(base)
		if err != nil {
			t.Error(err)
			status <- 0
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	<-began
	go close(release)
	stop()
	if got := <-status; got != 200 {
		t.Errorf("the request under way got status %d", got)
	}
	if len(after) != 1 || after[0] != "value <nil>" {
		t.Errorf("WaitUntil's work did not finish: %q", after)
	}
}

// TestServeProcess runs Serve in a process of its own, for its output and signals.
func TestServeProcess(t *testing.T) {
	if os.Getenv("EDGE_TEST_SERVE") != "" {
		Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, Getenv("EDGE_TEST_SERVE")) }))
		fmt.Println("served")
		os.Exit(0)
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestServeProcess$")
	cmd.Env = append(os.Environ(), "EDGE_TEST_SERVE=hello", "ADDR=127.0.0.1:0")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	var base string
	if _, err := fmt.Fscanf(stdout, "listening on %s\n", &base); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(base)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if string(body) != "hello" {
		t.Errorf("got %q", body)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	rest, _ := io.ReadAll(stdout)
	if err := cmd.Wait(); err != nil || string(rest) != "served\n" {
		t.Errorf("after SIGTERM: %v %q", err, rest)
	}
}

func TestTransportLimits(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
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
		case "/hang", "/trickle":
			if r.URL.Path == "/trickle" {
				io.WriteString(w, "a beginning")
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
		}
	}))
	t.Cleanup(s.Close)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	const moment = 100 * time.Millisecond
	for _, c := range []struct {
		name, path string
		ctx        context.Context
		limit      time.Duration
		status     int
		bytes      int
		err        error
	}{
		{"redirect is not followed", "/redirect", t.Context(), time.Minute, 302, 33, nil},
		{"1 MiB", "/limit", t.Context(), time.Minute, 200, 1 << 20, nil},
		{"1 MiB and one byte", "/over", t.Context(), time.Minute, 0, 0, ErrBodyTooLarge},
		{"1 MiB after decompression", "/bomb", t.Context(), time.Minute, 0, 0, ErrBodyTooLarge},
		{"no headers within the limit", "/hang", t.Context(), moment, 0, 0, ErrTimeout},
		{"no body within the limit", "/trickle", t.Context(), moment, 0, 0, ErrTimeout},
		{"canceled", "/hang", canceled, time.Minute, 0, 0, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req, _ := http.NewRequestWithContext(c.ctx, "GET", s.URL+c.path+"?code=canary", nil)
			resp, err := fetch{limit: c.limit}.RoundTrip(req)
			if !errors.Is(err, c.err) || c.err == ErrTimeout && !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("got error %v, want %v", err, c.err)
			}
			if err != nil {
				if strings.Contains(err.Error(), "canary") {
					t.Errorf("the error shows the query: %v", err)
				}
				return
			}
			body, err := io.ReadAll(resp.Body)
			if resp.StatusCode != c.status || len(body) != c.bytes || err != nil || resp.Request != req {
				t.Errorf("got %d, %d bytes, %v", resp.StatusCode, len(body), err)
			}
		})
	}
	if f := Transport.(fetch); f.limit != 10*time.Second {
		t.Errorf("Transport allows %v", f.limit)
	}
}

func TestTransportErrorNamesTheHostOnly(t *testing.T) {
	t.Parallel()
	_, err := Transport.RoundTrip(&http.Request{Method: "GET", URL: &url.URL{Scheme: "http", Host: "127.0.0.1:1", RawQuery: "code=canary"}})
	if err == nil || strings.Contains(err.Error(), "canary") || !strings.HasPrefix(err.Error(), "edge: GET 127.0.0.1:1: ") {
		t.Errorf("got %v", err)
	}
}
