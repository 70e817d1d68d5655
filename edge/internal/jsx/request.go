package jsx

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
)

var errHead = errors.New("edge: malformed request head")

// NewRequest makes the request a handler sees from what the worker passed on:
// head is the method, the URL, and the names and values of the header, each
// followed by a line end, which none of them can hold. A nil body is none.
//
// The result is what net/http's server would have made, except that the URL
// keeps its scheme and host and that RemoteAddr has port 0: it is the address in
// CF-Connecting-IP, which Cloudflare sets and nobody can forge there. Elsewhere
// the client may have sent the field itself.
func (c Charset) NewRequest(ctx context.Context, head string, body []byte) (*http.Request, error) {
	method, rest, ok := strings.Cut(head, "\n")
	if !ok {
		return nil, errHead
	}
	rawURL, rest, ok := strings.Cut(rest, "\n")
	if !ok {
		return nil, errHead
	}
	scheme, uri, ok := strings.Cut(rawURL, "://")
	if !ok {
		return nil, errHead
	}
	// The worker's URL comes from the WHATWG parser, which always writes a path.
	slash := strings.IndexByte(uri, '/')
	if slash < 0 {
		return nil, errHead
	}
	host, uri := uri[:slash], uri[slash:]
	// That parser lets a stray % pass. Go's doesn't, and the request is answered
	// with 400, as by net/http's server.
	u, err := url.ParseRequestURI(uri)
	if err != nil {
		return nil, errHead
	}
	u.Scheme, u.Host = scheme, host

	header, err := c.Header(rest)
	if err != nil {
		return nil, err
	}
	r := new(http.Request).WithContext(ctx)
	r.Method = method
	r.URL = u
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Header = header
	r.Body = http.NoBody
	r.ContentLength = int64(len(body))
	r.Host = host
	r.RequestURI = uri
	delete(header, "Host") // as net/http's server does: it is in r.Host
	if ip := header["Cf-Connecting-Ip"]; ip != nil {
		r.RemoteAddr = net.JoinHostPort(ip[0], "0")
	}
	if len(body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return r, nil
}

// Header reads names and values, each followed by a line end.
func (c Charset) Header(lines string) (http.Header, error) {
	lines = c.decode(lines)
	const fields = 16
	h := make(http.Header, fields)
	var values []string // one allocation for many fields, as in net/textproto
	for lines != "" {
		i := strings.IndexByte(lines, '\n')
		if i < 0 {
			return nil, errHead
		}
		name := lines[:i]
		lines = lines[i+1:]
		if i = strings.IndexByte(lines, '\n'); i < 0 {
			return nil, errHead
		}
		value := lines[:i]
		lines = lines[i+1:]
		name = textproto.CanonicalMIMEHeaderKey(name)
		if old := h[name]; old != nil {
			h[name] = append(old, value)
			continue
		}
		if len(values) == 0 {
			values = make([]string, fields)
		}
		values[0] = value
		h[name], values = values[:1:1], values[1:]
	}
	return h, nil
}
