package remote

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

const (
	defaultTimeout  = 3 * time.Second
	defaultCacheFor = 5 * time.Second
	defaultEntries  = 1000
)

// Config says where the edge is. URL is the one field that has no default.
type Config struct {
	// URL is the handler's public address, base path included, as browsers see it:
	// "https://app.example/auth". Its scheme says which of the session cookie's two names counts.
	URL string

	// Origin is the app's own public origin, "https://app.example", if the handler's is another
	// one. Empty: the handler is mounted on a path of the app's origin.
	Origin string

	// InternalURL is where this back end reaches the handler, base path included, if it is not
	// URL. The public address is sent along as X-Forwarded-Host and -Proto, for a handler that
	// has no AUTH_URL of its own. Empty: URL.
	InternalURL string

	// Secret is the edge's AUTH_SECRET, several with the newest first, to read session tokens
	// here. Nil: the edge is asked.
	Secret []string

	// FromToken makes the session of a token read with Secret; its Expires is that of the token
	// already. Nil: name, e-mail and picture, as the handler does it without a session callback.
	// It is called by many requests at once.
	FromToken func(token core.JWT, session *core.Session) error

	// CookieName is the name of the session cookie, with its prefix if it has one. With a
	// "__Secure-" or "__Host-" in front, or without, it is forwarded as well. Empty: the
	// handler's default for the scheme of URL.
	CookieName string

	// SignInPage is where people are sent to sign in, a path of this app or a URL. Empty: the
	// handler's page.
	SignInPage string

	// Transport carries the questions to the edge. It must not follow redirects. Nil:
	// http.DefaultTransport; in a wasm build, where the platform's fetch must be named
	// (edge.Transport), an error.
	Transport http.RoundTripper

	// Timeout is how long a question may take, the answer's body included. Zero: 3 seconds. In a
	// js build no Go timer may run while a request waits; there the limit is the transport's.
	Timeout time.Duration

	// CacheFor is how long an answer counts, at most: never beyond the session's end. It is how
	// much longer a session lives here that was ended elsewhere. Zero: 5 seconds; negative:
	// every request asks.
	CacheFor time.Duration

	// CacheEntries is how many answers are kept. Zero: 1000.
	CacheEntries int

	// Logger is told what is wrong. Nil fields write to standard error.
	Logger core.Logger
}

// Edge knows who is signed in, by the word of a handler elsewhere. It is safe for concurrent use.
type Edge struct {
	config    Config
	question  string      // the URL that is asked
	forwarded http.Header // of the public address; nil if that is asked
	paths     []string    // of the handler's routes, if they are on this app's origin
	signIn    string      // the sign-in page
	secure    bool        // the app's origin is https
	names     [3]string   // of the session cookie, the configured one first
	tokens    *core.TokenReader
	cache     *cache
	log       core.Logger
}

// New checks the configuration. Its errors are of the kind ErrConfig.
func New(config Config) (*Edge, error) {
	public, ok := address(config.URL)
	if !ok {
		return nil, fail(ErrConfig, "Config.URL is not the handler's public http or https URL, with its base path and without a query", nil)
	}
	app := public.Origin()
	if config.Origin != "" {
		u, ok := weburl.Parse(config.Origin)
		if !ok || u.Origin() != config.Origin || !isHTTP(u) {
			return nil, fail(ErrConfig, `Config.Origin is not an origin like "https://app.example"`, nil)
		}
		app = config.Origin
	}
	if config.Transport == nil {
		config.Transport = defaultTransport()
	}
	if config.Transport == nil {
		return nil, fail(ErrConfig, "Config.Transport: name the platform's fetch, edge.Transport", nil)
	}
	if config.Timeout < 0 || config.CacheEntries < 0 {
		return nil, fail(ErrConfig, "Config.Timeout and Config.CacheEntries can't be negative", nil)
	}
	config.Timeout = or(config.Timeout, defaultTimeout)
	config.CacheFor = or(config.CacheFor, defaultCacheFor)

	base := strings.TrimRight(public.Path, "/")
	e := &Edge{
		config:   config,
		question: public.Origin() + base + "/session",
		secure:   strings.HasPrefix(app, "https:"),
		cache:    newCache(or(config.CacheEntries, defaultEntries)),
		log:      config.Logger.WithDefaults(false),
	}
	if config.InternalURL != "" {
		internal, ok := address(config.InternalURL)
		if !ok {
			return nil, fail(ErrConfig, "Config.InternalURL is not an http or https URL, with the handler's base path and without a query", nil)
		}
		e.question = internal.Origin() + strings.TrimRight(internal.Path, "/") + "/session"
		e.forwarded = http.Header{"X-Forwarded-Host": {public.Host}, "X-Forwarded-Proto": {public.Scheme}}
	}
	e.signIn = public.Origin() + base + "/signin"
	if app == public.Origin() {
		// A path leads there by whatever name of the app it was come by.
		e.paths, e.signIn = []string{base}, base+"/signin"
	}
	if config.SignInPage != "" {
		u, ok := weburl.Parse(config.SignInPage)
		isPath := strings.HasPrefix(config.SignInPage, "/") && !strings.HasPrefix(config.SignInPage, "//")
		if !isPath && (!ok || !isHTTP(u)) || strings.ContainsAny(config.SignInPage, "\\#\r\n\t") {
			return nil, fail(ErrConfig, "Config.SignInPage is neither a path of this app nor an http URL", nil)
		}
		e.signIn = config.SignInPage
	}
	if err := e.readTokens(public.Scheme == "https"); err != nil {
		return nil, err
	}
	return e, nil
}

// readTokens prepares the names of the session cookie, and the reader if there is a secret.
func (e *Edge) readTokens(secure bool) error {
	name := or(e.config.CookieName, defaultName(secure))
	bare := strings.TrimPrefix(strings.TrimPrefix(name, "__Secure-"), "__Host-")
	if bare == "" || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) }) {
		return fail(ErrConfig, "Config.CookieName has a character that no cookie's name may have", nil)
	}
	variants := []string{name, bare, "__Secure-" + bare, "__Host-" + bare}
	second := slices.Index(variants[1:], name) + 1
	copy(e.names[:], slices.Delete(variants, second, second+1))
	if e.config.Secret == nil {
		return nil
	}
	secrets := slices.Clone(e.config.Secret)
	reader, err := core.NewTokenReader(core.TokenOptions{Secret: secrets, CookieName: name, Decode: decoder(secrets, name)})
	if err != nil || len(secrets) == 0 || slices.Contains(secrets, "") {
		return fail(ErrConfig, "Config.Secret is empty, or has an empty entry: set it to the edge's AUTH_SECRET, or leave it nil to ask the edge", err)
	}
	e.tokens = reader
	return nil
}

func defaultName(secure bool) string {
	if secure {
		return "__Secure-authjs.session-token"
	}
	return "authjs.session-token"
}

// address parses the URL of a handler.
func address(text string) (*weburl.URL, bool) {
	u, ok := weburl.Parse(text)
	if !ok || !isHTTP(u) || u.User || u.Query != "" || u.Fragment != "" {
		return nil, false
	}
	_, err := url.Parse(u.String()) // what net/http will say to it
	return u, err == nil
}

func isHTTP(u *weburl.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }

func or[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
