package core_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// posting is this provider, answering with a POST from the browser (OAuth 2.0 Form Post Response Mode).
func (p *idp) posting(id string, checks ...core.Check) core.OAuth {
	provider := p.oidc(checks...)
	provider.ID = id
	provider.Authorization.Params = url.Values{"response_mode": {"form_post"}}
	return provider
}

// overHTTPS is a browser for sign-ins whose cookies must cross sites.
func overHTTPS(t *testing.T, h http.Handler) *browser {
	b := newBrowser(t, h)
	b.origin, b.isLax = secureSite, true
	return b
}

// answerByPost sends an answer as the provider's page does: a cross-site POST, with which a
// browser sends no cookie that isn't SameSite=None.
func (b *browser) answerByPost(callback string, more ...string) *answer {
	b.t.Helper()
	path, query, _ := strings.Cut(callback, "?")
	form, err := url.ParseQuery(query)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	var kept, crossing []*http.Cookie
	for _, c := range b.jar {
		if c.SameSite == http.SameSiteNoneMode {
			crossing = append(crossing, c)
		} else {
			kept = append(kept, c)
		}
	}
	b.jar = crossing
	out := b.send(http.MethodPost, path, formType(), form.Encode())
	for _, c := range kept {
		if b.cookie(c.Name) == "" && !out.setsCookie(c.Name+"=") {
			b.jar = append(b.jar, c)
		}
	}
	return out
}

// wantCrossSite expects every check cookie in the jar to be sent with a cross-site POST.
func (b *browser) wantCrossSite(n int) {
	b.t.Helper()
	for _, c := range b.jar {
		for _, name := range checkCookies {
			if strings.HasSuffix(c.Name, name) {
				if n--; c.SameSite != http.SameSiteNoneMode || !c.Secure || !c.HttpOnly {
					b.t.Errorf("a cookie of a sign-in by POST: %s", c.Raw)
				}
			}
		}
	}
	if n != 0 {
		b.t.Errorf("%d check cookies too few: %v", n, b.jar)
	}
}

// The parameters of the answer come from the body, the check cookies come with it, and are
// gone after it.
func TestFormPost(t *testing.T) {
	t.Parallel()
	p := newIDP()
	all := []core.Check{core.CheckState, core.CheckPKCE, core.CheckNonce}
	inURL := p.oidc(all...)
	inURL.Authorization.URL = p.issuer + "/authorize?response_mode=form_post"
	for name, provider := range map[string]core.OAuth{"a parameter": p.posting("idp", all...), "in the URL": inURL} {
		auth := p.auth(t, provider)
		b := overHTTPS(t, auth)
		u := p.start(b, "idp")
		if u.Query().Get("response_mode") != "form_post" {
			t.Errorf("%s: the request: %v", name, u.Query())
		}
		b.wantCrossSite(3)
		callback := p.approve(t, u)
		b.copy().get(callback).wantRedirect(t, secureSite+"/auth/error?error=Configuration") // in the query, or by GET, it is none
		crossQuery := b.copy()
		crossQuery.send(http.MethodPost, callback, formType(), "x=y").wantRedirect(t, secureSite+"/auth/error?error=Configuration")
		if n := p.count("POST /token"); n != 0 {
			t.Errorf("%s: %d token requests for an answer in the query", name, n)
		}
		b.answerByPost(callback).wantRedirect(t, secureSite)
		if b.user() != "Jane" {
			t.Errorf("%s: %q is signed in", name, b.user())
		}
		b.wantCrossSite(0)
		b.copy().answerByPost(callback).wantRedirect(t, secureSite+"/auth/error?error=Configuration")
		p.visits = nil

		// Without Secure a browser would refuse SameSite=None, so it is there on http, too, where
		// browsers take it for localhost.
		local := newBrowser(t, auth)
		local.isLax = true
		p.start(local, "idp")
		local.wantCrossSite(3)
	}
}

// What can be wrong with an answer in the query can be wrong with one in the body.
func TestFormPostAnswers(t *testing.T) {
	t.Parallel()
	const rejected = secureSite + "/auth/signin?error=OAuthCallbackError"
	const broken = secureSite + "/auth/error?error=Configuration"
	for _, c := range []struct {
		name string
		more []string
		want string
	}{
		{"honest", nil, secureSite},
		{"denied", []string{"error", "user_cancelled_authorize"}, rejected},
		{"another state", []string{"state", "x"}, broken},
		{"no code", []string{"code", ""}, broken},
		{"another issuer", []string{"iss", "https://evil.example"}, broken},
		{"this issuer", []string{"iss", "https://idp.example"}, secureSite},
		{"a token", []string{"token", "x"}, broken},
		{"an id_token", []string{"id_token", "x"}, broken},
		{"JARM", []string{"response", "x"}, broken},
		{"a foreign callbackUrl", []string{"callbackUrl", "https://evil.example/"}, secureSite},
	} {
		p := newIDP()
		b := overHTTPS(t, p.auth(t, p.posting("idp", core.CheckState)))
		callback := p.approve(t, p.start(b, "idp"))
		a := b.answerByPost(callback, c.more...)
		if a.location() != c.want || b.hasSession() != (c.want == secureSite) {
			t.Errorf("%s: %d %q, session %v", c.name, a.status, a.location(), b.hasSession())
		}
	}
}

// Somebody else's answer, posted by a page of an attacker, signs nobody in: the checks hold.
func TestFormPostForgery(t *testing.T) {
	t.Parallel()
	p := newIDP()
	auth := p.auth(t, p.posting("idp", core.CheckState, core.CheckPKCE))
	attacker, victim := overHTTPS(t, auth), overHTTPS(t, auth)
	theirs := p.approve(t, p.start(attacker, "idp"))
	victim.answerByPost(theirs).wantRedirect(t, secureSite+"/auth/error?error=Configuration")
	p.start(victim, "idp")
	victim.answerByPost(theirs).wantRedirect(t, secureSite+"/auth/error?error=Configuration")
	if victim.hasSession() || p.count("POST /token") > 0 {
		t.Error("the answer was used")
	}
}

// Apple posts the user's name beside the code, and only the first time. The browser could have
// made it up, so it is no claim.
func TestPostedUser(t *testing.T) {
	t.Parallel()
	const name = `{"name":{"firstName":"Jane","lastName":"Doe"},"email":"eve@evil.example","sub":"eve"}`
	for _, c := range []struct {
		what   string
		posted string
		claims func(map[string]any) // of the ID token
		user   string               // what Profile sees
	}{
		{"the first time", name, nil, "Jane Doe"},
		{"later", "", nil, ""},
		{"an empty object", "{}", nil, ""},
		{"no object", `["Jane"]`, nil, ""},
		{"null", "null", nil, ""},
		{"no JSON", `{"name":`, nil, ""},
		{"two values", name + name, nil, ""},
		{"a claim of that name", name, func(claims map[string]any) { claims["user"] = "claimed" }, "claimed"},
		{"a claim of that name that is null", name, func(claims map[string]any) { claims["user"] = nil }, ""},
	} {
		p := newIDP()
		p.claims = c.claims
		provider := p.posting("idp")
		seen := 0
		provider.Profile = func(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
			seen++
			got := profile.String("user")
			if user, ok := profile["user"].(map[string]any); ok {
				if name, ok := user["name"].(map[string]any); ok {
					got = name["firstName"].(string) + " " + name["lastName"].(string)
				}
			}
			if got != c.user || profile.String("sub") != "user-1" || profile.String("email") != "Jane@Example.com" {
				t.Errorf("%s: the profile is %v", c.what, profile)
			}
			return &core.User{ID: profile.String("sub"), Name: "from " + c.what}, nil
		}
		b := overHTTPS(t, p.auth(t, provider))
		b.answerByPost(p.approve(t, p.start(b, "idp")), "user", c.posted).wantRedirect(t, secureSite)
		if seen != 1 || b.user() != "from "+c.what {
			t.Errorf("%s: Profile was called %d times, %q is signed in", c.what, seen, b.user())
		}
	}
	// A provider that answers in the query posts nothing, whatever is there.
	p := newIDP()
	provider := p.oidc()
	provider.Profile = func(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
		if _, taken := profile["user"]; taken {
			t.Errorf("a user was taken from the query: %v", profile)
		}
		return &core.User{ID: "1"}, nil
	}
	b := newBrowser(t, p.auth(t, provider))
	b.get(p.approve(t, p.start(b, "idp"))+"&user="+url.QueryEscape(name)).wantRedirect(t, site)
}

// Sign-ins at several providers, of which some answer by POST, can be under way together:
// a cookie that has a value of one of them stays SameSite=None.
func TestParallelFormPosts(t *testing.T) {
	t.Parallel()
	all := []core.Check{core.CheckState, core.CheckPKCE, core.CheckNonce}
	ids := []string{"idp", "posting", "posting-too"}
	for _, begun := range [][]int{{0, 1, 2}, {1, 0, 2}, {1, 2, 0}} {
		for _, ended := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
			p := newIDP()
			p.isOIDC = true
			b := overHTTPS(t, p.auth(t, p.oidc(all...), p.posting("posting", all...), p.posting("posting-too", all...)))
			callbacks := map[int]string{}
			waiting := 0 // sign-ins by POST
			for _, i := range begun {
				callbacks[i] = p.approve(t, p.start(b, ids[i]))
				if waiting += min(i, 1); waiting > 0 {
					b.wantCrossSite(3)
				}
			}
			for _, i := range ended {
				if i == 0 {
					b.get(callbacks[i]).wantRedirect(t, secureSite)
				} else {
					b.answerByPost(callbacks[i]).wantRedirect(t, secureSite)
					waiting--
				}
				if waiting > 0 {
					b.wantCrossSite(3)
				}
			}
			for _, c := range b.jar {
				if strings.Contains(c.Name, "pkce") || strings.Contains(c.Name, "state") || strings.Contains(c.Name, "nonce") {
					t.Errorf("begun %v, ended %v: %s stays", begun, ended, c.Name)
				}
			}
		}
	}
}
