package providers

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// A Client is what a provider calls the app.
type Client struct {
	ID     string // empty: AUTH_<ID>_ID
	Secret string // empty: AUTH_<ID>_SECRET

	// Issuer is where the provider is: its issuer identifier or, for those without OpenID
	// Connect, the URL of the server. Empty: AUTH_<ID>_ISSUER, else the vendor's own, if it has one
	// for everybody.
	Issuer string
}

// with gives an entry of the catalogue to this client. The entry's issuer is the default or, with
// {issuer} in it, how the issuer is made of what the client has. Its endpoints may have {issuer},
// {client_id} and {client_secret} in them, too: core.New puts in what the environment says.
//
// It is not inlined: each entry of the catalogue would get a copy of the function inside, 110 KB of
// a worker in all.
//
//go:noinline
func (c Client) with(p core.OAuth) core.OAuth {
	pattern, finish := p.Issuer, p.Prepare
	p.Issuer, p.ClientID, p.ClientSecret = c.Issuer, c.ID, c.Secret
	p.Prepare = func(p core.OAuth) (core.OAuth, error) {
		if err := fillIn(&p, pattern); err != nil || finish == nil {
			return p, err
		}
		return finish(p)
	}
	return p
}

// fillIn replaces what an entry could not know.
func fillIn(p *core.OAuth, pattern string) error {
	const place = "{issuer}"
	before, after, isMade := strings.Cut(pattern, place)
	switch {
	case p.Issuer == "" && !isMade:
		p.Issuer = strings.ReplaceAll(pattern, "{client_id}", p.ClientID)
	case p.Issuer != "" && isMade:
		p.Issuer = before + strings.TrimSuffix(strings.TrimSuffix(p.Issuer, "/"), after) + after
	}
	isMissing := p.Issuer == "" && isMade
	// A strings.Replacer would do the same, and link 10 KB more.
	known := [...]struct{ place, value string }{
		{place, strings.TrimSuffix(p.Issuer, "/")}, {"{client_id}", p.ClientID}, {"{client_secret}", p.ClientSecret},
	}
	replace := func(text string) string {
		isMissing = isMissing || p.Issuer == "" && strings.Contains(text, place)
		for _, k := range known {
			text = strings.ReplaceAll(text, k.place, k.value)
		}
		return text
	}
	p.WellKnown = replace(p.WellKnown)
	for _, e := range [...]*core.Endpoint{&p.Authorization, &p.Token, &p.UserInfo} {
		e.URL = replace(e.URL)
		e.Params = maps.Clone(e.Params)
		for name, list := range e.Params {
			list = slices.Clone(list)
			for i := range list {
				list[i] = replace(list[i])
			}
			e.Params[name] = list
		}
	}
	if isMissing {
		return errors.New("providers: no issuer: set Client.Issuer or " + variable(p.ID) + " to the URL of the server")
	}
	return nil
}

// variable is the name of the variable that has a provider's issuer.
func variable(id string) string {
	return "AUTH_" + strings.ToUpper(strings.ReplaceAll(id, "-", "_")) + "_ISSUER"
}

// at is an endpoint of that URL.
func at(endpoint string) core.Endpoint { return core.Endpoint{URL: endpoint} }

// authorize is an authorization endpoint. The parameters of its URL become the endpoint's, so that
// an app can change them one by one.
func authorize(endpoint string) core.Endpoint {
	root, query, _ := strings.Cut(endpoint, "?")
	params, err := url.ParseQuery(query)
	if err != nil {
		panic("providers: " + root + " has a malformed query") // an entry is mistyped
	}
	return core.Endpoint{URL: root, Params: params}
}

// The checks of providers that don't have the default, PKCE.
var (
	withState = []core.Check{core.CheckState}
	withNonce = []core.Check{core.CheckNonce}
	withBoth  = []core.Check{core.CheckPKCE, core.CheckState}
	withAll   = []core.Check{core.CheckPKCE, core.CheckState, core.CheckNonce}
)
