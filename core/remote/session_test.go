package remote_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/internal/jwe"
	"github.com/edgeauth/edgeauth/core/remote"
)

// Both ways tell the same as the handler's own session route, for plain and chunked cookies.
func TestSession(t *testing.T) {
	t.Parallel()
	for _, way := range []struct {
		name   string
		config remote.Config
		asked  int32
	}{
		{"asked", remote.Config{}, 1},
		{"read", remote.Config{Secret: []string{secret}}, 0},
		{"read with a new secret", remote.Config{Secret: []string{"a newer secret of thirty-two characters", secret}}, 0},
	} {
		for _, size := range []int{0, 3000, 9000} {
			auth := handler(t, core.Config{})
			edge := &wire{Handler: auth}
			way.config.Transport = edge
			b := signedIn(t, auth, "Ada", strings.Repeat("x", size))
			session, err := newEdge(t, way.config).Session(b.request(http.MethodGet, "/page?x", ""))
			if err != nil || session == nil {
				t.Fatalf("%s, %d: %v, %v", way.name, size, session, err)
			}
			if session.User.Name != "Ada" || session.User.Email != "Ada@app.example" || len(session.User.Image) != size || session.User.ID != "" {
				t.Errorf("%s, %d: %s", way.name, size, toJSON(t, session))
			}
			if left := time.Until(session.Expires); left < 29*24*time.Hour || left > 31*24*time.Hour {
				t.Errorf("%s: the session ends in %v", way.name, left)
			}
			if got := edge.count.Load(); got != way.asked {
				t.Errorf("%s: the edge was asked %d times, want %d", way.name, got, way.asked)
			}
		}
	}
}

// Without a session cookie nobody is asked; a cookie that the edge can't read is signed out.
func TestSignedOut(t *testing.T) {
	t.Parallel()
	for _, secrets := range [][]string{nil, {secret}} {
		edge := &wire{Handler: handler(t, core.Config{})}
		e := newEdge(t, remote.Config{Transport: edge, Secret: secrets})
		for _, c := range []struct {
			cookie string
			asked  int32
		}{
			{"", 0},
			{"other=1; __Secure-authjs.csrf-token=x; authjs.session-tokens=x; __Secure-authjs.session-token.x=1; __Secure-authjs.session-token.200=1; __Secure-authjs.session-token.01=x", 0},
			{"__Secure-authjs.session-token=", 0},
			{"__Secure-authjs.session-token=nonsense", 1},
			{"authjs.session-token=of-the-time-before-https", 1},
		} {
			before := edge.count.Load()
			r := httptest.NewRequest(http.MethodGet, app, nil)
			r.Header.Set("Cookie", c.cookie)
			session, err := e.Session(r)
			if session != nil || err != nil || edge.count.Load()-before != c.asked {
				t.Errorf("%q: %v, %v after %d questions, want %d", c.cookie, session, err, edge.count.Load()-before, c.asked)
			}
		}
	}
}

// The edge learns the session cookies and nothing else of the browser.
func TestQuestion(t *testing.T) {
	t.Parallel()
	edge := &wire{Handler: http.NotFoundHandler()}
	e := newEdge(t, remote.Config{Transport: edge})
	r := httptest.NewRequest(http.MethodPost, app+"/page?code=1", strings.NewReader("body"))
	r.Header = http.Header{
		"Cookie":        {"a=1; __Secure-authjs.session-token.1=two;authjs.session-token=%20plain; __Host-authjs.csrf-token=c", `__Secure-authjs.session-token.0="one"; b=2; __Secure-authjs.session-token.0=again; __Host-authjs.session-token=h`},
		"Authorization": {"Bearer secret"}, "X-Forwarded-Host": {"evil.example"}, "Origin": {"https://evil.example"}, "X-Auth-Return-Redirect": {"1"},
	}
	if _, err := e.Session(r); !errors.Is(err, remote.ErrAnswer) {
		t.Fatal(err)
	}
	q := edge.asked[0]
	if q.Method != http.MethodGet || q.URL.String() != app+"/auth/session" || q.Body != nil {
		t.Errorf("asked %s %s", q.Method, q.URL)
	}
	want := http.Header{
		"Accept": {"application/json"}, "Edgeauth-Question": {"1"},
		"Cookie": {`__Secure-authjs.session-token.1=two; authjs.session-token=%20plain; __Secure-authjs.session-token.0="one"; __Host-authjs.session-token=h`},
	}
	if toJSON(t, q.Header) != toJSON(t, want) {
		t.Errorf("the question's header is\n%v, want\n%v", q.Header, want)
	}
}

// A handler without AUTH_URL that is asked by another name than its public one answers for the
// public one.
func TestInternalURL(t *testing.T) {
	t.Parallel()
	auth := handler(t, core.Config{Getenv: environment(), BasePath: "/auth", TrustHost: core.On})
	edge := &wire{Handler: auth}
	b := signedIn(t, auth, "Ada", "")
	if b.jar["__Secure-authjs.session-token"] == "" {
		t.Fatalf("the cookies are %v", names(b.jar))
	}
	e := newEdge(t, remote.Config{InternalURL: "http://edge.internal:8787/auth/", Transport: edge})
	session, err := e.Session(b.request(http.MethodGet, "/", ""))
	if err != nil || session == nil || edge.asked[0].URL.String() != "http://edge.internal:8787/auth/session" {
		t.Errorf("%v, %v from %v", session, err, edge.asked[0].URL)
	}
}

// FromToken sees the claims of the token, and its error is no "signed out".
func TestFromToken(t *testing.T) {
	t.Parallel()
	auth := handler(t, core.Config{})
	refused := errors.New("no such tenant")
	edge := &wire{Handler: auth}
	e := newEdge(t, remote.Config{Transport: edge, Secret: []string{secret}, FromToken: func(token core.JWT, session *core.Session) error {
		session.User.ID = token.String("sub")
		if session.User.Name == "Eve" {
			return refused
		}
		return nil
	}})
	if session, err := e.Session(signedIn(t, auth, "Ada", "").request("GET", "/", "")); err != nil || session.User.ID != "Ada" {
		t.Errorf("%v, %v", session, err)
	}
	if session, err := e.Session(signedIn(t, auth, "Eve", "").request("GET", "/", "")); !errors.Is(err, refused) || session != nil || edge.count.Load() > 0 {
		t.Errorf("%v, %v", session, err)
	}
}

const (
	cookieName = "__Secure-authjs.session-token"
	good       = `{"user":{"name":"Ada"},"expires":"2999-01-31T12:00:00.000Z"}`
)

func answering(status int, contentType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

func withCookie(value string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, app+"/page", nil)
	r.Header.Set("Cookie", cookieName+"="+value)
	return r
}

// A question that comes back to an app is not asked again.
func TestQuestionOfOurOwn(t *testing.T) {
	t.Parallel()
	edge := &wire{}
	for _, path := range []string{"/elsewhere/session", "/auth/session"} {
		r := withCookie("x")
		r.URL.Path = path
		if path == "/elsewhere/session" {
			r.Header.Set("Edgeauth-Question", "1")
		}
		if session, err := newEdge(t, remote.Config{Transport: edge}).Session(r); session != nil || !errors.Is(err, remote.ErrNotMounted) || edge.count.Load() > 0 {
			t.Errorf("%s: %v, %v", path, session, err)
		}
	}
}

// What is not the answer of a session route is an error, whatever its body says.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const mime = "application/json"
	for _, c := range []struct {
		name string
		edge http.Handler
		want remote.Kind // "": a session
	}{
		{"session", answering(200, mime, good), ""},
		{"charset", answering(200, "application/json; charset=utf-8", " "+good+"\n"), ""},
		{"of 128 KiB", answering(200, mime, good+strings.Repeat(" ", 128<<10-len(good))), ""},
		{"one byte more", answering(200, mime, good+strings.Repeat(" ", 128<<10-len(good)+1)), remote.ErrAnswer},
		{"session with status 201", answering(201, mime, good), remote.ErrAnswer},
		{"session with status 404", answering(404, mime, good), remote.ErrAnswer},
		{"session with status 500", answering(500, mime, good), remote.ErrDown},
		{"null with status 503", answering(503, mime, "null"), remote.ErrDown},
		{"too many requests", answering(429, mime, "null"), remote.ErrDown},
		{"misconfigured", answering(500, mime, `{"message":"There was a problem with the server configuration."}`), remote.ErrDown},
		{"message with status 200", answering(200, mime, `{"message":"There was a problem with the server configuration."}`), remote.ErrAnswer},
		{"bad request", answering(400, mime, `"Bad request."`), remote.ErrAnswer},
		{"redirect", http.RedirectHandler("/auth/error", 302), remote.ErrAnswer},
		{"page of the app", answering(200, "text/html", "<!doctype html>"), remote.ErrAnswer},
		{"session as text", answering(200, "text/plain", good), remote.ErrAnswer},
		{"no type", answering(200, "", good), remote.ErrAnswer},
		{"empty object", answering(200, mime, `{}`), remote.ErrAnswer},
		{"user only", answering(200, mime, `{"user":{"name":"Ada"}}`), remote.ErrAnswer},
		{"bad time", answering(200, mime, `{"user":{},"expires":"soon"}`), remote.ErrAnswer},
		{"time as a number", answering(200, mime, `{"user":{},"expires":1}`), remote.ErrAnswer},
		{"user as text", answering(200, mime, `{"user":"Ada","expires":"2999-01-31T12:00:00Z"}`), remote.ErrAnswer},
		{"list", answering(200, mime, `[`+good+`]`), remote.ErrAnswer},
		{"true", answering(200, mime, `true`), remote.ErrAnswer},
		{"false", answering(200, mime, `false`), remote.ErrAnswer},
		{"nothing", answering(200, mime, ``), remote.ErrAnswer},
		{"two values", answering(200, mime, good+good), remote.ErrAnswer},
		{"cut off", answering(200, mime, good[:20]), remote.ErrAnswer},
		{"bad UTF-8", answering(200, mime, `{"user":{"name":"`+"\xff"+`"},"expires":"2999-01-31T12:00:00Z"}`), remote.ErrAnswer},
	} {
		session, err := newEdge(t, remote.Config{Transport: &wire{Handler: c.edge}}).Session(withCookie("x"))
		if c.want == "" {
			if err != nil || session == nil || session.User.Name != "Ada" {
				t.Errorf("%s: %v, %v", c.name, session, err)
			}
			continue
		}
		if session != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, session, err, c.want)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type failingBody struct{ err error }

func (b failingBody) Read([]byte) (int, error) { return 0, b.err }
func (b failingBody) Close() error             { return nil }

// What keeps the edge from answering has a kind; no error has the cookie in it.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	cut := func(err error) http.RoundTripper {
		return roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: failingBody{err}}, nil
		})
	}
	for _, c := range []struct {
		name      string
		transport http.RoundTripper
		want      remote.Kind
	}{
		{"refused", roundTripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }), remote.ErrDown},
		{"cut off", cut(io.ErrUnexpectedEOF), remote.ErrDown},
		{"no header in time", roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}), remote.ErrSlow},
		{"no body in time", cut(context.DeadlineExceeded), remote.ErrSlow},
	} {
		for _, secrets := range [][]string{nil, {"the secret of some other site, quite"}} {
			e := newEdge(t, remote.Config{Transport: c.transport, Timeout: time.Millisecond, Secret: secrets})
			session, err := e.Session(withCookie("canary"))
			if session != nil || !errors.Is(err, c.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: %v, %v, want %v", c.name, session, err, c.want)
			}
			if errors.Is(err, remote.ErrSecret) != (secrets != nil) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if session, err := newEdge(t, remote.Config{}).Session(withCookie("x").WithContext(ctx)); session != nil || !errors.Is(err, remote.ErrDown) {
		t.Errorf("a browser that has gone: %v, %v", session, err)
	}
}

// token seals claims as the edge would.
func token(t testing.TB, secret, claims string) string {
	t.Helper()
	sealed, err := jwe.NewRing([]string{secret}, cookieName).Seal([]byte(claims))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// A token that is not plainly a session is the edge's to judge. So nobody is locked out by an
// old cookie, and a wrong configuration has a name.
func TestJudgement(t *testing.T) {
	t.Parallel()
	claims := func(iat, exp time.Duration) string {
		now := time.Now()
		return toJSON(t, map[string]any{"name": "Ada", "iat": now.Add(iat).Unix(), "exp": now.Add(exp).Unix()})
	}
	const day = 24 * time.Hour
	session, null, down := answering(200, "application/json", good), answering(200, "application/json", "null"), answering(503, "application/json", "null")
	for _, c := range []struct {
		name, token string
		edge        http.Handler // nil: must not be asked
		want        error        // nil: none
		signedIn    bool
		warns       string
	}{
		{"fine", token(t, secret, claims(-day, day)), nil, nil, true, ""},
		{"without an end", token(t, secret, `{"name":"Ada"}`), nil, nil, true, ""},
		{"end in the year 300000", token(t, secret, `{"name":"Ada","exp":9e12}`), nil, nil, true, ""},
		{"our clock is 10 minutes behind", token(t, secret, claims(10*time.Minute, day)), nil, nil, true, ""},
		{"our clock is 10 minutes ahead", token(t, secret, claims(-day, -9*time.Minute)), session, nil, true, "clock"},
		{"expired a moment ago", token(t, secret, claims(-day, -9*time.Minute)), null, nil, false, ""},
		{"expired a moment ago, edge down", token(t, secret, claims(-day, -9*time.Minute)), down, remote.ErrDown, false, ""},
		{"expired", token(t, secret, claims(-2*day, -day)), nil, nil, false, ""},
		{"another secret", token(t, "the secret of some other site, quite", claims(-day, day)), session, remote.ErrSecret, false, ""},
		{"old secret", token(t, "the secret of some other site, quite", claims(-day, day)), null, nil, false, ""},
		{"another secret, edge down", token(t, "the secret of some other site, quite", claims(-day, day)), down, remote.ErrSecret, false, ""},
		{"database session", "0b9f1f6e-3c55-4d1e-8d62-5f1f7ad8a8a1", session, remote.ErrSecret, false, ""},
		{"forged", token(t, secret, claims(-day, day))[:200] + "A" + token(t, secret, claims(-day, day))[201:], null, nil, false, ""},
		{"no object", token(t, secret, `[]`), null, nil, false, ""},
	} {
		edge := &wire{Handler: c.edge}
		var warned []string
		log := quiet()
		log.Warn = func(msg string, _ ...any) { warned = append(warned, msg) }
		e := newEdge(t, remote.Config{Transport: edge, Secret: []string{secret}, Logger: log})
		got, err := e.Session(withCookie(c.token))
		if (got != nil) != c.signedIn || c.want == nil && err != nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		if errors.Is(err, remote.ErrSecret) != (c.want == remote.ErrSecret) {
			t.Errorf("%s: %v", c.name, err)
		}
		if asked := edge.count.Load() > 0; asked != (c.edge != nil) {
			t.Errorf("%s: asked: %v", c.name, asked)
		}
		if strings.Join(warned, " ") != c.warns {
			t.Errorf("%s: warned of %q", c.name, warned)
		}
		if got != nil {
			toJSON(t, got)
		}
	}
}

// A bearer token is for [core.TokenReader]; a cookie is what browsers hold.
func TestBearerTokenIsNoSession(t *testing.T) {
	t.Parallel()
	edge := &wire{}
	for _, secrets := range [][]string{nil, {secret}} {
		r := httptest.NewRequest(http.MethodGet, app, nil)
		r.Header.Set("Authorization", "Bearer "+token(t, secret, `{"name":"Ada"}`))
		if session, err := newEdge(t, remote.Config{Transport: edge, Secret: secrets}).Session(r); session != nil || err != nil {
			t.Errorf("%v, %v", session, err)
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []remote.Config{
		{}, {URL: "/auth"}, {URL: "app.example/auth"}, {URL: "ftp://app.example/auth"}, {URL: app + "/auth?x"}, {URL: app + "/auth#x"}, {URL: "https://user@app.example/auth"},
		{URL: app, Origin: "app.example"}, {URL: app, Origin: app + "/"}, {URL: app, Origin: "ftp://app.example"},
		{URL: app, InternalURL: "edge"}, {URL: app, InternalURL: "http://edge?x"},
		{URL: app, Secret: []string{}}, {URL: app, Secret: []string{secret, ""}},
		{URL: app, CookieName: "a b"}, {URL: app, CookieName: "__Secure-"}, {URL: app, CookieName: "a;b"},
		{URL: app, SignInPage: "signin"}, {URL: app, SignInPage: "//evil.example"}, {URL: app, SignInPage: `/\evil.example`}, {URL: app, SignInPage: "javascript:x"}, {URL: app, SignInPage: "/a#b"},
		{URL: app, Timeout: -1}, {URL: app, CacheEntries: -1},
	} {
		if e, err := remote.New(c); e != nil || !errors.Is(err, remote.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	var known *remote.Error
	_, err := remote.New(remote.Config{})
	if !errors.As(err, &known) || !strings.HasPrefix(err.Error(), "remote: InvalidConfig: Config.URL") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"sid", "__Host-sid", "__Secure-sid"} {
		edge := &wire{Handler: answering(200, "application/json", good)}
		e := newEdge(t, remote.Config{CookieName: name, Transport: edge})
		r := httptest.NewRequest(http.MethodGet, app, nil)
		all := []string{"sid=1", "sid.0=1", "__Host-sid.1=1", "__Secure-sid=1"}
		r.Header.Set("Cookie", strings.Join(slices.Concat(all, []string{"__Secure-authjs.session-token=1"}), "; "))
		if _, err := e.Session(r); err != nil || edge.asked[0].Header.Get("Cookie") != strings.Join(all, "; ") {
			t.Errorf("%s: %v, %q was forwarded", name, err, edge.asked[0].Header.Get("Cookie"))
		}
	}
}
