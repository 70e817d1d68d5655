// App is the program the tests of package edge run inside workerd. Each path
// shows one thing the package promises.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/edge"
)

func main() {
	if cause := edge.Getenv("REFUSE"); cause != "" {
		log.Fatalf("app: refusing to start: %s", cause)
	}
	if edge.Getenv("BLOCK") != "" {
		select {}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("/respond", respond)
	mux.HandleFunc("/gzip", zipped)
	mux.HandleFunc("/fetch", fetch)
	mux.HandleFunc("/work", work)
	mux.HandleFunc("/after", after)
	mux.HandleFunc("/kv", kv)
	mux.HandleFunc("/die", die)
	mux.HandleFunc("/sleep", func(w http.ResponseWriter, r *http.Request) {
		duration, err := time.ParseDuration(r.FormValue("for"))
		if err != nil {
			duration = 100 * time.Millisecond
		}
		time.Sleep(duration)
	})
	mux.HandleFunc("/context", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Context().Err(), " after ", previous.Err())
		previous = r.Context()
	})
	mux.HandleFunc("/hang", func(w http.ResponseWriter, r *http.Request) { select {} })
	mux.HandleFunc("/grow", func(w http.ResponseWriter, r *http.Request) {
		for range 80 {
			kept = append(kept, make([]byte, 1<<20))
		}
	})
	mux.HandleFunc("/env", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%q", edge.Getenv(r.FormValue("name")))
	})
	mux.HandleFunc("/state", func(w http.ResponseWriter, r *http.Request) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Fprintf(w, "%d %d", runtime.NumGoroutine(), m.Sys)
	})
	edge.Serve(mux)
}

var (
	kept     [][]byte               // what /grow allocated
	previous = context.Background() // of /context
)

// Echo describes the request as the handler saw it.
type Echo struct {
	Method, URL, Host, RequestURI, RemoteAddr string

	Header        http.Header
	ContentLength int64
	NoBody        bool
	Body          int // its length
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		log.Print(err)
	}
	json.NewEncoder(w).Encode(Echo{
		r.Method, r.URL.String(), r.Host, r.RequestURI, r.RemoteAddr,
		r.Header, r.ContentLength, r.Body == http.NoBody, len(body),
	})
}

// respond answers with the status, headers and body its query asks for.
func respond(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	for _, h := range q["h"] {
		name, value, _ := strings.Cut(h, ":")
		w.Header().Add(name, value)
	}
	if status, err := strconv.Atoi(q.Get("status")); err == nil {
		w.WriteHeader(status)
	}
	io.WriteString(w, q.Get("body"))
}

func zipped(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, "compressed by the handler")
	z.Close()
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Type", "text/plain")
	w.Write(b.Bytes())
}

// Fetched describes what Transport returned.
type Fetched struct {
	Status       int
	Header       http.Header
	Body         int
	Text         string // of a short body
	Uncompressed bool

	Err                string
	Timeout, TooLarge  bool
	DeadlineExceeded   bool
	ContextWasCanceled bool
}

func fetch(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if r.FormValue("cancel") != "" {
		c, cancel := context.WithCancel(ctx)
		cancel()
		ctx = c
	}
	var body io.Reader
	if s := r.FormValue("body"); s != "" {
		body = strings.NewReader(s)
	}
	req, err := http.NewRequestWithContext(ctx, r.FormValue("method"), r.FormValue("url"), body)
	if err != nil {
		panic(err)
	}
	req.Header.Set("X-Sent", "a, b; ü")
	var out Fetched
	resp, err := edge.Transport.RoundTrip(req)
	if err != nil {
		out.Err = err.Error()
		out.Timeout = errors.Is(err, edge.ErrTimeout)
		out.DeadlineExceeded = errors.Is(err, os.ErrDeadlineExceeded)
		out.TooLarge = errors.Is(err, edge.ErrBodyTooLarge)
		out.ContextWasCanceled = errors.Is(err, context.Canceled)
	} else {
		b, _ := io.ReadAll(resp.Body)
		out = Fetched{Status: resp.StatusCode, Header: resp.Header, Body: len(b), Uncompressed: resp.Uncompressed}
		if len(b) < 100 {
			out.Text = string(b)
		}
	}
	json.NewEncoder(w).Encode(out)
}

// work answers with its id, after a call to url if there is one; it panics in
// the way panic names.
func work(w http.ResponseWriter, r *http.Request) {
	if url := r.FormValue("url"); url != "" {
		if err := call(r.Context(), url); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
	}
	switch r.FormValue("panic") {
	case "map":
		var m map[string]int
		m["x"]++
	case "abort":
		panic(http.ErrAbortHandler)
	case "goexit":
		runtime.Goexit()
	}
	fmt.Fprintf(w, "id %s", r.FormValue("id"))
}

func call(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	_, err = edge.Transport.RoundTrip(req)
	return err
}

// after leaves a call to url until after the response, and then, from there,
// another one.
func after(w http.ResponseWriter, r *http.Request) {
	url := r.FormValue("url")
	edge.WaitUntil(r.Context(), func(ctx context.Context) {
		for start := time.Now(); time.Since(start) < time.Second; { // hold up the isolate
		}
		if err := call(ctx, url+"?n=1"); err != nil {
			log.Print(err)
		}
		edge.WaitUntil(ctx, func(ctx context.Context) {
			if err := call(ctx, url+"?n=2"); err != nil {
				log.Print(err)
			}
		})
		panic("after the response")
	})
	io.WriteString(w, "sent")
}

// Stored is the result of a call on a store. OK is of those that have one.
type Stored struct {
	Value string
	OK    bool
	Keys  []string
	Next  string

	Err           string
	TooManyWrites bool
}

// kv calls the KV store that the query names, or the Atomic one. The call's context ends
// when the URL in the query's until has answered.
func kv(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	q := r.URL.Query()
	if until := q.Get("until"); until != "" {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if err := call(r.Context(), until); err != nil {
				log.Print(err)
			}
			cancel()
		}()
		defer func() { <-ended }()
	}
	atomic, key := edge.Atomic(q.Get("atomic")), q.Get("key")
	store := edge.KV(q.Get("binding"))
	if q.Has("atomic") {
		store = atomic
	}
	var expires time.Time
	if n, err := strconv.Atoi(q.Get("seconds")); err == nil {
		expires = time.Now().Add(time.Duration(n) * time.Second)
	}
	var out Stored
	var value []byte
	var err error
	switch q.Get("op") {
	case "get":
		value, out.OK, err = store.Get(ctx, key)
	case "put":
		err = store.Put(ctx, key, []byte(q.Get("value")), expires)
	case "delete":
		err = store.Delete(ctx, key)
	case "list":
		out.Keys, out.Next, err = store.List(ctx, key, q.Get("cursor"))
	case "insert":
		out.OK, err = atomic.Insert(ctx, key, []byte(q.Get("value")), expires)
	case "take":
		value, out.OK, err = atomic.Take(ctx, key)
	case "swap":
		out.OK, err = atomic.Swap(ctx, key, []byte(q.Get("old")), []byte(q.Get("value")), expires)
	case "fill":
		for i := 0; i < 1005 && err == nil; i++ {
			err = store.Put(ctx, fmt.Sprintf("%s%04d", key, i), nil, expires)
		}
	}
	out.Value = string(value)
	if err != nil {
		out.Err, out.TooManyWrites = err.Error(), errors.Is(err, edge.ErrTooManyWrites)
	}
	json.NewEncoder(w).Encode(out)
}

func die(w http.ResponseWriter, r *http.Request) {
	switch r.FormValue("how") {
	case "fatal":
		log.Fatal("app: the end")
	case "exit":
		os.Exit(0)
	case "goroutine":
		go panic("in a goroutine")
		runtime.Gosched()
	case "overflow":
		io.WriteString(w, strconv.Itoa(deeper(1)))
	}
}

func deeper(n int) int { return deeper(n+1) + n }
