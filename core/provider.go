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

// A Provider is one way to sign in: an [OAuth], [Email], [Credentials] or [WebAuthn] value. The set is
// closed.
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
	WellKnown    string // the URL of the discovery document; empty: at the issuer (OpenID Connect Discovery 1.0, section 4)
	ClientID     string // empty: AUTH_<ID>_ID
	ClientSecret string // empty: AUTH_<ID>_SECRET

	Authorization Endpoint // scope: "openid profile email" unless its parameters have one
	Token         Endpoint
	UserInfo      Endpoint // the profile's source without OIDC

	// Prepare finishes the provider once its client and issuer are known, which the environment may
	// have named. Its error is a mistake in the configuration, which New reports. It may be called
	// more than once. Nil: nothing is to be finished.
	Prepare func(p OAuth) (OAuth, error)

	// TenantIssuer is the issuer of a server with many tenants, with {tenantid} in place of the
	// tenant's name. The discovery document may then name this pattern or any tenant, and an ID
	// token must name the tenant of its tid claim. Empty: the issuer is always the same.
	TenantIssuer string

	// IDTokenAlg is the algorithm that ID tokens are signed with. HS256 takes the client's secret
	// for the key (OpenID Connect Core 1.0, section 10.1). Empty: those of the discovery document
	// that use a public key.
	IDTokenAlg string

	Checks     []Check    // empty: CheckPKCE
	ClientAuth ClientAuth // empty: ClientSecretBasic
	ClientKey  ClientKey  // for PrivateKeyJWT

	// RedirectProxyURL is Config.RedirectProxyURL for this provider alone.
	RedirectProxyURL string

	// ConformTokenRequest changes the fields of the token request, for providers that call them
	// otherwise than RFC 6749 does. Nil: sent as they are.
	ConformTokenRequest func(form url.Values)

	// ConformToken mends the token endpoint's answer, for providers that stray from RFC 6749,
	// section 5.1: it gets and gives the status and the body. An *Error that it gives keeps its kind.
	// Nil: taken as it is.
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
	URL          string  // the userinfo endpoint
	Claims       Profile // of the ID token; nil without one
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

	// MaxAge is how long a link works. Zero: 24 hours, as in the reference. A code works for 15
	// minutes at most.
	MaxAge time.Duration

	// Confirm makes the link lead to a button, and only that signs in. Some mail programs and
	// most scanners open every link that a message has, and would use it up.
	Confirm bool

	// Code sends six digits to type in instead of a link. They work once, in the browser that
	// asked for them, and five may be tried. Who can ask for any number of messages to an address
	// can guess five times for each: limit how many are sent, in the signIn callback.
	Code bool

	// From is the sender, an address or "Name <address>", and APIKey the mail service's key, if
	// Send needs them. APIKey empty: the variable AUTH_<ID>_KEY.
	From, APIKey string

	// Send delivers the message. Required.
	Send func(ctx context.Context, m VerificationRequest) error

	// Check finds what Send will miss; New reports it. It gets the provider with its defaults.
	// Nil: nothing.
	Check func(p Email) error

	// GenerateToken makes the token in the link. Nil: 32 random bytes as hexadecimal text.
	GenerateToken func(ctx context.Context) (string, error)

	// NormalizeIdentifier checks what was typed and gives the address to use. Nil: NormalizeEmail.
	NormalizeIdentifier func(identifier string) (string, error)
}

// A VerificationRequest is one sign-in link to send.
type VerificationRequest struct {
	Identifier string // the address, normalized
	Site       string // the origin of the site, which somebody wants to sign in to
	URL        string // the link; empty if there is a code
	Code       string // six digits to type in; empty if there is a link
	Token      string // the token in the link, for those who make a link of their own; or the code
	Expires    time.Time
	Provider   string // the provider's ID
	From       string // as the provider has it
	APIKey     string // likewise
	Theme      Theme
	Request    *http.Request
	Transport  http.RoundTripper // the Config's, to reach a mail service with
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

// WebAuthn signs in with passkeys and security keys. It needs an [Adapter] and
// Experimental.EnableWebAuthn. Package passkey makes it; a value made otherwise does nothing.
type WebAuthn struct {
	ID   string // empty: "webauthn"; of passkey.New: "passkey"
	Name string // shown on the button; empty: "WebAuthn"; of passkey.New: "Passkey"

	RelyingParty RelyingParty
	Fields       []Field // inputs of the form on the sign-in page, in order; nil: an e-mail address

	// ConditionalUI offers passkeys in the field's autofill as soon as the sign-in page is there.
	// A field's Autocomplete must then contain "webauthn". Auto: on; of several providers only one
	// can have it.
	ConditionalUI Toggle

	// Timeout is how long a browser lets somebody take. Zero: 5 minutes.
	Timeout time.Duration

	// UserVerification and ResidentKey are "required", "preferred" or "discouraged" (Web
	// Authentication, level 3, sections 5.8.6 and 5.4.6). Empty: "required".
	UserVerification string // if "required", an answer without it is refused
	ResidentKey      string // unless "required", options for a known address list its credentials
	Attachment       string // "platform" or "cross-platform"; empty: either

	// Algorithms are those of new keys, by their COSE numbers, the preferred one first; of
	// passkey.New: -8 (Ed25519), -7 (ES256) and -257 (RS256). Required.
	Algorithms []int64

	// UserInfo finds out, for somebody who is not signed in, who the options are for: a stored user
	// (exists), a user to be made, or nil if the request doesn't say. It must change nothing. Nil:
	// whoever the query's email belongs to, else a new user with that address.
	UserInfo func(ctx context.Context, r *http.Request) (user *User, exists bool, err error)

	routes *webAuthnRoutes
}

// A RelyingParty is the site as authenticators know it.
type RelyingParty struct {
	ID      string   // the domain that passkeys are bound to; empty: the site's host without its port
	Name    string   // what people see; empty: the site's host
	Origins []string // where answers may come from, compared exactly; empty: the site's origin
}

func (p WebAuthn) describe() (string, string, ProviderType) { return p.ID, p.Name, TypeWebAuthn }

// provider is a configured provider with what requests need of it worked out.
type provider struct {
	id, name string
	kind     ProviderType
	oauth    *oauthClient // for TypeOAuth and TypeOIDC
	email    *Email
	login    *Credentials
	webauthn *WebAuthn
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
		p.ID = out.id
		p.APIKey = or(p.APIKey, getenv(providerVariable(p.ID, "KEY")))
		out.email = &p
	case Credentials:
		out.id, out.name = or(id, "credentials"), or(name, "Credentials")
		out.login = &p
	case WebAuthn:
		out.id, out.name = or(id, "webauthn"), or(name, "WebAuthn")
		out.webauthn = p.withDefaults()
	}
	return out
}

func or(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}
