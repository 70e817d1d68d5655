//go:build !js && !wasip1

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A result is everything that was measured, as results.json has it.
type result struct {
	Date    string  `json:"date"`
	Machine machine `json:"machine"`
	Seconds float64 `json:"seconds"` // of a round
	Cells   []cell  `json:"cells"`
	Starts  []start `json:"starts"`
	Crowds  []crowd `json:"crowds"`
	Trips   []trips `json:"trips,omitempty"`
	Soak    *soak   `json:"soak,omitempty"`
}

// A machine is what everything was measured on and with.
type machine struct {
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	System   string `json:"system"`
	Go       string `json:"go"`
	Workerd  string `json:"workerd"`
	AuthCore string `json:"authcore"`
}

func thisMachine(ctx context.Context, b builder) (machine, error) {
	m := machine{CPU: "unknown CPU", Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for field := range strings.Lines(string(info)) {
			if name, value, _ := strings.Cut(field, ":"); strings.TrimSpace(name) == "model name" {
				m.CPU = strings.TrimSpace(value)
				break
			}
		}
	} else if out, err := exec.CommandContext(ctx, "sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
		m.CPU = strings.TrimSpace(string(out))
	}
	version, err := exec.CommandContext(ctx, b.workerd(), "--version").Output()
	if err != nil {
		return m, fmt.Errorf("bench: %s: %w", b.workerd(), err)
	}
	m.Workerd = strings.TrimPrefix(strings.TrimSpace(string(version)), "workerd ")
	manifest, err := os.ReadFile(b.tool("@auth/core/package.json"))
	if err != nil {
		return m, err
	}
	var read struct{ Version string }
	err = json.Unmarshal(manifest, &read)
	m.AuthCore = read.Version
	return m, err
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s, %s, workerd %s, @auth/core %s", m.CPU, m.Cores, m.System, m.Go, m.Workerd, m.AuthCore)
}

// readResult gives what was written last, or nothing.
func readResult(dir string) (result, error) {
	var r result
	text, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// write puts the numbers, the tables and the chart into dir.
func (r result) write(dir string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range map[string]string{
		"results.json": string(text) + "\n",
		"RESULTS.md":   r.markdown(),
		"results.svg":  r.chart(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// find is the cell of a variant; nil when it was not measured.
func (r result) find(work string, conns int, variant string) *cell {
	for i, c := range r.Cells {
		if c.Work == work && c.Conns == conns && c.Variant == variant {
			return &r.Cells[i]
		}
	}
	return nil
}

// middle is the number of connections at which everybody was measured.
func (r result) middle() int {
	var conns []int
	for _, c := range r.Cells {
		if !slices.Contains(conns, c.Conns) {
			conns = append(conns, c.Conns)
		}
	}
	if len(conns) == 0 {
		return 0
	}
	slices.Sort(conns)
	return conns[(len(conns)-1)/2]
}

// A spread is the median of some numbers, with the least and the greatest.
type spread struct{ median, least, most float64 }

func spreadOf(numbers []float64) spread {
	if len(numbers) == 0 {
		return spread{}
	}
	s := slices.Sorted(slices.Values(numbers))
	median := s[len(s)/2]
	if len(s)%2 == 0 {
		median = (median + s[len(s)/2-1]) / 2
	}
	return spread{median, s[0], s[len(s)-1]}
}

// over is the spread of one number of each round.
func over(rounds []sample, number func(sample) float64) spread {
	var numbers []float64
	for _, s := range rounds {
		numbers = append(numbers, number(s))
	}
	return spreadOf(numbers)
}

func rate(s sample) float64 { return s.Rate }
func p50(s sample) float64  { return s.P50 }
func p99(s sample) float64  { return s.P99 }
func cpu(s sample) float64  { return s.CPU }

// ratio compares round by round, so that what slowed down both is not in it.
func ratio(a, b []sample, number func(sample) float64) spread {
	var numbers []float64
	for i := range min(len(a), len(b)) {
		if number(b[i]) > 0 {
			numbers = append(numbers, number(a[i])/number(b[i]))
		}
	}
	return spreadOf(numbers)
}

// started is how long a variant took to start; extra is that less what an empty worker took.
func (r result) started(variant string) (took spread, extra float64) {
	var none spread
	for _, s := range r.Starts {
		switch s.Variant {
		case variant:
			took = spreadOf(s.Times)
		case empty:
			none = spreadOf(s.Times)
		}
	}
	return took, took.median - none.median
}

func (r result) crowd(variant string) *crowd {
	for i, c := range r.Crowds {
		if c.Variant == variant {
			return &r.Crowds[i]
		}
	}
	return nil
}
