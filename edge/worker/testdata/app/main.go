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
	"github.com/edgeauth/edgeauth/kvadapter/kv"
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
	mux.HandleFunc("/store", store)
	mux.HandleFunc("/kv", cache)
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

// Stored is the result of a call on a store or a cache.
type Stored struct {
	Value string
	OK    bool
	Keys  []string
	Next  string

	Err              string
	TimedOut         bool
	IsUnsupported    bool
	DeadlineExceeded bool
}

// store calls the Store that the query names. A take is what somebody does who follows a link:
// read the record, and delete it as it was read.
func store(w http.ResponseWriter, r *http.Request) {
	ctx, q, key := r.Context(), r.URL.Query(), r.FormValue("key")
	store := edge.Store(q.Get("name"), edge.StoreOptions{Object: q.Get("object"), Location: q.Get("location"), Jurisdiction: q.Get("jurisdiction")})
	var out Stored
	var err error
	switch q.Get("op") {
	case "get", "take":
		var entries []kv.Entry
		if entries, err = store.Get(ctx, q["key"]...); err != nil {
			break
		}
		out.Value, out.OK = string(entries[0].Value), entries[0].Version != ""
		for _, e := range entries[1:] {
			out.Keys = append(out.Keys, e.Key)
		}
		if q.Get("op") == "take" && out.OK {
			out.OK, err = store.Commit(ctx, []kv.Check{{Key: key, Version: entries[0].Version}}, []kv.Write{{Key: key}})
		}
	case "put":
		out.OK, err = store.Commit(ctx, nil, []kv.Write{{Key: key, Value: []byte(q.Get("value")), Ref: q.Get("ref"), Expires: expires(q.Get("seconds"))}})
	case "list":
		var page []kv.Write
		page, out.Next, err = store.(kv.Lister).List(ctx, key, q.Get("cursor"))
		for _, w := range page {
			out.Keys = append(out.Keys, w.Key)
		}
	case "bookmark":
		out.Value, err = store.(edge.Restorer).Bookmark(ctx, expires(q.Get("seconds")))
	case "restore":
		err = store.(edge.Restorer).Restore(ctx, q.Get("value"))
	}
	describe(w, out, err)
}

// cache calls the KV that the query names. The call's context ends when the URL in the query's
// until has answered.
func cache(w http.ResponseWriter, r *http.Request) {
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
	cache, key := edge.KV(q.Get("name")), q.Get("key")
	var out Stored
	var value []byte
	var err error
	switch q.Get("op") {
	case "get":
		value, out.OK, err = cache.Get(ctx, key)
	case "put":
		err = cache.Put(ctx, key, []byte(q.Get("value")), expires(q.Get("seconds")))
	case "delete":
		err = cache.Delete(ctx, key)
	}
	out.Value = string(value)
	describe(w, out, err)
}

func describe(w http.ResponseWriter, out Stored, err error) {
	if err != nil {
		_, out.TimedOut = errors.AsType[*kv.TimeoutError](err)
		out.Err, out.IsUnsupported = err.Error(), errors.Is(err, errors.ErrUnsupported)
		out.DeadlineExceeded = errors.Is(err, os.ErrDeadlineExceeded)
	}
	json.NewEncoder(w).Encode(out)
}

func expires(seconds string) time.Time {
	n, err := strconv.Atoi(seconds)
	if err != nil {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(n) * time.Second)
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
