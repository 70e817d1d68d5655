//go:build !js && !wasip1

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are the command line.
type options struct {
	plan   plan
	starts int           // cold starts of each; 0: none
	crowd  int           // callbacks at once; 0: none
	trips  int           // requests of each kind whose round trips are counted; 0: none
	delay  time.Duration // of each round trip, while they are counted
	soak   time.Duration // 0: no soak, but all the rest
	write  string        // the folder for the results; empty: only print them
	readme string        // the file with the headlines; empty: none
}

func parse(args []string, usage io.Writer) (options, error) {
	var o options
	names := make([]string, len(works))
	for i, w := range works {
		names[i] = w.name
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(usage)
	part := flags.String("only", "", "only one `part`: load, starts, crowd or trips")
	chosen := flags.String("work", "", "only these `works`, of "+strings.Join(names, ","))
	variant := flags.String("variants", "", "only these `variants`, of "+strings.Join(variants, ","))
	conns := flags.String("conns", "1,16,256", "numbers of connections, ascending")
	flags.IntVar(&o.plan.rounds, "rounds", 5, "rounds of each variant")
	flags.DurationVar(&o.plan.time, "time", 1200*time.Millisecond, "length of a round")
	flags.DurationVar(&o.plan.warm, "warm", 3*time.Second, "longest time to warm each variant up; more is needed beside other work")
	flags.IntVar(&o.starts, "starts", 9, "cold starts of each")
	flags.IntVar(&o.crowd, "crowd", 1000, "OAuth callbacks at once")
	flags.IntVar(&o.trips, "trips", 5, "requests of each kind whose round trips to the database are counted")
	flags.DurationVar(&o.soak, "soak", 0, "instead of all this: session checks for so long, at 70 % of the rate at which answers begin to be slow")
	flags.StringVar(&o.write, "write", "", "`folder` to write the results to")
	flags.StringVar(&o.readme, "readme", "", "`file` to write the headlines to, between <!-- bench --> and <!-- /bench -->")
	flags.Int64Var(&o.plan.people, "people", 1000, "people who have signed up where there is a database")
	short := flags.Bool("short", false, "a little of everything, to see that it works")
	if err := flags.Parse(args); err != nil {
		return o, flag.ErrHelp // flags has said what is wrong
	}
	o.delay = 150 * time.Millisecond
	o.plan.variants, o.plan.works = variants, works
	if *chosen != "" || *variant != "" {
		*part = "load"
	}
	if *short {
		*conns, o.plan.rounds, o.plan.time, o.plan.warm, o.starts, o.crowd = "1,4", 1, 50*time.Millisecond, 50*time.Millisecond, 1, 50
		o.trips, o.plan.people, o.delay = 1, 20, 10*time.Millisecond
	}
	var err error
	if !slices.Contains([]string{"", "load", "starts", "crowd", "trips"}, *part) {
		err = fmt.Errorf("bench: there is no part %q", *part)
	}
	if *part != "" && o.write != "" {
		err = errors.New("bench: what is written is everything: leave out -write, or -only, -work and -variants")
	}
	if *part != "" && *part != "load" {
		o.plan.works = nil
	}
	if *part != "" && *part != "starts" {
		o.starts = 0
	}
	if *part != "" && *part != "crowd" {
		o.crowd = 0
	}
	if *part != "" && *part != "trips" {
		o.trips = 0
	}
	if *variant != "" && err == nil {
		o.plan.variants, err = choose(*variant, variants, func(name string) string { return name })
	}
	if *chosen != "" && err == nil {
		o.plan.works, err = choose(*chosen, works, func(w work) string { return w.name })
	}
	for text := range strings.SplitSeq(*conns, ",") {
		n, parseErr := strconv.Atoi(text)
		if parseErr != nil || n < 1 {
			err = fmt.Errorf("bench: -conns %q is no list of numbers", *conns)
		}
		o.plan.conns = append(o.plan.conns, n)
	}
	return o, err
}

// choose gives those of all that a list names.
func choose[T any](list string, all []T, name func(T) string) ([]T, error) {
	var chosen []T
	for want := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(one T) bool { return name(one) == want })
		if i < 0 {
			return nil, fmt.Errorf("bench: there is no %q", want)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
