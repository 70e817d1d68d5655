//go:build !js && !wasip1

package faults_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/wasmtest"
)

// crowd does something n times, so many at once.
func crowd(n, atOnce int, do func(i int)) {
	var all sync.WaitGroup
	next := make(chan int)
	for range min(n, atOnce) {
		all.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}

// It isn't parallel: with others on the machine, the slowest exchange would take longer than it may.
func TestE1ParallelSignIns(t *testing.T) {
	everywhere(t, func(t *testing.T, runtime string, w *world) {
		s := w.open(t, runtime, setup{database: true, wasm: wasmtest.Config{MaxInstances: 64}})
		one := s.browser()
		if err := one.begin(); err != nil {
			t.Fatal(err)
		}
		booted := s.settles(0)
		w.delay.Store(int64(50 * time.Millisecond))
		counts := []int{100, 300, 1000}
		if runtime == wazero { // where each of them has an instance to itself, while there are some
			counts = counts[:takes(t, 2, 3)]
		}
		for _, n := range counts {
			begun := time.Now()
			crowd(n, n, func(i int) {
				b, name := one.clone(), fmt.Sprintf("user%d-%d", n, i)
				if a, err := b.get(callback + name); err != nil || !b.hasSession() {
					t.Errorf("%s: %d %q %v", name, a.status, a.location, err)
				} else if err := b.is(name); err != nil {
					t.Error(err)
				}
			})
			t.Logf("%d sign-ins and sessions at once in %v", n, time.Since(begun).Round(time.Millisecond))
		}
		w.delay.Store(0)
		s.settles(booted.Goroutines)
	})
}

func TestE2AClientLeavesWhileTheCacheIsFilled(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		warm := w.open(t, runtime, setup{})
		begun := warm.browser()
		if err := begun.begin(); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/.well-known/openid-configuration", "/token", "/jwks"} {
			t.Run(path[1:], func(t *testing.T) {
				cold := w.open(t, runtime, setup{}) // with warm's secret
				ctx, leave := context.WithCancelCause(t.Context())
				release := make(chan struct{})
				var came atomic.Bool
				w.watch(func(call string) error {
					if call == "provider "+path && came.CompareAndSwap(false, true) {
						leave(errGone)
						<-release
					}
					return nil
				})
				first, second := begun.clone(), begun.clone()
				first.site, first.ctx, second.site = cold, ctx, cold
				if a, err := first.get(callback + "ada"); err == nil {
					t.Errorf("who left got %d", a.status)
				}
				if a, err := second.get(callback + "bob"); err != nil || !second.hasSession() {
					t.Errorf("the second request: %d %q %v", a.status, a.location, err)
				} else if err := second.is("bob"); err != nil {
					t.Error(err)
				}
				close(release)
				w.watch(nil)
				cold.settles(0)
			})
		}
	})
}

// A turnstile holds calls back until there are so many, and then lets them go in any order, so
// that whatever two requests do is interleaved wherever one of them waits.
type turnstile struct {
	mu      sync.Mutex
	parties int
	held    []chan struct{}
	random  *rand.Rand
}

func (s *turnstile) pass(string) error {
	s.mu.Lock()
	free := make(chan struct{})
	s.held = append(s.held, free)
	s.open()
	s.mu.Unlock()
	<-free
	return nil
}

// leave says that one of those who call calls no more.
func (s *turnstile) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parties--
	s.open()
}

func (s *turnstile) open() {
	if len(s.held) < s.parties {
		return
	}
	s.random.Shuffle(len(s.held), func(i, j int) { s.held[i], s.held[j] = s.held[j], s.held[i] })
	for _, free := range s.held {
		close(free)
	}
	s.held = nil
}

func TestE7TwoUsersNeverMeet(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		requests := takes(t, 10_000, 100_000)
		const browsers = 8 // every other one is the same person's
		s := w.open(t, runtime, setup{database: true, wasm: wasmtest.Config{MaxInstances: browsers}})
		gate := &turnstile{parties: browsers, random: rand.New(rand.NewPCG(7, uint64(requests)))}
		names := [2]string{"ada", "bob"}
		first := s.browser()
		if err := first.signIn(names[0]); err != nil {
			t.Fatal(err)
		}
		first.forget()
		if err := first.clone().signIn(names[1]); err != nil {
			t.Fatal(err)
		}
		w.watch(gate.pass)
		defer w.watch(nil)
		crowd(browsers, browsers, func(i int) {
			defer gate.leave()
			b, name, at := first.clone(), names[i%2], 0
			for at < requests/browsers {
				if at%100 == 0 {
					b.forget() // or the account would be added to the user
					if err := b.signIn(name); err != nil {
						t.Error(err)
						return
					}
				} else if err := b.is(name); err != nil {
					t.Error("a crossing: ", err)
					return
				}
				at++
			}
		})
	})
}
