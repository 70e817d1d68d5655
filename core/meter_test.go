package core_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
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

// slowWorld is an app whose store takes 5 ms for each call, and whose provider takes 10 ms to
// answer and 2 ms more for the body. The clock is a synctest bubble's.
type slowWorld struct {
	p         *idp
	store     *watched
	exchanges int // with the provider
	log       journal
	config    core.Config
}

func newSlowWorld() *slowWorld {
	w := &slowWorld{p: newIDP(), store: watch(adaptertest.Memory())}
	w.store.fail = func(string) error { time.Sleep(5 * time.Millisecond); return nil }
	w.config = core.Config{
		Providers: []core.Provider{w.p.oidc(core.CheckState, core.CheckPKCE), anyone}, Adapter: &w.store.Adapter, Logger: w.log.logger(),
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			w.exchanges++
			time.Sleep(10 * time.Millisecond)
			resp, err := w.p.RoundTrip(r)
			if err == nil {
				resp.Body = &slowBody{ReadCloser: resp.Body}
			}
			return resp, err
		}),
	}
	return w
}

// slowBody takes 2 ms to arrive.
type slowBody struct {
	io.ReadCloser
	arrived bool
}

func (b *slowBody) Read(p []byte) (int, error) {
	if !b.arrived {
		b.arrived = true
		time.Sleep(2 * time.Millisecond)
	}
	return b.ReadCloser.Read(p)
}

// approve is where the provider sends a browser that it was sent.
func (w *slowWorld) approve(t *testing.T, start *answer) string {
	t.Helper()
	u, err := url.Parse(start.location())
	if err != nil {
		t.Fatal(err)
	}
	return w.p.approve(t, u)
}

// timing is the header that tells the calls since the last time.
func (w *slowWorld) timing() string {
	store := 0
	for _, n := range w.store.since() {
		store += n
	}
	provider := w.exchanges
	w.exchanges = 0
	calls := func(n int) string {
		if n == 1 {
			return "1 call"
		}
		return fmt.Sprint(n, " calls")
	}
	return fmt.Sprintf(`total;dur=%d.0, store;dur=%d.0;desc="%s", provider;dur=%d.0;desc="%s"`,
		store*5+provider*12, store*5, calls(store), provider*12, calls(provider))
}

// Server-Timing tells how long a request took, and how much of that store and provider took.
func TestServerTiming(t *testing.T) {
	t.Parallel()
	rsaKey()
	synctest.Test(t, func(t *testing.T) {
		w := newSlowWorld()
		w.config.ServerTiming = true
		auth := newAuth(t, w.config)
		b := newBrowser(t, auth)
		want := func(what, header string, least string) {
			t.Helper()
			if counted := w.timing(); header != counted || !strings.Contains(header, least) {
				t.Errorf("%s: Server-Timing %q, want %q with %s", what, header, counted, least)
			}
		}
		header := func(a *answer) string { return strings.Join(a.header.Values("Server-Timing"), "|") }

		want("csrf", header(b.get("/auth/csrf")), `store;dur=0.0;desc="0 calls", provider;dur=0.0;desc="0 calls"`)
		a := b.send(http.MethodPost, "/auth/signin/idp", formType(), "csrfToken="+b.csrf())
		want("sign-in", header(a), `provider;dur=12.0;desc="1 call"`)
		a = b.get(w.approve(t, a))
		a.wantRedirect(t, site)
		want("callback", header(a), `provider;dur=24.0;desc="2 calls"`) // code and keys
		want("session", header(b.get("/auth/session")), `total;dur=5.0, store;dur=5.0;desc="1 call"`)
		w.p.transport = func(*http.Request) (*http.Response, bool, error) { return nil, true, errors.New("refused") }
		a = newBrowser(t, newAuth(t, w.config)).get("/auth/callback/idp?code=x")
		w.timing()
		if !serverTiming.MatchString(header(a)) || !strings.Contains(a.location(), "error=") {
			t.Errorf("a failure: %q %q", a.location(), header(a))
		}

		// The direct calls have it, too, for whoever writes their answer.
		r := httptest.NewRequest(http.MethodGet, site+"/page", nil)
		r.Header.Set("Cookie", b.cookieHeader())
		resp, err := auth.Session(r)
		if err != nil || resp.Session == nil {
			t.Fatal(resp, err)
		}
		want("Auth.Session", resp.Header.Get("Server-Timing"), `store;dur=5.0;desc="1 call"`)
		want("Auth.SignOut", auth.SignOut(r, "").Header.Get("Server-Timing"), `store;dur=5.0;desc="1 call"`)
		recorder := httptest.NewRecorder()
		recorder.Header().Set("Server-Timing", "app;dur=1")
		core.Misconfigured(inTest(w.config), core.ErrInvalidConfig).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, site+"/auth/signin", nil))
		if got := recorder.Header()["Server-Timing"]; len(got) != 2 || got[0] != "app;dur=1" || !serverTiming.MatchString(got[1]) {
			t.Errorf("Misconfigured, after an app's own: %q", got)
		}
	})
}

// An adapter that makes several calls at the store for a method reports each of them; a method
// that reports none is one call. Where nothing is measured, reporting is nothing.
func TestStoreCall(t *testing.T) {
	t.Parallel()
	rsaKey()
	synctest.Test(t, func(t *testing.T) {
		p, store := newIDP(), adaptertest.Memory()
		read, extend := store.GetSessionAndUser, store.UpdateSession
		store.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
			for range 2 {
				done := core.StoreCall(ctx)
				time.Sleep(3 * time.Millisecond)
				done()
			}
			time.Sleep(time.Millisecond) // is none
			return read(ctx, token)
		}
		store.UpdateSession = func(ctx context.Context, change core.AdapterSession) (*core.AdapterSession, error) {
			time.Sleep(5 * time.Millisecond)
			return extend(ctx, change)
		}
		config := core.Config{
			Providers: []core.Provider{p.oidc()}, Transport: p, Adapter: store, ServerTiming: true,
			Session: core.SessionOptions{UpdateAge: -1},
		}
		b := newBrowser(t, newAuth(t, config))
		p.signIn(b, "idp").wantRedirect(t, site)
		want := `total;dur=12.0, store;dur=11.0;desc="3 calls", provider;dur=0.0;desc="0 calls"`
		if got := b.get("/auth/session").header.Get("Server-Timing"); got != want {
			t.Errorf("Server-Timing %q, want %q", got, want)
		}
		config.ServerTiming = false
		b.handler = newAuth(t, config)
		if b.user() != "Jane" {
			t.Error("no session where nothing is measured")
		}
		core.StoreCall(t.Context())()
	})
}

// Without ServerTiming there is no header, with Debug or without.
func TestServerTimingIsOff(t *testing.T) {
	t.Parallel()
	for _, debug := range []bool{false, true} {
		b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{anyone}, Debug: debug}))
		b.signInAs("Ada")
		if a := b.get("/auth/session"); a.header["Server-Timing"] != nil || !strings.Contains(a.body, "Ada") {
			t.Errorf("Debug %v: %s, Server-Timing %q", debug, a.body, a.header["Server-Timing"])
		}
	}
}

// With Debug the end of each request is one line, and slog can take it.
func TestRequestAnswered(t *testing.T) {
	t.Parallel()
	rsaKey()
	synctest.Test(t, func(t *testing.T) {
		w := newSlowWorld()
		var out bytes.Buffer
		l := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		w.config.Logger, w.config.Debug = core.Logger{Error: l.Error, Warn: l.Warn, Debug: l.Debug}, true
		auth := newAuth(t, w.config)
		b := newBrowser(t, auth)
		last := func(ask func(b *browser)) map[string]any {
			t.Helper()
			out.Reset()
			ask(b)
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			var line map[string]any
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil || strings.Count(out.String(), `"request answered"`) != 1 {
				t.Fatalf("logged %s: %v", out.String(), err)
			}
			if id, _ := line["request"].(string); len(id) != 36 {
				t.Errorf("request %q", id)
			}
			for _, name := range []string{"time", "level", "request"} {
				delete(line, name)
			}
			return line
		}
		want := func(line map[string]any, text string) {
			t.Helper()
			var wanted map[string]any
			if err := json.Unmarshal([]byte(`{"msg":"request answered",`+text+`}`), &wanted); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(line) != fmt.Sprint(wanted) {
				t.Errorf("logged %v, want %v", line, wanted)
			}
		}
		const nothing = `"store_calls":0,"store_ms":0,"provider_calls":0,"provider_ms":0`
		want(last(func(b *browser) { b.get("/auth/csrf?email=ada@example.com") }), `"action":"csrf","method":"GET","status":200,"ms":0,`+nothing)
		want(last(func(b *browser) { b.send(http.MethodPost, "/auth/signout", nil, "") }), `"action":"signout","method":"POST","status":302,"ms":0,`+nothing)
		var start *answer
		token := b.csrf()
		want(last(func(b *browser) { start = b.send(http.MethodPost, "/auth/signin/idp", formType(), "csrfToken="+token) }),
			`"action":"signin","method":"POST","provider":"idp","status":302,"ms":12,"store_calls":0,"store_ms":0,"provider_calls":1,"provider_ms":12`)
		want(last(func(b *browser) { b.get(w.approve(t, start)) }),
			`"action":"callback","method":"GET","provider":"idp","status":302,"ms":34,"store_calls":2,"store_ms":10,"provider_calls":2,"provider_ms":24`)
		want(last(func(b *browser) { b.get("/auth/session") }),
			`"action":"session","method":"GET","status":200,"ms":5,"store_calls":1,"store_ms":5,"provider_calls":0,"provider_ms":0`)
		w.store.fail = func(string) error { time.Sleep(time.Millisecond); return errors.New("down") }
		want(last(func(b *browser) { b.get("/auth/session") }),
			`"action":"session","method":"GET","status":503,"ms":1,"store_calls":1,"store_ms":1,"provider_calls":0,"provider_ms":0`)
		want(last(func(b *browser) {
			r := httptest.NewRequest("PROPFIND", site+"/page", nil)
			r.Header.Set("Cookie", b.cookieHeader())
			if _, err := auth.Session(r); !errors.Is(err, core.ErrSessionToken) {
				t.Error(err)
			}
		}), `"action":"session","method":"other","ms":1,"store_calls":1,"store_ms":1,"provider_calls":0,"provider_ms":0`)
	})
}

// The ID of a request is the platform's if it may stand in a log, else a random one.
func TestRequestID(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for _, c := range []struct {
		ray, id []string
		want    string // empty: a random one
	}{
		{nil, nil, ""},
		{[]string{"8f1e2d3c4b5a6978-FRA"}, nil, "8f1e2d3c4b5a6978-FRA"},
		{nil, []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV"}, "01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		{nil, []string{"req_7.a-Z"}, "req_7.a-Z"},
		{[]string{"8f1e2d3c4b5a6978-FRA"}, []string{"a-client's"}, "8f1e2d3c4b5a6978-FRA"},
		{[]string{"no ray"}, []string{"r-1"}, "r-1"},
		{nil, []string{long}, long},
		{nil, []string{long + "a"}, ""},
		{nil, []string{""}, ""},
		{nil, []string{"r-1", "r-2"}, ""},
		{nil, []string{"a b"}, ""},
		{nil, []string{"a\n[auth][error] Forged"}, ""},
		{nil, []string{"a\x1b[2J"}, ""},
		{nil, []string{`a"b`}, ""},
		{nil, []string{"a=b"}, ""},
		{nil, []string{"ada@example.com"}, ""},
		{nil, []string{"é"}, ""},
		{nil, []string{"a{b`~["}, ""},
	} {
		r := httptest.NewRequest(http.MethodGet, site+"/auth/session", nil)
		r.Header["Cf-Ray"], r.Header["X-Request-Id"] = c.ray, c.id
		got := core.RequestID(r)
		if isRandom := len(got) == 36 && got != core.RequestID(r); got != c.want && (c.want != "" || !isRandom) {
			t.Errorf("%q, %q: %q, want %q", c.ray, c.id, got, c.want)
		}
	}
}

// All lines about a request have its ID, and no two requests have the same.
func TestLinesOfARequest(t *testing.T) {
	t.Parallel()
	var ids []string
	take := func(_ string, args ...any) {
		if i := slices.Index(args, any("request")); i >= 0 {
			ids = append(ids, args[i+1].(string))
		} else {
			t.Errorf("logged %v", args)
		}
	}
	ready := false
	start := func(msg string, args ...any) {
		if ready {
			take(msg, args...)
		}
	}
	config := inTest(core.Config{
		Logger: core.Logger{Error: take, Warn: start, Debug: take}, Debug: true, SkipCSRFCheck: true,
		Providers: []core.Provider{core.Credentials{Authorize: func(context.Context, map[string]any, *http.Request) (*core.User, error) {
			panic("boom")
		}}},
		Pages: core.Pages{Error: "/oops"},
	})
	auth := newAuth(t, config)
	ready = true
	b := newBrowser(t, auth)
	lines := func(ask func()) []string {
		ids = nil
		ask()
		return slices.Compact(ids)
	}
	panicked := func() { b.send(http.MethodPost, "/auth/callback/credentials", nil, "") } // the stack, the error, the end
	first, second := lines(panicked), lines(panicked)
	if len(first) != 1 || len(second) != 1 || first[0] == second[0] {
		t.Errorf("IDs %q and %q", first, second)
	}
	b.handler = named("r-1", auth)
	misconfigured := b.copy()
	misconfigured.handler = named("r-1", core.Misconfigured(config, core.ErrInvalidConfig))
	for what, ask := range map[string]func(){
		"a panic":                     panicked,
		"a request that is refused":   func() { b.get("/auth/nowhere") },
		"a page that leads to itself": func() { misconfigured.get("/auth/signin?callbackUrl=/oops") },
		"an answer":                   func() { b.get("/auth/session") },
	} {
		if got := lines(ask); !slices.Equal(got, []string{"r-1"}) {
			t.Errorf("%s: IDs %q", what, got)
		}
	}
}
