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
	"github.com/edgeauth/edgeauth/kvadapter/kv"
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
	mux.HandleFunc("/store", store)
	mux.HandleFunc("/kv", cache)
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

// store calls the store of a binding.
func store(w http.ResponseWriter, r *http.Request) {
	store, key := edge.Store(r.FormValue("binding")), r.FormValue("key")
	var answer any
	var err error
	switch r.Method {
	case http.MethodGet, "TAKE": // a take deletes what was read
		var entries []kv.Entry
		if entries, err = store.Get(r.Context(), key); err != nil {
			break
		}
		answer = string(entries[0].Value)
		if version := entries[0].Version; r.Method == "TAKE" && version == "" {
			answer = false
		} else if r.Method == "TAKE" {
			answer, err = store.Commit(r.Context(), []kv.Check{{Key: key, Version: version}}, []kv.Write{{Key: key}})
		}
	case "INSERT":
		value, _ := io.ReadAll(r.Body)
		answer, err = store.Commit(r.Context(), []kv.Check{{Key: key}}, []kv.Write{{Key: key, Value: value, Ref: r.FormValue("ref"), Expires: expires(r)}})
	case "LIST":
		answer, _, err = store.(kv.Lister).List(r.Context(), r.FormValue("prefix"), r.FormValue("cursor"))
	}
	show(w, answer, err)
}

// cache calls the cache of a binding.
func cache(w http.ResponseWriter, r *http.Request) {
	cache, key := edge.KV(r.FormValue("binding")), r.FormValue("key")
	var answer any
	var err error
	switch r.Method {
	case http.MethodGet:
		var value []byte
		value, _, err = cache.Get(r.Context(), key)
		answer = string(value)
	case http.MethodPut:
		value, _ := io.ReadAll(r.Body)
		err = cache.Put(r.Context(), key, value, expires(r))
	case http.MethodDelete:
		err = cache.Delete(r.Context(), key)
	}
	show(w, answer, err)
}

func expires(r *http.Request) time.Time {
	d, err := time.ParseDuration(r.FormValue("ttl"))
	if err != nil {
		return time.Time{}
	}
	return time.Now().Add(d)
}

func show(w http.ResponseWriter, answer any, err error) {
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		_, isTimeout := errors.AsType[*kv.TimeoutError](err)
		fmt.Fprintf(w, "%t %v", isTimeout, err)
		return
	}
	_ = json.NewEncoder(w).Encode(answer)
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
