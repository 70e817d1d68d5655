package core_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// One handler answers on several base paths, and every URL it makes has the path that the
// request came by: those of pages, providers, redirects, links and errors.
func TestBasePathAliases(t *testing.T) {
	t.Parallel()
	p := newIDP()
	var mails mailbox
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{p.oidc(), anyone, mails.provider()}, Transport: p, Adapter: adaptertest.Memory(),
		Session: core.SessionOptions{Strategy: core.StrategyJWT}, BasePathAliases: []string{"/api/auth/", "v2"}, // slashes around make no difference
	})
	for _, base := range []string{"/auth", "/api/auth", "/v2"} {
		t.Run(base, func(t *testing.T) {
			root := site + base
			b := newBrowser(t, auth)
			b.base = base
			var providers map[string]map[string]string
			if err := json.Unmarshal([]byte(b.get(base+"/providers").body), &providers); err != nil {
				t.Fatal(err)
			}
			if got := providers["idp"]; got["signinUrl"] != root+"/signin/idp" || got["callbackUrl"] != root+"/callback/idp" {
				t.Errorf("providers: %v", got)
			}
			page := b.get(base + "/signin").body
			for _, action := range []string{"/signin/idp", "/signin/email"} {
				if !strings.Contains(page, `action="`+root+action+`"`) {
					t.Errorf("the page has no form for %s: %s", action, page)
				}
			}
			if page := b.get(base + "/error?error=AccessDenied").body; !strings.Contains(page, `href="`+root+`/signin"`) {
				t.Errorf("the error page: %s", page)
			}

			u := p.start(b, "idp")
			if got := u.Query().Get("redirect_uri"); got != root+"/callback/idp" {
				t.Errorf("redirect_uri=%s", got)
			}
			b.get(p.approve(t, u)).wantRedirect(t, site)
			if b.user() != "Jane" {
				t.Errorf("%q is signed in", b.user())
			}
			b.get(base+"/callback/idp?code=x").wantRedirect(t, root+"/error?error=Configuration")
			b.get(base+"/callback/idp?error=access_denied").wantRedirect(t, root+"/signin?error=OAuthCallbackError")
			b.get(base+"/signin/nobody").wantRedirect(t, root+"/error?error=Configuration")
			b.post(base+"/signin").wantRedirect(t, root+"/signin")
			b.send(http.MethodPost, base+"/signout", formType(), "").wantRedirect(t, root+"/signin?error=MissingCSRF")
			b.post(base+"/callback/credentials").wantRedirect(t, root+"/signin?error=CredentialsSignin&code=credentials")

			b.post(base+"/signin/email", "email", "ada@example.com").wantRedirect(t, root+"/verify-request?provider=email&type=email")
			if link := mails.last(t); !strings.HasPrefix(link, base+"/callback/email?") {
				t.Errorf("the link is %s", link)
			}
			b.post(base+"/signout").wantRedirect(t, site)
		})
	}

	// The cookies are the same on all of them: a sign-in begun or done on one counts on the others.
	b := newBrowser(t, auth)
	callback := p.approve(t, p.start(b, "idp"))
	b.get(callback).wantRedirect(t, site)
	b.base = "/api/auth"
	if b.user() != "Jane" {
		t.Error("the session of /auth is not read on /api/auth")
	}
	// And nothing else is answered.
	for _, path := range []string{"/api/session", "/session", "/v/session", "/API/auth/session", "/auth/api/auth/session"} {
		if a := b.get(path); a.status != http.StatusBadRequest {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

// Of base paths that begin alike the one that fits counts, in whatever order they are named.
func TestOverlappingAliases(t *testing.T) {
	t.Parallel()
	for _, paths := range [][]string{
		{"/auth", "/auth/v2", "/auth/v2/eu", "/"},
		{"/", "/auth/v2/eu", "/auth/v2", "/auth"},
		{"/auth/v2", "/", "/auth", "/auth/v2/eu"},
	} {
		p := newIDP()
		auth := newAuth(t, core.Config{
			Providers: []core.Provider{p.oidc()}, Transport: p, BasePath: paths[0], BasePathAliases: paths[1:],
		})
		for _, base := range []string{"/auth", "/auth/v2", "/auth/v2/eu"} {
			b := newBrowser(t, auth)
			b.base = base
			a := b.get(base + "/providers")
			if !strings.Contains(a.body, `"`+site+base+`/signin/idp"`) {
				t.Errorf("%v: %s/providers: %d %s", paths, base, a.status, a.body)
			}
			p.signIn(b, "idp").wantRedirect(t, site)
			if b.user() != "Jane" {
				t.Errorf("%v: %s: %q is signed in", paths, base, b.user())
			}
		}
		b := newBrowser(t, auth)
		if a := b.get("/providers"); !strings.Contains(a.body, `"`+site+`//signin/idp"`) { // fact 118
			t.Errorf("%v: /providers: %d %s", paths, a.status, a.body)
		}
	}
}

// A path that is an action of one base path and more of another is the longer one's, whatever
// the order: a request never changes its meaning with the configuration's.
func TestLongestAliasWins(t *testing.T) {
	t.Parallel()
	odd := anyone
	odd.ID = "session"
	for _, paths := range [][]string{{"/a", "/a/callback"}, {"/a/callback", "/a"}} {
		auth := newAuth(t, core.Config{Providers: []core.Provider{odd}, BasePath: paths[0], BasePathAliases: paths[1:]})
		b := newBrowser(t, auth)
		if a := b.get("/a/callback/session"); a.status != http.StatusOK || a.body != "null" {
			t.Errorf("%v: %d %s", paths, a.status, a.body)
		}
	}
}

// Auth.Session reads any path's session; its own URLs are those of the first base path.
func TestSessionOnAliases(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{anyone}, BasePathAliases: []string{"/api/auth"},
		Callbacks: core.Callbacks{Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) { return p.Session, nil }},
	})
	b := newBrowser(t, auth)
	b.base = "/api/auth"
	b.signInAs("Ada")
	b.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resp, err := auth.Session(r)
		if err != nil || resp.Session == nil {
			t.Errorf("%v %v", resp, err)
		}
	})
	b.get("/anywhere")
}
