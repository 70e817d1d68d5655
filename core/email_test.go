package core_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// mailbox receives the links.
type mailbox struct {
	mu    sync.Mutex
	mails []core.VerificationRequest
}

func (m *mailbox) provider() core.Email {
	return core.Email{Send: func(_ context.Context, mail core.VerificationRequest) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.mails = append(m.mails, mail)
		return nil
	}}
}

func (m *mailbox) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.mails)
}

// last is the path of the link in the last mail.
func (m *mailbox) last(t testing.TB) string {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.mails) == 0 {
		t.Fatal("no mail was sent")
	}
	return strings.TrimPrefix(m.mails[len(m.mails)-1].URL, site)
}

const sentPage = site + "/auth/verify-request?provider=email&type=email"

// Facts 101 to 107.
func TestSignInByEmail(t *testing.T) {
	t.Parallel()
	bothWays(t, testSignInByEmail)
}

func testSignInByEmail(t *testing.T, memory func() *core.Adapter) {
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		var mails mailbox
		var events []string
		store := watch(memory())
		auth := newAuth(t, core.Config{
			Providers: []core.Provider{mails.provider()}, Adapter: &store.Adapter, Session: core.SessionOptions{Strategy: strategy},
			Events: core.Events{
				CreateUser: func(_ context.Context, e core.UserEvent) error {
					events = append(events, "createUser "+e.User.Email)
					return nil
				},
				UpdateUser: func(_ context.Context, e core.UserEvent) error {
					events = append(events, "updateUser "+e.User.Email)
					return nil
				},
				SignIn: func(_ context.Context, e core.SignInEvent) error {
					events = append(events, map[bool]string{true: "signIn new", false: "signIn"}[*e.IsNewUser])
					return nil
				},
				LinkAccount: func(context.Context, core.LinkAccountEvent) error { events = append(events, "linkAccount"); return nil },
			},
		})
		b := newBrowser(t, auth)
		b.post("/auth/signin/email", "email", " Ada+x@Example.COM ", "callbackUrl", "/x y").wantRedirect(t, sentPage)
		mail := mails.mails[0]
		link, err := url.Parse(mail.URL)
		if err != nil {
			t.Fatal(err)
		}
		wantURL := site + "/auth/callback/email?callbackUrl=http%3A%2F%2Fapp.example%2Fx+y&token=" + mail.Token + "&email=ada%2Bx%40example.com"
		if mail.URL != wantURL || len(mail.Token) != 64 || mail.Identifier != "ada+x@example.com" || mail.Identifier != link.Query().Get("email") {
			t.Errorf("mail %+v, want the URL %s", mail, wantURL)
		}
		if left := time.Until(mail.Expires); left < 23*time.Hour || left > 24*time.Hour {
			t.Errorf("the link lives %v", left)
		}
		if mail.Provider != "email" || mail.Request == nil {
			t.Errorf("mail %+v", mail)
		}
		// It works in any browser, and once.
		other := newBrowser(t, auth)
		other.get(mails.last(t)).wantRedirect(t, site+"/x y")
		if session := other.session(); session["user"].(map[string]any)["email"] != "ada+x@example.com" {
			t.Errorf("session %v", session)
		}
		for _, again := range []*browser{newBrowser(t, auth), other.copy()} {
			again.get(mails.last(t)).wantError(t, "error?error=Verification")
		}
		// The second time the user is known.
		b.post("/auth/signin/email", "email", "ada+x@example.com")
		b.get(mails.last(t)).wantRedirect(t, site+"/x y")
		want := "createUser ada+x@example.com, signIn new, updateUser ada+x@example.com, signIn"
		if got := strings.Join(events, ", "); got != want {
			t.Errorf("events %s, want %s", got, want)
		}
		user, _ := store.GetUserByEmail(t.Context(), "ada+x@example.com")
		if user == nil || time.Since(user.EmailVerified) > time.Minute {
			t.Errorf("stored %+v", user)
		}
		if calls := store.since(); calls["LinkAccount"] > 0 || signUps(calls) != 1 {
			t.Errorf("calls %v", calls)
		}
	}
}

// B1, GHSA-hc7v-rggr-4hvx: one link has one winner, and makes one user.
func TestLinkWorksOnce(t *testing.T) {
	t.Parallel()
	bothWays(t, testLinkWorksOnce)
}

func testLinkWorksOnce(t *testing.T, memory func() *core.Adapter) {
	var mails mailbox
	store := watch(memory())
	auth := newAuth(t, core.Config{Providers: []core.Provider{mails.provider()}, Adapter: &store.Adapter})
	newBrowser(t, auth).post("/auth/signin/email", "email", "ada@example.com")
	link := mails.last(t)
	const clients = 100
	answers := make(chan *answer, clients)
	var wait sync.WaitGroup
	for range clients {
		wait.Go(func() { answers <- newBrowser(t, auth).get(link) })
	}
	wait.Wait()
	close(answers)
	winners := 0
	for a := range answers {
		if a.setsCookie(sessionCookie) {
			winners++
			continue
		}
		a.wantError(t, "error?error=Verification")
	}
	if calls := store.since(); winners != 1 || calls["CreateSession"]+calls["SignUp"] != 1 || signUps(calls) != 1 {
		t.Errorf("%d winners, calls %v", winners, calls)
	}
}

// A1 and A2 (CVE-2021-21310, CVE-2022-39263): the link's token and address belong together.
// A wrong link uses nothing up.
func TestWrongLinks(t *testing.T) {
	t.Parallel()
	var mails mailbox
	store := watch(adaptertest.Memory())
	auth := newAuth(t, core.Config{Providers: []core.Provider{mails.provider()}, Adapter: &store.Adapter})
	newBrowser(t, auth).post("/auth/signin/email", "email", "eve@example.com")
	eves := mails.mails[0].Token
	newBrowser(t, auth).post("/auth/signin/email", "email", "ada@example.com")
	token := mails.mails[1].Token
	const verification = "error?error=Verification"
	for name, c := range map[string]struct{ token, email, page string }{
		"no token":              {"", "ada@example.com", configurationError},
		"another token":         {strings.Repeat("0", 64), "ada@example.com", verification},
		"somebody's token":      {eves, "ada@example.com", verification},
		"somebody's address":    {token, "eve@example.com", verification},
		"an unknown address":    {token, "bob@example.com", verification},
		"no address":            {token, "", verification},
		"another case":          {token, "ADA@example.com", verification},
		"the token in capitals": {strings.ToUpper(token), "ada@example.com", verification},
		"a list of addresses":   {token, "ada@example.com,eve@example.com", verification},
		"the stored hash":       {csrfValue(token, secret)[len(token)+3:], "ada@example.com", verification},
	} {
		b := newBrowser(t, auth)
		b.get("/auth/callback/email?"+url.Values{"token": {c.token}, "email": {c.email}}.Encode()).wantError(t, c.page)
		if b.hasSession() {
			t.Errorf("%s: there is a session", name)
		}
	}
	for _, method := range []string{"HEAD", "OPTIONS"} {
		newBrowser(t, auth).send(method, mails.last(t), nil, "")
	}
	newBrowser(t, auth).get("/auth/callback/email?callbackUrl=nonsense&" + url.Values{"token": {token}, "email": {"ada@example.com"}}.Encode())
	newBrowser(t, auth).get(mails.last(t)).wantRedirect(t, site)
	newBrowser(t, auth).get("/auth/callback/email?"+url.Values{"token": {eves}, "email": {"eve@example.com"}}.Encode()).wantRedirect(t, site)
	if calls := store.since(); signUps(calls) != 2 {
		t.Errorf("calls %v", calls)
	}
}

// A1 as it was: a store that looks tokens up without the address. The handler compares it itself.
func TestLinkOfCarelessStore(t *testing.T) {
	t.Parallel()
	var mails mailbox
	store := adaptertest.Memory()
	use := store.UseVerificationToken
	store.UseVerificationToken = func(ctx context.Context, _, token string) (*core.VerificationToken, error) {
		return use(ctx, "ada@example.com", token)
	}
	b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{mails.provider()}, Adapter: store}))
	b.post("/auth/signin/email", "email", "ada@example.com")
	link := strings.Replace(mails.last(t), "email=ada%40", "email=eve%40", 1)
	b.get(link).wantError(t, "error?error=Verification")
	if b.hasSession() {
		t.Error("there is a session")
	}
}

func TestLinkExpires(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		maxAge, wait time.Duration
		ok           bool
	}{
		{0, 23 * time.Hour, true}, {0, 24*time.Hour + time.Second, false},
		{10 * time.Minute, 9 * time.Minute, true}, {10 * time.Minute, 11 * time.Minute, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mails mailbox
			provider := mails.provider()
			provider.MaxAge = c.maxAge
			b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{provider}, Adapter: adaptertest.Memory()}))
			b.post("/auth/signin/email", "email", "ada@example.com")
			time.Sleep(c.wait)
			if a := b.get(mails.last(t)); c.ok {
				a.wantRedirect(t, site)
			} else {
				a.wantError(t, "error?error=Verification")
				b.get(mails.last(t)).wantError(t, "error?error=Verification")
			}
		})
	}
}

// The signIn callback is asked before the link is sent, and when it is followed (fact 105).
func TestEmailSignInCallback(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		request, follow core.Verdict
		failure         error
		page            string // the answer to the request
		followed        string // and to the link
		mails           int
	}{
		{"allowed", core.Allow, core.Allow, nil, sentPage, site, 1},
		{"refused at the request", core.Deny, core.Allow, nil, site + "/auth/error?error=AccessDenied", "", 0},
		{"sent elsewhere at the request", core.RedirectTo("/waitlist"), core.Allow, nil, site + "/waitlist", "", 0},
		{"failing at the request", core.Allow, core.Allow, errors.New("no"), site + "/auth/error?error=AccessDenied", "", 0},
		{"refused at the link", core.Allow, core.Deny, nil, sentPage, site + "/auth/error?error=AccessDenied", 1},
		{"sent elsewhere at the link", core.Allow, core.RedirectTo("/later"), nil, sentPage, site + "/later", 1},
	} {
		var mails mailbox
		store := watch(adaptertest.Memory())
		auth := newAuth(t, core.Config{
			Providers: []core.Provider{mails.provider()}, Adapter: &store.Adapter,
			Callbacks: core.Callbacks{SignIn: func(_ context.Context, p core.SignInParams) (core.Verdict, error) {
				if p.User.Email != "ada@example.com" || p.Account.ProviderAccountID != "ada@example.com" || p.Account.Type != core.TypeEmail {
					t.Errorf("%s: asked about %+v %+v", c.name, p.User, p.Account)
				}
				if p.VerificationRequest {
					return c.request, c.failure
				}
				return c.follow, nil
			}},
		})
		b := newBrowser(t, auth)
		b.post("/auth/signin/email", "email", "ada@example.com").wantRedirect(t, c.page)
		if mails.count() != c.mails || c.mails == 0 && store.since()["CreateVerificationToken"] > 0 {
			t.Errorf("%s: %d mails", c.name, mails.count())
		}
		if c.followed == "" {
			continue
		}
		b.get(mails.last(t)).wantRedirect(t, c.followed)
		if wanted := c.followed == site; b.hasSession() != wanted || (signUps(store.since()) > 0) != wanted {
			t.Errorf("%s: session %v", c.name, b.hasSession())
		}
		// Whatever was decided, the link is used up.
		newBrowser(t, auth).get(mails.last(t)).wantError(t, "error?error=Verification")
	}
}

// What may fail on the way to the mailbox: no mail, or the error page, and a hint in the log.
func TestEmailFailures(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	for name, change := range map[string]func(*core.Email, *watched){
		"Send": func(p *core.Email, _ *watched) {
			p.Send = func(context.Context, core.VerificationRequest) error { return no }
		},
		"GenerateToken": func(p *core.Email, _ *watched) {
			p.GenerateToken = func(context.Context) (string, error) { return "", no }
		},
		"NormalizeIdentifier": func(p *core.Email, _ *watched) {
			p.NormalizeIdentifier = func(string) (string, error) { return "", no }
		},
		"CreateVerificationToken": func(_ *core.Email, w *watched) { w.fail = failing("CreateVerificationToken", no) },
		"FindUser":                func(_ *core.Email, w *watched) { w.fail = failing("FindUser", no) },
		"GetUserByEmail": func(_ *core.Email, w *watched) {
			inTurn(&w.Adapter)
			w.fail = failing("GetUserByEmail", no)
		},
	} {
		var mails mailbox
		var log journal
		provider, store := mails.provider(), watch(adaptertest.Memory())
		change(&provider, store)
		allow := func(context.Context, core.SignInParams) (core.Verdict, error) { return core.Allow, nil }
		b := newBrowser(t, newAuth(t, core.Config{
			Providers: []core.Provider{provider}, Adapter: &store.Adapter, Logger: log.logger(),
			Callbacks: core.Callbacks{SignIn: allow}, // who wants to know whose address it is
		}))
		b.post("/auth/signin/email", "email", "ada@example.com").wantError(t, configurationError)
		if mails.count() > 0 || !log.has(core.ErrEmailSignIn) && !log.has(core.ErrAdapter) {
			t.Errorf("%s fails: %d mails, logged %s", name, mails.count(), log.text())
		}
	}
	var mails mailbox
	provider := mails.provider()
	provider.GenerateToken = func(context.Context) (string, error) { return "123456", nil }
	provider.NormalizeIdentifier = func(s string) (string, error) { return strings.ToUpper(s), nil }
	b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{provider}, Adapter: adaptertest.Memory()}))
	b.post("/auth/signin/email", "email", "ada@example.com").wantRedirect(t, sentPage)
	if mails.mails[0].Token != "123456" || mails.mails[0].Identifier != "ADA@EXAMPLE.COM" {
		t.Errorf("mail %+v", mails.mails[0])
	}
	b.get(mails.last(t)).wantRedirect(t, site)
}

// failing makes one method of an adapter fail.
func failing(method string, err error) func(string) error {
	return func(name string) error {
		if name == method {
			return err
		}
		return nil
	}
}
