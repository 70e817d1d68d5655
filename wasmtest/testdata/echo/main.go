// Echo is the guest of this module's tests: each path shows one thing that crosses the border between program and host.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/wasmtest/testdata/hello"
)

var (
	served  int
	booted  = rand.Text()
	started = time.Now()
	hoard   [][]byte
)

func main() {
	switch edge.Getenv("ECHO_START") {
	case "fatal":
		log.Fatal("echo: AUTH_SECRET is missing; set it")
	case "panic":
		panic("echo: broken configuration")
	case "return":
		return
	case "hang":
		select {}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/hello", hello.ServeHTTP)
	mux.HandleFunc("/", echo)
	mux.HandleFunc("/respond", respond)
	mux.HandleFunc("/count", func(w http.ResponseWriter, r *http.Request) { served++; fmt.Fprint(w, served) })
	mux.HandleFunc("/env", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%q %q %q", edge.Getenv("GREETING"), os.Getenv("GREETING"), os.Environ())
	})
	mux.HandleFunc("/random", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, booted, " ", rand.Text()) })
	mux.HandleFunc("/clock", clock)
	mux.HandleFunc("/fetch", fetch)
	mux.HandleFunc("/kv", kv)
	mux.HandleFunc("/later", later)
	mux.HandleFunc("/log", func(w http.ResponseWriter, r *http.Request) { log.SetFlags(0); log.Print(r.FormValue("line")) })
	mux.HandleFunc("/end", end)
	mux.HandleFunc("/leak", leak)
	edge.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "//") { // which a ServeMux redirects
			echo(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	log.Fatal("echo: Serve returned")
}

// echo answers what it was asked, in JSON with Go-quoted bytes.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	header := map[string][]string{}
	for name, values := range r.Header {
		for _, v := range values {
			header[name] = append(header[name], strconv.QuoteToASCII(v))
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"method": r.Method, "url": r.URL.String(), "path": r.URL.Path, "host": r.Host, "uri": r.RequestURI, "remote": r.RemoteAddr,
		"header": header, "length": r.ContentLength, "absent": r.Body == http.NoBody, "body": len(body), "error": err != nil,
	})
}

// respond answers as the query says, for what a response may hold.
func respond(w http.ResponseWriter, r *http.Request) {
	for _, cookie := range r.URL.Query()["cookie"] {
		w.Header().Add("Set-Cookie", cookie)
	}
	if v, ok := r.URL.Query()["x"]; ok {
		w.Header()["X-Bytes"] = v
	}
	if status, err := strconv.Atoi(r.FormValue("status")); err == nil {
		w.WriteHeader(status)
	}
	w.Header().Set("X-Late", "too late")
	size, _ := strconv.Atoi(r.FormValue("size"))
	_, _ = w.Write([]byte(strings.Repeat("x", size)))
}

func clock(w http.ResponseWriter, r *http.Request) {
	before := time.Now()
	if d, err := time.ParseDuration(r.FormValue("sleep")); err == nil {
		time.Sleep(d)
	}
	fmt.Fprintf(w, "%d %d %t", before.UnixNano(), time.Since(before), before.Sub(started) >= 0)
}

func fetch(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if d, err := time.ParseDuration(r.FormValue("timeout")); err == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	out, err := http.NewRequestWithContext(ctx, r.Method, r.FormValue("url"), r.Body)
	if err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	out.Header["X-Bytes"] = r.Header["X-Bytes"]
	res, err := edge.Transport.RoundTrip(out)
	if err != nil {
		kind := "other"
		for name, target := range map[string]error{"timeout": edge.ErrTimeout, "too large": edge.ErrBodyTooLarge, "deadline": context.DeadlineExceeded} {
			if errors.Is(err, target) {
				kind = name
			}
		}
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, kind, ": ", err)
		return
	}
	defer res.Body.Close()
	for _, name := range []string{"Location", "Set-Cookie", "X-Bytes"} {
		w.Header()[name] = res.Header[name]
	}
	w.WriteHeader(res.StatusCode)
	n, _ := io.Copy(w, res.Body)
	if n != res.ContentLength {
		panic("length")
	}
}

// kv calls the KV store of a binding, or the atomic one.
func kv(w http.ResponseWriter, r *http.Request) {
	atomic, key := edge.Atomic(r.FormValue("binding")), r.FormValue("key")
	store := edge.KV(r.FormValue("binding"))
	if r.FormValue("atomic") != "" {
		store = atomic
	}
	var expires time.Time
	if d, err := time.ParseDuration(r.FormValue("ttl")); err == nil {
		expires = time.Now().Add(d)
	}
	var err error
	switch r.Method {
	case http.MethodGet:
		var value []byte
		var ok bool
		if value, ok, err = store.Get(r.Context(), key); err == nil {
			fmt.Fprintf(w, "%q %t", value, ok)
		}
	case http.MethodPut:
		value, _ := io.ReadAll(r.Body)
		err = store.Put(r.Context(), key, value, expires)
	case http.MethodDelete:
		err = store.Delete(r.Context(), key)
	case "LIST":
		var keys []string
		var next string
		if keys, next, err = store.List(r.Context(), r.FormValue("prefix"), r.FormValue("cursor")); err == nil {
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys, "next": next})
		}
	case "INSERT":
		value, _ := io.ReadAll(r.Body)
		var ok bool
		if ok, err = atomic.Insert(r.Context(), key, value, expires); err == nil {
			fmt.Fprint(w, ok)
		}
	case "TAKE":
		var value []byte
		var ok bool
		if value, ok, err = atomic.Take(r.Context(), key); err == nil {
			fmt.Fprintf(w, "%q %t", value, ok)
		}
	case "SWAP":
		value, _ := io.ReadAll(r.Body)
		var ok bool
		if ok, err = atomic.Swap(r.Context(), key, []byte(r.FormValue("old")), value, expires); err == nil {
			fmt.Fprint(w, ok)
		}
	}
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprintf(w, "%t %v", errors.Is(err, edge.ErrKey), err)
	}
}

// later leaves work for after the response: it waits for the world and then stores what it learned.
func later(w http.ResponseWriter, r *http.Request) {
	request := r.Context()
	edge.WaitUntil(request, func(context.Context) { panic("echo: later") })
	edge.WaitUntil(request, func(ctx context.Context) {
		out, _ := http.NewRequestWithContext(ctx, "GET", "https://slow.example/", nil)
		res, err := edge.Transport.RoundTrip(out)
		if err != nil {
			log.Print(err)
			return
		}
		value := fmt.Sprint(res.StatusCode, " ", request.Err() != nil, " ", ctx.Err() != nil)
		edge.WaitUntil(ctx, func(ctx context.Context) {
			_ = edge.KV("LATER").Put(ctx, "done", []byte(value), time.Time{})
		})
	})
	fmt.Fprint(w, "answered")
}

// end ends the instance, or only the request, in one of the ways a program has.
func end(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write([]byte("partial"))
	switch r.FormValue("how") {
	case "panic":
		panic("echo: handler")
	case "abort":
		panic(http.ErrAbortHandler)
	case "exit":
		os.Exit(int(served))
	case "goroutine":
		go func() { panic("echo: goroutine") }()
		time.Sleep(time.Minute)
	case "loop":
		for {
			served++
		}
	case "sleep":
		time.Sleep(time.Hour)
	case "deadlock":
		select {}
	case "recursion":
		fmt.Fprint(w, depth(1))
	case "memory":
		for {
			hoard = append(hoard, make([]byte, 1<<20))
		}
	case "grow":
		hoard = append(hoard, make([]byte, 40<<20))
	}
}

// leak keeps something of each request.
func leak(w http.ResponseWriter, r *http.Request) {
	switch r.FormValue("what") {
	case "goroutine":
		go func() { select {} }()
	case "memory":
		hoard = append(hoard, make([]byte, 256))
	case "once":
		if len(hoard) == 0 {
			hoard = append(hoard, make([]byte, 1<<20))
			go func() { select {} }()
		}
	case "ended":
		done := make(chan struct{})
		go func() { close(done) }()
		<-done
	}
}

func depth(n int) int {
	if n < 0 {
		return 0
	}
	return depth(n+1) + 1
}
