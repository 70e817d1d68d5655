package core_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// who makes a provider tell of somebody: an id at the provider, and an address.
func (p *idp) who(sub, email string) {
	p.claims = func(claims map[string]any) {
		claims["sub"], claims["name"] = sub, sub
		if claims["email"] = email; email == "" {
			delete(claims, "email")
		}
	}
	p.userinfo = func() (int, string) { return 200, fmt.Sprintf(`{"id":%q,"name":%q,"email":%q}`, sub, sub, email) }
}

// linking is an app with two providers, a mailbox, a store, and a list of what was told.
type linking struct {
	p      *idp
	mails  mailbox
	store  *watched
	auth   *core.Auth
	events []string
}

func newLinking(t *testing.T, adapter *core.Adapter, strategy core.Strategy, dangerous bool) *linking {
	l := &linking{p: newIDP(), store: watch(adapter)}
	tell := func(format string, args ...any) error {
		l.events = append(l.events, fmt.Sprintf(format, args...))
		return nil
	}
	hub := l.p.hub()
	hub.AllowDangerousEmailAccountLinking = dangerous
	l.auth = newAuth(t, core.Config{
		Providers: []core.Provider{l.p.oidc(), hub, l.mails.provider()}, Transport: l.p,
		Adapter: &l.store.Adapter, Session: core.SessionOptions{Strategy: strategy},
		Callbacks: core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (core.JWT, error) {
			if p.Trigger != core.TriggerRead {
				_ = tell("jwt:%s", p.Trigger)
			}
			return p.Token, nil
		}},
		Events: core.Events{
			CreateUser: func(_ context.Context, e core.UserEvent) error { return tell("createUser %s", e.User.Name) },
			UpdateUser: func(_ context.Context, e core.UserEvent) error { return tell("updateUser %s", e.User.Name) },
			LinkAccount: func(_ context.Context, e core.LinkAccountEvent) error {
				return tell("linkAccount %s %s", e.Account.Provider, e.User.Name)
			},
			SignIn: func(_ context.Context, e core.SignInEvent) error {
				return tell("signIn %s %v", e.User.Name, *e.IsNewUser)
			},
		},
	})
	return l
}

// told gives the events since the last time.
func (l *linking) told() string {
	out := strings.Join(l.events, ", ")
	l.events = nil
	return out
}

func (l *linking) wantTold(t *testing.T, want string) {
	t.Helper()
	if got := l.told(); got != want {
		t.Errorf("events %q, want %q", got, want)
	}
}

// wantNewSession expects that a sign-in has given the browser another token, and that the one
// before is worth nothing any more: P19, ASVS 7.2.4. A token of the jwt strategy can't be taken back.
func (l *linking) wantNewSession(t *testing.T, b *browser, before string) {
	t.Helper()
	now := b.cookie(sessionCookie)
	if now == before || now == "" {
		t.Errorf("the token is %q, and was %q", now, before)
	}
	if stored, _, _ := l.store.GetSessionAndUser(t.Context(), before); stored != nil {
		t.Error("the session before lives on")
	}
}

// Facts 84 to 90, under both strategies; 89 is different here.
func TestAccountLinking(t *testing.T) {
	t.Parallel()
	bothWays(t, testAccountLinking)
}

func testAccountLinking(t *testing.T, memory func() *core.Adapter) {
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		jwt := func(trigger string) string {
			if strategy == core.StrategyJWT {
				return "jwt:" + trigger + ", "
			}
			return ""
		}
		start := func(t *testing.T) (*linking, *browser) {
			l := newLinking(t, memory(), strategy, false)
			l.p.who("ada", "ada@example.com")
			b := newBrowser(t, l.auth)
			l.p.signIn(b, "idp").wantRedirect(t, site)
			l.wantTold(t, "createUser ada, linkAccount idp ada, "+jwt("signUp")+"signIn ada true")
			return l, b
		}
		run := func(name string, test func(t *testing.T)) {
			t.Run(string(strategy)+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t)
			})
		}

		run("the same account again", func(t *testing.T) {
			l, _ := start(t)
			b := newBrowser(t, l.auth)
			l.p.who("ada", "new@example.com")
			l.p.signIn(b, "idp").wantRedirect(t, site)
			l.wantTold(t, jwt("signIn")+"signIn ada false")
			if user, _ := l.store.GetUserByAccount(t.Context(), "idp", "ada"); user.Email != "ada@example.com" {
				t.Errorf("the stored user was changed: %+v", user)
			}
		})
		run("the same address at another provider", func(t *testing.T) {
			l, _ := start(t)
			l.p.who("ada-at-hub", "ADA@example.com")
			b := newBrowser(t, l.auth)
			l.p.signIn(b, "hub").wantError(t, "signin?error=OAuthAccountNotLinked")
			l.wantTold(t, "")
			if user, _ := l.store.GetUserByAccount(t.Context(), "hub", "ada-at-hub"); user != nil || b.hasSession() {
				t.Errorf("linked to %+v, session %v", user, b.hasSession())
			}
		})
		run("the same id at another provider", func(t *testing.T) {
			l, _ := start(t)
			l.p.who("ada", "other@example.com")
			l.p.signIn(newBrowser(t, l.auth), "hub").wantRedirect(t, site)
			l.wantTold(t, "createUser ada, linkAccount hub ada, "+jwt("signUp")+"signIn ada true")
		})
		run("no address", func(t *testing.T) {
			l, _ := start(t)
			l.p.who("bob", "")
			l.p.signIn(newBrowser(t, l.auth), "idp").wantRedirect(t, site)
			l.p.who("carol", "")
			l.p.signIn(newBrowser(t, l.auth), "idp").wantRedirect(t, site)
			if calls := l.store.since(); signUps(calls) != 3 {
				t.Errorf("calls %v", calls)
			}
		})
		run("signed in, an unknown account is linked", func(t *testing.T) {
			l, b := start(t)
			token := b.cookie(sessionCookie)
			l.p.who("ada-at-hub", "somebody@example.com")
			l.p.signIn(b, "hub").wantRedirect(t, site)
			l.wantTold(t, "linkAccount hub ada, "+jwt("signIn")+"signIn ada false")
			ada, _ := l.store.GetUserByAccount(t.Context(), "idp", "ada")
			if user, _ := l.store.GetUserByAccount(t.Context(), "hub", "ada-at-hub"); user == nil || user.ID != ada.ID {
				t.Errorf("linked to %+v", user)
			}
			l.wantNewSession(t, b, token)
		})
		run("signed in, somebody else's account", func(t *testing.T) {
			l, b := start(t)
			l.p.who("bob", "bob@example.com")
			l.p.signIn(newBrowser(t, l.auth), "idp")
			l.told()
			l.p.signIn(b, "idp").wantError(t, "signin?error=OAuthAccountNotLinked")
			l.wantTold(t, "")
			if b.user() != "ada" {
				t.Errorf("signed in as %q", b.user())
			}
		})
		run("signed in, the same account", func(t *testing.T) {
			l, b := start(t)
			token := b.cookie(sessionCookie)
			l.p.signIn(b, "idp").wantRedirect(t, site)
			l.wantTold(t, jwt("signIn")+"signIn ada false")
			l.wantNewSession(t, b, token)
		})
		run("an unreadable session counts as none", func(t *testing.T) {
			l, _ := start(t)
			b := newBrowser(t, l.auth)
			b.set(sessionCookie, "unreadable")
			l.p.signIn(b, "idp").wantRedirect(t, site)
			if b.user() != "ada" {
				t.Errorf("signed in as %q", b.user())
			}
		})
		run("a link to the address of an account", func(t *testing.T) {
			l, _ := start(t)
			b := newBrowser(t, l.auth)
			b.post("/auth/signin/email", "email", "ada@example.com")
			b.get(l.mails.last(t)).wantRedirect(t, site)
			l.wantTold(t, "updateUser ada, "+jwt("signIn")+"signIn ada false")
			if b.user() != "ada" {
				t.Errorf("signed in as %q", b.user())
			}
		})
		run("an account with the address of a link", func(t *testing.T) {
			l, _ := start(t)
			b := newBrowser(t, l.auth)
			b.post("/auth/signin/email", "email", "bob@example.com")
			b.get(l.mails.last(t)).wantRedirect(t, site)
			l.p.who("bob", "bob@example.com")
			l.p.signIn(newBrowser(t, l.auth), "idp").wantError(t, "signin?error=OAuthAccountNotLinked")
		})
		run("a refused sign-in changes nothing", func(t *testing.T) { // P30
			l, _ := start(t)
			config := core.Config{
				Providers: []core.Provider{l.p.oidc()}, Transport: l.p, Adapter: &l.store.Adapter, Session: core.SessionOptions{Strategy: strategy},
				Callbacks: core.Callbacks{SignIn: func(_ context.Context, p core.SignInParams) (core.Verdict, error) {
					if p.Account.Provider != "idp" || p.Profile.String("sub") != "eve" {
						t.Errorf("asked about %+v", p)
					}
					return core.Deny, nil
				}},
			}
			l.p.who("eve", "eve@example.com")
			l.store.since()
			b := newBrowser(t, newAuth(t, config))
			l.p.signIn(b, "idp").wantError(t, "error?error=AccessDenied")
			calls := l.store.since()
			for _, reads := range []string{"FindUser", "GetUserByAccount", "GetUserByEmail"} {
				delete(calls, reads)
			}
			if len(calls) > 0 || b.hasSession() {
				t.Errorf("calls %v, session %v", calls, b.hasSession())
			}
		})
	}
}

// Fact 87, for those who ask for it by its name; but nobody is told of a user who isn't created.
func TestDangerousLinking(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, memory func() *core.Adapter) {
		l := newLinking(t, memory(), core.StrategyDatabase, true)
		l.p.who("ada", "ada@example.com")
		l.p.signIn(newBrowser(t, l.auth), "idp").wantRedirect(t, site)
		l.told()
		l.p.who("ada-at-hub", "Ada@Example.com")
		b := newBrowser(t, l.auth)
		l.p.signIn(b, "hub").wantRedirect(t, site)
		l.wantTold(t, "linkAccount hub ada, signIn ada false")
		if calls := l.store.since(); signUps(calls) != 1 || b.user() != "ada" {
			t.Errorf("calls %v, user %q", calls, b.user())
		}
	})
}

// What is stored of an account, unless the app chooses otherwise.
func TestStoredAccounts(t *testing.T) {
	t.Parallel()
	p := newIDP()
	p.tokens = func(answer map[string]any) {
		answer["refresh_token"], answer["scope"], answer["session_state"], answer["x"] = "refresh", "openid", "state", "y"
	}
	provider := p.oidc()
	store := adaptertest.Memory()
	auth := newAuth(t, core.Config{Providers: []core.Provider{provider}, Transport: p, Adapter: store})
	p.signIn(newBrowser(t, auth), "idp").wantRedirect(t, site)
	a, _ := store.GetAccount(t.Context(), "user-1", "idp")
	if a == nil || a.AccessToken != "access-token" || a.RefreshToken != "refresh" || a.IDToken == "" || a.Scope != "openid" ||
		a.TokenType != "bearer" || a.SessionState != "state" || a.ExpiresAt < time.Now().Unix()+3500 || a.ExpiresIn != 0 || a.Extra != nil || a.Type != core.TypeOIDC {
		t.Errorf("stored %+v", a)
	}
	store = adaptertest.Memory()
	provider.Account = func(a core.Account) core.Account {
		return core.Account{RefreshToken: a.RefreshToken, UserID: "another", Provider: "another", Extra: map[string]any{"x": a.Extra["x"]}}
	}
	auth = newAuth(t, core.Config{Providers: []core.Provider{provider}, Transport: p, Adapter: store})
	p.signIn(newBrowser(t, auth), "idp").wantRedirect(t, site)
	user, _ := store.GetUserByAccount(t.Context(), "idp", "user-1")
	a, _ = store.GetAccount(t.Context(), "user-1", "idp")
	if a == nil || user == nil || a.UserID != user.ID || a.AccessToken != "" || a.RefreshToken != "refresh" || a.Extra["x"] != "y" {
		t.Errorf("chosen %+v of %+v", a, user)
	}
}

// Fact 91 is different here: a session that has expired is nobody's, also when signing in.
func TestExpiredSessionLinksNothing(t *testing.T) {
	t.Parallel()
	rsaKey()
	synctest.Test(t, func(t *testing.T) {
		l := newLinking(t, adaptertest.Memory(), core.StrategyDatabase, false)
		l.p.who("ada", "ada@example.com")
		b := newBrowser(t, l.auth)
		l.p.signIn(b, "idp")
		old := b.cookie(sessionCookie)
		time.Sleep(31 * 24 * time.Hour)
		l.p.who("bob", "bob@example.com")
		b.jar = nil
		b.set(sessionCookie, old)
		l.p.signIn(b, "idp").wantRedirect(t, site)
		if b.user() != "bob" || b.cookie(sessionCookie) == old {
			t.Errorf("signed in as %q", b.user())
		}
	})
}

// Fact 108 is different here: whoever follows a link ends the session that the browser had,
// whose ever it was, and nobody else's.
func TestLinkReplacesSessions(t *testing.T) {
	t.Parallel()
	bothWays(t, testLinkReplacesSessions)
}

func testLinkReplacesSessions(t *testing.T, memory func() *core.Adapter) {
	l := newLinking(t, memory(), core.StrategyDatabase, false)
	enter := func(b *browser, address string) {
		t.Helper()
		before := b.cookie(sessionCookie)
		b.post("/auth/signin/email", "email", address)
		b.get(l.mails.last(t)).wantRedirect(t, site)
		l.wantNewSession(t, b, before)
	}
	other := newBrowser(t, l.auth)
	enter(other, "bob@example.com")
	b := newBrowser(t, l.auth)
	for _, address := range []string{"ada@example.com", "ada@example.com", "bob@example.com", "carol@example.com"} {
		enter(b, address)
	}
	if other.session() == nil {
		t.Error("bob's session in another browser was ended")
	}
}
