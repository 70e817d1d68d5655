//go:build !js && !wasip1

package faults_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/wasmtest"
)

func TestE3PanicsCostOneRequest(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		const requests = 10_000
		s := w.open(t, runtime, setup{database: true})
		b := s.browser()
		if err := b.signIn("ada"); err != nil {
			t.Fatal(err)
		}
		booted := s.settles(0)
		faults := []string{"handler map", "handler index", "handler assertion", "handler panic", "callback panic", "callback map", "store panic", "store index"}
		crowd(requests, 16, func(i int) {
			b := b.clone()
			if i%10 != 0 {
				if err := b.is("ada"); err != nil {
					t.Errorf("request %d: %v", i, err)
				}
				return
			}
			b.header.Set("X-Fault", faults[i/10%len(faults)])
			if a, err := b.get("/auth/session"); err != nil || !a.isFailure() || strings.Contains(a.body, "ada") || !b.hasSession() {
				t.Errorf("%s: %d %q %.200q %v", b.header.Get("X-Fault"), a.status, a.location, a.body, err)
			}
		})
		if st := s.settles(booted.Goroutines); runtime == workerd && st.Booted != booted.Booted {
			t.Error("the panics ended the program")
		}
	})
}

// deep is JSON that a parser which calls itself can't survive.
var deep = strings.Repeat(`{"a":[`, 80_000) + "1" + strings.Repeat("]}", 80_000)

func TestE4HugeAndDeepInput(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		s := w.open(t, runtime, setup{})
		b := s.browser()
		if err := b.signInHere("ada"); err != nil {
			t.Fatal(err)
		}
		before := s.settles(0)
		const form, jsonType = "application/x-www-form-urlencoded", "application/json"
		many := strings.Repeat("a&", 1<<20)
		for name, c := range map[string]struct {
			method, path, kind, body string
		}{
			"deep JSON":                 {"POST", "/auth/session", jsonType, deep},
			"deep JSON of brackets":     {"POST", "/auth/session", jsonType, strings.Repeat("[", 1<<20)},
			"deep JSON in a value":      {"POST", "/auth/session", jsonType, `{"csrfToken":"` + b.csrf + `","data":` + deep + `}`},
			"parameters in the query":   {"GET", "/auth/session?" + many, "", ""},
			"parameters in the form":    {"POST", "/auth/callback/credentials", form, many[:1<<20]},
			"parameters without an end": {"POST", "/auth/callback/credentials", form, many},
			"128 MB":                    {"POST", "/auth/callback/credentials", form, strings.Repeat("x", 128<<20)},
		} {
			hostile := b.with("Connection", "close") // its connection may be of no use afterwards
			a, err := hostile.send(c.method, c.path, c.kind, c.body)
			if err != nil && (len(c.path) > 16<<10 || len(c.body) > 1<<20) {
				continue // the server has hung up on who would not stop to talk
			}
			isRefused := a.status >= 400 && a.status < 500 || a.isFailure() && a.status != http.StatusInternalServerError
			if err != nil || !isRefused {
				t.Errorf("%s: %d %q %.200q %v", name, a.status, a.location, a.body, err)
			}
			t.Logf("%s: %d; an instance of %d KiB", name, a.status, s.state().Memory>>10)
		}
		// What the provider answers is not to be trusted with the stack either.
		c := b.clone()
		if err := c.begin(); err != nil {
			t.Fatal(err)
		}
		if a, err := c.get(callback + "deep"); err != nil || a.status != http.StatusFound || !strings.Contains(a.location, "/error") {
			t.Errorf("a deep answer of the provider: %d %q %v", a.status, a.location, err)
		}
		if err := b.is("ada"); err != nil {
			t.Error(err)
		}
		// An instance that all this has made too large is retired; none may die of it.
		if s.settles(before.Goroutines); strings.Contains(s.log.String(), "ended") {
			t.Error("the program has ended")
		}
	})
}

// A body of 128 MB whose length nobody has told.
func TestE4BodyWithoutAnEnd(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		s := w.open(t, runtime, setup{})
		before := s.settles(0)
		body := io.LimitReader(zeros{}, 128<<20)
		resp, err := s.client.Post(s.url+"/auth/callback/credentials", "application/x-www-form-urlencoded", io.MultiReader(body))
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("answered with %d", resp.StatusCode)
			}
		} else if _, isBroken := err.(*url.Error); !isBroken { // the server may hang up on who doesn't stop to talk
			t.Error(err)
		}
		if after := s.settles(before.Goroutines); after.Memory > before.Memory+4<<20 {
			t.Errorf("the program grew from %d to %d bytes", before.Memory, after.Memory)
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// The program ends in the middle of a request, after others have begun to wait.
func TestE4AnEndCostsOneRequest(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		for _, kind := range []string{"exit", "goroutine", "recursion"} {
			for _, exclusive := range []bool{false, true} {
				if runtime == wazero && (!exclusive || kind == "recursion") {
					continue // an instance never serves two; package wasmtest shows the stack's end, in a smaller program
				}
				t.Run(fmt.Sprintf("%s, an instance each %v", kind, exclusive), func(t *testing.T) {
					w := newWorld(t)
					s := w.open(t, runtime, setup{
						database: true, env: map[string]string{"EDGE_EXCLUSIVE": map[bool]string{true: "8"}[exclusive]},
						wasm: wasmtest.Config{MaxMemory: 64 << 20},
					})
					b := s.browser()
					if err := b.signIn("ada"); err != nil {
						t.Fatal(err)
					}
					const waiting = 5
					var begun, done sync.WaitGroup
					begun.Add(waiting)
					release := make(chan struct{})
					w.watch(func(string) error { begun.Done(); <-release; return nil })
					var lost atomic.Int64
					for range waiting {
						done.Go(func() {
							a, err := b.clone().get("/auth/session")
							if err != nil || a.status != http.StatusOK && a.status != http.StatusInternalServerError {
								t.Errorf("who waited got %d %v", a.status, err)
							}
							if a.status != http.StatusOK {
								lost.Add(1)
							}
						})
					}
					begun.Wait()
					w.watch(nil)
					if a, err := b.with("X-Fault", "callback "+kind).get("/auth/session"); err != nil || a.status != http.StatusInternalServerError {
						t.Errorf("the program ended and answered %d %.200q, %v", a.status, a.body, err)
					}
					if err := b.is("ada"); err != nil {
						t.Error("the next request: ", err)
					}
					close(release)
					done.Wait()
					// Who shares the instance that ended is answered at once, and can ask again.
					if want := map[bool]int64{false: waiting}[exclusive]; lost.Load() != want {
						t.Errorf("%d others failed with it, want %d", lost.Load(), want)
					}
				})
			}
		}
	})
}

func TestE14ADeadlineEndsARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(t, wazero, setup{database: true, wasm: wasmtest.Config{Deadline: 2 * time.Second}})
	b := s.browser()
	if err := b.signIn("ada"); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"callback loop", "store loop"} {
		crowd(8, 8, func(i int) {
			if i > 0 {
				if err := b.clone().is("ada"); err != nil {
					t.Error(err)
				}
			} else if a, err := b.with("X-Fault", kind).get("/auth/session"); err != nil || a.status != http.StatusGatewayTimeout {
				t.Errorf("%s: %d %v", kind, a.status, err)
			}
		})
	}
}

// It isn't parallel: it weighs the whole process.
func TestE14InstancesLeaveNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, target string, w *world) {
		rounds := takes(t, 300, 1000)
		s := w.open(t, target, setup{wasm: wasmtest.Config{MaxInstances: 2}})
		b := s.browser().with("X-Fault", "handler exit")
		weigh := func(n int) int {
			crowd(n, 2, func(int) {
				if a, err := b.clone().get("/auth/session"); err != nil || a.status != http.StatusInternalServerError {
					t.Errorf("%d %v", a.status, err)
				}
			})
			runtime.GC()
			debug.FreeOSMemory()
			return s.resident()
		}
		before := weigh(rounds / 5)
		after := weigh(rounds - rounds/5)
		t.Logf("%d instances: %d MiB, after the first fifth of them %d MiB", rounds, after>>20, before>>20)
		if after > before+64<<20 {
			t.Errorf("the process has grown from %d to %d MiB", before>>20, after>>20)
		}
	})
}
