//go:build !js && !wasip1

package faults_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/edgeauth/edgeauth/wasmtest"
)

// A flow is something that somebody does in one request that calls the world.
type flow struct {
	name    string
	prepare func(b *browser, name string) error
	do      func(b *browser, name string) (answer, error)
	after   func(b *browser, name string) error // what holds when it was done again
}

var flows = []flow{
	{"first sign-in", func(b *browser, _ string) error { return b.begin() },
		func(b *browser, name string) (answer, error) { return b.get(callback + name) },
		func(b *browser, name string) error { return b.is(name) }},
	{"sign-in", func(b *browser, name string) error {
		if err := b.signIn(name); err != nil {
			return err
		}
		b.forget()
		return b.begin()
	}, func(b *browser, name string) (answer, error) { return b.get(callback + name) },
		func(b *browser, name string) error { return b.is(name) }},
	{"session", (*browser).signIn,
		func(b *browser, _ string) (answer, error) { return b.get("/auth/session") },
		func(b *browser, name string) error { return b.is(name) }},
	{"sign-out", (*browser).signIn,
		func(b *browser, _ string) (answer, error) { return b.post("/auth/signout", nil) },
		func(b *browser, _ string) error { return b.is("") }},
}

// Who goes away while the site waits for its n-th call, whichever that is, finds the flow
// completed, and can do it again.
func TestE9TheClientLeavesAtEachCall(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		s := w.open(t, runtime, setup{database: true, env: map[string]string{"CONF_REFRESH": "1"}, wasm: wasmtest.Config{MaxInstances: 1}})
		if err := s.browser().signIn("first"); err != nil { // what is cached afterwards is E-2's matter
			t.Fatal(err)
		}
		for number, f := range flows {
			// One that nobody leaves shows how many calls there are, and what they leave behind.
			run := func(n int) (calls []string, left map[string]int) {
				name := fmt.Sprintf("user%d-%d", number, n+1)
				b := s.browser()
				if err := f.prepare(b, name); err != nil {
					t.Fatal(f.name, err)
				}
				before := w.kinds(t)
				ctx, leave := context.WithCancelCause(context.Background())
				defer leave(nil)
				var mu sync.Mutex
				var gone atomic.Bool
				hungUp := make(chan struct{})
				w.watch(func(call string) error {
					mu.Lock()
					at := len(calls)
					calls = append(calls, kindOf(call))
					mu.Unlock()
					if at == n {
						gone.Store(true)
						leave(errGone)
						<-hungUp
					}
					return nil
				})
				leaver := b.clone()
				leaver.ctx = ctx
				_, err := f.do(leaver, name)
				if n >= 0 && runtime == workerd { // which learns of it between two other requests
					for range 5 {
						s.state()
					}
				}
				close(hungUp)
				s.settles(0)
				w.watch(nil)
				if (err == nil) != (n < 0) || gone.Load() != (n >= 0) {
					t.Errorf("%s, call %d: who left got %v", f.name, n, err)
				}
				left = map[string]int{}
				for kind, count := range w.kinds(t) {
					if count != before[kind] {
						left[kind] = count - before[kind]
					}
				}
				if _, err := f.do(b, name); err != nil {
					t.Errorf("%s, call %d: again: %v", f.name, n, err)
				}
				if err := f.after(b, name); err != nil {
					t.Errorf("%s, call %d: %v", f.name, n, err)
				}
				return calls, left
			}
			want, leaves := run(-1)
			t.Logf("%s: %d calls, %s", f.name, len(want), strings.Join(want, ", "))
			for n := range want {
				calls, left := run(n)
				slices.Sort(calls)
				if sorted := slices.Sorted(slices.Values(want)); !slices.Equal(calls, sorted) || !maps.Equal(left, leaves) {
					t.Errorf("%s: after call %d was left it made %q and left %v, undisturbed %q and %v", f.name, n, calls, left, sorted, leaves)
				}
			}
		}
	})
}

// kindOf is a call without the key's secret part.
func kindOf(call string) string {
	kind, _, _ := strings.Cut(call, ".")
	if strings.HasPrefix(call, "provider") {
		return call
	}
	return kind
}
