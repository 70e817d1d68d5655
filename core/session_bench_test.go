package core_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/internal/jwe"
)

// BenchmarkSession is a signed-in GET session, and what it can't do without: opening one
// token and sealing another.
func BenchmarkSession(b *testing.B) {
	auth := newAuth(b, core.Config{Providers: []core.Provider{anyone}})
	visitor := newBrowser(b, auth)
	visitor.signInAs("Ada")
	visitor.get("/auth/csrf")
	cookies := visitor.cookieHeader()
	r := httptest.NewRequest(http.MethodGet, site+"/auth/session", nil)
	r.Header.Set("Cookie", cookies)
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if resp := auth.Handle(r); resp.Session == nil {
				b.Fatal("signed out")
			}
		}
	})
	b.Run("served", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w := written{header: http.Header{}}
			if auth.ServeHTTP(&w, r); w.status != http.StatusOK {
				b.Fatal(w.status)
			}
		}
	})
	b.Run("open and seal", func(b *testing.B) {
		ring := jwe.NewRing([]string{secret}, sessionCookie)
		b.ReportAllocs()
		for b.Loop() {
			payload, err := ring.Open(visitor.cookie(sessionCookie))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := ring.Seal(payload); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// written is the least that a server makes for one.
type written struct {
	header http.Header
	status int
	body   []byte
}

func (a *written) Header() http.Header         { return a.header }
func (a *written) WriteHeader(status int)      { a.status = status }
func (a *written) Write(b []byte) (int, error) { a.body = b; return len(b), nil }

// maxSessionAllocs is what a signed-in GET session may allocate: 36, and up to 10 more under the
// race detector, which makes a sync.Pool forget.
const maxSessionAllocs = 46

func TestSessionAllocations(t *testing.T) {
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	visitor := newBrowser(t, auth)
	visitor.signInAs("Ada")
	visitor.get("/auth/csrf")
	r := httptest.NewRequest(http.MethodGet, site+"/auth/session", nil)
	r.Header.Set("Cookie", visitor.cookieHeader())
	allocs := testing.AllocsPerRun(100, func() {
		if resp := auth.Handle(r); resp.Session == nil {
			t.Fatal("signed out")
		}
	})
	t.Logf("%.0f allocations", allocs)
	if allocs > maxSessionAllocs {
		t.Errorf("%.0f allocations, want at most %d", allocs, maxSessionAllocs)
	}
}
