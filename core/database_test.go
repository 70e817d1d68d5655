package core_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// watched wraps every method of an adapter: calls counts them by name, and fail, if it gives
// an error for a name, keeps the call from the adapter.
type watched struct {
	core.Adapter
	mu    sync.Mutex
	calls map[string]int
	fail  func(method string) error
}

func watch(adapter *core.Adapter) *watched {
	w := &watched{calls: map[string]int{}}
	from, to := reflect.ValueOf(adapter).Elem(), reflect.ValueOf(&w.Adapter).Elem()
	for i := range from.NumField() {
		name, method := from.Type().Field(i).Name, from.Field(i)
		if method.Kind() != reflect.Func || method.IsNil() {
			continue
		}
		to.Field(i).Set(reflect.MakeFunc(method.Type(), func(args []reflect.Value) []reflect.Value {
			w.mu.Lock()
			w.calls[name]++
			fail := w.fail
			w.mu.Unlock()
			if fail != nil {
				if err := fail(name); err != nil {
					out := make([]reflect.Value, method.Type().NumOut())
					for i := range out {
						out[i] = reflect.Zero(method.Type().Out(i))
					}
					out[len(out)-1] = reflect.ValueOf(err)
					return out
				}
			}
			return method.Call(args)
		}))
	}
	return w
}

// inTurn gives an adapter without the methods that sign in at once.
func inTurn(adapter *core.Adapter) *core.Adapter {
	adapter.FindUser, adapter.SignUp, adapter.SignIn = nil, nil, nil
	return adapter
}

// bothWays runs a test on an adapter that signs in at once, and on one that does it in turn.
func bothWays(t *testing.T, test func(t *testing.T, memory func() *core.Adapter)) {
	t.Helper()
	for name, memory := range map[string]func() *core.Adapter{
		"at once": adaptertest.Memory, "in turn": func() *core.Adapter { return inTurn(adaptertest.Memory()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, memory)
		})
	}
}

// signUps is how many users were to be made.
func signUps(calls map[string]int) int { return calls["CreateUser"] + calls["SignUp"] }

// since gives the calls since the last time.
func (w *watched) since() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := maps.Clone(w.calls)
	clear(w.calls)
	return out
}

// methodNames are those of core.Adapter.
func methodNames() (names []string) {
	kind := reflect.TypeFor[core.Adapter]()
	for i := range kind.NumField() {
		if kind.Field(i).Type.Kind() == reflect.Func {
			names = append(names, kind.Field(i).Name)
		}
	}
	return names
}

// withDatabase is an Auth with database sessions and the provider idp.
func withDatabase(t testing.TB, p *idp, adapter *core.Adapter, options core.SessionOptions) *core.Auth {
	return newAuth(t, core.Config{Providers: []core.Provider{p.oidc(), anyone}, Transport: p, Adapter: adapter, Session: options})
}

// A session check is one read, and inside updateAge no write (fact 95).
func TestDatabaseSessionCalls(t *testing.T) {
	t.Parallel()
	rsaKey()
	synctest.Test(t, func(t *testing.T) {
		p := newIDP()
		store := watch(adaptertest.Memory())
		b := newBrowser(t, withDatabase(t, p, &store.Adapter, core.SessionOptions{MaxAge: 10 * time.Hour, UpdateAge: time.Hour}))
		p.signIn(b, "idp").wantRedirect(t, site)
		token := b.cookie(sessionCookie)
		if len(token) != 36 {
			t.Errorf("the session token is %q, want a UUID", token)
		}
		want := func(calls map[string]int) {
			t.Helper()
			store.since()
			a := b.get("/auth/session")
			if got := store.since(); !maps.Equal(got, calls) {
				t.Errorf("calls %v, want %v", got, calls)
			}
			if !strings.Contains(a.body, `"Jane"`) || b.cookie(sessionCookie) != token || !a.setsCookie(sessionCookie) {
				t.Errorf("%s %v", a.body, a.header["Set-Cookie"])
			}
			if strings.Contains(a.body, token) {
				t.Errorf("the body tells the session token: %s", a.body)
			}
		}
		read, write := map[string]int{"GetSessionAndUser": 1}, map[string]int{"GetSessionAndUser": 1, "UpdateSession": 1}
		want(read)
		time.Sleep(59 * time.Minute)
		want(read)
		time.Sleep(2 * time.Minute)
		want(write)
		want(read)
		time.Sleep(9 * time.Hour)
		want(write)
		time.Sleep(9 * time.Hour) // beyond the first lifetime, as it was extended
		want(write)

		old := b.copy()
		old.jar = slices.Clone(b.jar)
		time.Sleep(10*time.Hour + time.Second)
		store.since()
		if old.user() != "" || old.hasSession() {
			t.Error("an expired session is read")
		}
		if got := store.since(); !maps.Equal(got, map[string]int{"GetSessionAndUser": 1, "DeleteSession": 1}) {
			t.Errorf("calls for an expired session: %v", got)
		}
	})
}

// A negative UpdateAge writes at every access.
func TestDatabaseSessionAlwaysWritten(t *testing.T) {
	t.Parallel()
	p := newIDP()
	store := watch(adaptertest.Memory())
	b := newBrowser(t, withDatabase(t, p, &store.Adapter, core.SessionOptions{UpdateAge: -1}))
	p.signIn(b, "idp")
	for range 2 {
		store.since()
		if b.user(); store.since()["UpdateSession"] != 1 {
			t.Error("the session is not written")
		}
	}
}

// A session that is ended between being read and being extended is not shown any more.
func TestDatabaseSessionEndsMeanwhile(t *testing.T) {
	t.Parallel()
	p := newIDP()
	adapter := *adaptertest.Memory()
	extend := adapter.UpdateSession
	adapter.UpdateSession = func(ctx context.Context, change core.AdapterSession) (*core.AdapterSession, error) {
		if _, err := adapter.DeleteSession(ctx, change.SessionToken); err != nil {
			return nil, err
		}
		return extend(ctx, change)
	}
	b := newBrowser(t, withDatabase(t, p, &adapter, core.SessionOptions{UpdateAge: -1}))
	p.signIn(b, "idp").wantRedirect(t, site)
	if a := b.get("/auth/session"); a.body != "null" || b.hasSession() {
		t.Errorf("%d %s, a cookie: %v", a.status, a.body, b.hasSession())
	}
}

// G15: an unknown token is never adopted, and its cookie goes.
func TestUnknownDatabaseSession(t *testing.T) {
	t.Parallel()
	p := newIDP()
	store := watch(adaptertest.Memory())
	auth := withDatabase(t, p, &store.Adapter, core.SessionOptions{})
	for _, token := range []string{"chosen-by-the-attacker", "../../etc/passwd", "%00", strings.Repeat("x", 3000)} {
		b := newBrowser(t, auth)
		b.set(sessionCookie, token)
		if b.user() != "" || b.hasSession() {
			t.Errorf("%q: a session", token)
		}
		b.set(sessionCookie, token)
		p.signIn(b, "idp").wantRedirect(t, site)
		if b.cookie(sessionCookie) == token || b.user() != "Jane" {
			t.Errorf("%q is the token after signing in", token)
		}
		if session, _, _ := store.GetSessionAndUser(t.Context(), token); session != nil {
			t.Errorf("%q is stored", token)
		}
	}
}

// A store that is down signs nobody out, and lets nobody in.
func TestStoreDown(t *testing.T) {
	t.Parallel()
	p := newIDP()
	store := watch(adaptertest.Memory())
	var log journal
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{p.oidc(), anyone}, Transport: p, Adapter: &store.Adapter, Logger: log.logger(),
		Session: core.SessionOptions{UpdateAge: -1},
	})
	b := newBrowser(t, auth)
	p.signIn(b, "idp")
	token := b.cookie(sessionCookie)
	down := errors.New("the store is down")
	for _, method := range methodNames() {
		store.fail = func(name string) error {
			if name == method {
				return down
			}
			return nil
		}
		want := http.StatusOK
		if method == "GetSessionAndUser" {
			want = http.StatusServiceUnavailable // nobody knows; a session that can't be extended still counts
		}
		if a := b.get("/auth/session"); a.status != want || b.cookie(sessionCookie) != token || want == http.StatusOK && !strings.Contains(a.body, "Jane") {
			t.Errorf("%s fails: %d %s, the cookie is %q", method, a.status, a.body, b.cookie(sessionCookie))
		} else if again := a.header.Get("Retry-After"); (again != "") != (want != http.StatusOK) {
			t.Errorf("%s fails: Retry-After is %q", method, again)
		}
		r := httptest.NewRequest(http.MethodGet, site, nil)
		r.Header.Set("Cookie", b.cookieHeader())
		if resp, err := auth.Session(r); (err != nil) != (want != http.StatusOK) {
			t.Errorf("%s fails: Session gave %v, %v", method, resp, err)
		}
		// A sign-in that needs it fails, and leaves no session behind.
		other := newBrowser(t, auth)
		store.since()
		a := p.signIn(other, "idp")
		if store.since()[method] == 0 {
			continue
		}
		a.wantError(t, configurationError)
		if other.hasSession() {
			t.Errorf("%s fails: there is a session", method)
		}
	}
	store.fail = nil
	if b.user() != "Jane" {
		t.Error("not signed in any more after the store came back")
	}
	if !log.has(core.ErrSessionToken) || !log.has(core.ErrAdapter) {
		t.Errorf("logged %s", log.text())
	}

	// Signing out while the store is down drops the cookie and says so in the log: P4.
	store.fail = func(string) error { return down }
	b.post("/auth/signout").wantRedirect(t, site)
	if b.hasSession() || !log.has(core.ErrSignOut) {
		t.Errorf("cookies %v, log %s", b.jar, log.text())
	}
}

func TestDatabaseSignOut(t *testing.T) {
	t.Parallel()
	p := newIDP()
	store := watch(adaptertest.Memory())
	var told []core.SignOutEvent
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{p.oidc()}, Transport: p, Adapter: &store.Adapter,
		Events: core.Events{SignOut: func(_ context.Context, e core.SignOutEvent) error { told = append(told, e); return nil }},
	})
	b := newBrowser(t, auth)
	p.signIn(b, "idp")
	thief := b.copy()
	b.post("/auth/signout").wantRedirect(t, site)
	if thief.user() != "" || len(told) != 1 || told[0].Session == nil {
		t.Errorf("a copied cookie works after signing out, events %v", told)
	}
	b.set(sessionCookie, "unknown")
	if b.post("/auth/signout"); len(told) != 2 || told[1].Session != nil {
		t.Errorf("an unknown token: events %v", told)
	}
}

// Credentials set a token in the cookie under either strategy; database sessions don't read it (fact 93).
func TestCredentialsWithDatabase(t *testing.T) {
	t.Parallel()
	store := watch(adaptertest.Memory())
	b := newBrowser(t, withDatabase(t, newIDP(), &store.Adapter, core.SessionOptions{}))
	b.signInAs("Ada")
	if got := store.since(); len(got) > 0 {
		t.Errorf("credentials call %v", got)
	}
	if b.user() != "" || b.hasSession() {
		t.Error("the token is read, or stays")
	}
}

// An adapter's session tokens are made by the app, if it wants to.
func TestGenerateSessionToken(t *testing.T) {
	t.Parallel()
	p := newIDP()
	b := newBrowser(t, withDatabase(t, p, adaptertest.Memory(), core.SessionOptions{GenerateSessionToken: func() string { return "made-here" }}))
	p.signIn(b, "idp")
	if b.cookie(sessionCookie) != "made-here" || b.user() != "Jane" {
		t.Errorf("cookie %q, user %q", b.cookie(sessionCookie), b.user())
	}
}
