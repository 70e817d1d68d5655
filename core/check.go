package core

import (
	"errors"
	"slices"
	"strings"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
	"github.com/go-jose/go-jose/v4"
)

// minSecretLength is the contract's minimum for a secret, in characters.
const minSecretLength = 32

// minHMACKey is how long a key of HS256 has to be, in bytes (RFC 7518, section 3.2).
const minHMACKey = 32

// mistakes are those of a configuration.
type mistakes struct {
	about string // what each message begins with
	found []error
}

// add is not inlined: its many calls are in functions that V8 compiles before the first answer.
//
//go:noinline
func (m *mistakes) add(kind Kind, message string) {
	m.found = append(m.found, fail(kind, m.about+message, nil))
}

// check finds every mistake in the configuration. It returns them joined, each an
// *Error with a kind of its own and a message that tells the fix.
func (a *Auth) check() error {
	var all mistakes
	if len(a.secrets) == 0 {
		all.add(ErrMissingSecret, "no secret: set AUTH_SECRET, or Config.Secret, to at least 32 random characters (openssl rand -hex 32)")
	}
	for _, secret := range a.secrets {
		if secret == "" {
			all.add(ErrMissingSecret, "Config.Secret has an empty entry: remove it")
		}
	}
	if !a.trustHost && a.env.url == nil {
		all.add(ErrUntrustedHost, "the host is not trusted: set AUTH_URL to the site's public URL, or AUTH_TRUST_HOST to true (Config.TrustHost) if the platform sets the Host header safely")
	}
	if a.config.CSRF != CSRFToken && a.config.CSRF != CSRFOrigin {
		all.add(ErrInvalidConfig, "Config.CSRF is neither CSRFToken nor CSRFOrigin")
	}
	if a.transport == nil && a.hasOAuth() {
		all.add(ErrInvalidConfig, "Config.Transport is nil: in a wasm build set it to edge.Transport")
	}
	all.found = append(all.found, a.checkCookies()...)
	all.found = append(all.found, a.checkProviders()...)
	all.found = append(all.found, a.checkAdapter()...)
	return errors.Join(all.found...)
}

// warn tells what works, but should not stay as it is.
func (a *Auth) warn() {
	for i, secret := range a.secrets {
		if len(secret) < minSecretLength {
			a.log.Warn("short-secret", "secret", i, "characters", len(secret), "fix", "use at least 32 random characters (openssl rand -hex 32)")
		}
	}
	if a.config.Experimental.EnableWebAuthn {
		a.log.Warn("experimental-webauthn")
	}
	if a.env.url != nil && a.env.url.Path != "/" && a.config.BasePath != "" {
		code := "env-url-basepath-redundant"
		if a.env.url.Path != a.basePath {
			code = "env-url-basepath-mismatch"
		}
		a.log.Warn(code, "fix", "leave the path out of AUTH_URL, or Config.BasePath empty")
	}
	if a.config.Debug {
		a.log.Warn("debug-enabled")
	}
	if a.config.SkipCSRFCheck {
		a.log.Warn("csrf-disabled")
	}
}

func (a *Auth) hasOAuth() bool {
	for _, p := range a.providers {
		if p.oauth != nil {
			return true
		}
	}
	return false
}

func (a *Auth) checkProviders() []error {
	var all mistakes
	if len(a.config.Providers) == 0 {
		all.add(ErrInvalidProvider, "Config.Providers is empty: name at least one provider")
	}
	seen := map[string]bool{}
	for _, p := range a.providers {
		quoted := `"` + p.id + `"`
		switch {
		case p.id == "" || strings.ContainsAny(p.id, "/?#%") || p.id == "undefined":
			all.add(ErrInvalidProvider, "a provider has the id "+quoted+": an id is a path segment of the URL")
		case seen[p.id]:
			all.add(ErrInvalidProvider, "two providers have the id "+quoted+": give one of them another")
		}
		seen[p.id] = true
		switch {
		case p.oauth != nil:
			all.found = append(all.found, p.oauth.check()...)
		case p.email != nil && p.email.Send == nil:
			all.add(ErrInvalidProvider, "provider "+quoted+" has no Send function")
		case p.email != nil && p.email.Check != nil:
			if err := p.email.Check(*p.email); err != nil {
				all.found = append(all.found, fail(ErrInvalidProvider, "provider "+quoted+" can't send", err))
			}
		case p.login != nil && p.login.Authorize == nil:
			all.add(ErrMissingAuthorize, "provider "+quoted+" has no Authorize function")
		case p.webauthn != nil && p.webauthn.routes == nil:
			all.add(ErrInvalidProvider, "provider "+quoted+" can't verify anything: make it with passkey.New")
		case p.webauthn != nil:
			all.found = append(all.found, p.webauthn.routes.check(p.webauthn, quoted)...)
		}
	}
	return append(all.found, a.checkWebAuthn()...)
}

func (c *oauthClient) check() []error {
	all := mistakes{about: `provider "` + c.ID + `": `}
	if c.ClientID == "" {
		all.add(ErrInvalidProvider, "no client id: set ClientID or "+providerVariable(c.ID, "ID"))
	}
	if c.ClientSecret == "" && c.ClientAuth != ClientAuthNone && c.ClientAuth != PrivateKeyJWT {
		all.add(ErrInvalidProvider, "no client secret: set ClientSecret or "+providerVariable(c.ID, "SECRET")+", or ClientAuth to none for a public client")
	}
	if c.ClientAuth == ClientSecretJWT && c.ClientSecret != "" && len(c.ClientSecret) < minHMACKey {
		all.add(ErrInvalidProvider, "ClientSecret is shorter than the 32 bytes that client_secret_jwt needs: get a longer one, or use another ClientAuth")
	}
	if c.unprepared != nil {
		return append(all.found, fail(ErrInvalidEndpoints, `provider "`+c.ID+`"`, c.unprepared))
	}
	if c.Issuer == "" {
		if c.OIDC {
			all.add(ErrInvalidEndpoints, "no issuer: set Issuer or "+providerVariable(c.ID, "ISSUER"))
		} else if c.Authorization.URL == "" || c.Token.URL == "" || c.UserInfo.URL == "" {
			all.add(ErrInvalidEndpoints, "without an issuer the authorization, token and userinfo endpoints are all required")
		}
	}
	for _, e := range [...]struct{ name, url string }{
		{"Issuer", c.Issuer}, {"WellKnown", c.WellKnown}, {"Authorization", c.Authorization.URL}, {"Token", c.Token.URL}, {"UserInfo", c.UserInfo.URL},
	} {
		if e.url == "" {
			continue
		}
		if u, ok := weburl.Parse(e.url); !ok || u.Scheme != "https" && u.Scheme != "http" {
			all.add(ErrInvalidEndpoints, e.name+" is not an http or https URL")
		}
	}
	switch c.ClientAuth {
	case "", ClientSecretBasic, ClientSecretPost, ClientSecretJWT, ClientAuthNone:
	case PrivateKeyJWT:
		if _, err := c.ClientKey.algorithm(); err != nil {
			all.add(ErrInvalidProvider, err.Error())
		}
	default:
		all.add(ErrInvalidProvider, `unknown ClientAuth "`+string(c.ClientAuth)+`"`)
	}
	if c.IDTokenAlg != "" && c.IDTokenAlg != string(jose.HS256) && !slices.Contains(asymmetric[:], jose.SignatureAlgorithm(c.IDTokenAlg)) {
		all.add(ErrInvalidProvider, `unknown IDTokenAlg "`+c.IDTokenAlg+`"`)
	}
	for _, check := range c.Checks {
		switch check {
		case CheckPKCE, CheckState, CheckNonce, CheckNone:
		default:
			all.add(ErrInvalidProvider, `unknown check "`+string(check)+`"`)
		}
	}
	return all.found
}

// checkAdapter names what is missing for this configuration.
func (a *Auth) checkAdapter() []error {
	var hasEmail, hasCredentials, hasWebAuthn, hasOthers bool
	for _, p := range a.providers {
		hasEmail = hasEmail || p.email != nil
		hasCredentials = hasCredentials || p.login != nil
		hasWebAuthn = hasWebAuthn || p.webauthn != nil
		hasOthers = hasOthers || p.login == nil
	}
	strategy := a.config.Session.Strategy
	switch strategy {
	case StrategyAuto, StrategyJWT, StrategyDatabase:
	default:
		return []error{fail(ErrUnsupportedStrategy, `Config.Session.Strategy "`+string(strategy)+`" is unknown: use "jwt" or "database"`, nil)}
	}
	if strategy == StrategyDatabase && hasCredentials && !hasOthers {
		return []error{fail(ErrUnsupportedStrategy, "credentials can't sign in with database sessions: use the jwt strategy", nil)}
	}
	if a.config.Adapter == nil {
		switch {
		case hasEmail:
			return []error{fail(ErrMissingAdapter, "signing in by e-mail needs Config.Adapter", nil)}
		case hasWebAuthn:
			return []error{fail(ErrMissingAdapter, "signing in with passkeys needs Config.Adapter", nil)}
		case strategy == StrategyDatabase:
			return []error{fail(ErrMissingAdapter, "the database strategy needs Config.Adapter", nil)}
		}
		return nil
	}
	return a.checkMethods(hasEmail || hasWebAuthn, hasWebAuthn)
}

// checkMethods names the methods of the adapter that this configuration needs and that are missing.
func (a *Auth) checkMethods(tokens, passkeys bool) []error {
	adapter := a.config.Adapter
	needed := adapter.userMethods()
	if tokens {
		needed = append(needed, adapter.tokenMethods()...)
	}
	if passkeys {
		needed = append(needed, adapter.passkeyMethods()...)
	}
	if a.strategy == StrategyDatabase {
		needed = append(needed, adapter.sessionMethods()...)
	}
	var missing []string
	for _, m := range needed {
		if m.has {
			continue
		}
		text := m.name
		if why := adapter.Absent[m.name]; why != "" {
			text += " (" + why + ")"
		}
		missing = append(missing, text)
	}
	if missing == nil {
		return nil
	}
	return []error{fail(ErrMissingAdapterMethods, "the adapter lacks "+strings.Join(missing, ", "), nil)}
}
