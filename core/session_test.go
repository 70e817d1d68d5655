package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// Facts 58 and 94: what GET session answers, and that it extends the session.
func TestJWTSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{anyone}, Session: core.SessionOptions{MaxAge: time.Hour}}))
		a := b.get("/auth/session")
		if a.status != http.StatusOK || a.body != "null" || !a.setsCookie(csrfCookie) || !a.setsCookie(callbackURLCookie) {
			t.Errorf("without a session: %d %s %v", a.status, a.body, a.header)
		}
		for name, want := range map[string]string{"Cache-Control": "private, no-cache, no-store", "Pragma": "no-cache", "Expires": "0", "Content-Type": "application/json"} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		b.signInAs("Ada")
		for range 3 {
			before := b.cookie(sessionCookie)
			a := b.get("/auth/session")
			expires := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
			want := `{"expires":"` + expires + `","user":{"email":"Ada@example.com","name":"Ada"}}`
			if a.body != want || b.cookie(sessionCookie) == before {
				t.Errorf("got %s, want %s, with a new token", a.body, want)
			}
			time.Sleep(50 * time.Minute) // less than the lifetime: it is extended each time
		}
		old := b.copy()
		time.Sleep(time.Hour)
		if old.user() != "" || old.hasSession() {
			t.Error("an expired session is read")
		}
	})
}

// 15 seconds of tolerance, and not one more (fact 60).
func TestJWTSessionTolerance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		late time.Duration
		ok   bool
	}{{14 * time.Second, true}, {15 * time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{anyone}, Session: core.SessionOptions{MaxAge: time.Hour}}))
			b.signInAs("Ada")
			time.Sleep(time.Hour + c.late)
			if got := b.user() != ""; got != c.ok {
				t.Errorf("%v after its end: read %v", c.late, got)
			}
		})
	}
}

// The callbacks decide what is in the token and what the client sees.
func TestSessionCallbacks(t *testing.T) {
	t.Parallel()
	var triggers []core.Trigger
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{anyone},
		Callbacks: core.Callbacks{
			JWT: func(_ context.Context, p core.JWTParams) (core.JWT, error) {
				triggers = append(triggers, p.Trigger)
				switch p.Trigger {
				case core.TriggerSignIn:
					p.Token["role"], p.Token["count"] = "admin", 1e15
					if p.User.Name != "Ada" || p.Account.Type != core.TypeCredentials || p.Token.String("sub") != "id-of-Ada" {
						t.Errorf("at sign-in: %+v %+v %v", p.User, p.Account, p.Token)
					}
				case core.TriggerUpdate:
					p.Token["note"] = p.Session
				}
				return p.Token, nil
			},
			Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
				p.Session.User.ID = p.Token.String("sub")
				p.Session.Extra = map[string]any{"role": p.Token["role"], "count": p.Token["count"], "note": p.Token["note"]}
				return p.Session, nil
			},
		},
	})
	b := newBrowser(t, auth)
	b.signInAs("Ada")
	got := b.session()
	if got["role"] != "admin" || got["count"] != 1e15 || got["note"] != nil || got["user"].(map[string]any)["id"] != "id-of-Ada" {
		t.Errorf("session %v", got)
	}
	for _, data := range []string{`{"a":[1,2]}`, `"text"`, `7`, `false`, `null`} {
		a := b.send(http.MethodPost, "/auth/session", jsonType(), `{"csrfToken":"`+b.csrf()+`","data":`+data+`}`)
		var answer struct{ Note json.RawMessage }
		if err := json.Unmarshal([]byte(a.body), &answer); err != nil || a.status != http.StatusOK || string(answer.Note) != data {
			t.Errorf("POST session with %s: %d %s", data, a.status, a.body)
		}
		if a.header.Get("Cache-Control") != "" {
			t.Errorf("POST session: Cache-Control %q", a.header.Get("Cache-Control"))
		}
		if note, _ := json.Marshal(b.session()["note"]); string(note) != data {
			t.Errorf("the update to %s is not in the token: %s", data, note)
		}
	}
	if triggers[0] != core.TriggerSignIn || triggers[1] != core.TriggerRead || triggers[2] != core.TriggerUpdate {
		t.Errorf("triggers %v", triggers)
	}
}

// A JWT callback that gives nothing, or fails, ends the session (facts 62 and 98).
func TestJWTCallbackEndsSessions(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func() (core.JWT, error){
		"null":     func() (core.JWT, error) { return nil, nil },
		"an error": func() (core.JWT, error) { return nil, errors.New("revoked") },
	} {
		events := 0
		auth := newAuth(t, core.Config{
			Providers: []core.Provider{anyone},
			Callbacks: core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (core.JWT, error) {
				if p.Trigger == core.TriggerSignIn {
					return p.Token, nil
				}
				return end()
			}},
			Events: core.Events{Session: func(context.Context, core.SessionEvent) error { events++; return nil }},
		})
		b := newBrowser(t, auth)
		b.signInAs("Ada")
		if a := b.get("/auth/session"); a.body != "null" || a.status != http.StatusOK || b.hasSession() || events != 0 {
			t.Errorf("%s: %d %s, cookie %v, %d events", name, a.status, a.body, b.hasSession(), events)
		}
	}
}

// A token that is too long for one cookie goes into several, and back again (fact 55).
func TestChunkedSessions(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{anyone},
		Callbacks: core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (core.JWT, error) {
			if text, ok := p.Session.(string); ok {
				n, err := strconv.Atoi(text)
				if err != nil {
					return nil, err
				}
				p.Token["pad"] = strings.Repeat("x", n)
			}
			return p.Token, nil
		}},
	})
	b := newBrowser(t, auth)
	b.signInAs("Ada")
	for _, size := range []int{10_000, 3_000, 2_000, 20_000, 5_000, 0} {
		b.post("/auth/session", "data", strconv.Itoa(size))
		chunks, plain := 0, false
		for _, c := range b.jar {
			if strings.HasPrefix(c.Name, sessionCookie) {
				chunks, plain = chunks+1, plain || c.Name == sessionCookie
			}
		}
		if least := size*4/3/3936 + 1; plain != (chunks == 1) || chunks < least || chunks > least+1 {
			t.Errorf("%d characters more: %d cookies, plain %v", size, chunks, plain)
		}
		if b.user() != "Ada" {
			t.Fatalf("with %d characters more nobody is signed in", size)
		}
	}
	b.post("/auth/session", "data", "10000")

	// The order of the cookies, and strange ones beside them, don't matter.
	for i, j := 0, len(b.jar)-1; i < j; i, j = i+1, j-1 {
		b.jar[i], b.jar[j] = b.jar[j], b.jar[i]
	}
	b.set(sessionCookie+"-extra", "x")
	b.set(sessionCookie+".x", "x")
	b.set(sessionCookie+".99", "x")
	if b.copy().user() != "Ada" {
		t.Error("stray cookies sign the user out")
	}
	missing := b.copy()
	missing.forget(sessionCookie + ".1")
	if missing.user() != "" {
		t.Error("a session with a missing chunk is read")
	}
	b.post("/auth/signout").wantRedirect(t, site)
	for _, c := range b.jar {
		if c.Name != sessionCookie+"-extra" && c.Name != sessionCookie+".x" && strings.HasPrefix(c.Name, sessionCookie) {
			t.Errorf("%s stays after signing out", c.Name)
		}
	}
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	var told []core.SignOutEvent
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{anyone},
		Events:    core.Events{SignOut: func(_ context.Context, e core.SignOutEvent) error { told = append(told, e); return nil }},
	})
	b := newBrowser(t, auth)
	if a := b.post("/auth/signout"); a.location() != site || a.setsCookie(sessionCookie) || len(told) > 0 {
		t.Errorf("signed out already: %q %v", a.location(), told)
	}
	b.signInAs("Ada")
	if b.get("/auth/signout"); b.user() != "Ada" {
		t.Error("GET signs out")
	}
	b.send(http.MethodPost, "/auth/signout", formType(), "").wantError(t, "signin?error=MissingCSRF")
	if b.user() != "Ada" {
		t.Error("a POST without a token signs out")
	}
	b.post("/auth/signout", "callbackUrl", "/bye").wantRedirect(t, site+"/bye")
	if b.hasSession() || b.user() != "" || len(told) != 1 || told[0].Token.String("sub") != "id-of-Ada" {
		t.Errorf("after signing out: %v %v", b.jar, told)
	}
	b.set(sessionCookie, "unreadable")
	if b.post("/auth/signout"); b.hasSession() || len(told) != 1 {
		t.Error("an unreadable token stays, or an event tells of it")
	}
}

// Auth.Session gives the same as the route, for any request of the app.
func TestSessionOfAnyRequest(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	b := newBrowser(t, auth)
	b.signInAs("Ada")
	app := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resp, err := auth.Session(r)
		if err != nil {
			t.Error(err)
			return
		}
		resp.CopyCookies(w)
		if resp.Session == nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte("Hello, " + resp.Session.User.Name))
	})
	page := b.copy()
	page.handler = app
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead} {
		before := page.cookie(sessionCookie)
		a := page.send(method, "/any/path?x=1", nil, "")
		if a.body != "Hello, Ada" || page.cookie(sessionCookie) == before {
			t.Errorf("%s: %d %s, extended %v", method, a.status, a.body, page.cookie(sessionCookie) != before)
		}
		if a.setsCookie(csrfCookie) || a.setsCookie(callbackURLCookie) {
			t.Errorf("%s sets %v", method, a.header["Set-Cookie"])
		}
	}
	stranger := newBrowser(t, app)
	if a := stranger.get("/"); a.status != http.StatusUnauthorized || a.setsCookie("") {
		t.Errorf("a stranger: %d %v", a.status, a.header)
	}
	stranger.set(sessionCookie, "unreadable")
	if a := stranger.get("/"); a.status != http.StatusUnauthorized || stranger.hasSession() {
		t.Errorf("an unreadable token: %d, cookies %v", a.status, stranger.jar)
	}
	// A callbackUrl that would break the routes of the handler is none of its business here.
	if a := page.get("/?callbackUrl=javascript:x"); a.body != "Hello, Ada" {
		t.Errorf("%d %s", a.status, a.body)
	}

	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = "not a host"
	if resp, err := auth.Session(r); !errors.Is(err, core.ErrUntrustedHost) || resp != nil {
		t.Errorf("a host that is none: %v %v", resp, err)
	}
}

// No field of a request but the cookie says whose session it is: B8, W4.
func TestOnlyTheCookieSaysWho(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, core.Config{Providers: []core.Provider{anyone}})
	ada := newBrowser(t, auth)
	ada.signInAs("Ada")
	token := ada.cookie(sessionCookie)
	stranger := newBrowser(t, auth)
	stranger.csrf()
	header := jsonType()
	for _, name := range []string{"Authorization", "X-Session", "X-Auth-Session", "Session", "X-Middleware-Subrequest"} {
		header.Set(name, "Bearer "+token)
	}
	body := `{"csrfToken":"` + stranger.csrf() + `","user":{"name":"Ada"},"sub":"id-of-Ada","userId":"id-of-Ada","sessionToken":"` + token + `","data":{"name":"Ada"}}`
	for _, a := range []*answer{
		stranger.send(http.MethodGet, "/auth/session?sessionToken="+token+"&sub=id-of-Ada", header, ""),
		stranger.send(http.MethodPost, "/auth/session?sessionToken="+token, header, body),
	} {
		if a.status != http.StatusOK || a.body != "null" {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if ada.send(http.MethodPost, "/auth/session", jsonType(), strings.Replace(body, stranger.csrf(), ada.csrf(), 1)); ada.session()["user"].(map[string]any)["name"] != "Ada" {
		t.Error("the session is changed")
	}
}
