package core_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// What the userinfo endpoint of a plain OAuth provider says is believed if it is a JSON object
// of a successful answer, and no further (fact 79).
func TestUserinfo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		body   string
		user   string // the session's user as JSON would have it; empty: no session
	}{
		{"standard claims", 200, `{"sub":"1","name":"Jane","email":"Jane@Example.com","picture":"https://pic.example/j"}`, "email=jane@example.com image=https://pic.example/j name=Jane"},
		{"an id for a sub", 200, `{"id":42,"nickname":"jj"}`, "name=jj"},
		{"null before a nickname", 200, `{"id":42,"name":null,"nickname":"jj"}`, "name=jj"},
		{"another success", 201, `{"id":42,"name":"Jane"}`, "name=Jane"},
		{"401 with an error", 401, `{"error":"invalid_token"}`, ""},
		{"403 with a profile", 403, `{"id":42,"name":"Jane"}`, ""},
		{"302 with a profile", 302, `{"id":42,"name":"Jane"}`, ""},
		{"null", 200, `null`, ""},
		{"a list", 200, `[{"id":42}]`, ""},
		{"text", 200, `"Jane"`, ""},
		{"a number", 200, `42`, ""},
		{"two values", 200, `{"id":42}{}`, ""},
		{"an address that is a number", 200, `{"id":42,"email":7}`, ""},
		{"an address that is a list", 200, `{"id":42,"email":["a@b"]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newIDP()
			p.userinfo = func() (int, string) { return c.status, c.body }
			b := newBrowser(t, p.auth(t, p.hub()))
			a := p.signIn(b, "hub")
			if c.user == "" {
				a.wantError(t, configurationError)
				if b.hasSession() {
					t.Error("there is a session")
				}
				return
			}
			a.wantRedirect(t, site)
			user, _ := b.session()["user"].(map[string]any)
			var got []string
			for _, member := range []string{"email", "image", "name"} {
				if text, ok := user[member].(string); ok {
					got = append(got, member+"="+text)
				}
			}
			if strings.Join(got, " ") != c.user {
				t.Errorf("user %v, want %s", user, c.user)
			}
		})
	}
}

// The provider's answer at the callback: facts 70 to 74.
func TestProviderAnswers(t *testing.T) {
	t.Parallel()
	const rejected = "signin?error=OAuthCallbackError"
	for _, c := range []struct {
		name  string
		query string // appended to the honest answer
		drop  string // a parameter of the honest answer
		want  string // the error page; empty: success
	}{
		{"honest", "", "", ""},
		{"denied", "error=access_denied&error_description=%3Cscript%3E", "code", rejected},
		{"denied with a code", "error=access_denied", "", rejected},
		{"an empty error", "error=", "", ""},
		{"no code", "", "code", configurationError},
		{"an empty code", "code=", "", configurationError},
		{"an unknown code", "code=x", "", configurationError},
		{"JARM", "response=x", "", configurationError},
		{"an id_token", "id_token=x", "", configurationError},
		{"a token", "token=x", "", configurationError},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newIDP()
			b := newBrowser(t, p.auth(t, p.oidc()))
			u := p.start(b, "idp")
			path, query, _ := strings.Cut(p.approve(t, u), "?")
			if c.drop != "" {
				query = "x=y"
			}
			a := b.get(path + "?" + query + "&" + c.query)
			if c.want == "" {
				a.wantRedirect(t, site)
				return
			}
			a.wantError(t, c.want)
			if asked := p.count("POST /token"); b.hasSession() || asked > 0 && c.query != "code=x" {
				t.Error("a session, or a token request")
			}
		})
	}
	t.Run("POST", func(t *testing.T) {
		t.Parallel()
		p := newIDP()
		b := newBrowser(t, p.auth(t, p.oidc()))
		callback := p.approve(t, p.start(b, "idp"))
		b.send(http.MethodPost, callback, formType(), "code=x").wantRedirect(t, site)
	})
}

// The token endpoint's answer: RFC 6749, section 5.1, and fact 76.
func TestTokenAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, member string
		value        any
		ok           bool
	}{
		{"no access token", "access_token", nil, false},
		{"an empty access token", "access_token", "", false},
		{"an access token that is no text", "access_token", 1, false},
		{"no token type", "token_type", nil, false},
		{"another token type", "token_type", "mac", false},
		{"a token type in capitals", "token_type", "BEARER", true},
		{"a refresh token that is no text", "refresh_token", 1, false},
		{"an empty refresh token", "refresh_token", "", false},
		{"a scope that is a list", "scope", []string{"openid"}, false},
		{"an empty scope", "scope", "", true},
		{"no lifetime", "expires_in", nil, true},
		{"a lifetime as text", "expires_in", "3600", true},
		{"a lifetime that is no number", "expires_in", "soon", false},
		{"a negative lifetime", "expires_in", -1, false},
		{"an endless lifetime", "expires_in", "1e300", false},
		{"an unknown member", "x", map[string]any{"y": 1}, true},
	} {
		p := newIDP()
		p.tokens = func(answer map[string]any) {
			if answer[c.member] = c.value; c.value == nil {
				delete(answer, c.member)
			}
		}
		b := newBrowser(t, p.auth(t, p.oidc()))
		if a := p.signIn(b, "idp"); c.ok {
			a.wantRedirect(t, site)
		} else {
			a.wantError(t, configurationError)
		}
		if b.hasSession() != c.ok {
			t.Errorf("%s: session %v", c.name, b.hasSession())
		}
	}
}

// Profile makes the user, and sees the tokens. Its ID is the account's.
func TestProfileFunction(t *testing.T) {
	t.Parallel()
	p := newIDP()
	var account *core.Account
	provider := p.hub()
	provider.Profile = func(_ context.Context, profile core.Profile, tokens *core.Account) (*core.User, error) {
		if tokens.AccessToken != "access-token" || tokens.TokenType != "bearer" || tokens.ExpiresIn != 3600 || tokens.ExpiresAt == 0 {
			t.Errorf("tokens %+v", tokens)
		}
		return &core.User{ID: "account-" + profile.String("sub"), Name: "From Profile"}, nil
	}
	var user *core.User
	auth := newAuth(t, core.Config{
		Providers: []core.Provider{provider}, Transport: p,
		Callbacks: core.Callbacks{SignIn: func(_ context.Context, s core.SignInParams) (core.Verdict, error) {
			user, account = s.User, s.Account
			return core.Allow, nil
		}},
	})
	b := newBrowser(t, auth)
	p.signIn(b, "hub").wantRedirect(t, site)
	if b.user() != "From Profile" || account.ProviderAccountID != "account-user-1" || user.ID == "account-user-1" || len(user.ID) != 36 {
		t.Errorf("user %+v, account %+v", user, account)
	}

	for name, profile := range map[string]func() (*core.User, error){
		"no user":  func() (*core.User, error) { return nil, nil },
		"an error": func() (*core.User, error) { return nil, errors.New("no") },
	} {
		provider.Profile = func(context.Context, core.Profile, *core.Account) (*core.User, error) { return profile() }
		var log journal
		b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{provider}, Transport: p, Logger: log.logger()}))
		p.signIn(b, "hub").wantError(t, configurationError)
		if b.hasSession() || !log.has(core.ErrOAuthProfileParse) {
			t.Errorf("%s: %s", name, log.text())
		}
	}
}
