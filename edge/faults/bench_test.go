//go:build !js && !wasip1

package faults_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// BenchmarkE12 measures the processor time of requests, which a worker of the free plan has
// 10 ms of: cpu-ms/op is that of the process around the program, of workerd or of this one, with
// its share of HTTP, and with the test's own client under wazero. Where there is no /proc, it is
// left out. The provider's share is its answers' signatures, which this process makes.
func BenchmarkE12(b *testing.B) {
	for _, runtime := range []string{workerd, wazero} {
		w := newWorld(b)
		s := w.open(b, runtime, setup{})
		in, begun := s.browser(), s.browser()
		if err := in.signIn("ada"); err != nil {
			b.Fatal(err)
		}
		if err := begun.begin(); err != nil {
			b.Fatal(err)
		}
		for _, c := range []struct {
			name string
			do   func() error
		}{
			{"csrf", func() error { _, err := s.browser().get("/auth/csrf"); return err }},
			{"session", func() error { return in.is("ada") }},
			{"signin", func() error { _, err := s.browser().get("/auth/signin"); return err }},
			{"callback", func() error { _, err := begun.clone().get(callback + "ada"); return err }},
		} {
			b.Run(runtime+"/"+c.name, func(b *testing.B) {
				before := s.cpu()
				for b.Loop() {
					if err := c.do(); err != nil {
						b.Fatal(err)
					}
				}
				if spent := s.cpu() - before; spent > 0 {
					b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N), "cpu-ms/op")
				}
			})
		}
	}
}

// cpu is the processor time that what runs the site has had; 0 where /proc doesn't tell.
func (s *site) cpu() time.Duration {
	raw, err := os.ReadFile("/proc/" + s.process() + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	var user, system int
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0
	}
	const tick = 10 * time.Millisecond // of Linux, for every program
	return time.Duration(user+system) * tick
}
