package core

import (
	"context"
	"net/http"
	"time"
)

// MaxBodyBytes is the largest request body that is read. A larger one is answered 413.
const MaxBodyBytes = 1 << 20

// Config is all that an app decides. The zero value of every field but Providers is a
// working default, if the environment has a secret. New copies it and never changes it.
type Config struct {
	// Providers are the ways to sign in, in the order of the sign-in page. Required.
	Providers []Provider

	// Secret seals tokens and checks CSRF cookies: random, at least 32 characters, the newest
	// first. All of them open tokens, the first one seals new ones. A CSRF cookie is bound to
	// the whole list. Empty: AUTH_SECRET_3, _2, _1 and AUTH_SECRET.
	Secret []string

	// Adapter keeps users and sessions. Nil: nothing is stored, and sessions are JWTs.
	Adapter *Adapter

	// BasePath is where the handler is mounted. Empty: the path of AUTH_URL, else "/auth".
	BasePath string

	// BasePathAliases are further paths where the handler answers, for clients whose path is
	// fixed ("/api/auth"). Every URL made for a request has the path that it came by.
	BasePathAliases []string

	Session   SessionOptions
	JWT       JWTOptions
	Cookies   Cookies
	Pages     Pages
	Theme     Theme
	Callbacks Callbacks
	Events    Events
	Logger    Logger

	// Debug logs what happens at each step, without secrets and tokens, and at the end of each request its
	// action, method and status, how often it called the store and providers, and how long that took, in
	// milliseconds. False: errors and warnings only.
	Debug bool

	// ServerTiming adds a Server-Timing header (W3C) to each answer, which browsers show beside the request:
	//
	//	total;dur=71.4, store;dur=12.5;desc="3 calls", provider;dur=56.0;desc="2 calls"
	//
	// Store is what the adapter calls (see [StoreCall]), provider is all that goes through Transport, mail services included; calls that
	// callbacks make elsewhere are in the total only. Durations are sums, in milliseconds. On Workers
	// the clock stands still while a program computes, so only waiting is seen there. Whoever sends a request
	// can read the header, and how many calls it took may tell whether an address is known: it is for
	// finding what is slow, and not to be left on. False: no header; without Debug, too, nothing is measured.
	ServerTiming bool

	// TrustHost is whether the Host, X-Forwarded-Host and X-Forwarded-Proto headers say where
	// the site is. Auto: on if AUTH_TRUST_HOST is "true" or the platform is known to set them
	// (VERCEL, CF_PAGES); not needed if AUTH_URL is set.
	TrustHost Toggle

	// UseSecureCookies gives cookies the Secure attribute and a __Secure- or __Host- prefix.
	// Auto: if the site's public URL is https.
	UseSecureCookies Toggle

	// CSRF is how a POST proves that it comes from the site's own pages. Zero: by the token.
	CSRF CSRFMode

	// SkipCSRFCheck turns the CSRF protection off, for frameworks that have their own.
	SkipCSRFCheck bool

	// RedirectProxyURL is the URL, up to the base path, of a site that takes the answers of
	// OAuth providers and sends them on to this one; the proxy itself sets it to its own URL.
	// Both need the same secret. It turns the state check on. Empty: AUTH_REDIRECT_PROXY_URL,
	// else none. A provider's own wins.
	RedirectProxyURL string

	// Experimental are options that may change or go without notice.
	Experimental Experimental

	// Transport carries the requests to providers. It must not follow redirects and should
	// limit the time of an exchange. Nil: a transport with a limit of 10 seconds; in a wasm
	// build, where the platform's fetch must be named (edge.Transport), an error.
	Transport http.RoundTripper

	// Getenv gives the settings of the environment. Nil: os.Getenv.
	Getenv func(name string) string
}

// Experimental are options that may change or go without notice.
type Experimental struct {
	EnableWebAuthn bool // allows providers of the webauthn type; New warns that it is on
}

// A Toggle is a switch whose default depends on the circumstances.
type Toggle int8

const (
	Auto Toggle = iota // the default that the field describes
	On
	Off
)

// A CSRFMode is how a POST proves that it comes from the site's own pages.
type CSRFMode int8

const (
	// CSRFToken wants the token of the csrf route in the body, as Auth.js clients send it.
	CSRFToken CSRFMode = iota
	// CSRFOrigin takes, in place of the token, a browser's word that the request comes from
	// the same origin (net/http.CrossOriginProtection), for clients that send no token.
	CSRFOrigin
)

// A Strategy is how sessions are kept.
type Strategy string

const (
	StrategyAuto     Strategy = ""         // StrategyDatabase with an adapter, else StrategyJWT
	StrategyJWT      Strategy = "jwt"      // an encrypted token in the cookie
	StrategyDatabase Strategy = "database" // a random token in the cookie, the session in the adapter
)

// SessionOptions are the lifetimes of sessions.
type SessionOptions struct {
	Strategy  Strategy
	MaxAge    time.Duration // how long an idle session lives; zero: 30 days
	UpdateAge time.Duration // how often a database session is written; zero: 1 day, negative: at every access

	// MaxCookieBytes is how long a session token of the jwt strategy may be, before it is spread over
	// cookies. With a longer one a sign-in or an update fails with ErrSessionTooLarge, and reading the session
	// does not extend it; the cookies in the browser stay as they are, since with new ones its requests would
	// be refused by the server, the one to sign out among them. 15,500, in four cookies, is what Node's
	// server takes. Zero or less: 65,536, beyond which no token is made or read. From 6,144 on there is a warning, session-cookie-large, once.
	MaxCookieBytes int

	// GenerateSessionToken makes the token of a database session. Nil: a random UUID.
	GenerateSessionToken func() string
}

// JWTOptions are how session tokens of the jwt strategy are made and read. The tokens of the
// state, nonce and PKCE checks are always sealed with Secret.
type JWTOptions struct {
	Secret []string      // empty: Config.Secret
	MaxAge time.Duration // how long a token is valid; zero: Session.MaxAge

	// Encode and Decode replace the encrypted token by one of the app's own. Decode gives an
	// error, or a nil token, for one that is not valid; it must check the expiry. Nil: encrypted
	// as Auth.js does it.
	Encode func(ctx context.Context, p JWTEncodeParams) (string, error)
	Decode func(ctx context.Context, p JWTDecodeParams) (JWT, error)
}

// JWTEncodeParams is what a session token is made of.
type JWTEncodeParams struct {
	Token  JWT
	Salt   string // the name of the session cookie
	Secret []string
	MaxAge time.Duration
}

// JWTDecodeParams is what a session token is read with.
type JWTDecodeParams struct {
	Token  string
	Salt   string // the name of the session cookie
	Secret []string
}

// Cookies replace names and attributes of the handler's cookies. A field that is zero keeps
// its default. A browser refuses a __Host- or __Secure- name without the attributes that the
// prefix promises (RFC 6265bis, section 4.1.3), and so does New.
type Cookies struct {
	SessionToken      Cookie
	CallbackURL       Cookie
	CSRFToken         Cookie
	PKCECodeVerifier  Cookie
	State             Cookie
	Nonce             Cookie
	WebAuthnChallenge Cookie
	EmailCode         Cookie // not in the reference
}

// A Cookie is what an app may decide about one cookie.
type Cookie struct {
	Name        string        // empty: as in Auth.js; the keys of sealed cookies depend on it
	Domain      string        // empty: the host only
	Path        string        // empty: "/"
	SameSite    string        // "lax", "strict" or "none"; empty: lax
	HTTPOnly    Toggle        // Auto: on
	Secure      Toggle        // Auto: with UseSecureCookies
	Partitioned bool          // RFC 6265bis' Partitioned attribute
	MaxAge      time.Duration // of the state, nonce, PKCE and challenge cookies; zero: 15 minutes
}

// Pages replace built-in pages. Each is a path on the same site; empty: the built-in page.
type Pages struct {
	SignIn        string // gets ?callbackUrl= and, after a failure, &error=
	SignOut       string
	Error         string // gets ?error=
	VerifyRequest string // gets ?provider= and &type=
	NewUser       string // where new users go after their first sign-in; gets ?callbackUrl=; empty: they don't
}

// Theme is the look of the built-in pages.
type Theme struct {
	ColorScheme string // "light" or "dark"; empty or "auto": as the browser prefers
	Logo        string // the URL of an image; empty: none
	BrandColor  string // a CSS colour; empty: blue
	ButtonText  string // a CSS colour for text on the brand colour; empty: white
}

// Logger takes what the handler has to say. Its functions are those of log/slog, so that
// Logger{Error: slog.Error, Warn: slog.Warn, Debug: slog.Debug} sends everything there.
// A nil function writes to standard error; Debug is called only if Config.Debug is set. What is
// said about a request has the attribute "request", see [RequestID].
type Logger struct {
	Error func(msg string, args ...any) // msg is the Kind
	Warn  func(msg string, args ...any) // msg is the warning's code
	Debug func(msg string, args ...any)
}
