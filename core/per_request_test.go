package core_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// A site with many tenants: each host has a configuration of its own, and a session of one is
// worth nothing at another.
func TestPerRequest(t *testing.T) {
	t.Parallel()
	const one, two = "http://one.example", "http://two.example"
	p := newIDP()
	configure := func(r *http.Request) (core.Config, error) {
		config := inTest(core.Config{Providers: []core.Provider{anyone}, Secret: []string{"the secret of " + r.Host + ", long enough"}})
		if r.Host == "two.example" {
			config.Providers = []core.Provider{anyone, p.oidc()}
			config.Transport, config.BasePath = p, "/api/auth"
		}
		return config, nil
	}
	h := core.PerRequest(configure)
	first, second := newBrowser(t, h), newBrowser(t, h)
	first.origin, second.origin, second.base = one, two, "/api/auth"
	first.signInAs("Ada")
	p.signIn(second, "idp").wantRedirect(t, two)
	if first.user() != "Ada" || second.user() != "Jane" {
		t.Errorf("signed in as %q and %q", first.user(), second.user())
	}
	stolen := newBrowser(t, h)
	stolen.origin, stolen.base = two, "/api/auth"
	stolen.set(sessionCookie, first.cookie(sessionCookie))
	if stolen.user() != "" {
		t.Error("a session of one tenant is read by another")
	}
	if a := first.get("/auth/providers"); strings.Contains(a.body, "idp") || !strings.Contains(a.body, one+"/auth/") {
		t.Errorf("the first tenant's providers: %s", a.body)
	}
	if a := first.get("/api/auth/providers"); a.status != http.StatusBadRequest {
		t.Errorf("the second tenant's path at the first one: %d", a.status)
	}

	var all sync.WaitGroup
	for range 20 {
		for _, b := range []*browser{first.copy(), second.copy()} {
			all.Go(func() {
				want := map[string]string{one: "Ada", two: "Jane"}[b.origin]
				if got := b.user(); got != want {
					t.Errorf("at the same time %q is signed in at %s", got, b.origin)
				}
			})
		}
	}
	all.Wait()
}

// A configuration that can't be made, or that has mistakes, is answered as by Misconfigured:
// facts 35 and 36. The browser is told nothing of the cause, the log everything.
func TestPerRequestMistakes(t *testing.T) {
	t.Parallel()
	const cause = "no tenant of this name"
	for name, c := range map[string]struct {
		config core.Config
		err    error
		logged core.Kind
	}{
		"no configuration":         {core.Config{}, errors.New(cause), core.ErrInvalidConfig},
		"an error of this package": {core.Config{}, &core.Error{Kind: core.ErrMissingSecret, Message: cause}, core.ErrMissingSecret},
		"two mistakes":             {core.Config{Providers: []core.Provider{core.Credentials{}}, Secret: []string{}}, nil, core.ErrMissingAuthorize},
		"one mistake":              {core.Config{Providers: []core.Provider{anyone}, Secret: []string{}}, nil, core.ErrMissingSecret},
		"a mistake, two providers": {core.Config{Providers: []core.Provider{anyone, anyone}}, nil, core.ErrInvalidProvider},
	} {
		var log journal
		b := newBrowser(t, core.PerRequest(func(*http.Request) (core.Config, error) {
			config := c.config
			config.Logger = log.logger()
			return inTest(config), c.err
		}))
		for _, request := range []string{"GET session", "GET csrf", "POST signin/idp", "GET signin", "GET error"} {
			method, path, _ := strings.Cut(request, " ")
			a := b.send(method, "/auth/"+path, formType(), "")
			if a.status != http.StatusInternalServerError || strings.Contains(a.body, cause) || a.setsCookie("") || strings.Contains(a.body, "secret") {
				t.Errorf("%s: %s: %d %s", name, request, a.status, a.body)
			}
		}
		if !log.has(c.logged) || c.err != nil && !strings.Contains(log.text(), cause) {
			t.Errorf("%s: logged %s", name, log.text())
		}
		if a := b.get("/auth/nowhere"); a.status != http.StatusBadRequest {
			t.Errorf("%s: an unknown action: %d", name, a.status)
		}
	}
}

// What PerRequest pays at each request.
func BenchmarkNew(b *testing.B) {
	p := newIDP()
	config := inTest(core.Config{Providers: []core.Provider{p.oidc(core.CheckState, core.CheckPKCE, core.CheckNonce), p.hub(), anyone}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := core.New(config); err != nil {
			b.Fatal(err)
		}
	}
}
