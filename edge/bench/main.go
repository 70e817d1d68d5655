//go:build !js && !wasip1

// Command bench measures the conformance app on workerd against @auth/core, against one wasm instance
// per request, and against itself under wazero and natively, side by side on this machine.
//
//	go run ./edge/bench                  everything, in about ten minutes
//	go run ./edge/bench -work session-jwt -conns 16 -variants ours,authcore
//	go run ./edge/bench -soak 30m        session checks at a constant rate below the knee
//
// With -write the numbers, the tables and the chart are written to a folder, and the README's headlines
// with them. It needs Node's packages of edge/worker. A wrong answer is an error, which ends it with status 1.
// COLDSTART.md tells what a cold start is made of.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// variants is every one that is measured under load, in the order of the tables.
var variants = []string{ours, authcore, onObject, perRequest, underWazero, natively}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := bench(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	root, err := findRoot(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := builder{root: root, dir: dir}
	machine, err := thisMachine(ctx, b)
	if err != nil {
		return err
	}
	idp, err := startProvider()
	if err != nil {
		return err
	}
	defer idp.server.Close()
	fmt.Fprintln(out, machine)

	today := time.Now().UTC().Format(time.DateOnly)
	var r result
	if o.write != "" {
		if r, err = readResult(o.write); err != nil {
			return err
		}
	}
	if o.soak > 0 {
		if err := b.build(ctx, ours); err != nil {
			return err
		}
		s, err := soakFor(ctx, b, idp, o.soak, out)
		if err != nil {
			return err
		}
		s.Date, s.Machine = today, machine
		r.Soak = &s
	} else {
		r = result{Date: today, Machine: machine, Seconds: o.plan.time.Seconds(), Soak: r.Soak}
		if err := o.everything(ctx, b, idp, &r, out); err != nil {
			return err
		}
	}
	var last strings.Builder
	r.writeStarts(&last)
	r.writeTrips(&last)
	r.writeCrowds(&last)
	r.writeHeadlines(&last)
	fmt.Fprintf(out, "\n%s", &last)
	if o.write == "" {
		return nil
	}
	if err := r.write(o.write); err != nil || o.readme == "" {
		return err
	}
	return r.writeReadme(o.readme, o.write)
}

// everything measures all but the soak.
func (o options) everything(ctx context.Context, b builder, idp *provider, r *result, out io.Writer) (err error) {
	build := []string{ours, authcore}
	if len(o.plan.works) > 0 {
		build = append(build, o.plan.variants...)
	}
	if o.starts > 0 {
		for _, f := range firsts {
			build = append(build, f.variant)
		}
	}
	slices.Sort(build)
	for _, variant := range slices.Compact(build) {
		fmt.Fprintln(out, "building", titles[variant])
		if err := b.build(ctx, variant); err != nil {
			return err
		}
	}
	if o.starts > 0 {
		fmt.Fprintln(out, "cold starts")
		if r.Starts, err = coldStarts(ctx, b, o.starts); err != nil {
			return err
		}
	}
	if o.crowd > 0 {
		fmt.Fprintln(out, o.crowd, "OAuth callbacks at once")
		if r.Crowds, err = crowds(ctx, b, idp, o.crowd, min(o.plan.rounds, 3)); err != nil {
			return err
		}
	}
	if o.trips > 0 {
		fmt.Fprintln(out, "round trips to the database")
		if r.Trips, err = countTrips(ctx, b, idp, o.trips, o.delay); err != nil {
			return err
		}
	}
	if len(o.plan.works) == 0 {
		return nil
	}
	fmt.Fprintln(out, "warming up")
	r.Cells, err = o.plan.measure(ctx, b, idp, func(cells []cell) { printCells(out, cells) })
	return err
}
