package hook

import (
	"net/http"
	"strings"
	"sync"

	"github.com/edgeauth/edgeauth/core"
)

// visit is one request on its way through the app.
type visit struct {
	hook *Hook
	r    *http.Request // as it came to Handle
	site func() *site  // at most one configuration for a request

	mu      sync.Mutex
	asked   bool          // whether session and err are known
	session *core.Session // nil: signed out
	err     error
	cookies []string // lines to send with the response
	acted   bool     // signed in or out: the cookies are those of that
	sent    bool     // the response's header is on its way
}

type visitKey struct{}

// visitOf gives the visit of a request, nil for one that did not pass Handle.
func visitOf(r *http.Request) *visit {
	v, _ := r.Context().Value(visitKey{}).(*visit)
	return v
}

// of reports whether the request passed this hook's Handle.
func (v *visit) of(h *Hook) bool { return v != nil && v.hook == h }

func (v *visit) findSite() *site {
	if v.hook.fixed != nil {
		return v.hook.fixed
	}
	return newSite(v.hook.configure(v.r))
}

// Auth gives the session of a request that passed [Hook.Handle], nil when nobody is signed in.
// An error means that it is not known who is signed in: nobody must be let in for it, and
// nobody told that they are signed out. ErrOutsideHandle is one.
//
// The session is read when it is first asked for, and once for a request: every later call, in
// whatever goroutine, gets the same answer. Once the request has signed out (see
// [Hook.SignOut]), the answer is nil.
//
// Reading a session extends it. The cookie for it goes out with the response's header, which
// also keeps shared caches from storing the response. If the header has been written before the
// first call, the answer is the same, but the session is not extended by this request; a
// warning, "session-not-extended", is logged. So ask before writing.
func Auth(r *http.Request) (*core.Session, error) {
	v := visitOf(r)
	if v == nil {
		return nil, ErrOutsideHandle
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.asked {
		v.asked = true
		v.read(r)
	}
	return v.session, v.err
}

// read reads the session from the request as it came, in the context that asks for it.
func (v *visit) read(r *http.Request) {
	s := v.site()
	if v.err = s.err; v.err != nil {
		return
	}
	now, err := s.Session(v.r.WithContext(r.Context()))
	if err != nil {
		v.err = err
		return
	}
	v.session = now.Session
	if v.acted {
		return // the cookies that signing in has set must not be overwritten
	}
	v.cookies = now.Header["Set-Cookie"]
	if v.sent && len(v.cookies) > 0 {
		s.log.Warn("session-not-extended", "fix", "call hook.Auth before writing the response", "request", core.RequestID(v.r))
	}
}

// act keeps the cookies of signing in or out in place of those that would extend the session.
func (v *visit) act(resp *core.Response, isOver bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.acted = true
	v.cookies = resp.Header["Set-Cookie"]
	if isOver {
		v.asked, v.session, v.err = true, nil, nil
	}
}

// hasSent reports whether it is too late for cookies.
func (v *visit) hasSent() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sent
}

// commit completes the response's header, once, before it is sent.
func (v *visit) commit(header http.Header) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.sent {
		return
	}
	v.sent = true
	if !v.asked && !v.acted {
		return
	}
	header.Add("Vary", "Cookie")
	if len(v.cookies) == 0 && v.session == nil {
		return
	}
	// What is one visitor's must not be served to the next one from a cache.
	if control := strings.ToLower(strings.Join(header["Cache-Control"], ",")); !strings.Contains(control, "no-store") && !strings.Contains(control, "private") {
		header.Set("Cache-Control", noStore)
	}
	for _, line := range v.cookies {
		header.Add("Set-Cookie", line)
	}
}

const noStore = "private, no-cache, no-store"
