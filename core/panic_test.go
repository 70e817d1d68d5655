package core_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// fragile is an app of which any part can be made to panic.
type fragile struct {
	p      *idp
	mails  mailbox
	store  *watched
	log    journal
	config core.Config
	booms  atomic.Int32 // panics so far
}

func newFragile(strategy core.Strategy) *fragile {
	f := &fragile{p: newIDP(), store: watch(adaptertest.Memory())}
	f.p.userinfo = func() (int, string) { return 200, `{"id":7,"name":"Joe","email":"joe@example.com"}` }
	f.config = core.Config{
		Providers: []core.Provider{f.p.oidc(core.CheckState, core.CheckPKCE, core.CheckNonce), f.p.hub(), f.mails.provider(), anyone},
		Transport: f.p, Adapter: &f.store.Adapter, Logger: f.log.logger(), Debug: true,
		Session: core.SessionOptions{Strategy: strategy, UpdateAge: -1},
	}
	return f
}

func (f *fragile) boom() {
	f.booms.Add(1)
	var none map[string]int
	none["boom"]++ // an error of the runtime, not of ours
}

// panicking is a function of this type that panics.
func (f *fragile) panicking(kind reflect.Type) reflect.Value {
	return reflect.MakeFunc(kind, func([]reflect.Value) []reflect.Value {
		f.boom()
		return nil
	})
}

// run goes through everything a browser can do, and gives the answers that matter.
func (f *fragile) run(t *testing.T, auth *core.Auth) map[string]*answer {
	t.Helper()
	out := map[string]*answer{}
	for _, id := range []string{"idp", "hub"} {
		b := newBrowser(t, auth)
		a := b.send(http.MethodPost, "/auth/signin/"+id, formType(), url.Values{"csrfToken": {csrfAt(b, "/auth")}}.Encode())
		out["start "+id] = a
		if u, err := url.Parse(a.location()); err == nil && strings.HasPrefix(a.location(), f.p.issuer) {
			out["callback "+id] = b.get(f.p.approve(t, u))
		}
		out["session of "+id] = b.get("/auth/session")
		out["sign-out of "+id] = b.send(http.MethodPost, "/auth/signout", formType(), url.Values{"csrfToken": {csrfAt(b, "/auth")}}.Encode())
	}
	b := newBrowser(t, auth)
	b.set(callbackURLCookie, "%2Fx")
	for _, time := range []string{"first", "second"} {
		before := f.mails.count()
		out["ask for the "+time+" link"] = b.send(http.MethodPost, "/auth/signin/email", formType(), url.Values{"csrfToken": {csrfAt(b, "/auth")}, "email": {"ada@example.com"}}.Encode())
		if f.mails.count() > before {
			out["follow the "+time+" link"] = b.get(f.mails.last(t))
		}
	}
	out["credentials"] = b.send(http.MethodPost, "/auth/callback/credentials", formType(), url.Values{"csrfToken": {csrfAt(b, "/auth")}, "name": {"Ada"}}.Encode())
	out["session"] = b.get("/auth/session")
	out["update"] = b.send(http.MethodPost, "/auth/session", formType(), url.Values{"csrfToken": {csrfAt(b, "/auth")}, "data": {"x"}}.Encode())
	out["page"] = b.get("/auth/signin")
	return out
}

// E-3: whatever panics, the request it belongs to ends at the error page, and no other one notices.
func TestPanics(t *testing.T) {
	t.Parallel()
	type breakage struct {
		name   string
		unused bool // no request of run calls it
		apply  func(f *fragile)
	}
	var all []breakage
	for field := range reflect.TypeFor[core.Callbacks]().Fields() {
		all = append(all, breakage{"callback " + field.Name, false, func(f *fragile) {
			reflect.ValueOf(&f.config.Callbacks).Elem().FieldByIndex(field.Index).Set(f.panicking(field.Type))
		}})
	}
	rare := map[string]bool{
		"DeleteUser": true, "UnlinkAccount": true, "GetAccount": true, "GetUser": true, "CreateAuthenticator": true,
		"GetAuthenticator": true, "ListAuthenticatorsByUserID": true, "UpdateAuthenticatorCounter": true, "Users": true,
	}
	for _, name := range methodNames() {
		all = append(all, breakage{"adapter " + name, rare[name], func(f *fragile) {
			if name != "FindUser" && name != "SignUp" && name != "SignIn" {
				inTurn(&f.store.Adapter)
			}
			f.store.fail = func(called string) error {
				if called == name {
					f.boom()
				}
				return nil
			}
		}})
	}
	for _, path := range []string{"/.well-known/openid-configuration", "/token", "/keys", "/userinfo"} {
		all = append(all, breakage{"transport " + path, false, func(f *fragile) {
			f.p.transport = func(r *http.Request) (*http.Response, bool, error) {
				if r.URL.Path == path {
					f.boom()
				}
				return nil, false, nil
			}
		}})
	}
	provider := func(name string, change func(f *fragile)) { all = append(all, breakage{name, false, change}) }
	provider("Authorize", func(f *fragile) {
		f.config.Providers[3] = core.Credentials{Authorize: func(context.Context, map[string]any, *http.Request) (*core.User, error) { f.boom(); return nil, nil }}
	})
	provider("Profile", func(f *fragile) {
		p := f.p.hub()
		p.Profile = func(context.Context, core.Profile, *core.Account) (*core.User, error) { f.boom(); return nil, nil }
		f.config.Providers[1] = p
	})
	provider("Account", func(f *fragile) {
		p := f.p.hub()
		p.Account = func(a core.Account) core.Account { f.boom(); return a }
		f.config.Providers[1] = p
	})
	provider("Send", func(f *fragile) {
		f.config.Providers[2] = core.Email{Send: func(context.Context, core.VerificationRequest) error { f.boom(); return nil }}
	})
	provider("GenerateToken", func(f *fragile) {
		p := f.mails.provider()
		p.GenerateToken = func(context.Context) (string, error) { f.boom(); return "", nil }
		f.config.Providers[2] = p
	})
	provider("NormalizeIdentifier", func(f *fragile) {
		p := f.mails.provider()
		p.NormalizeIdentifier = func(string) (string, error) { f.boom(); return "", nil }
		f.config.Providers[2] = p
	})
	provider("GenerateSessionToken", func(f *fragile) {
		f.config.Session.GenerateSessionToken = func() string { f.boom(); return "" }
	})

	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, broken := range all {
			t.Run(string(strategy)+"/"+broken.name, func(t *testing.T) {
				t.Parallel()
				f := newFragile(strategy)
				broken.apply(f)
				auth := newAuth(t, f.config)
				for what, a := range f.run(t, auth) {
					failed := a.status == http.StatusFound && a.location() == site+"/auth/"+configurationError && !a.setsCookie("") ||
						what == "update" && a.status == http.StatusBadRequest && a.body == "null"
					if isFine := a.status < 400 && !strings.Contains(a.location(), "error="); !failed && !isFine {
						t.Errorf("%s: %d %q %s", what, a.status, a.location(), a.body)
					}
				}
				// A database strategy calls no JWT callback for its own sessions, and so on: what was
				// not called can't have been tested.
				forDatabase := strings.HasSuffix(broken.name, "Session") && strings.HasPrefix(broken.name, "adapter") || strings.HasSuffix(broken.name, "GetSessionAndUser") || broken.name == "GenerateSessionToken"
				switch n := f.booms.Load(); {
				case n == 0 && !broken.unused && (!forDatabase || strategy == core.StrategyDatabase):
					t.Error("nothing panicked")
				case n > 0 && !f.log.has(core.ErrPanic) && !strings.Contains(f.log.text(), string(core.ErrPanic)):
					t.Errorf("logged %s", f.log.text())
				}
			})
		}
	}
}

// An event that panics or fails changes no answer.
func TestEventsChangeNothing(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		healthy := newFragile(strategy)
		want := healthy.run(t, newAuth(t, healthy.config))
		for _, panics := range []bool{true, false} {
			f := newFragile(strategy)
			events := reflect.ValueOf(&f.config.Events).Elem()
			for i := range events.NumField() {
				event := events.Field(i)
				event.Set(reflect.MakeFunc(event.Type(), func([]reflect.Value) []reflect.Value {
					if f.booms.Add(1); panics {
						panic("boom")
					}
					return []reflect.Value{reflect.ValueOf(errors.New("no"))}
				}))
			}
			got := f.run(t, newAuth(t, f.config))
			for what, a := range got {
				if strings.HasPrefix(a.location(), f.p.issuer) {
					continue // its random parts differ
				}
				if a.status != want[what].status || a.location() != want[what].location() || a.setsCookie(sessionCookie) != want[what].setsCookie(sessionCookie) {
					t.Errorf("%s: %d %q, want %d %q", what, a.status, a.location(), want[what].status, want[what].location())
				}
			}
			if f.booms.Load() < 8 || !f.log.has(core.ErrEvent) || len(got) != len(want) {
				t.Errorf("%d events, logged %s", f.booms.Load(), f.log.text())
			}
		}
	}
}

// A request that panics leaves nothing behind that others could wait for.
func TestPanicsAmongOthers(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{anyone},
		Callbacks: core.Callbacks{Session: func(ctx context.Context, p core.SessionParams) (*core.Session, error) {
			if p.Session.User.Name == "Eve" {
				panic("boom")
			}
			return p.Session, nil
		}},
	})
	ada, eve := newBrowser(t, auth), newBrowser(t, auth)
	ada.signInAs("Ada")
	eve.signInAs("Eve")
	for i := range 1000 {
		if i%10 == 0 {
			eve.get("/auth/session").wantError(t, configurationError)
		}
		if a := ada.get("/auth/session"); a.status != http.StatusOK || !strings.Contains(a.body, "Ada") {
			t.Fatalf("request %d: %d %s", i, a.status, a.body)
		}
	}
	r := httptest.NewRequest(http.MethodGet, site+"/", nil)
	r.Header.Set("Cookie", eve.cookieHeader())
	if resp, err := auth.Session(r); resp != nil || !errors.Is(err, core.ErrPanic) {
		t.Errorf("Auth.Session: %v %v", resp, err)
	}
}

// http.ErrAbortHandler is how a handler asks net/http to drop the connection; it is passed on.
func TestAbortHandler(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{SkipCSRFCheck: true, Providers: []core.Provider{core.Credentials{Authorize: func(context.Context, map[string]any, *http.Request) (*core.User, error) {
		panic(http.ErrAbortHandler)
	}}}})
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("recovered %v", v)
		}
	}()
	auth.Handle(httptest.NewRequest(http.MethodPost, "/auth/callback/credentials", nil))
}
