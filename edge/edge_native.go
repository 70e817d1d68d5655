//go:build !js && !wasip1

package edge

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

// Serve answers requests on the address in $ADDR (localhost:8787 when unset;
// port 0 picks a free one) and prints "listening on http://ADDR" to standard
// output once it accepts connections. It returns after SIGINT or SIGTERM, when
// the requests under way and everything left to WaitUntil have finished, ten
// seconds later at most; a second signal ends the process. If it can't listen
// it ends the program.
//
// As on the other targets, a panic in h is logged and answered with 500, and
// bodies are limited to MaxBodyBytes.
func Serve(h http.Handler) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", cmp.Or(os.Getenv("ADDR"), "localhost:8787"))
	if err != nil {
		log.Fatalf("edge: %v", err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	context.AfterFunc(ctx, stop) // from now on signals have their usual effect
	if err := serve(ctx, listener, h); err != nil {
		log.Fatalf("edge: %v", err)
	}
}

const shutdownGrace = 10 * time.Second

// serve answers requests on listener until ctx ends, then finishes as Serve says.
func serve(ctx context.Context, listener net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler:           limited(recovered(h)),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    128 << 10, // Cloudflare's limit
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		server.Close()
	}
	done := make(chan struct{})
	go func() { background.Wait(); close(done) }()
	select {
	case <-done:
	case <-grace.Done():
		log.Print("edge: gave up waiting for WaitUntil")
	}
	return nil
}

// limited keeps request bodies to MaxBodyBytes.
func limited(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > MaxBodyBytes {
			http.Error(w, http.StatusText(http.StatusRequestEntityTooLarge), http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, MaxBodyBytes)
		h.ServeHTTP(w, r)
	})
}

// recovered answers a panic with 500 where net/http would close the connection,
// which it still does when the response has already begun.
func recovered(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tracked := &trackingWriter{ResponseWriter: w}
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p != http.ErrAbortHandler {
				log.Printf("edge: panic in handler: %v\n%s", p, debug.Stack())
			}
			if tracked.began {
				panic(http.ErrAbortHandler)
			}
			clear(w.Header())
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		}()
		h.ServeHTTP(tracked, r)
	})
}

type trackingWriter struct {
	http.ResponseWriter
	began bool
}

func (w *trackingWriter) WriteHeader(status int) {
	w.began = w.began || status >= 200
	w.ResponseWriter.WriteHeader(status)
}

func (w *trackingWriter) Write(p []byte) (int, error) {
	w.began = true
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the server's own writer.
func (w *trackingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Getenv returns the environment variable name, or "" when it is unset.
func Getenv(name string) string { return os.Getenv(name) }

var background sync.WaitGroup

// WaitUntil runs f in a goroutine of its own, with the values of ctx but not its
// end. Serve waits for it before it returns. A panic of f is logged.
func WaitUntil(ctx context.Context, f func(context.Context)) {
	background.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				log.Printf("edge: panic in WaitUntil: %v\n%s", p, debug.Stack())
			}
		}()
		f(context.WithoutCancel(ctx))
	})
}

// Transport sends requests with net/http's transport, under the limits of the
// other targets: it follows no redirect, keeps no cookies and no cache; the
// whole exchange, headers and body, may take 10 seconds (ErrTimeout) and the
// body have 1 MiB (ErrBodyTooLarge). The body is complete when RoundTrip returns.
var Transport http.RoundTripper = fetch{limit: 10 * time.Second}

const maxResponseBytes = 1 << 20

type fetch struct {
	limit time.Duration
}

func (f fetch) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := f.roundTrip(req)
	if err != nil {
		// The host alone: the rest of a URL may hold what belongs in no log.
		return nil, fmt.Errorf("edge: %s %s: %w", req.Method, req.URL.Host, err)
	}
	return resp, nil
}

func (f fetch) roundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeoutCause(req.Context(), f.limit, ErrTimeout)
	defer cancel()
	resp, err := http.DefaultTransport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, cause(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponseBytes+1))
	if err != nil {
		return nil, cause(ctx, err)
	}
	if len(body) > maxResponseBytes {
		return nil, ErrBodyTooLarge
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	resp.Request = req
	return resp, nil
}

// cause prefers the reason ctx ended, if it did, to the error that followed.
func cause(ctx context.Context, err error) error {
	if reason := context.Cause(ctx); reason != nil {
		return reason
	}
	return err
}
