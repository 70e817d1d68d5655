// Command conformance is a small app whose behaviour is fixed, so that it can be compared
// with the JavaScript library whose protocol this project speaks, request by request. It
// runs on every target, and all its settings come from the environment:
//
//	AUTH_SECRET, AUTH_SECRET_1 … _3, AUTH_URL   as everywhere
//	CONF_BASE_PATH      base path; default /auth
//	CONF_STRATEGY       jwt or database; unset: the default
//	CONF_ADAPTER        none (default) or kv: records are in the runtime's Store, with its KV as the cache if it has one
//	CONF_MAX_AGE        lifetime of a session, seconds
//	CONF_UPDATE_AGE     how often a session is written, seconds
//	CONF_SECURE_COOKIES true or false; unset: by scheme
//	CONF_PAGES          1: pages are /custom/signin, /custom/signout and so on
//	CONF_SKIP_CSRF      1: no CSRF check
//	CONF_LINKING        1: accounts are linked by e-mail address
//	CONF_IDP            base URL and issuer of an OpenID provider
//	CONF_SINK           URL that gets a POST for every event and every e-mail
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/kvadapter"
)

func main() {
	config := newConfig()
	auth, err := core.New(config)
	if err != nil {
		log.Print(err)
		edge.Serve(core.Misconfigured(config, err))
		return
	}
	edge.Serve(auth)
}

func newConfig() core.Config {
	kv := edge.Getenv("CONF_ADAPTER") == "kv"
	sink := sink(edge.Getenv("CONF_SINK"))
	strategy := core.Strategy(edge.Getenv("CONF_STRATEGY"))
	config := core.Config{
		Providers: providers(kv, sink),
		BasePath:  edge.Getenv("CONF_BASE_PATH"),
		Session: core.SessionOptions{
			Strategy:  strategy,
			MaxAge:    seconds("CONF_MAX_AGE"),
			UpdateAge: seconds("CONF_UPDATE_AGE"),
		},
		Theme:            core.Theme{BrandColor: "#0ea5e9"},
		Events:           sink.events(),
		TrustHost:        core.On,
		UseSecureCookies: toggle("CONF_SECURE_COOKIES"),
		SkipCSRFCheck:    edge.Getenv("CONF_SKIP_CSRF") == "1",
		Transport:        edge.Transport,
		Getenv:           edge.Getenv,
	}
	if kv {
		options := kvadapter.Options{WaitUntil: edge.WaitUntil}
		if cache := edge.KV("AUTH_KV"); edge.Check(cache) == nil {
			options.Cache = cache
		}
		config.Adapter = kvadapter.New(edge.Store("AUTH_DO"), options)
	}
	if edge.Getenv("CONF_PAGES") == "1" {
		config.Pages = core.Pages{
			SignIn: "/custom/signin", SignOut: "/custom/signout", Error: "/custom/error",
			VerifyRequest: "/custom/verify", NewUser: "/custom/welcome",
		}
	}
	isJWT := strategy == core.StrategyJWT || strategy == core.StrategyAuto && !kv
	config.Callbacks = core.Callbacks{SignIn: signIn, JWT: jwt, Session: session(isJWT)}
	return config
}

// seconds reads a number of seconds; "0" is a negative duration, which means always.
func seconds(name string) time.Duration {
	text := edge.Getenv(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		log.Fatalf("%s is not a number of seconds", name)
	}
	if n == 0 {
		return -1
	}
	return time.Duration(n) * time.Second
}

func toggle(name string) core.Toggle {
	switch edge.Getenv(name) {
	case "true":
		return core.On
	case "false":
		return core.Off
	}
	return core.Auto
}

func providers(kv bool, sink sink) []core.Provider {
	idp := edge.Getenv("CONF_IDP")
	if idp == "" {
		idp = "http://127.0.0.1:9"
	}
	linking := edge.Getenv("CONF_LINKING") == "1"
	const id, secret = "conformance", "conformance-client-secret"
	out := []core.Provider{
		core.Credentials{
			Fields: []core.Field{
				{Name: "username", Type: "text"},
				{Name: "password", Type: "password"},
			},
			Authorize: authorize,
		},
		core.OAuth{
			ID: "idp", Name: "IdP", OIDC: true, Issuer: idp, ClientID: id, ClientSecret: secret,
			AllowDangerousEmailAccountLinking: linking,
		},
		core.OAuth{
			ID: "hub", Name: "Hub", ClientID: id, ClientSecret: secret,
			Authorization: core.Endpoint{URL: idp + "/auth", Params: url.Values{"scope": {"openid profile email"}}},
			Token:         core.Endpoint{URL: idp + "/token"},
			UserInfo:      core.Endpoint{URL: idp + "/me"},
			Checks:        []core.Check{core.CheckPKCE, core.CheckState},
			Profile:       hubProfile,

			AllowDangerousEmailAccountLinking: linking,
		},
	}
	if kv {
		out = append(out, core.Email{Send: func(ctx context.Context, m core.VerificationRequest) error {
			return sink.post(ctx, map[string]any{"kind": "email", "identifier": m.Identifier, "url": m.URL, "token": m.Token, "provider": m.Provider})
		}})
	}
	return out
}

func authorize(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
	name := ""
	if fields["username"] != nil {
		name = fmt.Sprint(fields["username"])
	}
	switch {
	case fields["password"] != "correct-horse":
		return nil, nil
	case name == "locked":
		return nil, core.CredentialsSignin("account_locked")
	case name == "boom":
		return nil, errors.New("boom")
	}
	user := &core.User{ID: "u-" + name, Name: name, Email: name + "@example.com", Image: "https://img.example/" + name + ".png"}
	if name == "" {
		user.Extra = map[string]any{"name": ""}
	}
	return user, nil
}

// hubProfile takes over what the provider says as it stands.
func hubProfile(_ context.Context, p core.Profile, _ *core.Account) (*core.User, error) {
	user := &core.User{Extra: map[string]any{}}
	// As in JavaScript: null is no id, other values that are not truthy fail, the rest is text.
	switch fmt.Sprint(p["sub"]) {
	case "<nil>":
	case "", "false", "0":
		return nil, errors.New("sub is empty")
	default:
		user.ID = fmt.Sprint(p["sub"])
	}
	switch email := p["email"].(type) {
	case nil:
	case string:
		user.Email = email
		if email == "" {
			user.Extra["email"] = email
		}
	default:
		return nil, errors.New("email is not text")
	}
	for member, claim := range map[string]string{"name": "name", "image": "picture"} {
		if value, ok := p[claim]; ok {
			user.Extra[member] = value
		}
	}
	return user, nil
}

func signIn(_ context.Context, p core.SignInParams) (core.Verdict, error) {
	switch p.User.Email {
	case "denied@example.com":
		return core.Deny, nil
	case "thrown@example.com":
		return core.Deny, errors.New("thrown by signIn")
	case "moved@example.com":
		return core.RedirectTo("/moved"), nil
	}
	return core.Allow, nil
}

func jwt(_ context.Context, p core.JWTParams) (core.JWT, error) {
	switch p.Trigger {
	case core.TriggerSignIn, core.TriggerSignUp:
		p.Token["trigger"] = string(p.Trigger)
		p.Token["provider"] = p.Account.Provider
		p.Token["uid"] = p.User.ID
	case core.TriggerUpdate:
		data, _ := p.Session.(map[string]any)
		if note, ok := data["note"].(string); ok {
			p.Token["note"] = note
		}
	case core.TriggerRead:
		if p.Token.String("sub") == "u-nulljwt" {
			return nil, nil
		}
	}
	return p.Token, nil
}

func session(isJWT bool) func(context.Context, core.SessionParams) (*core.Session, error) {
	return func(_ context.Context, p core.SessionParams) (*core.Session, error) {
		from := *p.Session.User
		from.ID = ""
		out := &core.Session{User: &from, Expires: p.Session.Expires, Extra: map[string]any{}}
		if isJWT {
			for _, claim := range []string{"trigger", "provider", "note"} {
				if value, ok := p.Token[claim]; ok {
					out.Extra[claim] = value
				}
			}
		} else {
			out.Extra["uid"] = p.User.ID
		}
		return out, nil
	}
}

// A sink is the URL that gets what happens; empty: nothing does.
type sink string

func (to sink) events() core.Events {
	if to == "" {
		return core.Events{}
	}
	tell := func(ctx context.Context, name string, user *core.User, account *core.Account, isNewUser *bool) error {
		m := map[string]any{"kind": "event", "name": name}
		if user != nil && user.Email != "" {
			m["user"] = user.Email
		}
		if account != nil {
			m["provider"] = account.Provider
		}
		if isNewUser != nil {
			m["isNewUser"] = *isNewUser
		}
		return to.post(ctx, m)
	}
	return core.Events{
		SignIn: func(ctx context.Context, e core.SignInEvent) error {
			return tell(ctx, "signIn", e.User, e.Account, e.IsNewUser)
		},
		SignOut: func(ctx context.Context, _ core.SignOutEvent) error { return tell(ctx, "signOut", nil, nil, nil) },
		CreateUser: func(ctx context.Context, e core.UserEvent) error {
			return tell(ctx, "createUser", e.User, nil, nil)
		},
		UpdateUser: func(ctx context.Context, e core.UserEvent) error {
			return tell(ctx, "updateUser", e.User, nil, nil)
		},
		LinkAccount: func(ctx context.Context, e core.LinkAccountEvent) error {
			return tell(ctx, "linkAccount", e.User, e.Account, nil)
		},
		Session: func(ctx context.Context, _ core.SessionEvent) error { return tell(ctx, "session", nil, nil, nil) },
	}
}

func (to sink) post(ctx context.Context, message map[string]any) error {
	if to == "" {
		return nil
	}
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, string(to), bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := edge.Transport.RoundTrip(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
