//go:build !js && !wasip1

package main

import (
	"context"
	"fmt"
	"time"
)

// A start is how long workerd took from its start to the first answer, each time, in milliseconds.
type start struct {
	Variant string    `json:"variant"`
	Times   []float64 `json:"times"`
}

// firsts is what each variant is asked first. There is nothing else in its workerd.
var firsts = []struct{ variant, path string }{
	{empty, "/"},
	{ours, "/auth/csrf"},
	{authcore, "/auth/csrf"},
	{perRequest, "/auth/csrf"},
	{plain, "/hello"},
}

// coldStarts starts every variant so many times, in turn.
func coldStarts(ctx context.Context, b builder, times int) ([]start, error) {
	starts := make([]start, len(firsts))
	for round := range times {
		for turn := range firsts {
			i := (round + turn) % len(firsts)
			took, err := coldStart(ctx, b, firsts[i].variant, firsts[i].path)
			if err != nil {
				return nil, err
			}
			starts[i].Variant = firsts[i].variant
			starts[i].Times = append(starts[i].Times, rounded(milliseconds(took)))
		}
	}
	return starts, nil
}

func coldStart(ctx context.Context, b builder, variant, path string) (time.Duration, error) {
	// Nobody asks the provider anything.
	s, err := b.start(ctx, variant, settings("http://127.0.0.1:9", false))
	if err != nil {
		return 0, err
	}
	defer s.stop()
	c, err := dial(s.addr)
	if err != nil {
		return 0, s.wrap(err)
	}
	defer c.Close()
	err = c.do(&exchange{request: fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, s.addr), status: 200})
	return time.Since(s.started), s.wrap(err)
}
