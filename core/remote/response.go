package remote

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// response is the app's response, completed with the edge's cookies just before its header is
// sent. It has the optional methods that handlers look for by a type assertion; what the
// platform's own lacks, they answer with http.ErrNotSupported.
type response struct {
	http.ResponseWriter
	visit *visit
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) WriteHeader(status int) {
	// An informational response (RFC 9110, section 15.2) comes before the header, except for
	// 101, which ends it.
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.visit.commit(w.Header())
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(b []byte) (int, error) {
	w.visit.commit(w.Header())
	return w.ResponseWriter.Write(b)
}

func (w *response) WriteString(s string) (int, error) {
	w.visit.commit(w.Header())
	return io.WriteString(w.ResponseWriter, s)
}

// ReadFrom lets the platform copy a file in its own way.
func (w *response) ReadFrom(r io.Reader) (int64, error) {
	w.visit.commit(w.Header())
	return io.Copy(w.ResponseWriter, r)
}

func (w *response) Flush() { _ = w.FlushError() }

func (w *response) FlushError() error {
	w.visit.commit(w.Header())
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.visit.commit(w.Header())
	return http.NewResponseController(w.ResponseWriter).Hijack()
}
