//go:build !wasm

package core

import (
	"context"
	"io"
	"net/http"
	"time"
)

// exchangeTimeout limits a request to a provider, the body of the answer included.
const exchangeTimeout = 10 * time.Second

// defaultTransport is Go's own, with a limit on the time that an exchange may take.
func defaultTransport() http.RoundTripper {
	return limited{http.DefaultTransport}
}

type limited struct{ http.RoundTripper }

func (t limited) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), exchangeTimeout)
	resp, err := t.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &cancelOnClose{resp.Body, cancel}
	return resp, nil
}

type cancelOnClose struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *cancelOnClose) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
