//go:build !js && !wasip1

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the tables, the chart and the README anew, from results.json")

// needTools skips a test where the packages of edge/worker are not installed, or fails it where nothing may
// be left out.
func needTools(t *testing.T) {
	t.Helper()
	root, err := findRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := builder{root: root}
	for _, path := range []string{b.workerd(), b.tool(".bin/esbuild"), b.tool("@auth/core"), b.tool("@auth/d1-adapter"), b.tool("miniflare")} {
		if _, err := os.Stat(path); err == nil {
			continue
		}
		message := path + " is missing: run npm ci in edge/worker (Node 20.3 or newer)"
		if os.Getenv("CI_STRICT") == "1" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
}

// TestBench runs everything for a moment: every answer of every variant is right, and nothing is missing
// from what is written.
func TestBench(t *testing.T) {
	t.Parallel()
	needTools(t)
	dir := t.TempDir()
	readme := filepath.Join(dir, "README.md")
	if err := os.WriteFile(readme, []byte("before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	args := []string{"-short", "-write", filepath.Join(dir, "bench"), "-readme", readme}
	if err := bench(t.Context(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	r, err := readResult(filepath.Join(dir, "bench"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := parse(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range o.plan.works {
		for _, conns := range o.plan.conns {
			for _, variant := range variants {
				c := r.find(w.name, conns, variant)
				if takesPart := o.plan.takesPart(variant, w, conns); takesPart != (c != nil) {
					t.Errorf("%s, %d connections, %s: measured %t, want %t", w.name, conns, variant, c != nil, takesPart)
				}
				if c != nil && (len(c.Rounds) != o.plan.rounds || c.Rounds[0].Requests == 0 || c.Rounds[0].P99 < c.Rounds[0].P50) {
					t.Errorf("%s, %d connections, %s: %+v", w.name, conns, variant, c.Rounds)
				}
			}
		}
	}
	if len(r.Starts) != len(firsts) || len(r.Crowds) != 2 || r.Crowds[0].Memory == 0 {
		t.Errorf("cold starts %+v, crowds %+v", r.Starts, r.Crowds)
	}
	for _, variant := range []string{ours, onObject} {
		for name, most := range map[string]int{"session-database": 1, "first": 2, "returning": 3} {
			own, other := r.tripsOf(name, variant), r.tripsOf(name, authcore)
			if own == nil || other == nil {
				t.Errorf("%s, %s: round trips were not counted", name, variant)
			} else if own.Sequence < 1 || own.Sequence > most || own.Sequence > other.Sequence || len(own.Times) == 0 {
				t.Errorf("%s, %s: waits for %d round trips, want %d at most, and @auth/core for %d", name, variant, own.Sequence, most, other.Sequence)
			}
		}
	}
	if m := r.Machine; m.CPU == "" || m.Cores == 0 || m.Go == "" || m.Workerd == "" || m.AuthCore == "" {
		t.Errorf("the machine is %+v", m)
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n<!-- bench -->\n![", "](bench/results.svg)", "(bench/RESULTS.md)", r.Date, "<!-- /bench -->\nafter\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the README has no %q:\n%s", want, text)
		}
	}
}

func TestSoak(t *testing.T) {
	t.Parallel()
	needTools(t)
	dir := t.TempDir()
	var out bytes.Buffer
	if err := bench(t.Context(), []string{"-soak", "5s", "-write", dir}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	r, err := readResult(dir)
	if err != nil {
		t.Fatal(err)
	}
	answers := 0
	for _, step := range r.Soak.Steps {
		answers += step.Requests
		if step.RSS == 0 || step.Memory == 0 {
			t.Errorf("a step without memory: %+v", step)
		}
	}
	if want := r.Soak.Rate * 5; len(r.Soak.Steps) < 4 || float64(answers) < 0.99*want || float64(answers) > 1.01*want {
		t.Errorf("%d answers in %d steps, want %.0f in 5 seconds", answers, len(r.Soak.Steps), want)
	}
	if text := r.markdown(); !strings.Contains(text, "## A long run") {
		t.Errorf("the soak is not in the tables:\n%s", text)
	}
}

// TestPublished: the tables, the chart and the README are what results.json says; with -update they are made so.
func TestPublished(t *testing.T) {
	t.Parallel()
	r, err := readResult(".")
	if err != nil {
		t.Fatal(err)
	}
	if r.Date == "" {
		t.Fatal("there is no results.json: make bench")
	}
	if *update {
		if err := firstError(r.write("."), r.writeReadme("../../README.md", "../../edge/bench")); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if err := r.write(filepath.Join(dir, "edge", "bench")); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), readme, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.writeReadme(filepath.Join(dir, "README.md"), filepath.Join(dir, "edge", "bench")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"edge/bench/results.json", "edge/bench/RESULTS.md", "edge/bench/results.svg", "README.md"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what make bench wrote: %v", name, err)
		}
	}
}

// TestChecks: what is not the right answer is an error.
func TestChecks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, answer string
		ok           bool
	}{
		{"right", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nset-cookie: a=1\r\n\r\nada!", true},
		{"right in chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nSet-Cookie: a=1\r\n\r\n2\r\nad\r\n2\r\na!\r\n0\r\n\r\n", true},
		{"status", "HTTP/1.1 500 Oh\r\nContent-Length: 4\r\nSet-Cookie: a=1\r\n\r\nada!", false},
		{"no cookie", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nada!", false},
		{"another body", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nSet-Cookie: a=1\r\n\r\nnull", false},
		{"no body", "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\n", false},
		{"cut off", "HTTP/1.1 200 OK\r\nContent-Length: 40\r\nSet-Cookie: a=1\r\n\r\nada!", false},
		{"not HTTP", "hello\r\n\r\n", false},
		{"nothing", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			addr := answering(t, test.answer)
			c, err := dial(addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			err = c.do(&exchange{request: []byte("GET / HTTP/1.1\r\n\r\n"), status: 200, head: []string{"a=1"}, body: "ada"})
			if (err == nil) != test.ok {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// answering accepts one connection and gives one answer, whatever it is asked.
func answering(t *testing.T, answer string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		c.Read(make([]byte, 1<<10))
		io.WriteString(c, answer)
	}()
	return listener.Addr().String()
}

// TestLoops: what is sent is counted, and a time in an open loop begins when the request was due.
func TestLoops(t *testing.T) {
	t.Parallel()
	const pause = 20 * time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		<-timer.C
		fmt.Fprint(w, r.URL.Path)
	}))
	defer server.Close()
	addr := server.Listener.Addr().String()
	exchanges := make([]exchange, 3)
	for i := range exchanges {
		path := fmt.Sprintf("/%d", i)
		exchanges[i] = exchange{request: []byte("GET " + path + " HTTP/1.1\r\nHost: " + addr + "\r\n\r\n"), status: 200, body: path}
	}
	got, err := closedLoop(addr, exchanges, 4, 10*pause)
	if err != nil || got.Requests < 4 || got.Requests > 44 || got.P50 < milliseconds(pause) || got.P99 < got.P50 {
		t.Errorf("closed loop: %+v, %v", got, err)
	}
	got, err = volley(addr, exchanges)
	if err != nil || got.Requests != 3 || got.P50 < milliseconds(pause) {
		t.Errorf("volley: %+v, %v", got, err)
	}
	n := 0
	err = openLoop(addr, exchanges, 50, 10*pause, 4*pause, func(s sample) { n += s.Requests })
	if err != nil || n != 10 {
		t.Errorf("open loop: %d answers, want 10: %v", n, err)
	}
	exchanges[2].body = "something else"
	if _, err := closedLoop(addr, exchanges, 4, 10*pause); err == nil {
		t.Error("a wrong answer is no error")
	}
}

// TestCommandLine: a name that is wrong is said, and a part of everything can be chosen.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"-work nothing", "-variants ours,theirs", "-conns 0", "-conns a", "-only half", "-only crowd -write out", "-nonsense"} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
	o, err := parse(strings.Fields("-work csrf -variants authcore,ours -conns 2,3"), io.Discard)
	if err != nil || len(o.plan.works) != 1 || o.plan.works[0].name != "csrf" || !slices.Equal(o.plan.variants, []string{authcore, ours}) ||
		!slices.Equal(o.plan.conns, []int{2, 3}) || o.starts+o.crowd+o.trips != 0 {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := parse([]string{"-only", "starts"}, io.Discard); err != nil || o.starts == 0 || o.crowd+o.trips != 0 || len(o.plan.works) != 0 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestTable: medians and ratios are of rounds, and ratios of rounds that took turns.
func TestTable(t *testing.T) {
	t.Parallel()
	rounds := func(rates ...float64) (out []sample) {
		for _, r := range rates {
			out = append(out, sample{Requests: 1, Rate: r, P50: 1, P99: 2, CPU: 0.5})
		}
		return out
	}
	r := result{Date: "2026-01-02", Machine: machine{CPU: "A <fast> & cheap one", Cores: 2}, Cells: []cell{
		{"session-jwt", 16, ours, rounds(2000, 1000, 4000), 50e6},
		{"session-jwt", 16, authcore, rounds(1000, 500, 4000), 60e6},
	}}
	row := rows(r.Cells)[1]
	want := []string{"@auth/core on workerd", "1,000 (500–4,000)", "1.00", "2.00", "0.50", "60 MB", "2.00 (1.00–2.00)", "1.00"}
	if !slices.Equal(row, want) {
		t.Errorf("the row is %q, want %q", row, want)
	}
	if text := r.markdown(); !strings.Contains(text, "| 16 | "+strings.Join(want, " | ")+" |\n") {
		t.Errorf("the row is not in\n%s", text)
	}
	svg := r.chart()
	if !regexp.MustCompile(`<line class="mark" x1="(\d+)" y1="56" x2="(\d+)" y2="82"/>`).MatchString(svg) {
		t.Errorf("the line of @auth/core is not beside the bar:\n%s", svg)
	}
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
	}
	for _, want := range []string{`role="img"`, "<title", "prefers-color-scheme: dark", "2.00 ×", "A &lt;fast&gt; &amp; cheap one"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the chart has no %q", want)
		}
	}
	if strings.Contains(svg, "<script") {
		t.Error("the chart has a script")
	}
}
