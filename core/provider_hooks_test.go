package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// ConformToken sees every answer of the token endpoint as it came, and what it gives is
// checked as if the provider had said so.
func TestConformToken(t *testing.T) {
	t.Parallel()
	const honest = `{"access_token":"access-token","token_type":"bearer"}`
	for _, c := range []struct {
		name         string
		status       int
		body         string
		conform      func(status int, body []byte) (int, []byte, error)
		ok           bool
		called, logs string
	}{
		{"another status", 201, honest, func(_ int, body []byte) (int, []byte, error) { return 200, body, nil }, true, `201 ` + honest, ""},
		{"another form", 200, "access_token=access-token", func(status int, _ []byte) (int, []byte, error) { return status, []byte(honest), nil }, true, "200 access_token=access-token", ""},
		{"an error that is told as success", 200, `{"ok":false,"error":"bad_code"}`, func(_ int, body []byte) (int, []byte, error) { return 400, body, nil }, false, `200 {"ok":false,"error":"bad_code"}`, "bad_code"},
		{"an error of its own", 200, honest, func(int, []byte) (int, []byte, error) { return 0, nil, errors.New("can't mend it") }, false, "200 " + honest, "can't mend it"},
		{"not mended", 200, `{"access_token":"x"}`, func(status int, body []byte) (int, []byte, error) { return status, body, nil }, false, `200 {"access_token":"x"}`, "token_type"},
		{"mended to nothing", 200, honest, func(int, []byte) (int, []byte, error) { return 200, nil, nil }, false, "200 " + honest, "JSON"},
		{"an answer that is an error", 400, `{"error":"invalid_grant"}`, func(status int, body []byte) (int, []byte, error) { return status, body, nil }, false, `400 {"error":"invalid_grant"}`, "invalid_grant"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newIDP()
			p.transport = func(r *http.Request) (*http.Response, bool, error) {
				return respond(c.status, c.body), r.URL.Path == "/token", nil
			}
			var called []string
			provider := p.hub()
			provider.ConformToken = func(ctx context.Context, status int, body []byte) (int, []byte, error) {
				if ctx == nil {
					t.Error("no context")
				}
				called = append(called, http.StatusText(status), string(body))
				return c.conform(status, body)
			}
			var log journal
			b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{provider}, Transport: p, Logger: log.logger()}))
			a := p.signIn(b, "hub")
			status, body, _ := strings.Cut(c.called, " ")
			if len(called) != 2 || called[0] != http.StatusText(c.status) || called[1] != body || !strings.HasPrefix(status, "2") != (c.status >= 400) {
				t.Errorf("called with %q", called)
			}
			if b.hasSession() != c.ok || !c.ok && (!log.has(core.ErrCallbackRoute) || !strings.Contains(log.text(), c.logs)) {
				t.Errorf("%d %q, log %s", a.status, a.location(), log.text())
			}
		})
	}
}

// RequestUserInfo gets what it needs to ask in its own way, and what it gives is the profile.
func TestRequestUserInfo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		profile core.Profile
		err     error
		user    string
	}{
		{"a profile", core.Profile{"id": json.Number("7"), "name": "Jo"}, nil, "Jo"},
		{"no profile", nil, nil, ""},
		{"an error", core.Profile{"name": "Jo"}, errors.New("the API is down"), ""},
		{"another subject than the ID token's", core.Profile{"sub": "another", "name": "Jo"}, nil, ""},
		{"the subject of the ID token", core.Profile{"sub": "user-1", "name": "Jo"}, nil, "Jo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newIDP()
			provider := p.hub()
			provider.Issuer = p.issuer
			p.isOIDC = true // it sends an ID token, which a plain OAuth client need not ask for
			var got core.UserInfoRequest
			provider.RequestUserInfo = func(_ context.Context, r core.UserInfoRequest) (core.Profile, error) {
				got = r
				return c.profile, c.err
			}
			b := newBrowser(t, p.auth(t, provider))
			p.signIn(b, "hub")
			if b.user() != c.user {
				t.Errorf("%q is signed in", b.user())
			}
			if got.URL != p.issuer+"/userinfo" || got.Tokens.AccessToken != "access-token" || got.ClientID != "client" || got.ClientSecret != p.clientSecret || got.Transport != http.RoundTripper(p) {
				t.Errorf("asked with %+v", got)
			}
			if p.count("GET /userinfo") > 0 {
				t.Error("the userinfo endpoint was asked as well")
			}
		})
	}
}

// OpenID Connect Core 1.0, section 5.3: the profile of the userinfo endpoint, about the ID
// token's subject and no other.
func TestUserInfoProfile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		body   string
		idSub  any
		user   string
	}{
		{"the same subject", 200, `{"sub":"user-1","name":"From Userinfo"}`, "user-1", "From Userinfo"},
		{"another subject", 200, `{"sub":"user-2","name":"Eve"}`, "user-1", ""},
		{"no subject", 200, `{"name":"Eve"}`, "user-1", ""},
		{"a null subject", 200, `{"sub":null,"name":"Eve"}`, "user-1", ""},
		{"a subject of another type", 200, `{"sub":1,"name":"Eve"}`, "1", ""},
		{"401", 401, `{"sub":"user-1","name":"Eve"}`, "user-1", ""},
		{"500", 500, `{"sub":"user-1","name":"Eve"}`, "user-1", ""},
		{"no JSON", 200, `eyJhbGciOiJub25lIn0.e30.`, "user-1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newIDP()
			p.claims = func(claims map[string]any) { claims["sub"], claims["name"] = c.idSub, "From the ID token" }
			p.userinfo = func() (int, string) { return c.status, c.body }
			provider := p.oidc()
			provider.UserInfoProfile = true
			b := newBrowser(t, p.auth(t, provider))
			if a := p.signIn(b, "idp"); c.user == "" {
				a.wantError(t, configurationError)
			}
			if b.user() != c.user || p.count("GET /userinfo") != 1 {
				t.Errorf("%q is signed in, visits %v", b.user(), p.visits)
			}
		})
	}
	// Without it the endpoint is not asked at all.
	p := newIDP()
	p.signIn(newBrowser(t, p.auth(t, p.oidc())), "idp").wantRedirect(t, site)
	if n := p.count("GET /userinfo"); n != 0 {
		t.Errorf("the userinfo endpoint was asked %d times", n)
	}
}

// What the token endpoint said becomes the account: RFC 6749, section 5.1.
func TestAccountOfTokens(t *testing.T) {
	t.Parallel()
	rsaKey()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name   string
			tokens map[string]any // nil removes a member
			want   core.Account
		}{
			{"all of it",
				map[string]any{"token_type": "BeArEr", "expires_in": 3600, "refresh_token": "r", "scope": "a b", "session_state": "s", "x": "y", "n": 1},
				core.Account{TokenType: "bearer", ExpiresIn: 3600, ExpiresAt: 3600, RefreshToken: "r", Scope: "a b", SessionState: "s", Extra: map[string]any{"x": "y", "n": json.Number("1")}}},
			{"the least", map[string]any{"expires_in": nil}, core.Account{TokenType: "bearer", Extra: map[string]any{}}},
			{"DPoP", map[string]any{"token_type": "DPoP", "expires_in": nil}, core.Account{TokenType: "dpop", Extra: map[string]any{}}},
			{"a lifetime as text", map[string]any{"expires_in": "60"}, core.Account{TokenType: "bearer", ExpiresIn: 60, ExpiresAt: 60, Extra: map[string]any{}}},
			{"a lifetime of nothing", map[string]any{"expires_in": 0}, core.Account{TokenType: "bearer", Extra: map[string]any{}}},
			{"a broken lifetime", map[string]any{"expires_in": 59.9}, core.Account{TokenType: "bearer", ExpiresIn: 59, ExpiresAt: 59, Extra: map[string]any{}}},
			{"an end of its own", map[string]any{"expires_at": 12345, "expires_in": 60}, core.Account{TokenType: "bearer", ExpiresIn: 60, ExpiresAt: 60, Extra: map[string]any{"expires_at": json.Number("12345")}}},
		} {
			p := newIDP()
			p.tokens = func(answer map[string]any) {
				for name, value := range c.tokens {
					if answer[name] = value; value == nil {
						delete(answer, name)
					}
				}
			}
			var got core.Account
			auth := newAuth(t, core.Config{
				Providers: []core.Provider{p.hub()}, Transport: p,
				Callbacks: core.Callbacks{SignIn: func(_ context.Context, s core.SignInParams) (core.Verdict, error) {
					got = *s.Account
					return core.Allow, nil
				}},
			})
			p.signIn(newBrowser(t, auth), "hub").wantRedirect(t, site)
			want := c.want
			if want.ExpiresAt != 0 {
				want.ExpiresAt += time.Now().Unix()
			}
			want.Provider, want.ProviderAccountID, want.Type, want.AccessToken = "hub", "user-1", core.TypeOAuth, "access-token"
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, want %+v", c.name, got, want)
			}
		}
	})
}

// Account chooses what is stored and told, never whose account it is.
func TestAccountCallback(t *testing.T) {
	t.Parallel()
	p := newIDP()
	p.tokens = func(answer map[string]any) { answer["refresh_token"], answer["x"] = "refresh", "y" }
	var given, told core.Account
	var inJWT *core.Account
	provider := p.oidc()
	provider.Account = func(a core.Account) core.Account {
		given = a
		return core.Account{
			AccessToken: "chosen", Scope: "chosen", ExpiresAt: 7, Extra: map[string]any{"tenant": "t"},
			Provider: "credentials", ProviderAccountID: "admin", Type: core.TypeEmail, UserID: "admin",
		}
	}
	store := adaptertest.Memory()
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{provider}, Transport: p, Adapter: store, Session: core.SessionOptions{Strategy: core.StrategyJWT},
		Callbacks: core.Callbacks{JWT: func(_ context.Context, j core.JWTParams) (core.JWT, error) {
			if j.Account != nil {
				inJWT = j.Account
			}
			return j.Token, nil
		}},
		Events: core.Events{LinkAccount: func(_ context.Context, e core.LinkAccountEvent) error { told = *e.Account; return nil }},
	})
	b := newBrowser(t, auth)
	p.signIn(b, "idp").wantRedirect(t, site)
	user, _ := store.GetUserByAccount(t.Context(), "idp", "user-1")
	if user == nil {
		t.Fatal("the account is not stored under its own ids")
	}
	stored, _ := store.GetAccount(t.Context(), "user-1", "idp")
	want := core.Account{
		Provider: "idp", ProviderAccountID: "user-1", Type: core.TypeOIDC, UserID: user.ID,
		AccessToken: "chosen", Scope: "chosen", ExpiresAt: 7, Extra: map[string]any{"tenant": "t"},
	}
	if stored == nil || !reflect.DeepEqual(*stored, want) || !reflect.DeepEqual(told, want) {
		t.Errorf("stored %+v, told %+v, want %+v", stored, told, want)
	}
	if given.RefreshToken != "refresh" || given.Extra["x"] != "y" || given.UserID != user.ID {
		t.Errorf("Account was given %+v", given)
	}
	// The JWT callback gets the tokens of the sign-in, whatever is stored.
	if inJWT == nil || inJWT.AccessToken != "access-token" || inJWT.RefreshToken != "refresh" || inJWT.Extra["x"] != "y" {
		t.Errorf("the JWT callback was given %+v", inJWT)
	}
	if foreign, _ := store.GetAccount(t.Context(), "admin", "credentials"); foreign != nil {
		t.Errorf("stored as %+v", foreign)
	}
}
