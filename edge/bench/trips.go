//go:build !js && !wasip1

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// trips are how often one kind of request goes to the database and back.
type trips struct {
	Work     string    `json:"work"`
	Variant  string    `json:"variant"`
	Calls    int       `json:"calls"`    // of each request, the most there were
	Sequence int       `json:"sequence"` // of these, one after the other
	Delay    float64   `json:"delay"`    // of each call, in milliseconds
	Times    []float64 `json:"times"`    // of an answer with that, in milliseconds
}

// countTrips asks n requests of each kind, one at a time, with a database that takes longer.
func countTrips(ctx context.Context, b builder, idp *provider, n int, delay time.Duration) ([]trips, error) {
	var out []trips
	for _, variant := range []string{ours, authcore, onObject} {
		env := settings(idp.url, true)
		env["DELAY"] = fmt.Sprint(delay.Milliseconds())
		s, err := b.startMiniflare(ctx, variant, counting, env)
		if err != nil {
			return nil, err
		}
		counted, err := countAt(s, n)
		s.stop()
		if err != nil {
			return nil, s.wrap(err)
		}
		for _, one := range counted {
			one.Variant, one.Delay = variant, milliseconds(delay)
			out = append(out, one)
		}
	}
	return out, nil
}

func countAt(s *server, n int) ([]trips, error) {
	c, err := dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ask := exchange{request: fmt.Appendf(nil, "GET /trips HTTP/1.1\r\nHost: %s\r\n\r\n", s.addr), status: 200}
	someone := func() int64 { return 0 }
	var out []trips
	for _, w := range works {
		if !w.database {
			continue
		}
		w.people = 1
		counted := trips{Work: w.name}
		// Somebody signs in before: what is made once is made, and the same person can return.
		warm, err := openIDCallback(newBrowser(s.addr), someone)
		if err != nil {
			return nil, err
		}
		prepared, err := w.prepareAll(s.addr, 1)
		if err != nil {
			return nil, err
		}
		if err := firstError(c.do(&warm), c.do(&ask)); err != nil {
			return nil, err
		}
		for range n {
			begin := time.Now()
			if err := c.do(&prepared[0]); err != nil {
				return nil, err
			}
			counted.Times = append(counted.Times, rounded(milliseconds(time.Since(begin))))
			if err := c.do(&ask); err != nil {
				return nil, err
			}
			var got struct{ Trips, Sequence int }
			if err := json.Unmarshal(c.body, &got); err != nil {
				return nil, err
			}
			counted.Calls, counted.Sequence = max(counted.Calls, got.Trips), max(counted.Sequence, got.Sequence)
		}
		out = append(out, counted)
	}
	return out, nil
}

func (r result) tripsOf(work, variant string) *trips {
	for i, t := range r.Trips {
		if t.Work == work && t.Variant == variant {
			return &r.Trips[i]
		}
	}
	return nil
}

func (r result) writeTrips(b *strings.Builder) {
	if len(r.Trips) == 0 {
		return
	}
	fmt.Fprintf(b, "## Round trips to the database\n\n%s\nRound trips are counted at the binding, in a run of its own in which each takes %s ms longer.\n\n", aboutDatabases, digits(r.Trips[0].Delay))
	writeHead(b, []string{"", "", "one after the other", "in all", "ms (least–most)"})
	for _, w := range works {
		for _, t := range r.Trips {
			if t.Work == w.name {
				fmt.Fprintf(b, "| %s | %s | %d | %d | %s |\n", w.title, titles[t.Variant], t.Sequence, t.Calls, ranged(spreadOf(t.Times), digits))
			}
		}
	}
	b.WriteString("\n")
}

const aboutDatabases = `With a database, on workerd, both have one of the same kind, miniflare's D1, in which people have signed up, 1,000 unless -people says otherwise.
@auth/core has its own adapter there, with the tables that this makes. They have no index of addresses and accounts,
so that to look for one of these is to read all. Ours on a Durable Object is the same program with its records in that.
The native program and the module under wazero have theirs in memory. Sign-ins are at an OpenID provider; each first
one is of somebody new, and those who return take turns.
`
