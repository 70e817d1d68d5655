package edge

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"sync"
	_ "unsafe" // for go:linkname

	"github.com/edgeauth/edgeauth/edge/abi"
)

// The limit this package documents is the one its contract with the host has.
const _ = uint(MaxBodyBytes-abi.MaxBody) + uint(abi.MaxBody-MaxBodyBytes)

// mainMain is the program's main function. A reactor (-buildmode=c-shared) links main.main, but nothing in it calls it; the
// linker lets a package outside the standard library name it.
//
//go:linkname mainMain main.main
func mainMain()

var (
	started bool
	serving http.Handler
	served  = make(chan http.Handler, 1)
)

// Serve hands h to the host and never returns, as on every other target. The host calls h for one request at a time;
// what package variables hold lives until the host drops the instance. Between requests nothing runs: a goroutine
// left behind goes on during the next one.
//
// The program must be built with -buildmode=c-shared; Serve ends one that was not.
func Serve(h http.Handler) {
	if !started {
		log.Fatal("edge: Serve needs a host that runs reactors: build with GOOS=wasip1 GOARCH=wasm -buildmode=c-shared")
	}
	if h == nil {
		log.Fatal("edge: Serve needs a handler")
	}
	select {
	case served <- h:
	default:
		log.Fatal("edge: Serve was called twice")
	}
	select {} // main's deferred calls don't run while its handler serves
}

// start runs main until it calls Serve. When main exits instead, this call never returns and the host has main's log.
//
//go:wasmexport edge_start
func start() uint32 {
	if started {
		return uint32(abi.CodeState)
	}
	started = true
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		mainMain()
	}()
	select {
	case serving = <-served:
		return uint32(abi.CodeOK)
	case <-returned:
		return uint32(abi.CodeState)
	}
}

//go:wasmexport edge_handle
func handle(id, length uint32) uint32 {
	if serving == nil {
		return uint32(abi.CodeState)
	}
	encoded, err := taken(id, length)
	if err != nil {
		return uint32(abi.CodeMalformed)
	}
	var message abi.Request
	if err := message.Decode(encoded); err != nil {
		return uint32(abi.CodeMalformed)
	}
	later := new(deferred)
	ctx := context.WithValue(context.Background(), deferredKey{}, later)
	response := answer(ctx, &message)
	code := respond(response)
	later.run()
	return uint32(code)
}

// answer runs the handler. Its context ends with it.
func answer(ctx context.Context, message *abi.Request) *abi.Response {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := newRequest(ctx, message)
	if err != nil {
		return plain(http.StatusBadRequest)
	}
	w := &responseWriter{head: r.Method == http.MethodHead}
	if panicked := guarded("serving "+r.URL.Path, func() { serving.ServeHTTP(w, r) }); panicked {
		return plain(http.StatusInternalServerError)
	}
	return w.response()
}

// Getenv returns the value the host has set for name, or the empty string. os.Getenv does the same here.
func Getenv(name string) string {
	return os.Getenv(name)
}

// deferred holds what one request left to WaitUntil.
type deferred struct {
	mu    sync.Mutex
	queue []func()
	over  bool
}

type deferredKey struct{}

func (d *deferred) add(f func()) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.over {
		d.queue = append(d.queue, f)
	}
	return !d.over
}

func (d *deferred) run() {
	for {
		d.mu.Lock()
		queue := d.queue
		d.queue, d.over = nil, len(queue) == 0
		d.mu.Unlock()
		if len(queue) == 0 {
			return
		}
		for _, f := range queue {
			guarded("in WaitUntil", f)
		}
	}
}

// WaitUntil runs f after the response to ctx's request has gone to the host, in the order of the calls and before the
// next request of this instance; f may call it again. f gets ctx's values without its end; the host's deadline for
// the request covers it. A panic in f is logged. Without a request in ctx, or after its end, f runs at once.
func WaitUntil(ctx context.Context, f func(context.Context)) {
	run := func() { f(context.WithoutCancel(ctx)) }
	if d, ok := ctx.Value(deferredKey{}).(*deferred); ok && d.add(run) {
		return
	}
	guarded("in WaitUntil", run)
}

// guarded runs f and reports whether it panicked. http.ErrAbortHandler is not logged, as in net/http.
func guarded(where string, f func()) (panicked bool) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		panicked = true
		if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			return
		}
		logPanic(where, v)
	}()
	f()
	return false
}
