package hook

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/internal/latehead"
)

const defaultBasePath = "/auth"

// ErrOutsideHandle is the answer to whoever asks for the session of a request that did not
// pass [Hook.Handle]. It is not "signed out".
var ErrOutsideHandle = errors.New("hook: the request did not pass Handle")

// A Hook answers the authentication routes of an app and gives all its other requests access
// to the session. It is safe for concurrent use.
type Hook struct {
	fixed     *site                                    // of New
	configure func(*http.Request) (core.Config, error) // of PerRequest
}

// New checks the configuration, as [core.New] does and with its errors. The base path is
// "/auth" unless BasePath is set; the path of AUTH_URL is not looked at. A POST without a CSRF
// token is taken if the browser says that it has the same origin (core.CSRFOrigin).
func New(config core.Config) (*Hook, error) {
	s := newSite(config, nil)
	if s.err != nil {
		return nil, s.err
	}
	return &Hook{fixed: s}, nil
}

// PerRequest makes a Hook whose configuration depends on the request, where the platform's
// variables arrive with it. configure is called at most once for a request, and not at all if
// the request is for no route of the handler and nobody asks for its session. While it fails,
// or gives a configuration with mistakes, the routes answer as [core.Misconfigured] does, and
// whoever asks for the session gets the error.
func PerRequest(configure func(r *http.Request) (core.Config, error)) *Hook {
	return &Hook{configure: configure}
}

// site is a configuration as the hook uses it.
type site struct {
	*core.Auth // nil with err
	config     core.Config
	log        core.Logger
	paths      []string // base path and aliases
	handler    http.Handler
	err        error
}

func newSite(config core.Config, err error) *site {
	if config.BasePath == "" {
		config.BasePath = defaultBasePath
	}
	if config.CSRF == core.CSRFToken {
		config.CSRF = core.CSRFOrigin
	}
	s := &site{config: config, log: config.Logger.WithDefaults(config.Debug), err: err}
	s.paths = append([]string{config.BasePath}, config.BasePathAliases...)
	if s.err == nil {
		s.Auth, s.err = core.New(config)
	}
	s.handler = s.Auth
	if s.err != nil {
		s.handler = core.Misconfigured(config, s.err)
	}
	return s
}

// signInPage is where people are sent to sign in.
func (s *site) signInPage() string {
	if s.config.Pages.SignIn != "" {
		return s.config.Pages.SignIn
	}
	base := strings.Trim(s.config.BasePath, "/")
	if base != "" {
		base = "/" + base
	}
	return base + "/" + string(core.ActionSignIn)
}

// Handle is the middleware that every request of the app goes through. It answers those for
// the authentication routes. The others it passes on, and [Auth] then knows them; the cookies
// of what they do with the session go out with their response.
//
// Middleware that decides by the session, as that of [Hook.Protect], stands after it.
func (h *Hook) Handle(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if visitOf(r).of(h) {
			next.ServeHTTP(w, r) // Handle is in the chain twice
			return
		}
		v := &visit{hook: h, r: r}
		v.site = sync.OnceValue(v.findSite)
		if h.mayAnswer(r) {
			if s := v.site(); core.IsRoute(r, s.paths...) {
				s.handler.ServeHTTP(w, r)
				return
			}
		}
		next.ServeHTTP(&latehead.Response{ResponseWriter: w, Complete: v.commit}, r.WithContext(context.WithValue(r.Context(), visitKey{}, v)))
		v.commit(w.Header())
	})
}

// mayAnswer reports whether the configuration has to be known to tell who answers a request.
func (h *Hook) mayAnswer(r *http.Request) bool {
	if h.fixed != nil {
		return true
	}
	for segment := range strings.SplitSeq(r.URL.EscapedPath(), "/") {
		if core.IsAction(segment) {
			return true
		}
	}
	return false
}
