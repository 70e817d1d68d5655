package remote_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/remote"
)

// sessionFor answers with a session that ends after a while.
func sessionFor(d time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"user":{"name":"Ada"},"expires":%q}`, time.Now().Add(d).UTC().Format(time.RFC3339))
	}
}

// An answer counts for CacheFor and never beyond the session's end, for its cookie alone.
func TestCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		edge := &wire{Handler: sessionFor(time.Hour)}
		e := newEdge(t, remote.Config{Transport: edge, CacheEntries: 3})
		asks := func(cookie string, want int32) {
			t.Helper()
			before := edge.count.Load()
			if session, err := e.Session(withCookie(cookie)); err != nil || session == nil {
				t.Fatalf("%v, %v", session, err)
			}
			if got := edge.count.Load() - before; got != want {
				t.Errorf("%s: %d questions, want %d", cookie, got, want)
			}
		}
		asks("a", 1)
		asks("a", 0)
		asks("b", 1)
		time.Sleep(5*time.Second - 1)
		asks("a", 0)
		time.Sleep(1)
		asks("a", 1)
		asks("a", 0)

		// The oldest make room.
		asks("c", 1)
		asks("d", 1)
		asks("c", 0)
		asks("a", 1)

		edge.Handler = sessionFor(2 * time.Second)
		asks("short", 1)
		time.Sleep(2*time.Second - 1)
		asks("short", 0)
		time.Sleep(1)
		asks("short", 1)

		// The edge's word counts for a session that has ended by our clock, for this request.
		edge.Handler = sessionFor(-10 * time.Minute)
		asks("old", 1)
		asks("old", 1)

		none := newEdge(t, remote.Config{Transport: edge, CacheFor: -1})
		edge.Handler = sessionFor(time.Hour)
		e = none
		asks("a", 1)
		asks("a", 1)
	})
}

// What the edge refuses, and what it fails to say, is asked again.
func TestNoSessionIsNotCached(t *testing.T) {
	t.Parallel()
	edge := &wire{Handler: answering(200, "application/json", "null")}
	e := newEdge(t, remote.Config{Transport: edge})
	for i := range 2 {
		if session, err := e.Session(withCookie("new")); session != nil || err != nil || edge.count.Load() != int32(i+1) {
			t.Fatalf("%v, %v after %d questions", session, err, edge.count.Load())
		}
	}
	edge.Handler = answering(503, "application/json", "null")
	if session, err := e.Session(withCookie("new")); session != nil || err == nil {
		t.Fatalf("%v, %v", session, err)
	}
	edge.Handler = answering(200, "application/json", good)
	if session, err := e.Session(withCookie("new")); session == nil || err != nil {
		t.Fatalf("%v, %v", session, err)
	}
}

// The jwt strategy renews the token with every answer: the browser that comes with the new one
// is known, in chunks, too.
func TestCacheFollowsTheToken(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 3000, 9000} {
		auth := handler(t, core.Config{})
		edge := &wire{Handler: auth}
		b := signedIn(t, auth, "Ada", strings.Repeat("x", size))
		e := newEdge(t, remote.Config{Transport: edge})
		b.handler = e.Handle(page(t, e))
		old := b.load("/")
		again := b.load("/")
		if old.Body.String() != "Hello, Ada" || again.Body.String() != "Hello, Ada" || edge.count.Load() != 1 {
			t.Errorf("%d: %q, %q after %d questions", size, old.Body, again.Body, edge.count.Load())
		}
		if len(old.Header()["Set-Cookie"]) == 0 || len(again.Header()["Set-Cookie"]) != 0 {
			t.Errorf("%d: the cookies were handed on %d and %d times", size, len(old.Header()["Set-Cookie"]), len(again.Header()["Set-Cookie"]))
		}
	}
}

// A token that needs fewer chunks than before takes the others with it.
func TestCacheFollowsFewerChunks(t *testing.T) {
	t.Parallel()
	edge := &wire{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Set-Cookie"] = []string{cookieName + ".0=; Max-Age=0; Path=/", cookieName + ".1=; Path=/", cookieName + "=short; Path=/"}
		answering(200, "application/json", good).ServeHTTP(w, r)
	})}
	e := newEdge(t, remote.Config{Transport: edge})
	b := &browser{handler: e.Handle(page(t, e)), jar: map[string]string{cookieName + ".0": "a", cookieName + ".1": "b"}}
	for range 2 {
		if w := b.load("/"); w.Body.String() != "Hello, Ada" || len(b.jar) != 1 || edge.count.Load() != 1 {
			t.Errorf("%q with %v after %d questions", w.Body, b.jar, edge.count.Load())
		}
	}
}

// Nobody gets another's session, and what a page does to its own is not seen by the next.
func TestCacheKeepsPeopleApart(t *testing.T) {
	t.Parallel()
	auth := handler(t, core.Config{})
	e := newEdge(t, remote.Config{Transport: &wire{Handler: auth}, CacheEntries: 4})
	people := make([]*browser, 8)
	for i := range people {
		people[i] = signedIn(t, auth, fmt.Sprint("user", i), "")
	}
	var wg sync.WaitGroup
	for range 4 {
		for i, b := range people {
			r := b.request(http.MethodGet, "/", "")
			wg.Go(func() {
				for range 10 {
					session, err := e.Session(r.Clone(r.Context()))
					if err != nil || session.User.Name != fmt.Sprint("user", i) {
						t.Errorf("user%d is %v, %v", i, session, err)
						return
					}
					session.User.Name = "changed"
				}
			})
		}
	}
	wg.Wait()
}
