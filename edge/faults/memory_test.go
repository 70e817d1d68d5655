//go:build !js && !wasip1

package faults_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/wasmtest"
)

func TestE5MemoryIsBounded(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		requests := takes(t, 20_000, 1_000_000)
		s := w.open(t, runtime, setup{})
		b := s.browser()
		if err := b.signInHere("ada"); err != nil {
			t.Fatal(err)
		}
		var after []state // each tenth
		for range 10 {
			crowd(requests/10, 16, func(i int) {
				b := b.clone()
				if i%20 == 0 {
					if err := b.signInHere("ada"); err != nil {
						t.Error(err)
					}
				} else if err := b.is("ada"); err != nil {
					t.Error(err)
				}
			})
			after = append(after, s.state())
		}
		first, last := after[0], after[len(after)-1]
		t.Logf("an instance has %d KiB after %d requests, %d KiB after %d", first.Memory>>10, requests/10, last.Memory>>10, requests)
		if last.Memory > 16<<20 || runtime == workerd && last.Booted != first.Booted {
			t.Errorf("the instance grew: %+v", after)
		}
	})
}

// peak is the largest sum of what the instances have that were seen.
type peak struct {
	mu  sync.Mutex
	all map[string]uint64 // by instance
}

func (p *peak) add(st state) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[st.Booted] = max(p.all[st.Booted], st.Memory)
}

func TestE5LargeSessionsInFlight(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		const atOnce, size = 50, 20_000
		s := w.open(t, runtime, setup{database: true})
		b := s.browser()
		if err := b.signIn(fmt.Sprintf("ada.%d", size)); err != nil {
			t.Fatal(err)
		}
		w.delay.Store(int64(20 * time.Millisecond))
		p := peak{all: map[string]uint64{}}
		crowd(500, atOnce, func(i int) {
			b := b.clone()
			a, err := b.get("/auth/session")
			if err != nil || a.status != http.StatusOK || len(a.body) < size {
				t.Errorf("%d, %d bytes, %v", a.status, len(a.body), err)
			}
			if i%10 == 0 {
				p.add(s.state())
			}
		})
		sum := uint64(0)
		for _, bytes := range p.all {
			sum += bytes
		}
		t.Logf("%d instances have %d MiB", len(p.all), sum>>20)
		if sum > 96<<20 {
			t.Errorf("%d instances have %d MiB", len(p.all), sum>>20)
		}
	})
}

// Every twentieth request makes its instance grow past the ceiling, while others wait in it.
func TestE5RetirementLosesNoRequest(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		s := w.open(t, runtime, setup{database: true, wasm: wasmtest.Config{MaxMemory: 160 << 20}})
		b := s.browser()
		if err := b.signIn("ada"); err != nil {
			t.Fatal(err)
		}
		w.delay.Store(int64(5 * time.Millisecond))
		var mu sync.Mutex
		instances := map[string]bool{}
		crowd(400, 20, func(i int) {
			b := b.clone()
			if i%20 == 0 {
				b.header.Set("X-Fault", []string{"store grow", "callback grow"}[i/20%2])
			}
			if err := b.is("ada"); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
			if i%20 == 10 {
				st := s.state()
				mu.Lock()
				instances[st.Booted] = true
				mu.Unlock()
			}
		})
		if len(instances) < 3 {
			t.Errorf("%d instances were seen: none was retired", len(instances))
		}
		if st := s.state(); st.Memory > 64<<20 {
			t.Errorf("an instance of %d MiB gets requests", st.Memory>>20)
		}
	})
}

func TestE13NothingIsLeftOver(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		const times = 200
		s := w.open(t, runtime, setup{database: true, wasm: wasmtest.Config{MaxInstances: 1}})
		b := s.browser()
		if err := b.signIn("ada"); err != nil {
			t.Fatal(err)
		}
		booted := s.settles(0)
		addr := strings.TrimPrefix(s.url, "http://")
		// raw sends bytes, reads as much of the answer, and hangs up.
		raw := func(request string, read int) {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, strings.ReplaceAll(request, "HOST", addr))
			_, _ = io.CopyN(io.Discard, bufio.NewReaderSize(conn, 16), int64(read))
		}
		const head = " HTTP/1.1\r\nHost: HOST\r\n"
		for name, do := range map[string]func(i int){
			"HEAD": func(int) {
				for _, path := range []string{"/auth/session", "/auth/providers", "/auth/signin"} {
					if a, err := b.clone().send(http.MethodHead, path, "", ""); err != nil || a.body != "" {
						t.Errorf("HEAD %s: %d %q %v", path, a.status, a.body, err)
					}
				}
			},
			"an empty body": func(int) {
				for _, kind := range []string{"", "application/json", "application/x-www-form-urlencoded"} {
					if a, err := b.clone().send(http.MethodPost, "/auth/session", kind, ""); err != nil || a.status >= 500 {
						t.Errorf("POST of nothing, %q: %d %v", kind, a.status, err)
					}
				}
			},
			"an answer read in part": func(int) { raw("GET /auth/signin"+head+"\r\n", 20) },
			"an answer not read":     func(int) { raw("GET /auth/signin/idp"+head+"\r\n", 0) },
			"a body sent in part": func(int) {
				raw("POST /auth/session"+head+"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", 0)
			},
			"a chunk sent in part": func(int) {
				raw("POST /auth/session"+head+"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n100\r\n{", 0)
			},
		} {
			crowd(times, 8, do)
			if st := s.settles(booted.Goroutines); st.Booted != booted.Booted {
				t.Errorf("%s: it took a new instance", name)
			}
			if t.Failed() {
				t.Fatalf("after %s", name)
			}
		}
		if err := b.is("ada"); err != nil {
			t.Error(err)
		}
	})
}
