package core_test

import (
	"context"
	"sync"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// conflicting makes one method of the store answer ErrConflict.
func conflicting(method string) func(string) error {
	return func(name string) error {
		if name == method {
			return &core.Error{Kind: core.ErrConflict, Message: "another write was first"}
		}
		return nil
	}
}

// A write that lost a race is told by name: the account, or its address, is somebody else's now.
func TestConflictsByOAuth(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		for _, signedIn := range []bool{false, true} {
			for _, method := range []string{"CreateUser", "LinkAccount", "SignUp", "SignIn"} {
				if signedIn == (method == "CreateUser" || method == "SignUp") && method != "LinkAccount" {
					continue // linking creates nobody, and a new user signs up
				}
				adapter := adaptertest.Memory()
				if method == "CreateUser" || method == "LinkAccount" {
					inTurn(adapter)
				}
				l := newLinking(t, adapter, strategy, false)
				b := newBrowser(t, l.auth)
				if signedIn {
					l.p.who("ada", "ada@example.com")
					l.p.signIn(b, "idp").wantRedirect(t, site)
				}
				before := b.cookie(sessionCookie)
				l.told()
				l.p.who("bob", "bob@example.com")
				l.store.fail = conflicting(method)
				l.p.signIn(b, "hub").wantError(t, "signin?error=OAuthAccountNotLinked")
				l.store.fail = nil
				if b.cookie(sessionCookie) != before {
					t.Errorf("%s, signed in %v: %s: the session cookie has changed", strategy, signedIn, method)
				}
				l.wantTold(t, "")
				if bob, _ := l.store.GetUserByEmail(t.Context(), "bob@example.com"); bob != nil {
					t.Errorf("%s, signed in %v: %s: a user without an account stays: %+v", strategy, signedIn, method, bob)
				}
			}
		}
	}
}

// Of several links for one new address followed at once, all lead to the one user it has.
func TestConflictsByEmail(t *testing.T) {
	t.Parallel()
	bothWays(t, testConflictsByEmail)
}

func testConflictsByEmail(t *testing.T, memory func() *core.Adapter) {
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		var mails mailbox
		store := memory()
		create := store.CreateUser
		first := true
		isTaken := func(email string) error {
			if first {
				// Another link creates the user just before this one does.
				if _, err := create(t.Context(), core.User{ID: "1", Name: "Ada", Email: email}); err != nil {
					t.Error(err)
				}
			}
			return conflicting("it")("it")
		}
		store.CreateUser = func(_ context.Context, user core.User) (*core.User, error) { return nil, isTaken(user.Email) }
		if store.SignUp != nil {
			store.SignUp = func(_ context.Context, s core.SignUp) (*core.User, *core.AdapterSession, error) {
				return nil, nil, isTaken(s.User.Email)
			}
		}
		b := newBrowser(t, newAuth(t, core.Config{
			Providers: []core.Provider{mails.provider()}, Adapter: store, Session: core.SessionOptions{Strategy: strategy},
		}))
		b.post("/auth/signin/email", "email", "ada@example.com")
		b.get(mails.last(t)).wantRedirect(t, site)
		user, _ := store.GetUserByEmail(t.Context(), "ada@example.com")
		if b.user() != "Ada" || user.ID != "1" || user.EmailVerified.IsZero() {
			t.Errorf("%s: %q is signed in, stored %+v", strategy, b.user(), user)
		}

		// A store that says there is such a user and doesn't have one is broken, and must not keep
		// the request forever.
		first = false
		other := newBrowser(t, b.handler)
		other.post("/auth/signin/email", "email", "bob@example.com")
		other.get(mails.last(t)).wantError(t, configurationError)
		if other.hasSession() {
			t.Errorf("%s: there is a session", strategy)
		}
	}
}

// design.md, section 9: one new address, 100 concurrent first sign-ins, one user.
func TestConcurrentFirstLinks(t *testing.T) {
	t.Parallel()
	bothWays(t, testConcurrentFirstLinks)
}

func testConcurrentFirstLinks(t *testing.T, memory func() *core.Adapter) {
	const n = 100
	var mails mailbox
	var mu sync.Mutex
	created, entered := 0, 0
	store := memory()
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{mails.provider()}, Adapter: store,
		Events: core.Events{
			CreateUser: func(context.Context, core.UserEvent) error { mu.Lock(); created++; mu.Unlock(); return nil },
			SignIn:     func(context.Context, core.SignInEvent) error { mu.Lock(); entered++; mu.Unlock(); return nil },
		},
	})
	var browsers []*browser
	var links []string
	for range n {
		b := newBrowser(t, auth)
		b.post("/auth/signin/email", "email", "ada@example.com").wantRedirect(t, sentPage)
		browsers, links = append(browsers, b), append(links, mails.last(t))
	}
	atOnce(n, func(i int) { browsers[i].get(links[i]).wantRedirect(t, site) })
	users, tokens := map[string]bool{}, map[string]bool{}
	for _, b := range browsers {
		token := b.cookie(sessionCookie)
		session, user, err := store.GetSessionAndUser(t.Context(), token)
		if err != nil || session == nil || user == nil {
			t.Fatalf("a sign-in without a session: %v", err)
		}
		users[user.ID], tokens[token] = true, true
	}
	if len(users) != 1 || len(tokens) != n || created != 1 || entered != n {
		t.Errorf("%d users, %d sessions, %d createUser and %d signIn events", len(users), len(tokens), created, entered)
	}
}

// The same with one account of a provider: nobody is made twice, and whoever is refused can try again.
func TestConcurrentFirstAccounts(t *testing.T) {
	t.Parallel()
	bothWays(t, testConcurrentFirstAccounts)
}

func testConcurrentFirstAccounts(t *testing.T, memory func() *core.Adapter) {
	const n = 20
	p := newIDP()
	store := watch(memory())
	auth := withDatabase(t, p, &store.Adapter, core.SessionOptions{})
	var browsers []*browser
	var callbacks []string
	for range n {
		b := newBrowser(t, auth)
		browsers, callbacks = append(browsers, b), append(callbacks, p.approve(t, p.start(b, "idp")))
	}
	atOnce(n, func(i int) {
		a := browsers[i].get(callbacks[i])
		isRefused := a.location() == site+"/auth/signin?error=OAuthAccountNotLinked"
		if a.location() != site && (!isRefused || store.SignUp != nil) { // at once, nobody sees half a user
			t.Errorf("%d %q", a.status, a.location())
		}
	})
	users := map[string]bool{}
	for _, b := range browsers {
		if !b.hasSession() {
			p.signIn(b, "idp").wantRedirect(t, site)
		}
		_, user, err := store.GetSessionAndUser(t.Context(), b.cookie(sessionCookie))
		if err != nil || user == nil {
			t.Fatalf("no session: %v", err)
		}
		users[user.ID] = true
	}
	if len(users) != 1 {
		t.Errorf("%d users", len(users))
	}
}

// atOnce calls f for 0 to n-1, all at the same time.
func atOnce(n int, f func(i int)) {
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	all.Wait()
}
