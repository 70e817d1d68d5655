package edge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/edgeauth/edgeauth/edge/abi"
)

// newRequest gives the handler what a net/http server would, except that URL is absolute.
func newRequest(ctx context.Context, m *abi.Request) (*http.Request, error) {
	u, err := url.ParseRequestURI(m.URL)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, errors.New("edge: the request's URL is not absolute")
	}
	_, target, _ := strings.Cut(m.URL, "://")
	if i := strings.IndexAny(target, "/?"); i >= 0 {
		target = target[i:]
	} else {
		target = ""
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	r := &http.Request{
		Method:        m.Method,
		URL:           u,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        newHeader(m.Fields),
		Body:          http.NoBody,
		ContentLength: int64(len(m.Body)),
		Host:          u.Host,
		RemoteAddr:    m.Remote,
		RequestURI:    target,
	}
	if m.Body != nil {
		r.Body = io.NopCloser(bytes.NewReader(m.Body))
	}
	return r.WithContext(ctx), nil
}

func newHeader(fields []abi.Field) http.Header {
	h := make(http.Header, len(fields))
	for _, f := range fields {
		h.Add(f.Name, f.Value)
	}
	return h
}

// appendFields adds the fields of h that can be sent. As net/http does, it leaves out names that are no tokens and puts
// a space where a value would end its field.
func appendFields(fields []abi.Field, h http.Header) []abi.Field {
	for name, values := range h {
		if !abi.IsToken(name) {
			continue
		}
		for _, value := range values {
			if !abi.IsFieldValue(value) {
				value = lineless.Replace(value)
			}
			fields = append(fields, abi.Field{Name: name, Value: value})
		}
	}
	return fields
}

var lineless = strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ")

// maxResponse bounds a body. It is held twice while it crosses, and leaves room for the fields in an abi.MaxMessage.
const maxResponse = 15 << 20

var errResponseTooLarge = fmt.Errorf("edge: a response body has at most %d bytes", maxResponse)

// responseWriter collects a response. Fields set after the status was written are not sent.
type responseWriter struct {
	head     bool
	header   http.Header
	sent     http.Header
	status   int
	body     bytes.Buffer
	tooLarge bool
}

func (w *responseWriter) Header() http.Header {
	if w.header == nil {
		w.header = make(http.Header)
	}
	return w.header
}

func (w *responseWriter) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic("edge: invalid status " + strconv.Itoa(status)) // as net/http
	}
	if w.status != 0 {
		log.Printf("edge: WriteHeader(%d) after WriteHeader(%d) is ignored", status, w.status)
		return
	}
	if status >= 200 { // informational responses are not sent
		w.status, w.sent = status, w.Header().Clone()
	}
}

func (w *responseWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.status == http.StatusNoContent || w.status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	case w.head:
		return len(p), nil
	case w.body.Len()+len(p) > maxResponse:
		w.tooLarge = true
		return 0, errResponseTooLarge
	}
	return w.body.Write(p)
}

func (w *responseWriter) response() *abi.Response {
	if w.tooLarge {
		log.Print(errResponseTooLarge)
		return plain(http.StatusInternalServerError)
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return &abi.Response{Status: w.status, Fields: appendFields(nil, w.sent), Body: w.body.Bytes()}
}

// plain is a response of this package's own.
func plain(status int) *abi.Response {
	return &abi.Response{
		Status: status,
		Fields: []abi.Field{
			{Name: "Content-Type", Value: "text/plain; charset=utf-8"},
			{Name: "X-Content-Type-Options", Value: "nosniff"},
		},
		Body: []byte(http.StatusText(status) + "\n"),
	}
}

func logPanic(where string, v any) {
	log.Printf("edge: panic %s: %v\n%s", where, v, debug.Stack())
}
