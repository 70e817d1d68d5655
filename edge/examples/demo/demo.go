// Package demo is the configuration that the Go examples share: one user with a password, and
// an OpenID provider from the environment.
package demo

import (
	"context"
	"crypto/subtle"
	"net/http"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/edge"
)

// Config gives the configuration. The variables are AUTH_SECRET, AUTH_URL or AUTH_TRUST_HOST,
// and, for the button of the OpenID provider, AUTH_IDP_ISSUER, AUTH_IDP_ID and AUTH_IDP_SECRET.
func Config() core.Config {
	config := core.Config{
		Providers: []core.Provider{core.Credentials{
			Fields: []core.Field{
				{Name: "username", Label: "Name", Required: true},
				{Name: "password", Label: "Password", Type: "password", Required: true},
			},
			Authorize: authorize,
		}},
		Callbacks: core.Callbacks{JWT: rename},
		Transport: edge.Transport,
		Getenv:    edge.Getenv,
	}
	if edge.Getenv("AUTH_IDP_ISSUER") != "" {
		config.Providers = append(config.Providers, core.OAuth{ID: "idp", Name: "IdP", OIDC: true})
	}
	return config
}

// authorize knows ada, whose password is "engine". Your own looks the user up and compares a
// hash of the password, such as argon2id's.
func authorize(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
	name, _ := fields["username"].(string)
	password, _ := fields["password"].(string)
	if subtle.ConstantTimeCompare([]byte(name), []byte("ada"))&subtle.ConstantTimeCompare([]byte(password), []byte("engine")) != 1 {
		return nil, core.CredentialsSignin("credentials") // not which of the two was wrong
	}
	return &core.User{ID: "1", Name: "Ada Lovelace", Email: "ada@example.com"}, nil
}

// rename lets people change the name in their session, by the client's update({ name }). What
// a browser sends is checked like any input.
func rename(_ context.Context, p core.JWTParams) (core.JWT, error) {
	if p.Trigger == core.TriggerUpdate {
		data, _ := p.Session.(map[string]any)
		if name, ok := data["name"].(string); ok && 0 < len(name) && len(name) <= 100 {
			p.Token["name"] = name
		}
	}
	return p.Token, nil
}
