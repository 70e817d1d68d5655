package wasmtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// exportUsage is a function by which a program can tell what it holds: edge_usage() -> i64, the number of its goroutines << 32 |
// the bytes of its heap after a garbage collection. Package abi leaves it to the guest.
const exportUsage = "edge_usage"

var errNoUsage = errors.New("wasmtest: the program does not export " + exportUsage + ", by which it tells its goroutines and its heap")

const (
	leakRounds     = 100
	leakGoroutines = leakRounds / 10 // that may be there by chance: one that is about to end, one that waits for more work
	leakBytes      = 16 << 10        // likewise: a map that grew, a buffer that is kept
)

// CheckLeaks fails the test if the program keeps goroutines or memory of what it has done. f makes requests, always the
// same: it is called 100 times, until whatever is made once is there, and another 100 times, during which goroutines and
// heap must not grow, as the program counts them itself. A leak of more than one goroutine in ten calls or of 200 bytes a
// call is found.
//
// The program must export edge_usage() -> i64, the number of its goroutines << 32 | the bytes of its heap after a garbage
// collection. CheckLeaks ends the test of one that doesn't. It waits until no request is being handled, and nobody but f should make
// any.
func (m *Module) CheckLeaks(tb testing.TB, f func()) {
	tb.Helper()
	measure := func() usage {
		for range leakRounds {
			f()
		}
		u, err := m.usage()
		if err != nil {
			tb.Fatal(err)
		}
		return u
	}
	before := measure()
	after := measure()
	if n := after.lost - before.lost; n > 0 {
		tb.Errorf("wasmtest: %d instances ended during the check; the log says why", n)
	}
	if n := after.goroutines - before.goroutines; n > leakGoroutines {
		tb.Errorf("wasmtest: the program has %d goroutines more after %d calls: it had %d", n, leakRounds, before.goroutines)
	}
	if n := after.heap - before.heap; n > leakBytes {
		tb.Errorf("wasmtest: the program holds %d bytes more after %d calls: it held %d", n, leakRounds, before.heap)
	}
}

// usage is what the program holds, in the instance that holds most of it: requests that follow one another closely may meet
// several instances.
type usage struct {
	lost             int64 // instances, since the beginning
	goroutines, heap int
}

func (m *Module) usage() (u usage, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), m.config.Deadline)
	defer cancel()
	err = m.pool.each(ctx, func(in *instance) error {
		goroutines, heap, err := in.usage(ctx)
		u.goroutines, u.heap = max(u.goroutines, goroutines), max(u.heap, heap)
		return err
	})
	u.lost = m.lost.Load()
	return u, err
}

func (in *instance) usage(ctx context.Context) (goroutines, heap int, err error) {
	f := in.guest.ExportedFunction(exportUsage)
	if f == nil {
		return 0, 0, errNoUsage
	}
	ctx = context.WithValue(ctx, instanceKey{}, in)
	in.clock.ctx = ctx
	defer func() { in.clock.ctx = nil }()
	results, err := f.Call(ctx)
	if err != nil || len(results) != 1 {
		return 0, 0, fmt.Errorf("wasmtest: %s failed: %w", exportUsage, err)
	}
	return int(results[0] >> 32), int(uint32(results[0])), nil
}
