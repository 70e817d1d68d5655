//go:build !js && !wasip1

package main

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// A crowd is many OAuth callbacks at once, in one isolate, with a slow provider.
type crowd struct {
	Variant string   `json:"variant"`
	Size    int      `json:"size"`
	Rounds  []sample `json:"rounds"`
	RSS     int64    `json:"rss"`                  // of the process, in bytes
	Memory  int64    `json:"wasmMemory,omitempty"` // of the Go program, in bytes, at its largest
}

// crowdDelay is how long each of the provider's two answers takes.
const crowdDelay = 300 * time.Millisecond

// crowds sends size callbacks at once, to ours and to @auth/core in turn. One answer that is not right
// is an error.
func crowds(ctx context.Context, b builder, idp *provider, size, rounds int) ([]crowd, error) {
	var running servers
	defer func() { running.stop() }()
	out := []crowd{{Variant: ours, Size: size}, {Variant: authcore, Size: size}}
	entries := []string{withMemory, "worker.mjs"}
	signIn := work{prepare: callback}
	var exchanges [][]exchange
	for i, c := range out {
		s, err := b.startWorkerd(ctx, c.Variant, entries[i], settings(idp.url, false))
		if err != nil {
			return nil, err
		}
		running = append(running, s)
		prepared, err := signIn.prepareAll(s.addr, size)
		if err != nil {
			return nil, s.wrap(err)
		}
		exchanges = append(exchanges, prepared)
		if _, err := closedLoop(s.addr, prepared[:1], 16, 2*time.Second); err != nil { // so that it is warm
			return nil, s.wrap(err)
		}
	}
	idp.delay.Store(int64(crowdDelay))
	defer idp.delay.Store(0)
	for round := range rounds {
		for turn := range out {
			i := (round + turn) % len(out)
			got, err := volley(running[i].addr, exchanges[i])
			if err != nil {
				return nil, running[i].wrap(fmt.Errorf("%d callbacks at once: %w", size, err))
			}
			out[i].Rounds = append(out[i].Rounds, got)
			out[i].RSS = running[i].rss()
		}
	}
	memory, err := wasmMemory(running[0])
	out[0].Memory = memory
	return out, running[0].wrap(err)
}

func wasmMemory(s *server) (int64, error) {
	c, err := dial(s.addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	ask := exchange{request: fmt.Appendf(nil, "GET /memory HTTP/1.1\r\nHost: %s\r\n\r\n", s.addr), status: 200}
	if err := c.do(&ask); err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(c.body), 10, 64)
}
