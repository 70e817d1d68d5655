package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"index/suffixarray"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// overheard keeps every text that leaves the handler, other than cookies and the requests to
// the provider, and every secret that it must not hold.
type overheard struct {
	mu      sync.Mutex
	texts   map[string]map[string]bool // by where they were found
	secrets map[string]string          // by value, what it is
}

func (o *overheard) text(where, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.texts[where] == nil {
		o.texts[where] = map[string]bool{}
	}
	o.texts[where][text] = true
}

func (o *overheard) secret(what, value string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(value) >= 8 {
		o.secrets[value] = what
	}
}

// canary is a secret that is easily told from everything else.
func (o *overheard) canary(what string) string {
	value := "canary-" + strings.ReplaceAll(what, " ", "-") + "-0123456789abcdef0123456789abcdef"
	o.secret(what, value)
	return value
}

// wantSilence expects no secret in any text. State and nonce are in the URLs that the protocol
// wants them in, and so is the code in what a redirect proxy passes on.
func (o *overheard) wantSilence(t *testing.T) {
	t.Helper()
	for where, texts := range o.texts {
		all := []byte(strings.Join(slices.Collect(maps.Keys(texts)), "\n"))
		index := suffixarray.New(all)
		for value, what := range o.secrets {
			if where == "the authorization URL" && (what == "the state" || what == "the nonce") || where == "the relayed answer" && (what == "the state" || what == "code") {
				continue
			}
			for _, at := range index.Lookup([]byte(value), 1) {
				t.Errorf("%s is in %s: %s", what, where, all[max(0, at-100):at+len(value)])
			}
		}
	}
}

// listen is a handler that gives Auth's answers, overheard.
func (o *overheard) listen(auth *core.Auth, provider string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resp := auth.Handle(r)
		if resp.Err != nil {
			o.text("Response.Err", resp.Err.Error())
		}
		o.text("a body", string(resp.Body))
		for name, values := range resp.Header {
			for _, value := range values {
				switch {
				case name == "Location" && strings.HasPrefix(value, provider+"/authorize?"):
					// The protocol wants state, nonce and challenge there. They are no secrets to the browser.
					u, _ := url.Parse(value)
					o.text("the authorization URL", u.Query().Encode())
				case name == "Location" && strings.HasPrefix(value, previewSite+"/auth/callback/"):
					o.text("the relayed answer", value)
				case name != "Set-Cookie":
					o.text("the header "+name, value)
				default:
					cookie, err := http.ParseSetCookie(value)
					if err != nil {
						continue
					}
					switch value := cookie.Value; cookie.Name {
					case csrfCookie:
						_, hash, _ := strings.Cut(value, "%7C") // the token itself is meant to be seen
						o.secret("the CSRF cookie's hash", hash)
					case callbackURLCookie:
					default:
						o.secret("the cookie "+cookie.Name, value)
					}
				}
			}
		}
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.Status)
		_, _ = w.Write(resp.Body)
	})
}

// A7 (CVE-2022-31186) and P33: whatever happens, no secret, token, code, password or verifier is
// in a log line at any level, an error's text, a page, a JSON answer or a URL.
func TestSilence(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			bothWays(t, func(t *testing.T, memory func() *core.Adapter) { listenToEverything(t, memory(), strategy) })
		})
	}
}

// listenToEverything runs every flow, honest and failing, and then looks for what must not be heard.
func listenToEverything(t *testing.T, adapter *core.Adapter, strategy core.Strategy) {
	o := &overheard{texts: map[string]map[string]bool{}, secrets: map[string]string{}}
	canary := o.canary
	p := newIDP()
	p.clientSecret = canary("client secret")
	tell := func(answer map[string]any) {
		for _, name := range []string{"refresh_token", "session_state", "unknown_token"} {
			answer[name] = canary(name)
		}
		if token, ok := answer["id_token"].(string); ok {
			o.secret("id_token", token)
			for _, part := range strings.Split(token, ".")[1:] {
				o.secret("a part of the id_token", part)
			}
		}
	}
	p.tokens = tell
	o.secret("access token", "access-token")
	record := func(r *http.Request) {
		if r.URL.Path != "/token" {
			return
		}
		raw, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(raw)))
		form, _ := url.ParseQuery(string(raw))
		o.secret("code verifier", form.Get("code_verifier"))
		o.secret("the Authorization header", strings.TrimPrefix(r.Header.Get("Authorization"), "Basic "))
	}
	p.transport = func(r *http.Request) (*http.Response, bool, error) { record(r); return nil, false, nil }

	var log journal
	var mails mailbox
	store := watch(adapter)
	credentials := core.Credentials{Authorize: func(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
		switch fields["name"] {
		case "error":
			return nil, errors.New("the database said no")
		case "panic":
			return fields["none"].(*core.User), nil
		case "nobody":
			return nil, nil
		}
		return &core.User{ID: "1", Name: "Ada"}, nil
	}}
	config := core.Config{
		Secret:    []string{canary("newest secret"), canary("oldest secret")},
		Providers: []core.Provider{p.oidc(core.CheckState, core.CheckPKCE, core.CheckNonce), p.hub(core.CheckState, core.CheckPKCE), mails.provider(), credentials},
		Transport: p, Adapter: &store.Adapter, Logger: log.logger(), Debug: true, ServerTiming: true,
		Session: core.SessionOptions{Strategy: strategy, GenerateSessionToken: func() string { return canary("session token") }},
	}
	auth := newAuth(t, config)
	handler := o.listen(auth, p.issuer)

	everything := func() {
		for _, id := range []string{"idp", "hub"} {
			b := newBrowser(t, handler)
			if a := b.post("/auth/signin/" + id); !strings.HasPrefix(a.location(), p.issuer) {
				continue
			}
			u := p.start(b, id)
			o.secret("the state", u.Query().Get("state"))
			o.secret("the nonce", u.Query().Get("nonce"))
			callback := p.approve(t, u)
			_, query, _ := strings.Cut(callback, "?")
			given, _ := url.ParseQuery(query)
			o.secret("code", given.Get("code"))
			thief := newBrowser(t, handler)
			thief.get(callback)
			b.get(callback)
			b.get(callback)
			b.get(callback + "&error=access_denied&error_description=" + canary("error description"))
			b.get("/auth/session")
			b.send(http.MethodPost, "/auth/session", jsonType(), `{"csrfToken":"`+b.csrf()+`","data":{"x":1}}`)
			b.post("/auth/signout")
		}
		for _, name := range []string{"Ada", "nobody", "error", "panic"} {
			b := newBrowser(t, handler)
			b.post("/auth/callback/credentials", "name", name, "password", canary("password"))
			b.send(http.MethodPost, "/auth/callback/credentials", jsonType(), `{"password":"`+canary("password")+`",`)
			b.send(http.MethodPost, "/auth/callback/credentials", formType(), "password="+canary("password"))
			b.get("/auth/session")
			b.set(sessionCookie, canary("a bad cookie"))
			b.get("/auth/session")
			b.post("/auth/signout")
		}
		b := newBrowser(t, handler)
		b.post("/auth/signin/email", "email", "ada@example.com")
		b.post("/auth/signin/email", "email", canary("an address")+"@@example.com")
		if mails.count() > 0 {
			o.secret("the link's token", mails.mails[mails.count()-1].Token)
			b.get(mails.last(t) + "0")
			b.get(mails.last(t))
			b.get(mails.last(t))
		}
		for _, page := range []string{"signin", "signout", "error", "verify-request", "providers", "session/x"} {
			b.get("/auth/" + page)
		}
		b.send(http.MethodGet, "/auth/session?x="+canary("a query"), http.Header{"X-Request-Id": {canary("an ID") + "@example.com"}, "X-Custom": {canary("a header")}}, "")
		b.send(canary("a method"), "/auth/session", nil, "")
		direct := httptest.NewRequest(canary("a method"), site+"/?x="+canary("a query"), nil)
		direct.Header.Set("Cookie", b.cookieHeader())
		if resp, err := auth.Session(direct); err != nil {
			o.text("an error of Auth.Session", err.Error())
		} else {
			o.text("the header Server-Timing", resp.Header.Get("Server-Timing"))
		}
	}

	everything()
	// Then with everything that can go wrong at the provider …
	lies := []func(){
		func() {
			p.idToken = func(claims map[string]any) string {
				return compact(map[string]any{"alg": "RS256", "kid": "rsa-1"}, claims, signRS256(otherKey()))
			}
		},
		func() { p.claims = func(claims map[string]any) { claims["aud"] = "another" } },
		func() { p.claims = func(claims map[string]any) { claims["exp"] = 1 } },
		func() { p.claims = func(claims map[string]any) { claims["nonce"] = canary("a wrong nonce") } },
		func() { p.claims = func(claims map[string]any) { claims["at_hash"] = canary("at_hash") } },
		func() {
			p.claims = func(claims map[string]any) { claims["sub"] = []string{canary("a claim of the wrong type")} }
		},
		func() {
			p.claims = func(claims map[string]any) { claims["email"] = []string{canary("a claim of the wrong type")} }
		},
		func() { p.idToken = func(map[string]any) string { return canary("an opaque token") } },
		func() {
			p.idToken = func(map[string]any) string { return canary("x") + "." + canary("y") + "." + canary("z") }
		},
		func() {
			p.idToken = func(map[string]any) string {
				return base64url([]byte(`{"alg":"RS256"}`)) + "." + base64url([]byte(canary("no JSON"))) + ".AAAA"
			}
		},
		func() {
			p.tokens = func(answer map[string]any) {
				tell(answer)
				answer["access_token"], answer["token_type"] = canary("another access token"), canary("a token type")
			}
		},
		func() { p.userinfo = func() (int, string) { return 401, `{"x":"` + canary("userinfo") } },
		func() { p.userinfo = func() (int, string) { return 200, `["` + canary("userinfo") + `"]` } },
		func() {
			p.transport = func(r *http.Request) (*http.Response, bool, error) {
				record(r)
				if r.URL.Path != "/token" {
					return nil, false, nil
				}
				// A provider that repeats the request in its description of the error.
				raw, _ := io.ReadAll(r.Body)
				return respond(400, string(mustJSON(map[string]string{"error": "invalid_grant", "error_description": string(raw) + r.Header.Get("Authorization")}))), true, nil
			}
		},
		func() {
			p.transport = func(*http.Request) (*http.Response, bool, error) { return nil, true, errors.New("connection refused") }
		},
	}
	for _, lie := range lies {
		honest := p.conduct
		lie()
		everything()
		p.conduct = honest
	}
	// … and at the store.
	for _, method := range methodNames() {
		store.fail = failing(method, errors.New("the store is down"))
		everything()
		store.fail = func(name string) error {
			if name == method {
				panic("boom")
			}
			return nil
		}
		everything()
	}

	o.text("the log", log.text())
	o.wantSilence(t)
	wantTold(t, o, log.lines)
	if len(o.secrets) < 50 || len(o.texts["Response.Err"]) < 20 || len(log.lines) < 100 {
		t.Errorf("too little was overheard: %d secrets, %d errors, %d log lines", len(o.secrets), len(o.texts["Response.Err"]), len(log.lines))
	}
}

var (
	serverTiming    = regexp.MustCompile(`^total;dur=\d+\.\d, store;dur=\d+\.\d;desc="(1 call|\d+ calls)", provider;dur=\d+\.\d;desc="(1 call|\d+ calls)"$`)
	requestAnswered = regexp.MustCompile(`^debug request answered action[\w-]+method(GET|POST|other)(provider(idp|hub|email|credentials))?(status\d{3})?ms[\d.]+store_calls\d+store_ms[\d.]+provider_calls\d+provider_ms[\d.]+request[\w-]{36}$`)
)

// wantTold checks what is said at the end of each request: numbers, and names of the configuration.
func wantTold(t *testing.T, o *overheard, lines []string) {
	t.Helper()
	for header := range o.texts["the header Server-Timing"] {
		if !serverTiming.MatchString(header) {
			t.Errorf("Server-Timing: %s", header)
		}
	}
	answered := 0
	for _, line := range lines {
		if strings.Contains(line, "ada@example.com") {
			t.Errorf("an address is in the log: %s", line)
		}
		if strings.HasPrefix(line, "debug request answered ") {
			if answered++; !requestAnswered.MatchString(line) {
				t.Fatalf("logged %s", line)
			}
		}
	}
	if answered < 100 || len(o.texts["the header Server-Timing"]) == 0 {
		t.Errorf("too little was told: %d requests, headers %v", answered, o.texts["the header Server-Timing"])
	}
}

func mustJSON(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return raw
}
