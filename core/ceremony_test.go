package core_test

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/passkey"
	"github.com/edgeauth/edgeauth/core/passkey/passkeytest"
)

// An answer is good once, in the browser that was asked, for what was asked, and for 15 minutes.
func TestPasskeyChallenge(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, nil)
	key := newKey()
	key.Counts = false // so that nothing but the challenge can tell a repetition
	newBrowser(t, p.auth).register(key, "?email=ada@example.com").wantRedirect(t, site+"/home")

	t.Run("once", func(t *testing.T) {
		b := newBrowser(t, p.auth)
		data, err := key.Get(b.wantOptions("", "authenticate"))
		if err != nil {
			t.Fatal(err)
		}
		again := b.copy()
		b.answer("authenticate", data).wantRedirect(t, site+"/home")
		again.answer("authenticate", data).wantError(t, configurationError)
	})
	t.Run("once, also if it was wrong", func(t *testing.T) {
		b := newBrowser(t, p.auth)
		options := b.wantOptions("", "authenticate")
		key.Tamper = func(a *passkeytest.Answer) { a.Flags = 0 }
		wrong, err := key.Get(options)
		if err != nil {
			t.Fatal(err)
		}
		key.Tamper = nil
		right, err := key.Get(options)
		if err != nil {
			t.Fatal(err)
		}
		b.answer("authenticate", wrong).wantError(t, "error?error=WebAuthnVerificationError")
		b.answer("authenticate", right).wantError(t, configurationError)
	})
	t.Run("of concurrent answers one", func(t *testing.T) {
		b := newBrowser(t, p.auth)
		data, err := key.Get(b.wantOptions("", "authenticate"))
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		var mu sync.Mutex
		var locations []string
		for range 20 {
			group.Go(func() {
				a := b.copy().answer("authenticate", data)
				mu.Lock()
				defer mu.Unlock()
				locations = append(locations, a.location())
			})
		}
		group.Wait()
		if n := len(slices.DeleteFunc(locations, func(l string) bool { return l != site+"/home" })); n != 1 {
			t.Errorf("%d answers were accepted", n)
		}
	})
	t.Run("in the browser that was asked", func(t *testing.T) {
		data, err := key.Get(newBrowser(t, p.auth).wantOptions("", "authenticate"))
		if err != nil {
			t.Fatal(err)
		}
		other := newBrowser(t, p.auth)
		other.answer("authenticate", data).wantError(t, configurationError)
		other.wantOptions("", "authenticate")
		other.answer("authenticate", data).wantError(t, configurationError)
	})
	t.Run("for the ceremony that was asked for", func(t *testing.T) {
		b := newBrowser(t, p.auth)
		var o struct{ Challenge string }
		if err := json.Unmarshal(b.wantOptions("?email=new@example.com", "register"), &o); err != nil {
			t.Fatal(err)
		}
		data, err := key.Get([]byte(`{"rpId":"app.example","challenge":"` + o.Challenge + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		b.answer("authenticate", data).wantError(t, configurationError)
	})
	t.Run("a damaged cookie", func(t *testing.T) {
		b := newBrowser(t, p.auth)
		data, err := key.Get(b.wantOptions("", "authenticate"))
		if err != nil {
			t.Fatal(err)
		}
		b.set(challengeCookie, b.cookie(challengeCookie)[:100])
		b.answer("authenticate", data).wantError(t, configurationError)
		b.authenticate(key, "").wantRedirect(t, site+"/home") // and is replaced
	})
	t.Run("in several tabs", func(t *testing.T) {
		b := newBrowser(t, p.auth)
		first := b.wantOptions("", "authenticate")
		for range 3 {
			b.wantOptions("", "authenticate")
		}
		data, err := key.Get(first)
		if err != nil {
			t.Fatal(err)
		}
		b.answer("authenticate", data).wantRedirect(t, site+"/home")
		if b.cookie(challengeCookie) == "" {
			t.Error("the other tabs' challenges are gone")
		}
	})
	t.Run("for 15 minutes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, c := range []struct {
				wait time.Duration
				want string
			}{{14 * time.Minute, site + "/home"}, {16 * time.Minute, site + "/auth/" + configurationError}} {
				b := newBrowser(t, p.auth)
				data, err := key.Get(b.wantOptions("", "authenticate"))
				if err != nil {
					t.Fatal(err)
				}
				token := b.cookie(challengeCookie)
				time.Sleep(c.wait) // of the bubble's clock
				b.set(challengeCookie, token)
				b.answer("authenticate", data).wantRedirect(t, c.want)
			}
		})
	})
}

// A challenge is its provider's, and so is a credential.
func TestPasskeyTwoProviders(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, func(c *core.Config, _ *core.WebAuthn) {
		keys := passkey.New()
		keys.ID, keys.Name, keys.ConditionalUI = "keys", "Keys", core.Off
		c.Providers = []core.Provider{keys}
	})
	b, key := newBrowser(t, p.auth), newKey()
	b.register(key, "?email=ada@example.com").wantRedirect(t, site+"/home")
	data, err := key.Get(b.wantOptions("?action=authenticate", "authenticate"))
	if err != nil {
		t.Fatal(err)
	}
	b.post("/auth/callback/keys", "action", "authenticate", "data", string(data)).wantError(t, configurationError)
	b.answer("authenticate", data).wantRedirect(t, site+"/home")

	var out struct{ Options json.RawMessage }
	if err := json.Unmarshal([]byte(b.get("/auth/webauthn-options/keys?action=authenticate").body), &out); err != nil {
		t.Fatal(err)
	}
	if data, err = key.Get(out.Options); err != nil {
		t.Fatal(err)
	}
	b.post("/auth/callback/keys", "action", "authenticate", "data", string(data)).wantError(t, "error?error=WebAuthnVerificationError")
}

// A challenge in the store opens nothing at the route that follows links.
func TestPasskeyChallengeIsNoLink(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, func(c *core.Config, _ *core.WebAuthn) {
		c.Providers = []core.Provider{core.Email{Send: func(context.Context, core.VerificationRequest) error { return nil }}}
	})
	b := newBrowser(t, p.auth)
	var o struct{ Challenge string }
	if err := json.Unmarshal(b.wantOptions("", "authenticate"), &o); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{o.Challenge, "challenge:" + o.Challenge} {
		link := url.Values{"token": {token}, "email": {"webauthn:passkey"}}
		b.get("/auth/callback/email?"+link.Encode()).wantError(t, "error?error=Verification")
	}
}

// Nothing that is secret is logged, not even for debugging.
func TestPasskeySilence(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, nil)
	b, key := newBrowser(t, p.auth), newKey()
	options := b.wantOptions("?email=ada@example.com", "register")
	token := b.cookie(challengeCookie)
	data, err := key.Create(options)
	if err != nil {
		t.Fatal(err)
	}
	again := b.copy()
	b.answer("register", data).wantRedirect(t, site+"/home")
	again.answer("register", data).wantError(t, configurationError)
	key.Tamper = func(a *passkeytest.Answer) { a.Signature = []byte("forged") }
	newBrowser(t, p.auth).authenticate(key, "").wantError(t, "error?error=WebAuthnVerificationError")
	var o struct{ Challenge string }
	if err := json.Unmarshal(options, &o); err != nil {
		t.Fatal(err)
	}
	if !p.log.has(core.ErrWebAuthnVerification) || !p.log.has(core.ErrInvalidCheck) {
		t.Errorf("logged %q", p.log.text())
	}
	for _, secret := range []string{o.Challenge, token, b.cookie(sessionCookie), string(data)} {
		if strings.Contains(p.log.text(), secret) {
			t.Errorf("%q is logged", secret)
		}
	}
}
