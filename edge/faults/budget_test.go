//go:build !js && !wasip1

package faults_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/wasmtest"
)

// allow lets so many calls pass from now on, and refuses the rest; it gives what counts them.
func (w *world) allow(calls int64) *atomic.Int64 {
	n := new(atomic.Int64)
	w.watch(func(string) error {
		if n.Add(1) > calls {
			return errRefused
		}
		return nil
	})
	return n
}

func TestE10Calls(t *testing.T) {
	// The platform's bound of a free plan, and what is spent of it, all in sequence: the first sign-in of all in an instance
	// asks the provider for its configuration, keys and token, the others for a token; the rest is of the store.
	const subrequests, firstSignIn, signIn, session, signOut = 50, 3 + 2, 1 + 3, 1, 2
	together(t, func(t *testing.T, runtime string, w *world) {
		s := w.open(t, runtime, setup{database: true, wasm: wasmtest.Config{MaxInstances: 1}})
		b := s.browser()
		for _, c := range []struct {
			name string
			most int64
			do   func() error
		}{
			{"a first sign-in", firstSignIn, func() error { return b.signIn("ada") }},
			{"another sign-in", signIn, func() error { return s.browser().signIn("ada") }},
			{"a session", session, func() error { return b.is("ada") }},
			{"no session", 0, func() error { return s.browser().is("") }},
			{"a sign-out", signOut, func() error { _, err := b.clone().post("/auth/signout", nil); return err }},
		} {
			n := w.allow(subrequests)
			if err := c.do(); err != nil || n.Load() > c.most {
				t.Errorf("%s: %d calls, want at most %d; %v", c.name, n.Load(), c.most, err)
			}
			t.Logf("%s: %d calls", c.name, n.Load())
		}
		// With fewer than it needs, a sign-in fails as a whole, and works when there are enough.
		for n := range int64(signIn) {
			b, name := s.browser(), fmt.Sprintf("poor%d", n)
			w.watch(nil)
			if err := b.begin(); err != nil {
				t.Fatal(err)
			}
			w.allow(n)
			again := b.clone()
			if a, err := b.get(callback + name); err != nil || a.isFailure() == b.hasSession() {
				t.Errorf("%d calls: %d %q %v, a session: %v", n, a.status, a.location, err, b.hasSession())
			}
			w.watch(nil)
			if a, err := again.get(callback + name); err != nil || a.isFailure() {
				t.Errorf("after %d calls, and again: %q, %v", n, a.location, err)
			} else if err := again.is(name); err != nil {
				t.Errorf("after %d calls, and again: %v", n, err)
			}
		}
	})
}

// proxy runs a proxy of Node's own server, with its limits, before a site.
func (s *site) proxy() (base string) {
	s.t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		missing(s.t, "node is missing: install Node 20.3 or newer")
	}
	addr := freeAddr(s.t)
	cmd := exec.Command(node, "testdata/proxy.mjs", addr, s.url)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil { // it says that it listens
		s.t.Fatal(err)
	}
	return "http://" + addr
}

// Whatever a session is to hold, there is an answer, and the session that was there stays.
func TestE11HeaderBudgets(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		s := w.open(t, runtime, setup{})
		proxy := s.proxy()
		for name, base := range map[string]string{"directly": "", "through Node": proxy} {
			t.Run(name, func(t *testing.T) {
				sizes := []int{1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 24 << 10, 32 << 10, 48 << 10, 64 << 10}
				for size := 10_800; size < 11_600; size += 50 { // where a session gets too large
					sizes = append(sizes, size)
				}
				for _, bytes := range sizes {
					b := s.browser()
					if err := b.signInHere("ada"); err != nil {
						t.Fatal(err)
					}
					b.base = base
					body := fmt.Sprintf(`{"csrfToken":%q,"data":{"size":%d}}`, b.csrf, bytes)
					begun := time.Now()
					a, err := b.send(http.MethodPost, "/auth/session", "application/json", body)
					var chunks, size int
					for name, value := range b.cookies {
						if strings.HasPrefix(name, sessionCookie) {
							chunks, size = chunks+1, size+len(value)
						}
					}
					t.Logf("%d bytes: %d %.60q, %d cookies of %d bytes, %v", bytes, a.status, a.body, chunks, size, time.Since(begun).Round(time.Millisecond))
					if err != nil {
						t.Errorf("%d bytes: %v", bytes, err)
					}
					if err := b.is("ada"); err != nil {
						t.Errorf("%d bytes: the session is lost: %v", bytes, err)
					}
				}
			})
		}
	})
}
