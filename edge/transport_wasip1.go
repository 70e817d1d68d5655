package edge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/edgeauth/edgeauth/edge/abi"
)

// Transport sends requests through the host and never follows a redirect. The host decides what may be reached; it
// allows an exchange 10 seconds, or what is left of the request's context if that is less, and a response body
// MaxBodyBytes (ErrTimeout, ErrBodyTooLarge). A call holds up the whole instance: two at once take turns.
var Transport http.RoundTripper = transport{}

// exchangeLimit is the host's.
const exchangeLimit = 10 * time.Second

type transport struct{}

func (transport) RoundTrip(r *http.Request) (*http.Response, error) {
	message, err := newFetch(r)
	if err != nil {
		return nil, err
	}
	answer, err := call(hostFetch, message.Append(nil))
	if err != nil {
		return nil, fetchError(message, err)
	}
	var response abi.Response
	if err := response.Decode(answer); err != nil {
		return nil, errMalformed
	}
	header := newHeader(response.Fields)
	return &http.Response{
		Status:        strconv.Itoa(response.Status) + " " + http.StatusText(response.Status),
		StatusCode:    response.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(response.Body)),
		ContentLength: int64(len(response.Body)),
		Request:       r,
	}, nil
}

// newFetch reads and closes r's body, as a RoundTripper must, whatever comes of r.
func newFetch(r *http.Request) (*abi.Fetch, error) {
	m := &abi.Fetch{Method: r.Method}
	if r.Body != nil {
		defer r.Body.Close()
	}
	switch {
	case r.URL == nil || r.URL.Scheme != "http" && r.URL.Scheme != "https" || r.URL.Host == "":
		return nil, errors.New("edge: an outbound request needs an absolute http or https URL")
	case r.Host != "" && r.Host != r.URL.Host:
		return nil, errors.New("edge: an outbound request's Host can't differ from its URL's")
	}
	if m.Method == "" {
		m.Method = http.MethodGet
	}
	if !abi.IsToken(m.Method) {
		return nil, errors.New("edge: an outbound request's method is not a token")
	}
	m.URL = r.URL.Scheme + "://" + r.URL.Host + r.URL.RequestURI()
	for name, values := range r.Header {
		for _, value := range values {
			if !abi.IsToken(name) || !abi.IsFieldValue(value) {
				return nil, fmt.Errorf("edge: the outbound header field %q has a name or value that can't be sent", name)
			}
			m.Fields = append(m.Fields, abi.Field{Name: name, Value: value})
		}
	}
	if r.Body != nil && r.Body != http.NoBody {
		body, err := io.ReadAll(io.LimitReader(r.Body, abi.MaxMessage))
		if err != nil {
			return nil, err
		}
		m.Body = body
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if deadline, ok := r.Context().Deadline(); ok {
		m.Timeout = max(time.Until(deadline).Truncate(time.Millisecond), 0) + time.Millisecond // 0 would mean none
	}
	return m, nil
}

func fetchError(message *abi.Fetch, err error) error {
	failure, ok := errors.AsType[*abi.Error](err)
	switch {
	case !ok:
		return err
	case failure.Code == abi.CodeTooLarge:
		return ErrBodyTooLarge
	case failure.Code == abi.CodeTimeout:
		if message.Timeout > 0 && message.Timeout < exchangeLimit {
			return context.DeadlineExceeded // the timer behind the context may not have run yet
		}
		return ErrTimeout
	}
	return &hostError{"fetch", failure}
}

// hostError is a failure the host reports. The chain ends in *abi.Error.
type hostError struct {
	operation string
	failure   *abi.Error
}

func (e *hostError) Error() string {
	if e.failure.Text == "" {
		return "edge: " + e.operation + ": " + e.failure.Code.String()
	}
	return "edge: " + e.operation + ": " + e.failure.Text
}

func (e *hostError) Unwrap() error { return e.failure }
