//go:build !js && !wasip1

package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
)

var heading = []string{"", "requests/s (least–most)", "p50 ms", "p99 ms", "CPU ms", "RSS", "ours is × as fast", "and takes × the CPU"}

// rows are the columns of heading, for the cells of one work at one number of connections.
func rows(cells []cell) [][]string {
	var own []sample
	for _, c := range cells {
		if c.Variant == ours {
			own = c.Rounds
		}
	}
	var out [][]string
	for _, c := range cells {
		r, times, takes := over(c.Rounds, rate), "", ""
		if c.Variant != ours && own != nil {
			times = ranged(ratio(own, c.Rounds, rate), factor)
			if r := ratio(own, c.Rounds, cpu); r.median > 0 {
				takes = ranged(r, factor)
			}
		}
		out = append(out, []string{titles[c.Variant], ranged(r, perSecond),
			digits(over(c.Rounds, p50).median), digits(over(c.Rounds, p99).median), digits(over(c.Rounds, cpu).median),
			megabytes(c.RSS), times, takes})
	}
	return out
}

// printCells shows progress.
func printCells(out io.Writer, cells []cell) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\n%s, %d connections%s\n", titleOf(cells[0].Work), cells[0].Conns, strings.Join(heading, "\t"))
	for _, row := range rows(cells) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
}

func titleOf(name string) string {
	for _, w := range works {
		if w.name == name {
			return w.title
		}
	}
	return name
}

// markdown is RESULTS.md.
func (r result) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measured\n\n`make bench` wrote this on %s: %s.\n\n![%s](results.svg)\n\n", r.Date, r.Machine, chartTitle)
	if len(r.Cells) > 0 {
		fmt.Fprintf(&b, "%d rounds of %s seconds for each variant. ", len(r.Cells[0].Rounds), digits(r.Seconds))
	}
	b.WriteString(howRead)
	r.writeHeadlines(&b)
	r.writeWorks(&b)
	r.writeTrips(&b)
	r.writeStarts(&b)
	r.writeCrowds(&b)
	r.writeSoak(&b)
	return b.String()
}

const howRead = `All variants serve the same app, on one machine, in one run, in turn; the load and the OAuth provider are on it, too.
Every answer is checked. A number is the median of the rounds, with the least and the greatest in parentheses; a ratio is
taken round by round first. CPU is what the server's process used for each answer, on all cores. [Where the time of a
session check goes](SESSION.md) is told apart.

- An instance per request is github.com/syumai/workers on workerd, with the same handler. The usual Go worker is the same
  with a login of go-oidc, oauth2, gorilla/sessions and html/template ([usual](usual/main.go)), and in a second figure
  passkeys of go-webauthn: hold that against our reference worker, which has them, the catalogue and mail.
- workerd serves from one thread. The native program, and the pool of eight instances under wazero, use all cores, of which
  the load takes a part: they could do more. An instance under wazero has one request at a time, so with a slow provider
  eight are under way at most. It runs as wasmtest's Config.Uninterruptible has it; the default, which can end an endless
  loop, answers a half to a third as much.
- Of many connections workerd serves some again and again while others wait, up to the end of the round. With 256
  connections a p99 near 1,200 ms is the length of the round and no latency, of both.

`

func (r result) writeHeadlines(b *strings.Builder) {
	for _, line := range r.headlines() {
		fmt.Fprintf(b, "- %s\n", line)
	}
	b.WriteString("\n")
}

// headlines are the few ratios that matter, as lines of Markdown.
func (r result) headlines() []string {
	const work = "session-jwt"
	var out []string
	n := r.middle()
	if own := r.find(work, n, ours); own != nil {
		line := fmt.Sprintf("A session check (`GET session`, jwt, %d connections) on workerd: %s a second", n, perSecond(over(own.Rounds, rate).median))
		if other := r.find(work, n, authcore); other != nil {
			line += fmt.Sprintf(", %s × `@auth/core`'s", ranged(ratio(own.Rounds, other.Rounds, rate), factor))
		}
		if other := r.find(work, n, perRequest); other != nil {
			line += fmt.Sprintf(" and %s × that of one wasm instance per request", ranged(ratio(own.Rounds, other.Rounds, rate), factor))
		}
		out = append(out, line+".")
	}
	if line := r.extremes(n); line != "" {
		out = append(out, line)
	}
	wazero, native := r.find(work, n, underWazero), r.find(work, n, natively)
	if wazero != nil && native != nil {
		out = append(out, fmt.Sprintf("The same natively: %s a second, %s × that under wazero, uninterruptible.",
			perSecond(over(native.Rounds, rate).median), ranged(ratio(native.Rounds, wazero.Rounds, rate), factor)))
	}
	if line := r.signIns(n); line != "" {
		out = append(out, line)
	}
	if own, other := r.crowd(ours), r.crowd(authcore); own != nil && other != nil {
		out = append(out, fmt.Sprintf("%s OAuth callbacks at once, with a provider that takes 300 ms for each of its two answers: all right, p99 %s ms, %s × `@auth/core`'s; %s of wasm memory.",
			whole(own.Size), digits(over(own.Rounds, p99).median), ranged(ratio(own.Rounds, other.Rounds, p99), factor), megabytes(own.Memory)))
	}
	if _, own := r.started(ours); len(r.Starts) > 0 {
		_, core := r.started(authcore)
		_, other := r.started(usual)
		out = append(out, fmt.Sprintf("From the start of workerd to the first answer: %s ms more than an empty worker; %s × what `@auth/core` adds, %s × what the usual Go worker does.",
			digits(own), factor(own/core), factor(own/other)))
	}
	return out
}

// signIns says what a database adds up to.
func (r result) signIns(conns int) string {
	var parts []string
	for _, w := range works {
		own, other := r.find(w.name, conns, ours), r.find(w.name, conns, authcore)
		ownTrips, otherTrips := r.tripsOf(w.name, ours), r.tripsOf(w.name, authcore)
		if own == nil || other == nil || ownTrips == nil || otherTrips == nil {
			continue
		}
		title, _, _ := strings.Cut(w.title, ", database")
		parts = append(parts, fmt.Sprintf("%s %d and %d, %s × the throughput, %s × the CPU time", title, ownTrips.Sequence, otherTrips.Sequence,
			ranged(ratio(own.Rounds, other.Rounds, rate), factor), ranged(ratio(own.Rounds, other.Rounds, cpu), factor)))
	}
	if parts == nil {
		return ""
	}
	return "Waits for a D1 database, one after the other, ours and `@auth/core`'s: " + strings.Join(parts, "; ") + "."
}

// extremes says where ours compares worst and best, so that no choice of headlines hides it.
func (r result) extremes(conns int) string {
	var worst, best string
	var least, most float64
	for _, w := range works {
		own, other := r.find(w.name, conns, ours), r.find(w.name, conns, authcore)
		if own == nil || other == nil {
			continue
		}
		times := ratio(own.Rounds, other.Rounds, rate).median
		if worst == "" || times < least {
			worst, least = w.title, times
		}
		if best == "" || times > most {
			best, most = w.title, times
		}
	}
	if worst == best {
		return ""
	}
	return fmt.Sprintf("Of all kinds of requests, with %d connections, on workerd: from %s × `@auth/core`'s throughput (%s) to %s × (%s).", conns, factor(least), worst, factor(most), best)
}

func (r result) writeWorks(b *strings.Builder) {
	for _, w := range works {
		var groups [][]cell // by connections
		for _, c := range r.Cells {
			if c.Work != w.name {
				continue
			}
			if last := len(groups) - 1; last >= 0 && groups[last][0].Conns == c.Conns {
				groups[last] = append(groups[last], c)
			} else {
				groups = append(groups, []cell{c})
			}
		}
		if groups == nil {
			continue
		}
		fmt.Fprintf(b, "## %s\n\n", w.title)
		writeHead(b, append([]string{"connections"}, heading...))
		for _, cells := range groups {
			for _, row := range rows(cells) {
				fmt.Fprintf(b, "| %d | %s |\n", cells[0].Conns, strings.Join(row, " | "))
			}
		}
		b.WriteString("\n")
	}
}

func (r result) writeStarts(b *strings.Builder) {
	if len(r.Starts) == 0 {
		return
	}
	fmt.Fprintf(b, "## Cold start\n\nFrom the start of workerd to the first answer, %d times each. The configuration of all is in binary form, as\nminiflare gives it: edgeauth adds 55 ms of processor time so, and 78 from a text ([what it is made of](COLDSTART.md)).\n\n", len(r.Starts[0].Times))
	writeHead(b, []string{"", "ms (least–most)", "less the empty worker's", "ours is × that"})
	_, own := r.started(ours)
	for _, s := range r.Starts {
		took, extra := r.started(s.Variant)
		more, times := "", ""
		if s.Variant != empty {
			more = digits(extra)
		}
		if s.Variant != empty && s.Variant != ours {
			times = factor(own / extra)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", titles[s.Variant], ranged(took, digits), more, times)
	}
	b.WriteString("\n")
}

func (r result) writeCrowds(b *strings.Builder) {
	if len(r.Crowds) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s OAuth callbacks at once\n\nThe provider takes 300 ms for each of two answers. Every callback signed somebody in.\n\n", whole(r.Crowds[0].Size))
	writeHead(b, []string{"", "p50 ms (least–most)", "p99 ms (least–most)", "RSS", "wasm memory"})
	for _, c := range r.Crowds {
		memory := ""
		if c.Memory > 0 {
			memory = megabytes(c.Memory)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", titles[c.Variant], ranged(over(c.Rounds, p50), digits), ranged(over(c.Rounds, p99), digits), megabytes(c.RSS), memory)
	}
	b.WriteString("\n")
}

func (r result) writeSoak(b *strings.Builder) {
	s := r.Soak
	if s == nil || len(s.Steps) == 0 {
		return
	}
	first, last := s.Steps[0], s.Steps[len(s.Steps)-1]
	var slow []float64
	requests := 0
	for _, step := range s.Steps {
		slow = append(slow, step.P99)
		requests += step.Requests
	}
	fmt.Fprintf(b, "## A long run\n\n`make soak`, %s, %s: session checks at a constant %s a second, %.0f %% of the knee of %s, for %s minutes.\n\n",
		s.Date, s.Machine, perSecond(s.Rate), share*100, perSecond(s.Knee), digits(s.Minutes))
	fmt.Fprintf(b, "%s answers, all right; p99 of each minute %s ms; RSS from %s to %s; wasm memory from %s to %s.\n",
		whole(requests), ranged(spreadOf(slow), digits), megabytes(first.RSS), megabytes(last.RSS), megabytes(first.Memory), megabytes(last.Memory))
}

// writeReadme replaces what is between the marks: the chart, and the headlines with date and machine.
func (r result) writeReadme(file, dir string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	const from, to = "<!-- bench -->\n", "<!-- /bench -->"
	before, rest, isFound := strings.Cut(string(text), from)
	_, after, isClosed := strings.Cut(rest, to)
	if !isFound || !isClosed {
		return fmt.Errorf("bench: %s has no %s%s", file, from, to)
	}
	folder, err := filepath.Rel(filepath.Dir(file), dir)
	if err != nil {
		return err
	}
	folder = filepath.ToSlash(folder)
	var b strings.Builder
	fmt.Fprintf(&b, "![%s](%s/results.svg)\n\n", chartTitle, folder)
	r.writeHeadlines(&b)
	fmt.Fprintf(&b, "Measured on %s: %s, %d cores. [All numbers](%s/RESULTS.md); `make bench` makes them anew.\n", r.Date, r.Machine.CPU, r.Machine.Cores, folder)
	return os.WriteFile(file, []byte(before+from+b.String()+to+after), 0o644)
}

func writeHead(b *strings.Builder, columns []string) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
}

// ranged writes the median, and the ends when they say something else.
func ranged(s spread, format func(float64) string) string {
	if s.least == s.most {
		return format(s.median)
	}
	return fmt.Sprintf("%s (%s–%s)", format(s.median), format(s.least), format(s.most))
}

// digits writes about three of them.
func digits(v float64) string {
	switch {
	case v == 0:
		return "–"
	case math.Abs(v) >= 100:
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func factor(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// perSecond writes a rate: three digits of a small one, else a whole number.
func perSecond(v float64) string {
	if v < 100 {
		return digits(v)
	}
	return whole(int(math.Round(v)))
}

// whole writes 12345 as 12,345.
func whole(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func megabytes(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}
