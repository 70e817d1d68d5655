package route

import (
	"context"
	"net/http"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

const defaultPrefix = "/api/auth"

// Config is core's configuration and what the routes add to it.
type Config struct {
	core.Config

	// Prefix is the path under which the routes are mounted: the BasePath of the configuration.
	// Empty: Config.BasePath, else "/api/auth".
	Prefix string

	// RedirectTo is the path that a browser is sent to when it must be signed in and is not.
	// Empty: "/".
	RedirectTo string
}

// Routes answers the requests of a catch-all route. It is safe for concurrent use.
type Routes struct {
	auth       *core.Auth
	log        core.Logger
	paths      []string // where the routes are mounted
	redirectTo string
	target     Paths // the path of redirectTo alone
}

// New checks the configuration. Its errors are those of [core.New].
func New(config Config) (*Routes, error) {
	base := config.Config
	switch prefix := "/" + strings.Trim(config.Prefix, "/"); {
	case config.Prefix == "" && base.BasePath == "":
		base.BasePath = defaultPrefix
	case config.Prefix == "":
	case base.BasePath != "" && "/"+strings.Trim(base.BasePath, "/") != prefix:
		return nil, invalid("Config.Prefix and Config.BasePath differ: leave BasePath empty")
	default:
		base.BasePath = prefix
	}
	auth, err := core.New(base)
	if err != nil {
		return nil, err
	}
	out := &Routes{
		auth: auth, log: base.Logger.WithDefaults(base.Debug), redirectTo: config.RedirectTo,
		paths: append([]string{base.BasePath}, base.BasePathAliases...),
	}
	if out.redirectTo == "" {
		out.redirectTo = "/"
	}
	path, _, _ := strings.Cut(out.redirectTo, "?")
	if out.target, err = NewPaths(strings.TrimSuffix(path, "/") + "/{$}"); err != nil {
		return nil, invalid("Config.RedirectTo is not a path of this site")
	}
	return out, nil
}

func invalid(message string) error {
	return &core.Error{Kind: core.ErrInvalidConfig, Message: message}
}

// GET answers the GET requests of the catch-all route.
func (a *Routes) GET(w http.ResponseWriter, r *http.Request) { a.only(http.MethodGet, w, r) }

// POST answers the POST requests of the catch-all route.
func (a *Routes) POST(w http.ResponseWriter, r *http.Request) { a.only(http.MethodPost, w, r) }

func (a *Routes) only(method string, w http.ResponseWriter, r *http.Request) {
	if r.Method != method {
		w.Header().Set("Allow", method)
		http.Error(w, "Method not allowed", http.StatusMethodNotAllowed)
		return
	}
	a.ServeHTTP(w, r)
}

// ServeHTTP answers the requests of the catch-all route, GET and POST. One outside of the
// prefix, or for an unknown action, is answered 404.
func (a *Routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.Handle(http.NotFoundHandler()).ServeHTTP(w, r)
}

// Handle answers the requests that are for the routes and passes every other one on.
func (a *Routes) Handle(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if core.IsRoute(r, a.paths...) {
			a.auth.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// GetSession gives the session of a request, nil when nobody is signed in. An error means that
// it is not known who is signed in: nobody must be let in, and nobody told that they are signed
// out.
//
// Reading a session extends it, and that takes a cookie in the response. Behind
// [Routes.Protect] and after [Routes.Require] the cookie has been set. Elsewhere use
// [Routes.Session], unless there is no response: the session then ends at its old time.
func (a *Routes) GetSession(r *http.Request) (*core.Session, error) {
	if known, ok := r.Context().Value(sessionKey{a}).(*core.Session); ok {
		return known, nil
	}
	now, err := a.auth.Session(r)
	if err != nil {
		return nil, err
	}
	return now.Session, nil
}

// Session is [Routes.GetSession] for where there is a response: it adds the cookies by which
// the browser's session is extended, or forgotten, and keeps shared caches from storing them.
// Call it before the response's header is written.
func (a *Routes) Session(w http.ResponseWriter, r *http.Request) (*core.Session, error) {
	if known, ok := r.Context().Value(sessionKey{a}).(*core.Session); ok {
		return known, nil
	}
	now, err := a.auth.Session(r)
	if err != nil {
		return nil, err
	}
	w.Header().Add("Vary", "Cookie")
	if len(now.Header["Set-Cookie"]) > 0 {
		w.Header().Set("Cache-Control", noStore)
		now.CopyCookies(w)
	}
	return now.Session, nil
}

const noStore = "private, no-cache, no-store"

// sessionKey is where Protect leaves the session in the context, for each Routes its own.
type sessionKey struct{ of *Routes }

// with gives the request with a session that need not be read again.
func (a *Routes) with(r *http.Request, session *core.Session) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), sessionKey{a}, session))
}
