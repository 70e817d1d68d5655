package core_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// signInFlows are the ways to sign in that keep something in the store. Each is done by a
// browser that may be signed in already.
var signInFlows = map[string]func(t *testing.T, l *linking, b *browser) *answer{
	"a new user by OpenID Connect": func(t *testing.T, l *linking, b *browser) *answer {
		l.p.who("new", "new@example.com")
		return l.p.signIn(b, "idp")
	},
	"a new user by OAuth": func(t *testing.T, l *linking, b *browser) *answer {
		l.p.who("new-at-hub", "")
		return l.p.signIn(b, "hub")
	},
	"a known account": func(t *testing.T, l *linking, b *browser) *answer {
		l.p.who("ada", "ada@example.com")
		return l.p.signIn(b, "idp")
	},
	"a new user by e-mail": func(t *testing.T, l *linking, b *browser) *answer {
		b.post("/auth/signin/email", "email", "mail@example.com")
		return b.get(l.mails.last(t))
	},
	"a known user by e-mail": func(t *testing.T, l *linking, b *browser) *answer {
		b.post("/auth/signin/email", "email", "ada@example.com")
		return b.get(l.mails.last(t))
	},
}

// withAda is an app with a user ada, and a browser: hers, or a new one.
func withAda(t *testing.T, adapter *core.Adapter, signedIn bool) (*linking, *browser) {
	l := newLinking(t, adapter, core.StrategyDatabase, false)
	l.p.who("ada", "ada@example.com")
	b := newBrowser(t, l.auth)
	l.p.signIn(b, "idp").wantRedirect(t, site)
	if !signedIn {
		b = newBrowser(t, l.auth)
	}
	return l, b
}

// ASVS 5.0, 7.2.4: every sign-in has a session of its own, and ends the one the browser had:
// its token, known to whoever planted or stole it, is worth nothing afterwards.
func TestSessionRotation(t *testing.T) {
	t.Parallel()
	bothWays(t, testSessionRotation)
}

func testSessionRotation(t *testing.T, memory func() *core.Adapter) {
	for name, flow := range signInFlows {
		for _, signedIn := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, signed in %v", name, signedIn), func(t *testing.T) {
				t.Parallel()
				l, b := withAda(t, memory(), signedIn)
				elsewhere := newBrowser(t, l.auth)
				l.p.signIn(elsewhere, "idp")
				before := b.copy()
				flow(t, l, b).wantRedirect(t, site)
				if b.session() == nil {
					t.Fatal("not signed in")
				}
				if l.wantNewSession(t, b, before.cookie(sessionCookie)); before.session() != nil {
					t.Error("the session before is still good")
				}
				if elsewhere.user() != "ada" {
					t.Error("a session in another browser was ended")
				}
			})
		}
	}
}

// A planted token, of a session that exists or not, is never the one that a sign-in ends with: P19.
func TestSessionFixation(t *testing.T) {
	t.Parallel()
	for name, flow := range signInFlows {
		for _, exists := range []bool{false, true} {
			if exists && name == "a known account" {
				continue // eve is signed in there, so ada's account is refused: TestAccountLinking
			}
			l, _ := withAda(t, adaptertest.Memory(), false)
			planted := "chosen-by-the-attacker"
			if exists {
				attacker := newBrowser(t, l.auth)
				l.p.who("eve", "eve@example.com")
				l.p.signIn(attacker, "idp")
				planted = attacker.cookie(sessionCookie)
			}
			victim := newBrowser(t, l.auth)
			victim.set(sessionCookie, planted)
			flow(t, l, victim).wantRedirect(t, site)
			if victim.cookie(sessionCookie) == planted {
				t.Errorf("%s: the planted token %q is the victim's", name, planted)
			}
			if session, user, _ := l.store.GetSessionAndUser(t.Context(), planted); session != nil {
				t.Errorf("%s: the planted token is a session of %+v", name, user)
			}
		}
	}
}

// Whichever call to the store fails, the sign-in fails: the error page, no session cookie, and
// the session that was there goes on if it was not replaced.
func TestStoreFailsDuringSignIn(t *testing.T) {
	t.Parallel()
	bothWays(t, testStoreFailsDuringSignIn)
}

func testStoreFailsDuringSignIn(t *testing.T, memory func() *core.Adapter) {
	for name, flow := range signInFlows {
		for _, signedIn := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, signed in %v", name, signedIn), func(t *testing.T) {
				t.Parallel()
				for k, failed := 1, ""; ; k++ {
					l, b := withAda(t, memory(), signedIn)
					l.told()
					// An e-mail sign-in calls the store at the request as well: both are one flow here.
					n := 0
					failed = ""
					l.store.fail = func(method string) error {
						if n++; n == k {
							failed = method
							return errors.New("the store is down")
						}
						return nil
					}
					// What is followed if no mail is sent.
					l.mails.mails = append(l.mails.mails, core.VerificationRequest{URL: site + "/auth/callback/email?token=none&email=none"})
					before := b.cookie(sessionCookie)
					a := flow(t, l, b)
					l.store.fail = nil
					if failed == "" {
						if k < 2 {
							t.Errorf("the flow made %d calls only", n)
						}
						return
					}
					if a.location() != site+"/auth/error?error=Configuration" && a.location() != site+"/auth/error?error=Verification" || a.setsCookie("") {
						t.Errorf("call %d, %s: %d %q %v", k, failed, a.status, a.location(), a.header["Set-Cookie"])
					}
					if b.cookie(sessionCookie) != before {
						t.Errorf("call %d, %s: the session cookie is %q", k, failed, b.cookie(sessionCookie))
					}
					for _, event := range l.events {
						if event == "signIn ada false" || event == "signIn new true" {
							t.Errorf("call %d, %s: told %s", k, failed, event)
						}
					}
					if signedIn && b.user() != "ada" {
						t.Errorf("call %d, %s: ada is signed out", k, failed)
					}
					// With the store back the same browser can sign in.
					if a := flow(t, l, b); a.location() != site {
						t.Errorf("call %d, %s: again: %d %q", k, failed, a.status, a.location())
					}
				}
			})
		}
	}
}
