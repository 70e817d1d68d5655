//go:build !js && !wasip1

package main

import (
	"context"
	"fmt"
	"maps"
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
	{complete, "/auth/csrf"},
	{authcore, "/auth/csrf"},
	{perRequest, "/auth/csrf"},
	{plain, "/hello"},
	{usual, "/auth/csrf"},
	{usualPasskeys, "/auth/csrf"},
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
	env := settings("http://127.0.0.1:9", false)
	if variant == complete {
		maps.Copy(env, map[string]string{"AUTH_TRUST_HOST": "true", "AUTH_PROVIDERS": "github", "AUTH_GITHUB_ID": "id", "AUTH_GITHUB_SECRET": "secret"})
	}
	s, err := b.start(ctx, variant, env)
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
