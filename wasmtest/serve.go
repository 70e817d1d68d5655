package wasmtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/edgeauth/edgeauth/edge/abi"
)

// ServeHTTP hands the request to an idle instance, or waits for one. The scheme of the program's URL is https when r came
// over TLS, otherwise http; its host is r.Host.
//
// It answers 400 to a request without a host or a path, 413 to a body over 1 MiB, 500 when the program ended during the request,
// 503 when no instance was free in time or none can be started, 504 when the deadline passed.
func (m *Module) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, failure := m.read(w, r)
	if failure != 0 {
		fail(w, failure)
		return
	}
	waiting, cancel := context.WithTimeout(r.Context(), m.config.Deadline)
	in, err := m.pool.take(waiting)
	cancel()
	if err != nil {
		fail(w, http.StatusServiceUnavailable)
		return
	}
	x := &exchange{response: make(chan reply, 1)}
	go m.run(context.WithoutCancel(r.Context()), in, request, x)
	reply := <-x.response
	if reply.failure != 0 {
		fail(w, reply.failure)
		return
	}
	write(w, r, &reply.response)
}

// run owns the slot that ServeHTTP took, and the instance in it, until both are back in the pool. The client's leaving
// does not end ctx.
func (m *Module) run(ctx context.Context, in *instance, request []byte, x *exchange) {
	defer func() { m.pool.put(in) }()
	if in == nil {
		var err error
		if in, err = m.instantiate(ctx); err != nil {
			m.log.printf("no instance: %v", err)
			x.response <- reply{failure: http.StatusServiceUnavailable}
			return
		}
	}
	ctx, cancel := context.WithTimeout(ctx, m.config.Deadline)
	defer cancel()
	if !in.serve(ctx, request, x) {
		in.close()
		in = nil
		m.lost.Add(1)
	}
}

// read takes in the whole request, so that a slow client doesn't hold an instance.
func (m *Module) read(w http.ResponseWriter, r *http.Request) (encoded []byte, failure int) {
	target := r.URL.RequestURI()
	if r.Host == "" || !strings.HasPrefix(target, "/") { // "OPTIONS *" and CONNECT
		return nil, http.StatusBadRequest
	}
	message := abi.Request{Method: r.Method, URL: "http://" + r.Host + target, Remote: r.RemoteAddr, Fields: fields(r.Header)}
	if message.Method == "" {
		message.Method = http.MethodGet // as net/http reads an empty one
	}
	if r.TLS != nil {
		message.URL = "https" + strings.TrimPrefix(message.URL, "http")
	}
	if r.ContentLength > abi.MaxBody {
		return nil, http.StatusRequestEntityTooLarge
	}
	// A client that sends Content-Length: 0 has a body, an empty one, though net/http shows none.
	if r.Body != nil && r.Body != http.NoBody || r.Header.Get("Content-Length") != "" {
		message.Body = []byte{}
	}
	if r.Body != nil {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, abi.MaxBody))
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return nil, http.StatusRequestEntityTooLarge
		}
		if err != nil {
			return nil, http.StatusBadRequest
		}
		message.Body = append(message.Body, body...)
	}
	if encoded = message.Append(nil); len(encoded) > abi.MaxMessage {
		return nil, http.StatusRequestHeaderFieldsTooLarge
	}
	return encoded, 0
}

func fields(h http.Header) []abi.Field {
	var list []abi.Field
	for name, values := range h {
		for _, value := range values {
			list = append(list, abi.Field{Name: name, Value: value})
		}
	}
	return list
}

// write sends the program's response. Lengths and framing are the server's business, except for HEAD, whose length only the
// program knows.
func write(w http.ResponseWriter, r *http.Request, response *abi.Response) {
	h := w.Header()
	for _, f := range response.Fields {
		h.Add(f.Name, f.Value)
	}
	h.Del("Transfer-Encoding")
	bodyless := r.Method == http.MethodHead || response.Status < 200 || response.Status == http.StatusNoContent || response.Status == http.StatusNotModified
	if !bodyless {
		h.Set("Content-Length", strconv.Itoa(len(response.Body)))
	}
	w.WriteHeader(response.Status)
	if !bodyless {
		_, _ = w.Write(response.Body) // fails when the client is gone
	}
}

func fail(w http.ResponseWriter, status int) {
	http.Error(w, http.StatusText(status), status)
}
