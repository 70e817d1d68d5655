package wasmtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/edgeauth/edgeauth/edge/abi"
)

// offer makes the import module of package abi. All instances share it; which one calls is in the context.
func (m *Module) offer(ctx context.Context) error {
	b := m.runtime.NewHostModuleBuilder(abi.Module)
	i32, i64 := []api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeI64}
	pointer := append(i32, i32...)
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(take), append(i32, pointer...), i32).Export(abi.ImportTake)
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(respond), pointer, i32).Export(abi.ImportRespond)
	for name, f := range map[string]func(context.Context, []byte) []byte{
		abi.ImportFetch:       m.fetch,
		abi.ImportStoreGet:    onStore(m.get),
		abi.ImportStoreCommit: onStore(m.commit),
		abi.ImportStoreList:   onStore(m.list),
	} {
		b.NewFunctionBuilder().WithGoModuleFunction(operation(f), pointer, i64).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

func caller(ctx context.Context) *instance {
	return ctx.Value(instanceKey{}).(*instance)
}

// message returns a copy of the guest's bytes: what comes of a call can outlive it, the guest's memory may not.
func message(guest api.Module, ptr, length uint32) ([]byte, abi.Code) {
	if length > abi.MaxMessage {
		return nil, abi.CodeTooLarge
	}
	view, ok := guest.Memory().Read(ptr, length)
	if !ok {
		return nil, abi.CodeMalformed
	}
	return append([]byte{}, view...), abi.CodeOK
}

func take(ctx context.Context, guest api.Module, stack []uint64) {
	in := caller(ctx)
	handle, ptr, length := uint32(stack[0]), uint32(stack[1]), uint32(stack[2])
	result, ok := in.results[handle]
	switch {
	case !ok:
		stack[0] = uint64(abi.CodeState)
	case uint64(length) != uint64(len(result)) || !guest.Memory().Write(ptr, result):
		stack[0] = uint64(abi.CodeMalformed)
	default:
		delete(in.results, handle)
		stack[0] = uint64(abi.CodeOK)
	}
}

func respond(ctx context.Context, guest api.Module, stack []uint64) {
	in := caller(ctx)
	encoded, code := message(guest, uint32(stack[0]), uint32(stack[1]))
	var r reply
	switch {
	case in.request == nil || in.request.answered:
		code = abi.CodeState
	case code != abi.CodeOK:
	case r.response.Decode(encoded) != nil || r.response.Status < 200:
		code = abi.CodeMalformed
	default:
		in.request.answered = true
		in.request.response <- r
	}
	stack[0] = uint64(code)
}

// operation wraps a function from message to result. It runs apart from the guest, because a store or a transport may not
// mind the context, and the deadline must hold all the same.
func operation(f func(context.Context, []byte) []byte) api.GoModuleFunc {
	return func(ctx context.Context, guest api.Module, stack []uint64) {
		encoded, code := message(guest, uint32(stack[0]), uint32(stack[1]))
		result := abi.Fail(code, "")
		if code == abi.CodeOK {
			result = await(ctx, func() []byte { return f(ctx, encoded) })
		}
		in := caller(ctx)
		in.clock.check()
		stack[0] = uint64(in.keep(result))<<32 | uint64(uint32(len(result)))
		if stack[0]>>32 == 0 {
			stack[0] = 0
		}
	}
}

// await returns f's result, or a failure when ctx ends first. A panic in f ends the process, as anywhere.
func await(ctx context.Context, f func() []byte) []byte {
	done := make(chan []byte, 1)
	go func() {
		result := abi.Fail(abi.CodeFailed, "the host's store or transport ended its goroutine")
		defer func() { done <- result }() // also after runtime.Goexit, which t.FailNow is
		result = f()
	}()
	select {
	case result := <-done:
		return result
	case <-ctx.Done():
		return abi.Fail(abi.CodeTimeout, "")
	}
}

func (m *Module) fetch(ctx context.Context, encoded []byte) []byte {
	var request abi.Fetch
	if err := request.Decode(encoded); err != nil {
		return abi.Fail(abi.CodeMalformed, "")
	}
	if m.config.Transport == nil {
		return abi.Fail(abi.CodeFailed, "this host allows no outbound request: wasmtest.Config.Transport is nil")
	}
	limit := fetchLimit
	if request.Timeout > 0 {
		limit = min(limit, request.Timeout)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return await(ctx, func() []byte { return m.roundTrip(ctx, &request) }) // again: this ctx ends sooner
}

func (m *Module) roundTrip(ctx context.Context, request *abi.Fetch) []byte {
	var body io.Reader
	if request.Body != nil {
		body = strings.NewReader(string(request.Body))
	}
	r, err := http.NewRequestWithContext(ctx, request.Method, request.URL, body)
	if err != nil || r.URL.Scheme != "http" && r.URL.Scheme != "https" || r.URL.Host == "" {
		return abi.Fail(abi.CodeMalformed, "not an absolute http or https URL")
	}
	for _, f := range request.Fields {
		r.Header.Add(f.Name, f.Value)
	}
	response, err := m.config.Transport.RoundTrip(r)
	if err != nil {
		return failure(ctx, err)
	}
	defer response.Body.Close()
	defer context.AfterFunc(ctx, func() { _ = response.Body.Close() })() // ends a Read that does not mind ctx
	content, err := io.ReadAll(io.LimitReader(response.Body, abi.MaxBody+1))
	if err != nil {
		return failure(ctx, err)
	}
	if len(content) > abi.MaxBody {
		return abi.Fail(abi.CodeTooLarge, "the response body is larger than 1 MiB")
	}
	answer := abi.Response{Status: response.StatusCode, Fields: fields(response.Header), Body: content}
	result := abi.Result(answer.Append(nil))
	if len(result) > abi.MaxMessage {
		return abi.Fail(abi.CodeTooLarge, "the response is too large")
	}
	return result
}

func failure(ctx context.Context, err error) []byte {
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		return abi.Fail(abi.CodeTimeout, "")
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // its text repeats the URL, which may hold a secret
	}
	return abi.Fail(abi.CodeFailed, err.Error())
}
