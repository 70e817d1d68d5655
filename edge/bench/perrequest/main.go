//go:build js

// Command perrequest is the conformance app, as far as it is measured, served the way Go is usually
// served on Workers: github.com/syumai/workers, one wasm instance per request. The handler is the same
// core.New, so only the serving differs. What people build of the usual libraries is in ../usual.
package main

import (
	"context"
	"log"
	"net/http"
	"net/url"

	"github.com/edgeauth/edgeauth/core"
	"github.com/syumai/workers"
	"github.com/syumai/workers/cloudflare"
	"github.com/syumai/workers/cloudflare/fetch"
)

func main() {
	idp := cloudflare.Getenv("CONF_IDP")
	const id, secret = "conformance", "conformance-client-secret"
	auth, err := core.New(core.Config{
		Providers: []core.Provider{
			core.Credentials{
				Fields: []core.Field{{Name: "username", Type: "text"}, {Name: "password", Type: "password"}},
				Authorize: func(context.Context, map[string]any, *http.Request) (*core.User, error) {
					return nil, nil
				},
			},
			core.OAuth{ID: "idp", Name: "IdP", OIDC: true, Issuer: idp, ClientID: id, ClientSecret: secret},
			core.OAuth{
				ID: "hub", Name: "Hub", ClientID: id, ClientSecret: secret,
				Authorization: core.Endpoint{URL: idp + "/auth", Params: url.Values{"scope": {"openid profile email"}}},
				Token:         core.Endpoint{URL: idp + "/token"},
				UserInfo:      core.Endpoint{URL: idp + "/me"},
				Checks:        []core.Check{core.CheckPKCE, core.CheckState},
			},
		},
		Session:   core.SessionOptions{Strategy: core.StrategyJWT},
		Theme:     core.Theme{BrandColor: "#0ea5e9"},
		TrustHost: core.On,
		Callbacks: core.Callbacks{JWT: jwt, Session: session},
		Transport: fetch.NewClient().HTTPClient(fetch.RedirectModeManual).Transport,
		Getenv:    cloudflare.Getenv,
	})
	if err != nil {
		log.Fatal(err)
	}
	workers.Serve(auth)
}

func jwt(_ context.Context, p core.JWTParams) (core.JWT, error) {
	if p.Trigger == core.TriggerSignIn || p.Trigger == core.TriggerSignUp {
		p.Token["trigger"] = string(p.Trigger)
		p.Token["provider"] = p.Account.Provider
		p.Token["uid"] = p.User.ID
	}
	return p.Token, nil
}

func session(_ context.Context, p core.SessionParams) (*core.Session, error) {
	user := *p.Session.User
	user.ID = ""
	return &core.Session{User: &user, Expires: p.Session.Expires, Extra: map[string]any{
		"trigger": p.Token["trigger"], "provider": p.Token["provider"],
	}}, nil
}
