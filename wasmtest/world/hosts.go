package world

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
)

// Hosts is a network without sockets: a handler for each host, by the name that URLs have it under, with its port if they
// have one. A request to any other host fails with a *HostError. Hosts are added before the first request; after that it is
// safe for concurrent use.
type Hosts map[string]http.Handler

// A HostError is a request to a host that isn't there.
type HostError struct {
	Host string
}

func (e *HostError) Error() string { return "world: there is no host " + e.Host }

// errAborted is what is left of an answer whose handler panicked with http.ErrAbortHandler.
var errAborted = errors.New("world: the host has aborted its answer")

// RoundTrip has the host's handler answer, on the goroutine of the caller. The handler sees a request as a server gets it: from
// 192.0.2.1, and over TLS if the URL is https. The answer of one that goes on when the request's context has ended is dropped.
func (h Hosts) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	handler, ok := h[r.URL.Host]
	if !ok {
		return nil, &HostError{r.URL.Host}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := r.Clone(r.Context())
	if in.Body == nil {
		in.Body = http.NoBody
	}
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	in.RequestURI = r.URL.RequestURI()
	in.RemoteAddr = "192.0.2.1:1234" // of the documentation's network, RFC 5737
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if r.URL.Scheme == "https" {
		in.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: r.URL.Hostname()}
	}
	in.URL.Scheme, in.URL.Host, in.URL.User = "", "", nil
	out := httptest.NewRecorder()
	defer func() {
		if v := recover(); v != nil {
			if v != http.ErrAbortHandler {
				panic(v)
			}
			resp, err = nil, errAborted
		}
	}()
	handler.ServeHTTP(out, in)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	resp = out.Result()
	resp.Request = r
	if r.Method == http.MethodHead {
		resp.Body = io.NopCloser(http.NoBody)
	}
	return resp, nil
}
