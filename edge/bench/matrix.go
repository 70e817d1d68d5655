//go:build !js && !wasip1

package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A plan says what is measured, and for how long.
type plan struct {
	variants []string
	works    []work
	conns    []int
	rounds   int
	people   int64         // who have signed up where there is a database
	time     time.Duration // of a round, for each variant
	warm     time.Duration // at most, for each work
}

// A cell is what one variant did for one work at one number of connections.
type cell struct {
	Work    string   `json:"work"`
	Conns   int      `json:"connections"`
	Variant string   `json:"variant"`
	Rounds  []sample `json:"rounds"`
	RSS     int64    `json:"rss"` // of the process, in bytes, after the last round
}

// takesPart tells whether a variant is measured. All are, at session checks; the rest is for the two on
// workerd, and at the middle number of connections for everybody. An instance per request has no store, and
// on a Durable Object nothing else is measured.
func (p plan) takesPart(variant string, w work, conns int) bool {
	switch {
	case variant == ours || variant == authcore:
		return true
	case variant == perRequest && w.database, variant == onObject && !w.database:
		return false
	}
	return w.name == "session-jwt" || conns == p.conns[(len(p.conns)-1)/2]
}

// enough requests for V8 to have compiled, with its optimising compiler, what they need.
const warmedUp = 4000

// measure runs the plan. In each round all variants take their turn, each time another one first, so
// that whatever else the machine does meets them all.
func (p plan) measure(ctx context.Context, b builder, idp *provider, done func([]cell)) ([]cell, error) {
	works := slices.Clone(p.works)
	for i := range works {
		works[i].people = p.people
	}
	var running servers
	defer func() { running.stop() }()
	at := map[bool]servers{} // by whether they have a database
	for _, database := range []bool{false, true} {
		if !slices.ContainsFunc(works, func(w work) bool { return w.database == database }) {
			continue
		}
		for _, variant := range p.variants {
			if database && variant == perRequest || !database && variant == onObject {
				continue
			}
			s, err := b.start(ctx, variant, settings(idp.url, database))
			if err != nil {
				return nil, err
			}
			running, at[database] = append(running, s), append(at[database], s)
			if database {
				if err := signUp(s.addr, p.people); err != nil {
					return nil, s.wrap(err)
				}
			}
		}
	}
	for _, w := range works {
		if w.delay > 0 {
			continue // the same code as without
		}
		for _, s := range at[w.database] {
			if err := p.warmUp(s, w); err != nil {
				return nil, s.wrap(err)
			}
		}
	}
	var all []cell
	for _, w := range works {
		for _, conns := range p.conns {
			cells, err := p.measureOne(at[w.database], idp, w, conns)
			if err != nil {
				return nil, err
			}
			done(cells)
			all = append(all, cells...)
		}
	}
	return all, nil
}

func (p plan) warmUp(s *server, w work) error {
	exchanges, err := w.prepareAll(s.addr, 1)
	if err != nil {
		return err
	}
	for begin, n := time.Now(), 0; n < warmedUp && time.Since(begin) < p.warm; {
		got, err := closedLoop(s.addr, exchanges, 16, p.warm/10)
		if err != nil {
			return err
		}
		n += got.Requests
	}
	return nil
}

func (p plan) measureOne(all servers, idp *provider, w work, conns int) ([]cell, error) {
	var taking servers
	var cells []cell
	exchanges := map[*server][]exchange{}
	for _, s := range all {
		if !p.takesPart(s.variant, w, conns) {
			continue
		}
		prepared, err := w.prepareAll(s.addr, min(conns, 16))
		if err != nil {
			return nil, s.wrap(err)
		}
		taking, exchanges[s] = append(taking, s), prepared
		cells = append(cells, cell{Work: w.name, Conns: conns, Variant: s.variant})
	}
	idp.delay.Store(int64(w.delay))
	defer idp.delay.Store(0)
	for round := range p.rounds {
		for turn := range taking {
			i := (round + turn) % len(taking)
			s := taking[i]
			cpu := s.cpu()
			got, err := closedLoop(s.addr, exchanges[s], conns, p.time)
			if err != nil {
				return nil, s.wrap(fmt.Errorf("%s, %d connections: %w", w.title, conns, err))
			}
			if used := s.cpu() - cpu; used > 0 {
				got.CPU = rounded(milliseconds(used) / float64(got.Requests))
			}
			cells[i].Rounds = append(cells[i].Rounds, got)
			cells[i].RSS = s.rss()
		}
	}
	return cells, nil
}
