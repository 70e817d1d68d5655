package jsx

import (
	"context"
	"fmt"
	"sync"
	"syscall/js"
	"time"
)

// An Error is what a JavaScript call threw or a promise was rejected with.
type Error struct {
	Name, Message string // of the JavaScript error

	// Retryable is what Durable Objects say of a failure that may be over, unless
	// it is that they have too much to do.
	Retryable bool
}

func (e *Error) Error() string { return e.Name + ": " + e.Message }

func errorOf(v js.Value) *Error {
	if v.Type() != js.TypeObject {
		return &Error{Name: "Error", Message: v.String()}
	}
	return &Error{
		Name:      v.Get("name").String(),
		Message:   v.Get("message").String(),
		Retryable: v.Get("retryable").Equal(js.ValueOf(true)) && !v.Get("overloaded").Truthy(),
	}
}

// Call calls v's method and waits for the promise it returns; a result that is
// no promise is returned as it is. What the call throws, and what the promise is
// rejected with, is returned as an *Error; a context that ends first as its error,
// and one that has ended before prevents the call.
//
// The goroutine runs on in an event of the promise's own request, which is what
// makes waiting allowed (see package edge).
func Call(ctx context.Context, v js.Value, method string, args ...any) (result js.Value, err error) {
	if err := ctx.Err(); err != nil {
		return js.Value{}, err
	}
	promise, err := try(v, method, args)
	if err != nil || promise.Type() != js.TypeObject || promise.Get("then").Type() != js.TypeFunction {
		return promise, err
	}
	done := make(chan outcome, 1)
	id := awaits.add(done)
	promise.Call("then", awaits.settle.Call("bind", nil, id, true), awaits.settle.Call("bind", nil, id, false))
	select {
	case o := <-done:
		if !o.ok {
			return js.Value{}, errorOf(o.value)
		}
		return o.value, nil
	case <-ctx.Done():
		awaits.take(id)
		return js.Value{}, ctx.Err()
	}
}

// Sleep waits for d, or for the end of ctx, whose error it then returns. The timer
// is the platform's and belongs to the goroutine's request, as what Call waits
// for does.
func Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan outcome, 1)
	id := awaits.add(done)
	timer := js.Global().Call("setTimeout", awaits.settle.Call("bind", nil, id, true, nil), d.Milliseconds())
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		awaits.take(id)
		js.Global().Call("clearTimeout", timer)
		return ctx.Err()
	}
}

func try(v js.Value, method string, args []any) (result js.Value, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case js.Error:
			err = errorOf(p.Value)
		default: // no such method, or v is no object
			err = &Error{Name: "TypeError", Message: fmt.Sprint(p)}
		}
	}()
	return v.Call(method, args...), nil
}

type outcome struct {
	value js.Value
	ok    bool
}

// awaits are the promises and timers goroutines wait for. One function, made once and
// never released, settles all of them by number: a js.Func per promise would
// have to be released on every path, also on those where the request is
// cancelled and neither callback ever runs.
var awaits = newAwaitTable()

type awaitTable struct {
	settle js.Func

	mu   sync.Mutex // see server
	last int
	m    map[int]chan<- outcome
}

func newAwaitTable() *awaitTable {
	t := &awaitTable{m: make(map[int]chan<- outcome)}
	t.settle = js.FuncOf(func(_ js.Value, args []js.Value) any {
		if done := t.take(args[0].Int()); done != nil {
			done <- outcome{args[2], args[1].Bool()}
		}
		return nil
	})
	return t
}

func (t *awaitTable) add(done chan<- outcome) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	t.m[t.last] = done
	return t.last
}

// take removes and returns promise id, or nil when nobody waits for it any more.
func (t *awaitTable) take(id int) chan<- outcome {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := t.m[id]
	delete(t.m, id)
	return done
}

// Bytes copies an ArrayBuffer or a Uint8Array into the program.
func Bytes(v js.Value) []byte {
	if v.Get("BYTES_PER_ELEMENT").IsUndefined() {
		v = js.Global().Get("Uint8Array").New(v)
	}
	b := make([]byte, v.Get("length").Int())
	js.CopyBytesToGo(b, v)
	return b
}

// Array copies b out of the program.
func Array(b []byte) js.Value {
	v := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(v, b)
	return v
}
