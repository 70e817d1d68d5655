package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// stateApp is an app that writes down whatever the contract's table says also happens.
type stateApp struct {
	p       *idp
	mails   mailbox
	store   *watched
	verdict func(p core.SignInParams) (core.Verdict, error)
	auth    *core.Auth
	b       *browser
	notes   []string
}

func newStateApp(t *testing.T, adapter *core.Adapter, strategy core.Strategy) *stateApp {
	s := &stateApp{p: newIDP(), store: watch(adapter)}
	note := func(format string, args ...any) { s.notes = append(s.notes, fmt.Sprintf(format, args...)) }
	s.verdict = func(core.SignInParams) (core.Verdict, error) { return core.Allow, nil }
	s.auth = newAuth(t, core.Config{
		Transport: s.p, Adapter: &s.store.Adapter,
		Session: core.SessionOptions{Strategy: strategy, MaxAge: 10 * time.Hour, UpdateAge: time.Hour},
		Providers: []core.Provider{s.p.oidc(), s.mails.provider(), core.Credentials{
			Authorize: func(context.Context, map[string]any, *http.Request) (*core.User, error) {
				return nil, core.CredentialsSignin("account_locked")
			},
		}},
		Callbacks: core.Callbacks{
			SignIn: func(_ context.Context, p core.SignInParams) (core.Verdict, error) {
				note("signIn callback %v", p.VerificationRequest)
				return s.verdict(p)
			},
			JWT: func(_ context.Context, p core.JWTParams) (core.JWT, error) {
				note("jwt callback %q %v", p.Trigger, p.Session)
				return p.Token, nil
			},
		},
		Events: core.Events{
			SignIn:  func(context.Context, core.SignInEvent) error { note("signIn event"); return nil },
			Session: func(context.Context, core.SessionEvent) error { note("session event"); return nil },
			SignOut: func(_ context.Context, e core.SignOutEvent) error {
				note("signOut event, session %v, token %v", e.Session != nil, e.Token != nil)
				return nil
			},
		},
	})
	s.b = newBrowser(t, s.auth)
	return s
}

// happened gives the notes and the calls of the store since the last time, in alphabetical order.
func (s *stateApp) happened() string {
	out := slices.Clone(s.notes)
	s.notes = nil
	for method, n := range s.store.since() {
		if !strings.HasPrefix(method, "Get") && method != "FindUser" {
			out = append(out, fmt.Sprintf("%s %d", method, n))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func (s *stateApp) wantHappened(t *testing.T, want string) {
	t.Helper()
	if got := s.happened(); got != want {
		t.Errorf("happened: %s\nwant: %s", got, want)
	}
}

// stored is the browser's session in the store.
func (s *stateApp) stored(t *testing.T, token string) *core.AdapterSession {
	t.Helper()
	session, _, err := s.store.GetSessionAndUser(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// TestStates is the table "States and transitions" of the contract, a subtest for each row.
func TestStates(t *testing.T) {
	t.Parallel()
	rsaKey()
	t.Run("at once", func(t *testing.T) { testStates(t, adaptertest.Memory, "SignUp 1; ", "SignUp 1; ") })
	t.Run("in turn", func(t *testing.T) {
		memory := func() *core.Adapter { return inTurn(adaptertest.Memory()) }
		testStates(t, memory, "CreateUser 1; LinkAccount 1; ", "CreateUser 1; ")
	})
}

// testStates has what a first sign-in writes: by a provider, and by e-mail.
func testStates(t *testing.T, memory func() *core.Adapter, byProvider, byEmail string) {
	session := ""
	if strings.HasPrefix(byEmail, "CreateUser") {
		session = "CreateSession 1; "
	}
	row := func(name string, strategy core.Strategy, test func(t *testing.T, s *stateApp)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newStateApp(t, memory(), strategy)) })
		})
	}
	signIn := func(t *testing.T, s *stateApp) {
		t.Helper()
		s.p.signIn(s.b, "idp").wantRedirect(t, site)
	}

	row("database session, none, sign-in completes", core.StrategyDatabase, func(t *testing.T, s *stateApp) {
		signIn(t, s)
		s.wantHappened(t, session+byProvider+"signIn callback false; signIn event")
		if stored := s.stored(t, s.b.cookie(sessionCookie)); stored == nil || !stored.Expires.Equal(time.Now().Add(10*time.Hour)) {
			t.Errorf("stored %+v", stored)
		}
		s.happened()
		s.b.get("/auth/session")
		s.wantHappened(t, "session event")
	})
	row("database session, active, accessed before its end", core.StrategyDatabase, func(t *testing.T, s *stateApp) {
		signIn(t, s)
		token := s.b.cookie(sessionCookie)
		for range 5 { // within updateAge of each other: one write for all of them
			time.Sleep(30 * time.Minute)
			s.b.get("/auth/session")
		}
		s.happened()
		s.b.get("/auth/session")
		s.wantHappened(t, "session event")
		time.Sleep(61 * time.Minute)
		s.b.get("/auth/session")
		s.wantHappened(t, "UpdateSession 1; session event")
		if stored := s.stored(t, token); !stored.Expires.Equal(time.Now().Add(10*time.Hour)) || s.b.cookie(sessionCookie) != token {
			t.Errorf("stored %+v", stored)
		}
	})
	row("database session, active, accessed after its end", core.StrategyDatabase, func(t *testing.T, s *stateApp) {
		signIn(t, s)
		token := s.b.cookie(sessionCookie)
		time.Sleep(10*time.Hour + time.Second)
		s.b.set(sessionCookie, token)
		s.happened()
		if s.b.session() != nil || s.b.hasSession() {
			t.Error("the session goes on")
		}
		s.wantHappened(t, "DeleteSession 1")
		if s.stored(t, token) != nil {
			t.Error("the session is still stored")
		}
	})
	row("database session, active, sign-out", core.StrategyDatabase, func(t *testing.T, s *stateApp) {
		signIn(t, s)
		token := s.b.cookie(sessionCookie)
		s.happened()
		s.b.post("/auth/signout").wantRedirect(t, site)
		s.wantHappened(t, "DeleteSession 1; signOut event, session true, token false")
		if s.stored(t, token) != nil || s.b.hasSession() {
			t.Error("the session goes on")
		}
	})
	row("jwt session, none, sign-in", core.StrategyJWT, func(t *testing.T, s *stateApp) {
		signIn(t, s)
		s.wantHappened(t, byProvider+`jwt callback "signUp" <nil>; signIn callback false; signIn event`)
		s.b = newBrowser(t, s.auth)
		signIn(t, s)
		s.wantHappened(t, `jwt callback "signIn" <nil>; signIn callback false; signIn event`)
		if !s.b.hasSession() {
			t.Error("no token was issued")
		}
	})
	row("jwt session, issued, accessed or updated", core.StrategyJWT, func(t *testing.T, s *stateApp) {
		signIn(t, s)
		before := s.b.cookie(sessionCookie)
		s.happened()
		s.b.get("/auth/session")
		s.wantHappened(t, `jwt callback "" <nil>; session event`)
		csrf := s.b.csrf()
		s.b.send(http.MethodPost, "/auth/session", jsonType(), `{"csrfToken":"`+csrf+`","data":{"x":1}}`)
		s.wantHappened(t, `jwt callback "update" map[x:1]; session event`)
		if now := s.b.cookie(sessionCookie); now == before || s.b.user() != "Jane" {
			t.Error("the token is not updated")
		}
	})
	row("jwt session, issued, sign-out", core.StrategyJWT, func(t *testing.T, s *stateApp) { // the events' table
		signIn(t, s)
		s.happened()
		s.b.post("/auth/signout").wantRedirect(t, site)
		s.wantHappened(t, "signOut event, session false, token true")
	})
	row("verification token, none, a link is asked for", core.StrategyDatabase, func(t *testing.T, s *stateApp) {
		s.b.post("/auth/signin/email", "email", "ada@example.com").wantRedirect(t, sentPage)
		s.wantHappened(t, "CreateVerificationToken 1; signIn callback true")
		if mail := s.mails.mails[0]; !mail.Expires.Equal(time.Now().Add(24 * time.Hour)) {
			t.Errorf("the link ends at %v", mail.Expires)
		}
	})
	row("verification token, pending, the link is followed", core.StrategyDatabase, func(t *testing.T, s *stateApp) {
		s.b.post("/auth/signin/email", "email", "ada@example.com")
		s.happened()
		s.b.get(s.mails.last(t)).wantRedirect(t, site)
		s.wantHappened(t, session+byEmail+"UseVerificationToken 1; signIn callback false; signIn event")
		if !s.b.hasSession() {
			t.Error("not signed in")
		}
		newBrowser(t, s.auth).get(s.mails.last(t)).wantError(t, "error?error=Verification")
		s.wantHappened(t, "UseVerificationToken 1")
	})
	row("verification token, pending, the link has expired or is another's", core.StrategyDatabase, func(t *testing.T, s *stateApp) {
		s.b.post("/auth/signin/email", "email", "ada@example.com")
		link := s.mails.last(t)
		s.b.get(strings.Replace(link, "email=ada%40", "email=eve%40", 1)).wantError(t, "error?error=Verification")
		time.Sleep(24*time.Hour + time.Second)
		s.b.get(link).wantError(t, "error?error=Verification")
		if s.b.hasSession() {
			t.Error("signed in")
		}
	})
	row("emailVerified, null, first sign-in by e-mail", core.StrategyDatabase, func(t *testing.T, s *stateApp) {
		s.p.who("ada", "ada@example.com")
		signIn(t, s)
		user := func() *core.User {
			user, _ := s.store.GetUserByEmail(t.Context(), "ada@example.com")
			return user
		}
		if at := user().EmailVerified; !at.IsZero() {
			t.Errorf("a provider's word has verified the address at %v", at)
		}
		time.Sleep(time.Minute)
		s.b.post("/auth/signin/email", "email", "ada@example.com")
		s.b.get(s.mails.last(t)).wantRedirect(t, site)
		if at := user().EmailVerified; !at.Equal(time.Now()) {
			t.Errorf("verified at %v, want %v", at, time.Now())
		}
	})
	row("credentials, CredentialsSignin, in a browser", core.StrategyJWT, func(t *testing.T, s *stateApp) {
		s.b.post("/auth/callback/credentials", "name", "Ada").wantError(t, "signin?error=CredentialsSignin&code=account_locked")
	})
	row("credentials, CredentialsSignin, called by the server", core.StrategyJWT, func(t *testing.T, s *stateApp) {
		// The caller gets the error and does with it what it likes; nothing is redirected behind its back.
		r := httptest.NewRequest(http.MethodPost, site+"/auth/callback/credentials", strings.NewReader(url.Values{"csrfToken": {s.b.csrf()}}.Encode()))
		r.Header = formType()
		r.Header.Set("Cookie", s.b.cookieHeader())
		resp := s.auth.Handle(r)
		var err *core.Error
		if !errors.As(resp.Err, &err) || !errors.Is(err, core.ErrCredentialsSignin) || err.Code != "account_locked" {
			t.Errorf("Response.Err is %v", resp.Err)
		}
	})
	for name, verdict := range map[string]func(core.SignInParams) (core.Verdict, error){
		"false":   func(core.SignInParams) (core.Verdict, error) { return core.Deny, nil },
		"throws":  func(core.SignInParams) (core.Verdict, error) { return core.Allow, errors.New("no") },
		"nothing": func(core.SignInParams) (core.Verdict, error) { return core.Verdict{}, nil },
	} {
		row("sign-in, the signIn callback says "+name, core.StrategyDatabase, func(t *testing.T, s *stateApp) {
			s.verdict = verdict
			s.p.signIn(s.b, "idp").wantError(t, "error?error=AccessDenied")
			s.wantHappened(t, "signIn callback false")
			s.b.post("/auth/signin/email", "email", "ada@example.com").wantError(t, "error?error=AccessDenied")
			s.wantHappened(t, "signIn callback true")
			if s.b.hasSession() || s.mails.count() > 0 {
				t.Error("the sign-in goes on")
			}
		})
	}
	row("sign-in, the signIn callback says where to", core.StrategyDatabase, func(t *testing.T, s *stateApp) {
		s.verdict = func(core.SignInParams) (core.Verdict, error) { return core.RedirectTo("/welcome?x=y"), nil }
		s.p.signIn(s.b, "idp").wantRedirect(t, site+"/welcome?x=y")
		s.wantHappened(t, "signIn callback false")
		s.b.post("/auth/signin/email", "email", "ada@example.com").wantRedirect(t, site+"/welcome?x=y")
		s.wantHappened(t, "signIn callback true")
		s.verdict = func(core.SignInParams) (core.Verdict, error) { return core.RedirectTo("https://evil.example/"), nil }
		s.p.signIn(s.b, "idp").wantRedirect(t, site) // by way of the redirect callback, as any
		if s.b.hasSession() || s.mails.count() > 0 {
			t.Error("the sign-in goes on")
		}
	})
}
