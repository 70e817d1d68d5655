package core_test

import (
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

var checkCookies = map[core.Check]string{
	core.CheckState: stateCookie,
	core.CheckPKCE:  pkceCookie,
	core.CheckNonce: nonceCookie,
}

// A9 (CVE-2023-27490) and A14 (GHSA-x445-f3h2-j279): each check, alone, in every way that it
// can fail. No cell makes a session; and where the check doesn't need the ID token, no cell
// sends the code to the provider.
func TestChecksFail(t *testing.T) {
	t.Parallel()
	for check, cookie := range checkCookies {
		for _, c := range []struct {
			name string
			// spoil changes what the browser brings back to the callback, which it returns.
			spoil func(t *testing.T, p *idp, b *browser, callback string) string
		}{
			{"the cookie is absent", func(_ *testing.T, _ *idp, b *browser, callback string) string {
				b.forget(cookie)
				return callback
			}},
			{"the cookie is empty", func(_ *testing.T, _ *idp, b *browser, callback string) string {
				b.set(cookie, "")
				return callback
			}},
			{"the cookie is no token", func(_ *testing.T, _ *idp, b *browser, callback string) string {
				b.set(cookie, "x")
				return callback
			}},
			{"the cookie is another browser's", func(t *testing.T, p *idp, b *browser, callback string) string {
				other := newBrowser(t, b.handler)
				p.start(other, "idp")
				b.set(cookie, other.cookie(cookie))
				return callback
			}},
			{"the cookie is another provider's", func(t *testing.T, p *idp, b *browser, callback string) string {
				other := newBrowser(t, b.handler)
				p.start(other, "second")
				b.set(cookie, other.cookie(cookie))
				return callback
			}},
			{"the answer is given to another provider's callback", func(_ *testing.T, _ *idp, b *browser, callback string) string {
				return strings.Replace(callback, "/callback/idp", "/callback/second", 1)
			}},
			{"the answer is another browser's", func(t *testing.T, p *idp, b *browser, callback string) string {
				other := newBrowser(t, b.handler)
				return p.approve(t, p.start(other, "idp"))
			}},
			{"the browser has no cookies", func(_ *testing.T, _ *idp, b *browser, callback string) string {
				b.jar = nil
				return callback
			}},
			{"the cookie was used before", func(t *testing.T, p *idp, b *browser, callback string) string {
				old := b.cookie(cookie)
				b.get(callback).wantRedirect(t, site)
				b.get("/auth/session")
				*b = *newBrowser(t, b.handler)
				p.visits = nil
				u := p.start(b, "idp") // a new one, with what is left of the old one
				b.set(cookie, old)
				return p.approve(t, u)
			}},
		} {
			t.Run(string(check)+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				p := newIDP()
				second := p.oidc(check)
				second.ID = "second"
				b := newBrowser(t, p.auth(t, p.oidc(check), second))
				callback := p.approve(t, p.start(b, "idp"))
				callback = c.spoil(t, p, b, callback)
				b.get(callback).wantError(t, configurationError)
				if b.hasSession() || b.session() != nil {
					t.Error("there is a session")
				}
				// A wrong verifier or nonce is found by comparing with the answer to the token request.
				compared := check != core.CheckState && (strings.Contains(c.name, "another browser's") || strings.Contains(c.name, "used before"))
				if p.count("POST /token") > 0 && !compared {
					t.Error("the code was sent to the provider")
				}
			})
		}
	}
}

// The state parameter itself, in every way it can be wrong.
func TestStateParameter(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(q url.Values){
		"absent":      func(q url.Values) { q.Del("state") },
		"empty":       func(q url.Values) { q.Set("state", "") },
		"shorter":     func(q url.Values) { q.Set("state", q.Get("state")[1:]) },
		"longer":      func(q url.Values) { q.Set("state", q.Get("state")+"x") },
		"another one": func(q url.Values) { q.Set("state", "x") },
		"doubled":     func(q url.Values) { q.Add("state", "x") },
	} {
		p := newIDP()
		p.callback = spoil
		b := newBrowser(t, p.auth(t, p.oidc(core.CheckState)))
		p.signIn(b, "idp").wantError(t, configurationError)
		if b.hasSession() || p.count("POST /token") > 0 {
			t.Errorf("state %s: a session, or the code was sent", name)
		}
	}
}

// RFC 9700, section 4.4: an attacker's provider answers a sign-in that was started there with
// the honest provider's code. The code must not be sent to the attacker, nor accepted.
func TestMixUp(t *testing.T) {
	t.Parallel()
	for _, checks := range [][]core.Check{{core.CheckPKCE}, {core.CheckState}, {core.CheckNonce}, {core.CheckState, core.CheckPKCE, core.CheckNonce}} {
		honest := newIDP()
		attacker := newIDP()
		attacker.issuer = "https://attacker.example"
		second := attacker.oidc(checks...)
		second.ID = "attacker"
		network := byHost{"idp.example": honest, "attacker.example": attacker}
		auth := newAuth(t, core.Config{Providers: []core.Provider{honest.oidc(checks...), second}, Transport: network})

		// The victim chooses the attacker, who sends the browser on to the honest provider.
		b := newBrowser(t, auth)
		u := attacker.start(b, "attacker")
		query := u.Query()
		u.Host = "idp.example"
		query.Set("redirect_uri", site+"/auth/callback/idp") // the only one it accepts
		u.RawQuery = query.Encode()
		callback := honest.approve(t, u)
		b.get(callback).wantError(t, configurationError)
		if b.hasSession() || attacker.count("POST /token") > 0 || honest.count("POST /token") > 0 {
			t.Errorf("%v: a session, or the code was sent: %v %v", checks, attacker.visits, honest.visits)
		}
		// Or the attacker has the answer sent to its own callback, for the code. It says who it is not (RFC 9207).
		back := strings.Replace(callback, "/callback/idp", "/callback/attacker", 1) + "&iss=" + url.QueryEscape(honest.issuer)
		b.get(back).wantError(t, configurationError)
		if b.hasSession() || attacker.count("POST /token") > 0 {
			t.Errorf("%v: the attacker got the code", checks)
		}
	}
}

// CheckNone is what it says: nothing is added to the authorization request, nothing is stored.
func TestNoChecks(t *testing.T) {
	t.Parallel()
	p := newIDP()
	b := newBrowser(t, p.auth(t, p.hub(core.CheckNone)))
	u := p.start(b, "hub")
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if u.Query().Has(name) {
			t.Errorf("the authorization request has %s", name)
		}
	}
	for _, cookie := range checkCookies {
		if b.cookie(cookie) != "" {
			t.Errorf("there is a cookie %s", cookie)
		}
	}
	b.get(p.approve(t, u)).wantRedirect(t, site)
}

// Two sign-ins under way in one browser don't break one another, in whatever order they end
// (W8). The reference lets the second break the first.
func TestParallelSignIns(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"idp", "second", "third"}, {"third", "second", "idp"}, {"second", "idp", "third"}} {
		p := newIDP()
		all := []core.Check{core.CheckState, core.CheckPKCE, core.CheckNonce}
		second, third := p.oidc(all...), p.oidc(all...)
		second.ID, third.ID = "second", "third"
		p.isOIDC = true
		b := newBrowser(t, p.auth(t, p.oidc(all...), second, third))
		callbacks := map[string]string{}
		for _, id := range []string{"idp", "second", "third"} {
			callbacks[id] = p.approve(t, p.start(b, id))
		}
		for _, id := range order {
			b.get(callbacks[id]).wantRedirect(t, site)
			b.copy().get(callbacks[id]).wantError(t, configurationError) // once each
		}
		for check, cookie := range checkCookies {
			if b.cookie(cookie) != "" {
				t.Errorf("%v: the %s cookie stays", order, check)
			}
		}
	}
	// Within one provider the latest sign-in counts.
	p := newIDP()
	b := newBrowser(t, p.auth(t, p.oidc(core.CheckState)))
	first := p.approve(t, p.start(b, "idp"))
	latest := p.approve(t, p.start(b, "idp"))
	b.get(first).wantError(t, configurationError)
	b.get(latest).wantRedirect(t, site)
}

// A sign-in that others were begun after still has to end within its 15 minutes.
func TestEarlierChecksExpire(t *testing.T) {
	t.Parallel()
	rsaKey()
	for check := range checkCookies {
		for _, c := range []struct {
			others int // sign-ins begun after it, 4 minutes apart
			ok     bool
		}{{3, true}, {4, false}} {
			synctest.Test(t, func(t *testing.T) {
				p := newIDP()
				p.isOIDC = true
				second := p.oidc(check)
				second.ID = "second"
				b := newBrowser(t, p.auth(t, p.oidc(check), second))
				callback := p.approve(t, p.start(b, "idp"))
				for range c.others {
					time.Sleep(4 * time.Minute)
					p.start(b, "second")
				}
				b.get(callback)
				if b.hasSession() != c.ok {
					t.Errorf("%s, after %d minutes: session %v", check, 4*c.others, b.hasSession())
				}
			})
		}
	}
}
