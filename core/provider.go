package core

import (
	"context"
	"crypto"
	"net/http"
	"net/url"
	"time"
)

// A ProviderType is what kind of account a provider gives, as the wire spells it.
type ProviderType string

const (
	TypeOAuth       ProviderType = "oauth"
	TypeOIDC        ProviderType = "oidc"
	TypeEmail       ProviderType = "email"
	TypeCredentials ProviderType = "credentials"
	TypeWebAuthn    ProviderType = "webauthn"
)

// A Provider is one way to sign in: an [OAuth], [Email] or [Credentials] value. The set is closed.
type Provider interface {
	describe() (id, name string, kind ProviderType)
}

// A Check protects the answer of a provider against forgery and replay.
type Check string

const (
	CheckPKCE  Check = "pkce"  // RFC 7636, always with S256
	CheckState Check = "state" // RFC 6749, section 10.12
	CheckNonce Check = "nonce" // OpenID Connect Core 1.0, section 3.1.2.1
	CheckNone  Check = "none"  // stands for an empty list, which would mean the default
)

// A ClientAuth is how the client authenticates at the token endpoint, as
// token_endpoint_auth_method spells it (OpenID Connect Core 1.0, section 9).
type ClientAuth string

const (
	ClientSecretBasic ClientAuth = "client_secret_basic"
	ClientSecretPost  ClientAuth = "client_secret_post"
	ClientSecretJWT   ClientAuth = "client_secret_jwt" // an HS256 assertion (RFC 7523)
	PrivateKeyJWT     ClientAuth = "private_key_jwt"   // an assertion signed with OAuth.ClientKey
	ClientAuthNone    ClientAuth = "none"
)

// An Endpoint is one URL of a provider with parameters to add to its query.
type Endpoint struct {
	URL    string     // empty: from the issuer's discovery document
	Params url.Values // added to the URL; for the authorization endpoint, sent with the request
}

// OAuth is an OAuth 2.0 or, with OIDC set, an OpenID Connect provider.
type OAuth struct {
	ID           string // names the provider in URLs; required
	Name         string // shown on the button; empty: the ID
	OIDC         bool   // the profile comes from a validated ID token
	Issuer       string // the issuer identifier; empty: AUTH_<ID>_ISSUER, else none, and all three endpoints are required
	ClientID     string // empty: AUTH_<ID>_ID
	ClientSecret string // empty: AUTH_<ID>_SECRET

	Authorization Endpoint // scope: "openid profile email" unless its parameters have one
	Token         Endpoint
	UserInfo      Endpoint // the profile's source without OIDC

	Checks     []Check    // empty: CheckPKCE
	ClientAuth ClientAuth // empty: ClientSecretBasic
	ClientKey  ClientKey  // for PrivateKeyJWT

	// RedirectProxyURL is Config.RedirectProxyURL for this provider alone.
	RedirectProxyURL string

	// ConformToken mends the token endpoint's answer, for providers that stray from RFC 6749,
	// section 5.1: it gets and gives the status and the body. Nil: taken as it is.
	ConformToken func(ctx context.Context, status int, body []byte) (int, []byte, error)

	// RequestUserInfo gets the profile in a way of the provider's own. Nil: a GET of the userinfo
	// endpoint with the access token.
	RequestUserInfo func(ctx context.Context, r UserInfoRequest) (Profile, error)

	// UserInfoProfile takes the profile of an OIDC provider from the userinfo endpoint, whose
	// sub must be the ID token's. False: from the ID token.
	UserInfoProfile bool

	// Profile makes a user of what the provider told. The ID it sets is the account's at the
	// provider (providerAccountId), never the user's; empty: a new random one at every sign-in.
	// Nil: sub or id, name, nickname or preferred_username, email, picture.
	Profile func(ctx context.Context, profile Profile, tokens *Account) (*User, error)

	// Account chooses what is stored with the account. Nil: the tokens, their scope and expiry.
	Account func(account Account) Account

	// AllowDangerousEmailAccountLinking signs an unknown account in as the user who has its
	// e-mail address. Dangerous, because a provider that doesn't verify addresses can then
	// be used to take over users. False: ErrOAuthAccountNotLinked.
	AllowDangerousEmailAccountLinking bool

	BrandColor string // of the button on the sign-in page, a CSS colour; empty: neutral
}

// A ClientKey is the key of a client that authenticates with private_key_jwt.
type ClientKey struct {
	PrivateKey crypto.PrivateKey // *rsa.PrivateKey, *ecdsa.PrivateKey or ed25519.PrivateKey
	ID         string            // the key's id at the provider; empty: none is sent
	PSS        bool              // an RSA key signs PS256; false: RS256
}

// A UserInfoRequest is what [OAuth.RequestUserInfo] needs to ask for a profile.
type UserInfoRequest struct {
	URL          string // the userinfo endpoint
	Tokens       *Account
	ClientID     string
	ClientSecret string
	Transport    http.RoundTripper // Config.Transport
}

func (p OAuth) describe() (string, string, ProviderType) {
	kind := TypeOAuth
	if p.OIDC {
		kind = TypeOIDC
	}
	return p.ID, p.Name, kind
}

// Email signs in whoever can open a link sent to an address. It needs an [Adapter].
type Email struct {
	ID   string // empty: "email"
	Name string // shown on the button; empty: "Email"

	// MaxAge is how long a link works. Zero: 24 hours, as in the reference.
	MaxAge time.Duration

	// Send delivers the message. Required.
	Send func(ctx context.Context, m VerificationRequest) error

	// GenerateToken makes the token in the link. Nil: 32 random bytes as hexadecimal text.
	GenerateToken func(ctx context.Context) (string, error)

	// NormalizeIdentifier checks what was typed and gives the address to use. Nil: NormalizeEmail.
	NormalizeIdentifier func(identifier string) (string, error)
}

// A VerificationRequest is one sign-in link to send.
type VerificationRequest struct {
	Identifier string // the address, normalized
	URL        string // the link
	Token      string // the token in the link, for those who make a link of their own
	Expires    time.Time
	Provider   string // the provider's ID
	Theme      Theme
	Request    *http.Request
}

func (p Email) describe() (string, string, ProviderType) { return p.ID, p.Name, TypeEmail }

// Credentials signs in with a form of the app's own choice. The session is always a JWT.
type Credentials struct {
	ID     string  // empty: "credentials"
	Name   string  // shown on the button; empty: "Credentials"
	Fields []Field // inputs of the form on the sign-in page, in order; empty: no form there

	// Authorize gives the user for what was submitted. A nil user is ErrCredentialsSignin;
	// so is an error made by CredentialsSignin, with its code. Any other error is shown as
	// "Configuration". Required.
	Authorize func(ctx context.Context, credentials map[string]any, r *http.Request) (*User, error)
}

// A Field is one input of a credentials form.
type Field struct {
	Name         string
	Label        string // empty: the name
	Type         string // of the input element; empty: "text"
	Placeholder  string
	Value        string
	Autocomplete string // of the input element; empty: guessed from the type
	Required     bool
}

func (p Credentials) describe() (string, string, ProviderType) { return p.ID, p.Name, TypeCredentials }

// provider is a configured provider with what requests need of it worked out.
type provider struct {
	id, name string
	kind     ProviderType
	oauth    *oauthClient // for TypeOAuth and TypeOIDC
	email    *Email
	login    *Credentials
}

func newProvider(p Provider, proxy string, getenv func(string) string) *provider {
	id, name, kind := p.describe()
	out := &provider{id: id, name: name, kind: kind}
	switch p := p.(type) {
	case OAuth:
		out.oauth = newOAuthClient(p, proxy, getenv)
		out.name = or(name, id)
	case Email:
		out.id, out.name = or(id, "email"), or(name, "Email")
		out.email = &p
	case Credentials:
		out.id, out.name = or(id, "credentials"), or(name, "Credentials")
		out.login = &p
	}
	return out
}

func or(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}
