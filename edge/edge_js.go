package edge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
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
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	u := *req.URL
	u.User, u.Fragment = nil, "" // fetch throws for credentials
	target := u.String()
	method := req.Method
	if method == "" {
		method = http.MethodGet
	}
	lines := []string{"fetch", method, target, strconv.FormatInt(f.limit.Milliseconds(), 10)}
	for name, values := range req.Header {
		switch name {
		case "Host", "Content-Length", "Connection", "Transfer-Encoding":
			continue // fetch sets them
		}
		for _, value := range values {
			lines = append(lines, name, jsx.Host.Encode(value))
		}
	}
	if req.Header.Get("User-Agent") == "" {
		lines = append(lines, "User-Agent", "Go-http-client/1.1")
	}
	reply, err := jsx.Call(req.Context(), body, lines...)
	if thrown, ok := errors.AsType[*jsx.Error](err); ok {
		switch thrown.Name {
		case "TimeoutError":
			return nil, ErrTimeout
		case "BodyTooLarge":
			return nil, ErrBodyTooLarge
		}
	}
	if err != nil {
		return nil, err
	}

	header, err := jsx.Host.Header(reply.Lines)
	if err != nil {
		return nil, err
	}
	r := &http.Response{
		Status:        strconv.Itoa(reply.Status) + " " + http.StatusText(reply.Status),
		StatusCode:    reply.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(reply.Body)),
		ContentLength: int64(len(reply.Body)),
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
