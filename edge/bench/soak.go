//go:build !js && !wasip1

package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// A soak is a long run at a constant rate below what the worker can do at most.
type soak struct {
	Date    string    `json:"date"`
	Machine machine   `json:"machine"`
	Knee    float64   `json:"knee"`    // requests a second
	Rate    float64   `json:"rate"`    // requests a second that were sent
	Minutes float64   `json:"minutes"` // how long
	Steps   []soaking `json:"steps"`
}

// A soaking is one step of a soak.
type soaking struct {
	sample
	RSS    int64 `json:"rss"`        // of the process, in bytes
	Memory int64 `json:"wasmMemory"` // of the Go program, in bytes
}

const (
	share   = 0.7 // of the knee
	tooSlow = 5   // times the p99 of a single connection
)

// findKnee doubles the connections until the p99 is too slow or the rate grows no more. The knee is the
// highest rate before.
func findKnee(s *server, exchanges []exchange, d time.Duration, out io.Writer) (float64, error) {
	alone, knee := 0.0, 0.0
	for n := 1; n <= 256; n *= 2 {
		got, err := closedLoop(s.addr, exchanges, n, d)
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(out, "%3d connections: %.0f/s, p99 %.2f ms\n", n, got.Rate, got.P99)
		if n == 1 {
			alone = got.P99
		}
		saturated := got.Rate < 1.05*knee
		slow := got.P99 > tooSlow*alone
		if !slow || knee == 0 {
			knee = max(knee, got.Rate)
		}
		if slow || saturated {
			break
		}
	}
	return knee, nil
}

// soakFor finds the knee of session checks, then keeps to its share of that. A wrong answer ends it.
func soakFor(ctx context.Context, b builder, idp *provider, d time.Duration, out io.Writer) (soak, error) {
	s, err := b.startWorkerd(ctx, ours, withMemory, settings(idp.url, false))
	if err != nil {
		return soak{}, err
	}
	defer s.stop()
	exchanges, err := work{prepare: session}.prepareAll(s.addr, 16)
	if err != nil {
		return soak{}, s.wrap(err)
	}
	probe := min(3*time.Second, d/10)
	if _, err := closedLoop(s.addr, exchanges, 16, probe); err != nil { // so that it is warm
		return soak{}, s.wrap(err)
	}
	knee, err := findKnee(s, exchanges, probe, out)
	if err != nil {
		return soak{}, s.wrap(err)
	}
	result := soak{Knee: knee, Rate: share * knee, Minutes: d.Minutes()}
	fmt.Fprintf(out, "the knee is at %.0f/s; %.0f/s for %v\n", knee, result.Rate, d)
	var failed error
	err = openLoop(s.addr, exchanges, result.Rate, d, min(time.Minute, d/5), func(got sample) {
		memory, err := wasmMemory(s)
		if err != nil {
			failed = err
		}
		result.Steps = append(result.Steps, soaking{got, s.rss(), memory})
		fmt.Fprintf(out, "%s  %.0f/s, p50 %.2f ms, p99 %.2f ms, RSS %s, wasm memory %s\n",
			time.Now().Format(time.TimeOnly), got.Rate, got.P50, got.P99, megabytes(s.rss()), megabytes(memory))
	})
	return result, s.wrap(firstError(err, failed))
}
