package jsx

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
)

// call asks the worker's function that the first of the lines names, the others
// being its arguments (worker/calls.mjs). The worker copies both parts, and calls
// edge_settle in an event of its own.
//
//go:wasmimport edge call
func call(id int32, lines, body string)

// cancel tells the worker that nobody waits for call id any more.
//
//go:wasmimport edge cancel
func cancel(id int32)

// A Reply is what a function of the worker gave.
type Reply struct {
	Status int    // as in HTTP
	Lines  string // what else it says, each line with its end
	Body   []byte
}

// An Error is what a function of the worker has thrown.
type Error struct {
	Name, Message string // of the JavaScript error

	// Retryable is what Durable Objects say of a failure that may be over, unless
	// it is that they have too much to do.
	Retryable bool
}

func (e *Error) Error() string { return e.Name + ": " + e.Message }

// Call asks a function of the worker and waits for what it gives. What the
// function throws, and a line that isn't one, is returned as an *Error; a
// context that ends first as its error, and one that has ended before prevents
// the call.
//
// The goroutine runs on in an event of the call's own request, which is what
// makes waiting allowed (see package edge).
func Call(ctx context.Context, body []byte, lines ...string) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	text := strings.Join(lines, "\n")
	if strings.Count(text, "\n") >= len(lines) {
		return Reply{}, &Error{Name: "TypeError", Message: "a line end in an argument"}
	}
	done := make(chan Reply, 1)
	id := calls.add(done)
	call(id, text, view(body))
	select {
	case r := <-done:
		if r.Status < 0 {
			name, message, _ := strings.Cut(r.Lines, "\n")
			return Reply{}, &Error{Name: name, Message: message, Retryable: r.Status == -2}
		}
		return r, nil
	case <-ctx.Done():
		calls.take(id)
		cancel(id)
		return Reply{}, ctx.Err()
	}
}

// Sleep waits for d, or for the end of ctx, whose error it then returns. The timer
// is the platform's and belongs to the goroutine's request, as what Call waits
// for does.
func Sleep(ctx context.Context, d time.Duration) error {
	_, err := Call(ctx, nil, "wait", strconv.FormatInt(d.Milliseconds(), 10))
	return err
}

// edge_settle ends call id; its result is in the buffer.
//
//go:wasmexport edge_settle
func edgeSettle(id, status, linesLen, bodyLen int32) {
	lines, body := received(linesLen, bodyLen)
	if done := calls.take(id); done != nil {
		done <- Reply{int(status), lines, body}
	}
}

// calls are those that goroutines wait for.
var calls = callTable{waiting: make(map[int32]chan<- Reply)}

type callTable struct {
	mu      sync.Mutex // see server
	last    int32
	waiting map[int32]chan<- Reply
}

func (t *callTable) add(done chan<- Reply) int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	t.waiting[t.last] = done
	return t.last
}

// take removes and returns call id, or nil when nobody waits for it any more.
func (t *callTable) take(id int32) chan<- Reply {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := t.waiting[id]
	delete(t.waiting, id)
	return done
}
