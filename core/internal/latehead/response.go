// Package latehead completes the header of a response just before it is sent.
package latehead

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// Response is another one with a function that completes its header, called with whatever sends
// it: more than once, so it must do its work but once. It has the optional methods that handlers
// look for by a type assertion; what the platform's own lacks, they answer with
// http.ErrNotSupported.
type Response struct {
	http.ResponseWriter
	Complete func(http.Header)
}

// Unwrap is for http.ResponseController.
func (w *Response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *Response) WriteHeader(status int) {
	// An informational response (RFC 9110, section 15.2) comes before the header, except for
	// 101, which ends it.
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.Complete(w.Header())
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *Response) Write(b []byte) (int, error) {
	w.Complete(w.Header())
	return w.ResponseWriter.Write(b)
}

func (w *Response) WriteString(s string) (int, error) {
	w.Complete(w.Header())
	return io.WriteString(w.ResponseWriter, s)
}

// ReadFrom lets the platform copy a file in its own way.
func (w *Response) ReadFrom(r io.Reader) (int64, error) {
	w.Complete(w.Header())
	return io.Copy(w.ResponseWriter, r)
}

func (w *Response) Flush() { _ = w.FlushError() }

func (w *Response) FlushError() error {
	w.Complete(w.Header())
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *Response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.Complete(w.Header())
	return http.NewResponseController(w.ResponseWriter).Hijack()
}
