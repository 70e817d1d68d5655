package jsx

import (
	"fmt"
	"net/http"
	"strconv"
)

// A Response is the http.ResponseWriter a handler writes to. It keeps everything
// until the handler returns; nothing goes to the host before.
type Response struct {
	Charset Charset
	Method  string // of the request

	header http.Header
	status int    // 0 before WriteHeader
	head   []byte // names and values, each followed by a line end
	body   []byte
	sniff  bool // the handler named no Content-Type
	length bool // the handler named a Content-Length that counts
	size   int  // bytes written, also those a HEAD response doesn't send
}

// Header implements http.ResponseWriter.
func (w *Response) Header() http.Header {
	if w.header == nil {
		w.header = make(http.Header, 8)
	}
	return w.header
}

// WriteHeader implements http.ResponseWriter. Informational responses are
// dropped, since no host can send one; the first other status counts.
func (w *Response) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %v", status))
	}
	if w.status != 0 || status < 200 {
		return
	}
	w.status = status
	// The header is what it is now: later changes have no effect, as in net/http.
	_, hasType := w.header["Content-Type"]
	_, encoded := w.header["Content-Encoding"]
	w.sniff = !hasType && !encoded
	for name, values := range w.header {
		switch name {
		case "Connection", "Keep-Alive", "Trailer", "Transfer-Encoding", "Upgrade":
			continue // belong to the connection, which the host keeps
		case "Content-Length":
			// The host counts the body itself; only where there is none does the
			// handler's number say something (RFC 9110, section 8.6).
			if w.Method != http.MethodHead && status != http.StatusNotModified {
				continue
			}
			w.length = true
		}
		if !token(name) {
			continue // as net/http does
		}
		for _, value := range values {
			w.add(name, value)
		}
	}
}

func (w *Response) add(name, value string) {
	if w.head == nil {
		w.head = make([]byte, 0, 1024) // a session cookie is two thirds of it
	}
	w.head = append(append(w.head, name...), '\n')
	w.head = append(w.Charset.appendEncoded(w.head, value), '\n')
}

// Write implements http.ResponseWriter.
func (w *Response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !bodyAllowed(w.status) {
		return 0, http.ErrBodyNotAllowed
	}
	w.size += len(p)
	if w.Method == http.MethodHead && len(w.body) >= 512 {
		return len(p), nil // enough to tell its type
	}
	w.body = append(w.body, p...)
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (w *Response) WriteString(s string) (int, error) {
	return w.Write([]byte(s))
}

// Finish completes the response and returns it. The slices belong to w.
func (w *Response) Finish() (status int, head, body []byte) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.sniff && len(w.body) > 0 {
		w.add("Content-Type", http.DetectContentType(w.body))
	}
	if w.Method == http.MethodHead {
		if w.size > 0 && !w.length {
			w.add("Content-Length", strconv.Itoa(w.size))
		}
		return w.status, w.head, nil
	}
	return w.status, w.head, w.body
}

// bodyAllowed reports whether a response with this status may have a body
// (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5).
func bodyAllowed(status int) bool {
	return status != http.StatusNoContent && status != http.StatusResetContent && status != http.StatusNotModified
}
