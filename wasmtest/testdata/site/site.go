// Package site is the auth endpoint of this module's tests and benchmarks. A guest and a native handler serve it alike.
package site

import (
	"context"
	"net/http"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/mail"
	"github.com/edgeauth/edgeauth/kvadapter"
)

// A Platform is what package edge gives a program.
type Platform struct {
	Transport http.RoundTripper
	Getenv    func(string) string
	Store     kvadapter.Store
	Cache     kvadapter.Cache
	WaitUntil func(context.Context, func(context.Context))
}

// New makes the endpoint. It has an OpenID provider, "idp", and two ways to sign in by mail, "resend" and "code". With
// AUTH_SESSION_STRATEGY its sessions are in the store, else in tokens.
func New(p Platform) (http.Handler, error) {
	link, code := mail.Resend(mail.Options{From: "app@example.com"}), mail.Postmark(mail.Options{From: "app@example.com"})
	code.ID, code.Code = "code", true
	config := core.Config{
		Providers: []core.Provider{
			core.OAuth{ID: "idp", OIDC: true, Checks: []core.Check{core.CheckPKCE, core.CheckState, core.CheckNonce}},
			link, code,
		},
		Adapter:   kvadapter.New(p.Store, kvadapter.Options{Cache: p.Cache, WaitUntil: p.WaitUntil}),
		Session:   core.SessionOptions{Strategy: core.StrategyJWT},
		TrustHost: core.On,
		Transport: p.Transport,
		Getenv:    p.Getenv,
	}
	if p.Getenv("AUTH_SESSION_STRATEGY") == "database" {
		config.Session.Strategy = core.StrategyDatabase
	}
	return core.New(config)
}
