package jsx

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"syscall/js"
	"unsafe"
)

// The bridge is five functions of the worker (program.mjs, the import object
// "edge") and four of the program. They take numbers and addresses in the
// program's memory only: each JavaScript value that crosses costs an entry in a
// table and a finalizer, and a call through js.Func ten crossings.
//
// An exchange: the worker asks for a buffer, writes head and body into it, calls
// edge_request and lets goroutines run until every one waits (resume). The
// handler's goroutine calls respond, during that or in a later event.

// serving says that the program serves from now on. It returns the host's Charset.
//
//go:wasmimport edge serve
func serving() int32

// respond hands over the response to request id; the worker copies both parts.
// When the request is lasting it calls edge_after as soon as the response has
// been sent, and keeps the request alive until finish.
//
//go:wasmimport edge respond
func respond(id, status int32, head, body string, lasting bool)

// finish ends a lasting request.
//
//go:wasmimport edge finish
func finish(id int32)

// Host is the charset of the program's host, known once Serve was called.
var Host Charset

// The program's only handler, and the requests whose response is being sent and
// that have work left. The map is locked although there is one thread: an
// allocation may let another goroutine run, even in the middle of an assignment.
var server struct {
	handler http.Handler
	scratch []byte

	// Requests go to goroutines that have served others, whose stacks have grown to
	// what a request needs; that saves a quarter of the time of one that doesn't
	// wait, and a tenth of one that reads from a store.
	jobs chan job
	busy int // requests
	idle int // goroutines that wait for one, besides the one that called Serve

	mu      sync.Mutex
	lasting map[int32]*exchange
}

// Serve answers the worker's requests with h, for ever.
func Serve(h http.Handler) {
	server.handler = h
	server.lasting = make(map[int32]*exchange)
	server.jobs = make(chan job)
	Host = Charset(serving())
	for {
		if j := <-server.jobs; !j.isDismissal {
			serve(j)
		}
	}
}

// maxIdle bounds the goroutines that wait for a request.
const maxIdle = 64

// work serves a request, and then others.
func work(j job) {
	serve(j)
	for server.idle < maxIdle {
		server.idle++
		j = <-server.jobs
		server.idle--
		if j.isDismissal {
			return
		}
		serve(j)
	}
}

// rest is called at the end of each request. When no other is under way, one of the
// goroutines that wait ends, so that they are gone some time after a crowd is. To end
// them all costs as much as to have none of them. A request that the platform has cut
// off is under way for ever; the worker then retires the instance in the end.
func rest() {
	server.busy--
	if server.busy == 0 && server.idle > 0 {
		select {
		case server.jobs <- job{isDismissal: true}:
		default:
		}
	}
}

// edge_buffer returns the address of n bytes that stay valid until the next call
// into the program.
//
//go:wasmexport edge_buffer
func edgeBuffer(n int32) unsafe.Pointer {
	if int(n) > cap(server.scratch) {
		server.scratch = make([]byte, max(int(n), 16<<10))
	}
	return unsafe.Pointer(unsafe.SliceData(server.scratch))
}

// edge_request starts request id, whose head and body are in the buffer.
//
//go:wasmexport edge_request
func edgeRequest(id, headLen, bodyLen int32) {
	head, body := received(headLen, bodyLen)
	j := job{id: id, head: head, body: body}
	server.busy++
	select {
	case server.jobs <- j:
	default:
		go work(j)
	}
}

// received copies what the worker has written into the buffer.
func received(textLen, bytesLen int32) (text string, bytes []byte) {
	b := server.scratch[:textLen+bytesLen]
	text = string(b[:textLen])
	if bytesLen > 0 {
		bytes = append(bytes, b[textLen:]...)
	}
	if cap(server.scratch) > 64<<10 {
		server.scratch = nil // one large body needn't stay for ever
	}
	return text, bytes
}

type job struct {
	id   int32
	head string
	body []byte

	isDismissal bool // there is no request; one of the goroutines that wait may end
}

// edge_after starts what request id left to WaitUntil.
//
//go:wasmexport edge_after
func edgeAfter(id int32) {
	server.mu.Lock()
	x := server.lasting[id]
	delete(server.lasting, id)
	server.mu.Unlock()
	waiting := x.waiting
	x.waiting, x.sent, x.running = nil, true, len(waiting)
	for _, f := range waiting {
		go x.run(f)
	}
}

func serve(j job) {
	ctx, cancel := context.WithCancel(context.Background())
	x := &exchange{Context: ctx, id: j.id}
	w := &Response{Charset: Host}
	returned := false
	defer func() {
		// recover also answers a handler that called runtime.Goexit: p is nil then.
		if p := recover(); !returned {
			if p != http.ErrAbortHandler {
				logPanic("handler", p)
			}
			w = plain(http.StatusInternalServerError)
		}
		cancel()
		status, head, body := w.Finish()
		lasting := x.waiting != nil
		if lasting {
			server.mu.Lock()
			server.lasting[x.id] = x
			server.mu.Unlock()
		}
		x.over = !lasting
		respond(j.id, int32(status), view(head), view(body), lasting)
		rest()
	}()
	r, err := Host.NewRequest(x, j.head, j.body)
	if err != nil {
		w = plain(http.StatusBadRequest)
	} else {
		w.Method = r.Method
		server.handler.ServeHTTP(w, r)
	}
	returned = true
}

// plain is the response to what no handler answered. It says nothing more than
// its status does.
func plain(status int) *Response {
	w := &Response{Charset: Host}
	http.Error(w, http.StatusText(status), status)
	return w
}

// view returns b as a string without copying, for a call that copies it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// An exchange is the context of a request: it knows which request it is.
type exchange struct {
	context.Context
	id      int32    // the worker's number for it
	waiting []func() // for when the response has been sent
	sent    bool     // they have been started
	running int      // of them
	over    bool     // the worker has forgotten the request
}

type exchangeKey struct{}

func (x *exchange) Value(key any) any {
	if key == (exchangeKey{}) {
		return x
	}
	return x.Context.Value(key)
}

// WaitUntil runs f when the response to ctx's request has been sent. With the
// context of no request, or of one that is over, f runs at once and nothing
// waits for it.
func WaitUntil(ctx context.Context, f func(context.Context)) {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	work := func() { f(context.WithoutCancel(ctx)) }
	switch {
	case x == nil || x.over:
		go func() {
			defer recoverWork()
			work()
		}()
	case x.sent:
		x.running++
		go x.run(work)
	default:
		x.waiting = append(x.waiting, work)
	}
}

func (x *exchange) run(work func()) {
	defer func() {
		if x.running--; x.running == 0 {
			x.over = true
			finish(x.id)
		}
	}()
	defer recoverWork()
	work()
}

func recoverWork() {
	if p := recover(); p != nil {
		logPanic("WaitUntil", p)
	}
}

func logPanic(where string, p any) {
	js.Global().Get("console").Call("error", fmt.Sprintf("edge: panic in %s: %v\n%s", where, p, debug.Stack()))
}
