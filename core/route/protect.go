package route

import (
	"errors"
	"net/http"

	"github.com/edgeauth/edgeauth/core"
)

// Require is protection in a page's loader: it gives the session of somebody who is signed in.
// Otherwise, when there is no session or it has no user, it has answered the request, with a
// redirect to Config.RedirectTo, and gives false.
func (a *Routes) Require(w http.ResponseWriter, r *http.Request) (*core.Session, bool) {
	session, err := a.Session(w, r)
	if err != nil {
		a.fail(w, r, err)
		return nil, false
	}
	if !hasUser(session) {
		a.deny(w, r)
		return nil, false
	}
	return session, true
}

// hasUser reports whether a client would see a user in the session.
func hasUser(session *core.Session) bool {
	if session == nil {
		return false
	}
	if user, replaced := session.Extra["user"]; replaced {
		return user != nil
	}
	return session.User != nil
}

// Protect makes a middleware that lets a request to one of these paths pass only if there is a
// session, and redirects it to Config.RedirectTo otherwise. The patterns are those of [NewPaths].
// It refuses, with core.ErrInvalidConfig, no paths at all, and paths that name
// Config.RedirectTo or a route of the handler, which everybody must be able to reach. If they
// only lie below a protected path, they stay open.
//
// It sees the path as it is where it stands: inside of http.StripPrefix, the stripped one.
func (a *Routes) Protect(patterns ...string) (func(next http.Handler) http.Handler, error) {
	paths, err := NewPaths(patterns...)
	if err != nil {
		return nil, err
	}
	if paths.Names(a.redirectTo) {
		return nil, invalid(`protecting "` + a.redirectTo + `" would redirect it to itself: set Config.RedirectTo to a page that is open, or protect other paths`)
	}
	for _, path := range a.paths {
		if paths.Enters(path) {
			return nil, invalid(`protecting "` + path + `" or a route below it would keep everybody from signing in: leave it out`)
		}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !paths.Match(r) || core.IsRoute(r, a.paths...) || IsPage(r, a.redirectTo) {
				next.ServeHTTP(w, r)
				return
			}
			session, err := a.Session(w, r)
			switch {
			case err != nil:
				a.fail(w, r, err)
			case session == nil:
				a.deny(w, r)
			default:
				next.ServeHTTP(w, a.with(r, session))
			}
		})
	}, nil
}

// deny answers somebody who is not signed in.
func (a *Routes) deny(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", noStore)
	if a.target.Match(r) {
		// A redirect would come back here, for ever.
		http.Error(w, "Sign in to see this page.", http.StatusForbidden)
		return
	}
	http.Redirect(w, r, a.redirectTo, http.StatusFound)
}

// fail answers a request whose session could not be read.
func (a *Routes) fail(w http.ResponseWriter, r *http.Request, err error) {
	a.log.Error(string(core.ErrSessionToken), "message", err.Error(), "request", core.RequestID(r))
	w.Header().Set("Cache-Control", noStore)
	if errors.Is(err, core.ErrUntrustedHost) {
		http.Error(w, "Bad request.", http.StatusBadRequest)
		return
	}
	w.Header().Set("Retry-After", "1")
	http.Error(w, "The session can't be read at the moment.", http.StatusServiceUnavailable)
}
