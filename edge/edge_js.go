package edge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall/js"
	"time"

	"github.com/edgeauth/edgeauth/edge/internal/jsx"
	"github.com/syumai/workers/cloudflare"
)

// Serve answers the worker's requests with h. It never returns. Everything the
// program does before it must finish without waiting: the first request starts
// the program and needs it to serve when it first waits.
func Serve(h http.Handler) { jsx.Serve(h) }

// Getenv returns the worker's text binding name (a variable or secret), or ""
// when there is none.
func Getenv(name string) string {
	if v := cloudflare.GetBinding(name); v.Type() == js.TypeString {
		return v.String()
	}
	return ""
}

// WaitUntil runs f after the response to ctx's request was sent, without
// delaying it. ctx is the request's context or one derived from it; f gets its
// values without its end. The platform keeps the request alive for f, for about
// 30 seconds after the response. A panic of f is logged.
func WaitUntil(ctx context.Context, f func(context.Context)) { jsx.WaitUntil(ctx, f) }

// Transport is the platform's fetch. It follows no redirect, keeps no cookies
// and no cache. The whole exchange, headers and body, may take 10 seconds
// (ErrTimeout) and the body have 1 MiB (ErrBodyTooLarge): it is complete when
// RoundTrip returns. A request without User-Agent gets net/http's, since some
// services refuse requests that have none.
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
	ctx, global := req.Context(), js.Global()
	init := map[string]any{"method": "GET", "redirect": "manual"}
	if req.Method != "" {
		init["method"] = req.Method
	}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, err
		}
		if len(body) > 0 {
			init["body"] = jsx.Array(body)
		}
	}
	headers := global.Get("Headers").New()
	for name, values := range req.Header {
		switch name {
		case "Host", "Content-Length", "Connection", "Transfer-Encoding":
			continue // fetch sets them
		}
		for _, value := range values {
			if _, err := jsx.Call(ctx, headers, "append", name, jsx.Host.Encode(value)); err != nil {
				return nil, err
			}
		}
	}
	if req.Header.Get("User-Agent") == "" {
		headers.Call("append", "User-Agent", "Go-http-client/1.1")
	}
	init["headers"] = headers
	if global.Get("Reflect").Call("has", global.Get("Request").Get("prototype"), "cache").Bool() {
		init["cache"] = "no-store" // workerd with an older compatibility date refuses the option
	}

	// One timer covers headers and body. It is the platform's, see the package
	// comment, and it ends with the exchange: a timer left over would keep the
	// request alive.
	abort := global.Get("AbortController").New()
	signal := abort.Get("signal")
	init["signal"] = signal
	timer := global.Call("setTimeout", abort.Get("abort").Call("bind", abort), f.limit.Milliseconds())
	defer global.Call("clearTimeout", timer)

	u := *req.URL
	u.User, u.Fragment = nil, "" // fetch throws for credentials
	target := u.String()
	resp, body, err := f.exchange(ctx, target, init)
	if err != nil {
		timedOut := signal.Get("aborted").Bool()
		abort.Call("abort")
		var thrown *jsx.Error
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case timedOut:
			return nil, ErrTimeout
		case errors.As(err, &thrown):
			return nil, &jsx.Error{Name: thrown.Name, Message: strings.ReplaceAll(thrown.Message, target, req.URL.Host)}
		}
		return nil, err
	}

	header, err := jsx.Host.HeaderOf(resp.Get("headers"))
	if err != nil {
		return nil, err
	}
	status := resp.Get("status").Int()
	r := &http.Response{
		Status:        fmt.Sprintf("%d %s", status, http.StatusText(status)),
		StatusCode:    status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       req,
	}
	switch header.Get("Content-Encoding") {
	case "gzip", "br": // decoded by fetch
		delete(header, "Content-Encoding")
		delete(header, "Content-Length")
		r.Uncompressed = true
	}
	return r, nil
}

func (f fetch) exchange(ctx context.Context, target string, init map[string]any) (resp js.Value, body []byte, err error) {
	resp, err = jsx.Call(ctx, js.Global(), "fetch", target, init)
	if err != nil || !resp.Get("body").Truthy() {
		return resp, nil, err
	}
	reader := resp.Get("body").Call("getReader")
	for {
		chunk, err := jsx.Call(ctx, reader, "read")
		if err != nil {
			return resp, nil, err
		}
		if chunk.Get("done").Bool() {
			return resp, body, nil
		}
		value := chunk.Get("value")
		if len(body)+value.Get("length").Int() > maxResponseBytes {
			return resp, nil, ErrBodyTooLarge
		}
		body = append(body, jsx.Bytes(value)...)
	}
}
