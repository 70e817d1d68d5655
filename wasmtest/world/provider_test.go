package world_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/oauth2"

	"github.com/edgeauth/edgeauth/wasmtest/world"
)

// An app is a client of a provider, in steps.
type app struct {
	t        *testing.T
	provider *world.Provider
	config   oauth2.Config
	verifier string
}

func newApp(t *testing.T, p *world.Provider) *app {
	const issuer = "https://idp.example"
	return &app{t, p, oauth2.Config{
		ClientID: "id", ClientSecret: "secret", RedirectURL: "https://app.example/callback", Scopes: []string{"openid", "profile"},
		Endpoint: oauth2.Endpoint{AuthURL: issuer + "/authorize", TokenURL: issuer + "/token", AuthStyle: oauth2.AuthStyleInHeader},
	}, oauth2.GenerateVerifier()}
}

func (a *app) client() *http.Client {
	return &http.Client{
		Transport:     world.Hosts{"idp.example": a.provider},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// authorize gives what the person's browser brings back.
func (a *app) authorize(options ...oauth2.AuthCodeOption) (status int, answer url.Values) {
	a.t.Helper()
	resp, err := a.client().Get(a.config.AuthCodeURL("state", append([]oauth2.AuthCodeOption{oauth2.S256ChallengeOption(a.verifier)}, options...)...))
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		return resp.StatusCode, nil
	}
	if back.Host+back.Path != "app.example/callback" || back.Query().Get("state") != "state" || back.Query().Get("iss") != "https://idp.example" {
		a.t.Errorf("the browser is sent to %s", back)
	}
	return resp.StatusCode, back.Query()
}

func (a *app) exchange(code string, options ...oauth2.AuthCodeOption) (*oauth2.Token, string) {
	a.t.Helper()
	token, err := a.config.Exchange(withClient(a), code, append([]oauth2.AuthCodeOption{oauth2.VerifierOption(a.verifier)}, options...)...)
	return token, refusal(a.t, err)
}

func refusal(t *testing.T, err error) string {
	t.Helper()
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok && err != nil {
		t.Fatal(err)
	}
	if refused == nil {
		return ""
	}
	return refused.ErrorCode
}

func TestCodesAndTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newApp(t, &world.Provider{ClientID: "id", ClientSecret: "secret", Person: ada})
		_, answer := a.authorize()
		token, err := a.exchange(answer.Get("code"))
		if err != "" || token.RefreshToken == "" || token.Extra("id_token") == nil || time.Until(token.Expiry) != time.Hour {
			t.Fatalf("%+v, %s", token, err)
		}
		if _, err := a.exchange(answer.Get("code")); err != "invalid_grant" {
			t.Errorf("a code for the second time: %q", err)
		}
		if got := a.userinfo(token.AccessToken); got["sub"] != ada.ID || got["email"] != ada.Email {
			t.Errorf("userinfo: %v", got)
		}
		time.Sleep(time.Hour)
		if got := a.userinfo(token.AccessToken); got["error"] != "invalid_token" {
			t.Errorf("userinfo after an hour: %v", got)
		}
		renewed, err2 := a.config.TokenSource(withClient(a), &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
		if err2 != nil || a.userinfo(renewed.AccessToken)["sub"] != ada.ID || renewed.RefreshToken == token.RefreshToken {
			t.Errorf("%+v, %v", renewed, err2)
		}
		if _, err := a.config.TokenSource(withClient(a), &oauth2.Token{RefreshToken: token.RefreshToken}).Token(); refusal(t, err) != "invalid_grant" {
			t.Errorf("a refresh token for the second time: %v", err)
		}
		_, answer = a.authorize()
		time.Sleep(10 * time.Minute)
		if _, err := a.exchange(answer.Get("code")); err != "invalid_grant" {
			t.Errorf("a code after ten minutes: %q", err)
		}
		visits := a.provider.Visits()
		if first := visits[0]; first.Endpoint != world.Authorization || first.Params.Get("scope") != "openid profile" {
			t.Errorf("the first visit is %+v", first)
		}
		if second := visits[1]; second.Endpoint != world.TokenEndpoint || second.Method != "POST" || second.Params.Get("code_verifier") != a.verifier || second.Header.Get("Authorization") == "" {
			t.Errorf("the second visit is %+v", second)
		}
	})
}

func TestTheProviderIsStrict(t *testing.T) {
	t.Parallel()
	set := oauth2.SetAuthURLParam
	for name, c := range map[string]struct {
		ask, exchange []oauth2.AuthCodeOption
		change        func(a *app)
		after         func(a *app) // the authorization
		status        int
		want          string // the error, of either step
	}{
		"all right":              {status: 302},
		"a plain challenge":      {ask: []oauth2.AuthCodeOption{set("code_challenge_method", "plain")}, status: 302, want: "invalid_request"},
		"another response type":  {ask: []oauth2.AuthCodeOption{set("response_type", "token")}, status: 302, want: "unsupported_response_type"},
		"another client":         {change: func(a *app) { a.config.ClientID = "other" }, status: 400},
		"no redirect URI":        {change: func(a *app) { a.config.RedirectURL = "" }, status: 400},
		"a redirect URI unknown": {change: func(a *app) { a.provider.RedirectURIs = []string{"https://app.example/other"} }, status: 400},
		"nobody agrees":          {change: func(a *app) { a.provider.Person = world.Person{} }, status: 302, want: "access_denied"},
		"a wrong verifier":       {exchange: []oauth2.AuthCodeOption{oauth2.VerifierOption("wrong")}, status: 302, want: "invalid_grant"},
		"no verifier":            {exchange: []oauth2.AuthCodeOption{set("code_verifier", "")}, status: 302, want: "invalid_grant"},
		"a wrong secret":         {after: func(a *app) { a.config.ClientSecret = "wrong" }, status: 302, want: "invalid_client"},
		"two ways at once":       {exchange: []oauth2.AuthCodeOption{set("client_secret", "secret")}, status: 302, want: "invalid_client"},
		"the secret in the form": {after: func(a *app) { a.config.Endpoint.AuthStyle = oauth2.AuthStyleInParams }, status: 302},
		"another redirect URI":   {after: func(a *app) { a.config.RedirectURL += "/x" }, status: 302, want: "invalid_grant"},
		"another grant type":     {exchange: []oauth2.AuthCodeOption{set("grant_type", "password")}, status: 302, want: "unsupported_grant_type"},
		"an endpoint that fails": {after: func(a *app) { a.provider.Fail = map[world.Endpoint]int{world.TokenEndpoint: 503} }, status: 302, want: "server_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, &world.Provider{ClientID: "id", ClientSecret: "secret", Person: ada})
			if c.change != nil {
				c.change(a)
			}
			status, answer := a.authorize(c.ask...)
			if got := answer.Get("error"); status != c.status || got != "" && got != c.want {
				t.Fatalf("authorization: %d %q, want %d %q", status, got, c.status, c.want)
			}
			if answer.Get("code") == "" {
				return
			}
			if c.after != nil {
				c.after(a)
			}
			if _, err := a.exchange(answer.Get("code"), c.exchange...); err != c.want {
				t.Errorf("the token endpoint's error is %q, want %q", err, c.want)
			}
		})
	}
}

func TestThePublicClientNeedsPKCE(t *testing.T) {
	t.Parallel()
	a := newApp(t, &world.Provider{Person: ada})
	a.config.ClientSecret, a.config.Endpoint.AuthStyle = "", oauth2.AuthStyleInParams
	_, answer := a.authorize()
	if _, err := a.exchange(answer.Get("code")); err != "" {
		t.Errorf("with PKCE: %q", err)
	}
	set := oauth2.SetAuthURLParam
	_, answer = a.authorize(set("code_challenge", ""), set("code_challenge_method", ""))
	if _, err := a.exchange(answer.Get("code"), set("code_verifier", "")); err != "invalid_grant" {
		t.Errorf("without: %q", err)
	}
}

func TestAnIssuerWithAPathAndADelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &world.Provider{Issuer: "https://idp.example/tenant", Delay: map[world.Endpoint]time.Duration{world.Discovery: time.Minute}}
		client := &http.Client{Transport: world.Hosts{"idp.example": p}}
		begun := time.Now()
		for path, want := range map[string]int{"/tenant/.well-known/openid-configuration": 200, "/.well-known/openid-configuration": 404, "/tenant/other": 404, "/tenant/token": 405} {
			resp, err := client.Get("https://idp.example" + path)
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != want || want == 200 && !strings.Contains(string(raw), `"token_endpoint":"https://idp.example/tenant/token"`) {
				t.Errorf("%s: %d %s", path, resp.StatusCode, raw)
			}
		}
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("it took %v", took)
		}
		client.Timeout = time.Second
		if _, err := client.Get("https://idp.example/tenant/.well-known/openid-configuration"); err == nil {
			t.Error("a client that gave up was answered")
		}
	})
}

func TestTheProviderOnASocket(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(new(world.Provider))
	t.Cleanup(server.Close)
	resp, err := server.Client().Get(server.URL + string(world.Discovery))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var document struct{ Issuer string }
	if err := json.NewDecoder(resp.Body).Decode(&document); err != nil || document.Issuer != server.URL {
		t.Errorf("the issuer is %q, %v", document.Issuer, err)
	}
}
