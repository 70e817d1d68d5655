package core

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/jwe"
	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

const (
	defaultBasePath  = "/auth"
	defaultMaxAge    = 30 * 24 * time.Hour
	defaultUpdateAge = 24 * time.Hour
	checkMaxAge      = 15 * time.Minute // of the state, nonce and PKCE cookies
)

// Auth is a checked configuration that answers requests. It is safe for concurrent use.
type Auth struct {
	config    Config
	env       environment
	log       Logger
	transport http.RoundTripper
	trustHost bool

	secrets    []string // newest first
	secretText string   // all of them as the wire hashes them: joined by commas
	basePath   string   // the first of paths
	paths      []string // where the handler answers
	strategy   Strategy
	maxAge     time.Duration
	update     time.Duration
	tokenAge   time.Duration // of session tokens
	maxCookie  int           // bytes of a session token
	measured   bool          // requests have a meter

	providers []*provider
	plain     cookieSet // for http
	secure    cookieSet // for https
	state     *jwe.Ring // seals the state parameter
	latest    atomic.Pointer[lastOrigin]

	warnedOfSize atomic.Bool // of a large session, once
}

// New checks the configuration and prepares what requests share. It returns every mistake
// at once, joined, each an *Error whose kind is the mistake's name in the contract and
// whose message tells the fix.
func New(config Config) (*Auth, error) {
	a := configure(config)
	if err := a.check(); err != nil {
		return nil, err
	}
	a.warn()
	return a, nil
}

func configure(config Config) *Auth {
	if config.Getenv == nil {
		config.Getenv = os.Getenv
	}
	env := readEnvironment(config.Getenv)
	a := &Auth{
		config:    config,
		env:       env,
		log:       config.Logger.withDefaults(config.Debug),
		transport: config.Transport,
		trustHost: config.TrustHost == On || config.TrustHost == Auto && env.trustHost,
		secrets:   append([]string(nil), config.Secret...),
		basePath:  config.BasePath,
		strategy:  config.Session.Strategy,
		maxAge:    config.Session.MaxAge,
		update:    config.Session.UpdateAge,
	}
	if a.transport == nil {
		a.transport = defaultTransport()
	}
	if len(a.secrets) == 0 {
		a.secrets = env.secrets
	}
	if a.basePath == "" {
		a.basePath = defaultBasePath
		if env.url != nil {
			a.basePath = env.url.Path
		}
	}
	a.basePath = "/" + strings.TrimPrefix(a.basePath, "/")
	a.paths = []string{a.basePath}
	for _, path := range config.BasePathAliases {
		a.paths = append(a.paths, "/"+strings.Trim(path, "/"))
	}
	slices.SortStableFunc(a.paths, func(p, q string) int { return len(q) - len(p) })
	if a.strategy == StrategyAuto {
		a.strategy = StrategyJWT
		if config.Adapter != nil {
			a.strategy = StrategyDatabase
		}
	}
	if a.maxAge == 0 {
		a.maxAge = defaultMaxAge
	}
	if a.update == 0 {
		a.update = defaultUpdateAge
	}
	a.update = max(a.update, 0)
	a.tokenAge = config.JWT.MaxAge
	if a.tokenAge == 0 {
		a.tokenAge = a.maxAge
	}
	a.maxCookie = config.Session.MaxCookieBytes
	if a.maxCookie <= 0 {
		a.maxCookie = jwe.MaxToken
	}
	if a.measured = config.Debug || config.ServerTiming; a.measured {
		if config.Adapter != nil {
			a.config.Adapter = config.Adapter.metered()
		}
		if a.transport != nil {
			a.transport = meteredTransport{a.transport}
		}
	}
	proxy := or(config.RedirectProxyURL, config.Getenv("AUTH_REDIRECT_PROXY_URL"))
	for _, p := range config.Providers {
		a.providers = append(a.providers, newProvider(p, proxy, config.Getenv))
	}
	a.plain = newCookieSet(&a.config, a.secrets, false)
	a.secure = newCookieSet(&a.config, a.secrets, true)
	a.state = jwe.NewRing(a.secrets, "encodedState")
	a.secretText = strings.Join(a.secrets, ",")
	return a
}

// provider gives the configured provider of that id, or nil.
func (a *Auth) provider(id string) *provider {
	for _, p := range a.providers {
		if p.id == id {
			return p
		}
	}
	return nil
}

// lastOrigin is the origin that was found for the latest request, and what it was found from.
// Most requests of a site have the same.
type lastOrigin struct {
	scheme, host, proto, forwarded string
	origin                         string
}

// origin is the public origin that a request was sent to: that of AUTH_URL, else what the
// forwarding headers say, else the Host header.
func (a *Auth) origin(r *http.Request) (string, bool) {
	if a.env.url != nil {
		return a.env.url.Origin(), true
	}
	asked := lastOrigin{scheme: r.URL.Scheme, host: r.Host, proto: first(r.Header["X-Forwarded-Proto"]), forwarded: first(r.Header["X-Forwarded-Host"])}
	if r.TLS != nil {
		asked.scheme = "https"
	}
	if last := a.latest.Load(); last != nil {
		if asked.origin = last.origin; asked == *last {
			return last.origin, true
		}
	}
	origin, ok := findOrigin(r)
	if ok {
		found := asked
		found.origin = origin
		a.latest.Store(&found)
	}
	return origin, ok
}

// first is the first value of a header, "" without one. The key it was found by must be canonical.
func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func findOrigin(r *http.Request) (string, bool) {
	scheme := "http"
	if r.TLS != nil || r.URL.Scheme == "https" {
		scheme = "https"
	}
	host := r.Header.Get("X-Forwarded-Host")
	if host == "" {
		host = r.Host
	}
	if proto := r.Header.Get("X-Forwarded-Proto"); proto != "" {
		if u, ok := weburl.Parse(strings.TrimSuffix(proto, ":") + "://" + host); ok && !u.Opaque {
			return u.Origin(), true
		}
	}
	if u, ok := weburl.Parse(scheme + "://" + host); ok {
		return u.Origin(), true
	}
	u, ok := weburl.Parse(scheme + "://" + r.Host)
	if !ok {
		return "", false
	}
	return u.Origin(), true
}

// cookiesFor chooses the cookies by the public scheme, unless the configuration fixes it.
func (a *Auth) cookiesFor(origin string) *cookieSet {
	secure := strings.HasPrefix(origin, "https:")
	switch a.config.UseSecureCookies {
	case On:
		secure = true
	case Off:
		secure = false
	}
	if secure {
		return &a.secure
	}
	return &a.plain
}
