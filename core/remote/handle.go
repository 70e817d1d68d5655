package remote

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/internal/latehead"
)

// visit is one request on its way through the app.
type visit struct {
	edge   *Edge
	r      *http.Request // as it came to Handle
	passed bool          // it did: Handle completes the response

	mu    sync.Mutex
	asked bool // whether answer and err are known
	answer
	err  error
	sent bool // the response's header is on its way
}

type visitKey struct{}

func visitOf(r *http.Request) *visit {
	v, _ := r.Context().Value(visitKey{}).(*visit)
	return v
}

// Handle is the middleware that every request of the app goes through. It asks nothing itself:
// [Edge.Session] and what is built on it find the session out when a page wants it, once for a
// request, and Handle completes the response with the edge's refreshed cookies and with what
// keeps it out of shared caches.
func (e *Edge) Handle(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v := visitOf(r); v != nil && v.edge == e {
			next.ServeHTTP(w, r) // Handle is in the chain twice
			return
		}
		v := &visit{edge: e, r: r, passed: true}
		next.ServeHTTP(&latehead.Response{ResponseWriter: w, Complete: v.commit}, r.WithContext(context.WithValue(r.Context(), visitKey{}, v)))
		v.commit(w.Header())
	})
}

// read finds the session out in the context that asks for it. Goroutines of one request wait
// for each other here, and for nobody else.
func (v *visit) read(r *http.Request) (*core.Session, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.asked {
		v.asked = true
		v.answer, v.err = v.edge.answer(v.r.WithContext(r.Context()))
		if v.sent && len(v.lines) > 0 {
			v.edge.log.Warn("session-not-extended", "fix", "ask for the session before writing the response")
		}
	}
	return v.session, v.err
}

// commit completes the response's header, once, before it is sent.
func (v *visit) commit(header http.Header) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.sent {
		return
	}
	v.sent = true
	if !v.asked {
		return
	}
	header.Add("Vary", "Cookie")
	for _, line := range v.lines {
		header.Add("Set-Cookie", line)
	}
	if v.session != nil && v.edge.redirects(v.r) > 0 {
		header.Add("Set-Cookie", v.edge.redirectCookie(0))
	}
	if v.session == nil && v.err == nil && len(v.lines) == 0 {
		return
	}
	// What is one visitor's must not be served to the next one from a cache.
	if control := strings.ToLower(strings.Join(header["Cache-Control"], ",")); !strings.Contains(control, "no-store") && !strings.Contains(control, "private") {
		header.Set("Cache-Control", noStore)
	}
}

const noStore = "private, no-cache, no-store"
