package core_test

import (
	"context"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// total counts calls since the last time.
func (w *watched) total() (n int) {
	for _, calls := range w.since() {
		n += calls
	}
	return n
}

// An adapter that signs in at once is called so often: by strategy, without a SignIn callback and
// with one.
func TestCalls(t *testing.T) {
	t.Parallel()
	allow := func(context.Context, core.SignInParams) (core.Verdict, error) { return core.Allow, nil }
	for _, c := range []struct {
		strategy                               core.Strategy
		callback                               func(context.Context, core.SignInParams) (core.Verdict, error)
		first, returning, asked, opened, again int
	}{
		{core.StrategyDatabase, nil, 2, 2, 1, 3, 3},
		{core.StrategyDatabase, allow, 2, 2, 2, 3, 3},
		{core.StrategyJWT, nil, 2, 1, 1, 3, 2},
		{core.StrategyJWT, allow, 2, 2, 2, 3, 3}, // the callback may have changed what the token says
	} {
		p := newIDP()
		var mails mailbox
		store := watch(adaptertest.Memory())
		auth := newAuth(t, core.Config{
			Providers: []core.Provider{p.oidc(), mails.provider()}, Transport: p, Adapter: &store.Adapter,
			Session: core.SessionOptions{Strategy: c.strategy}, Callbacks: core.Callbacks{SignIn: c.callback},
		})
		want := func(what string, n int) {
			t.Helper()
			if got := store.total(); got != n {
				t.Errorf("%s, a callback: %v: %s: %d calls, want %d", c.strategy, c.callback != nil, what, got, n)
			}
		}
		p.who("ada", "ada@example.com")
		p.signIn(newBrowser(t, auth), "idp").wantRedirect(t, site)
		want("a first sign-in", c.first)
		b := newBrowser(t, auth)
		p.signIn(b, "idp").wantRedirect(t, site)
		want("a returning person", c.returning)
		p.signIn(b, "idp").wantRedirect(t, site)
		want("a person who is signed in", c.again)
		for _, address := range []string{"bob@example.com", "ada@example.com"} { // new, and known
			b = newBrowser(t, auth)
			b.post("/auth/signin/email", "email", address).wantRedirect(t, sentPage)
			want("a link is asked for", c.asked)
			b.get(mails.last(t)).wantRedirect(t, site)
			want("a link is opened", c.opened)
		}
	}
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		p := newPasskeys(t, func(c *core.Config, _ *core.WebAuthn) { c.Session.Strategy = strategy })
		key := newKey()
		newBrowser(t, p.auth).register(key, "?email=ada@example.com").wantRedirect(t, site+"/home")
		b := newBrowser(t, p.auth)
		data, err := key.Get(b.wantOptions("", "authenticate"))
		if err != nil {
			t.Fatal(err)
		}
		p.store.since()
		if b.answer("authenticate", data).wantRedirect(t, site+"/home"); p.store.total() != 3 {
			t.Errorf("%s: a passkey signs in with another number of calls than 3", strategy)
		}
	}
}

// A SignIn callback may change the very records that were read before it was asked, and what it
// did counts, whichever way the adapter signs in.
func TestSignInCallbackChangesRecords(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, memory func() *core.Adapter) {
		for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
			store := memory()
			var change func(account *core.Account) error
			var told []string
			p := newIDP()
			auth := newAuth(t, core.Config{
				Providers: []core.Provider{p.oidc(), p.hub()}, Transport: p, Adapter: store, Session: core.SessionOptions{Strategy: strategy},
				Callbacks: core.Callbacks{SignIn: func(_ context.Context, in core.SignInParams) (core.Verdict, error) {
					return core.Allow, change(in.Account)
				}},
				Events: core.Events{
					SignIn: func(_ context.Context, e core.SignInEvent) error {
						told = append(told, e.User.ID+" "+e.User.Name)
						return nil
					},
					LinkAccount: func(context.Context, core.LinkAccountEvent) error { told = append(told, "linkAccount"); return nil },
				},
			})
			enter := func(provider, want string) {
				t.Helper()
				told = nil
				b := newBrowser(t, auth)
				p.signIn(b, provider).wantRedirect(t, site)
				if len(told) != 1 || told[0] != want || b.user() != want[2:] {
					t.Errorf("%s: told %q, %q is signed in, want %s", strategy, told, b.user(), want)
				}
			}
			link := func(account *core.Account) error {
				account.UserID = "1"
				return store.LinkAccount(t.Context(), core.Account{
					Provider: account.Provider, ProviderAccountID: account.ProviderAccountID, UserID: "1", Type: account.Type,
				})
			}
			p.who("ada", "ada@example.com")
			change = func(account *core.Account) error { // makes the user
				_, err := store.CreateUser(t.Context(), core.User{ID: "1", Name: "Ada", Email: "ada@example.com"})
				if err == nil {
					err = link(account)
				}
				return err
			}
			enter("idp", "1 Ada")
			change = link // to the one who has the address
			p.who("ada-at-hub", "ada@example.com")
			enter("hub", "1 Ada")
			change = func(*core.Account) error {
				_, err := store.UpdateUser(t.Context(), core.User{ID: "1", Name: "Countess"})
				return err
			}
			enter("hub", "1 Countess")
			change = func(account *core.Account) error { // the account is nobody's, the address still hers
				return store.UnlinkAccount(t.Context(), account.Provider, account.ProviderAccountID)
			}
			told = nil
			b := newBrowser(t, auth)
			p.signIn(b, "hub").wantRedirect(t, site+"/auth/signin?error=OAuthAccountNotLinked")
			if len(told) != 0 || b.user() != "" {
				t.Errorf("%s: told %q, %q is signed in by an account that was unlinked", strategy, told, b.user())
			}
		}
	})
}
