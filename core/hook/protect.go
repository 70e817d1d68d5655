package hook

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/route"
)

// Require protects one page, in its handler: it gives the session of somebody who is signed in.
// Otherwise, when there is no session or it has no user, it has answered the request, 303 to
// the sign-in page with the way back as callbackUrl, and gives false.
//
// Put it into the handler of every page that needs it. A check in what pages share, as a
// layout, protects those that happen to use it.
func (h *Hook) Require(w http.ResponseWriter, r *http.Request) (*core.Session, bool) {
	session, err := h.auth(r)
	if err != nil {
		h.fail(w, r, err)
		return nil, false
	}
	if !hasUser(session) {
		visitOf(r).deny(w)
		return nil, false
	}
	return session, true
}

// auth is Auth for requests that passed this hook's Handle, and not another's.
func (h *Hook) auth(r *http.Request) (*core.Session, error) {
	if !visitOf(r).of(h) {
		return nil, ErrOutsideHandle
	}
	return Auth(r)
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

// Protect makes a middleware, to stand after [Hook.Handle], that lets a request to these paths
// pass only if there is a session, and answers 303 to the sign-in page otherwise. The patterns
// are those of [route.NewPaths]: "/account" covers everything below it, and is not got around
// by another spelling.
//
// It refuses, with core.ErrInvalidConfig, no paths at all, and those that name the sign-in page
// or an authentication route, so that nobody is redirected for ever. If these, or the pages for
// errors, signing out and sent e-mails, lie below a protected path, they stay open. Under "/"
// the form actions need an exception: "!/signin".
func (h *Hook) Protect(patterns ...string) (func(next http.Handler) http.Handler, error) {
	paths, err := route.NewPaths(patterns...)
	if err != nil {
		return nil, err
	}
	if s := h.fixed; s != nil {
		if paths.Names(s.signInPage()) {
			return nil, refuse(`protecting "` + s.signInPage() + `" would redirect the sign-in page to itself: leave it out`)
		}
		for _, path := range s.paths {
			if paths.Enters(path) {
				return nil, refuse(`protecting "` + path + `" or a route below it would keep everybody from signing in: leave it out`)
			}
		}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !paths.Match(r) {
				next.ServeHTTP(w, r)
				return
			}
			v := visitOf(r)
			if v.of(h) && v.site().isOpen(r) {
				next.ServeHTTP(w, r)
				return
			}
			session, err := h.auth(r)
			switch {
			case err != nil:
				h.fail(w, r, err)
			case session == nil:
				v.deny(w)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}, nil
}

func refuse(message string) error {
	return &core.Error{Kind: core.ErrInvalidConfig, Message: message}
}

// isOpen reports whether a request is for a page that people see before they are signed in.
func (s *site) isOpen(r *http.Request) bool {
	pages := s.config.Pages
	for _, page := range [...]string{s.signInPage(), pages.SignOut, pages.Error, pages.VerifyRequest} {
		if page != "" && route.IsPage(r, page) {
			return true
		}
	}
	return core.IsRoute(r, s.paths...)
}

// deny sends somebody who is not signed in to the sign-in page, with the way back.
func (v *visit) deny(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", noStore)
	page := v.site().signInPage()
	if route.IsPage(v.r, page) {
		// A redirect would come back here, for ever.
		http.Error(w, "Sign in to see this page.", http.StatusForbidden)
		return
	}
	if back := v.back(); back != "" {
		separator := "?"
		if strings.Contains(page, "?") {
			separator = "&"
		}
		page += separator + "callbackUrl=" + url.QueryEscape(back)
	}
	w.Header().Set("Location", page)
	w.WriteHeader(http.StatusSeeOther)
}

// back is the path of the request as it came, with its query. It is for pages only: "" for a
// POST, which can't be taken up again.
func (v *visit) back() string {
	if v.r.Method != http.MethodGet && v.r.Method != http.MethodHead {
		return ""
	}
	path := "/" + strings.TrimLeft(v.r.URL.EscapedPath(), "/") // with two slashes it would be another host's
	if v.r.URL.RawQuery != "" {
		path += "?" + v.r.URL.RawQuery
	}
	return path
}

// fail answers a request that can't be decided on, or that must not be obeyed.
func (h *Hook) fail(w http.ResponseWriter, r *http.Request, err error) {
	log, isMisconfigured := core.Logger{}.WithDefaults(false), false
	if v := visitOf(r); v.of(h) {
		log, isMisconfigured = v.site().log, v.site().err != nil
	} else if h.fixed != nil {
		log = h.fixed.log
	}
	kind := core.ErrCallbackRoute
	if known := (*core.Error)(nil); errors.As(err, &known) {
		kind = known.Kind
	}
	log.Error(string(kind), "message", err.Error(), "request", core.RequestID(r))
	w.Header().Set("Cache-Control", noStore)
	switch {
	case isMisconfigured:
		http.Error(w, "There is a problem with the server configuration.", http.StatusInternalServerError)
	case kind == core.ErrMissingCSRF:
		http.Error(w, "This form must be sent from a page of this site.", http.StatusForbidden)
	case kind == core.ErrUntrustedHost:
		http.Error(w, "Bad request.", http.StatusBadRequest)
	case errors.Is(err, ErrOutsideHandle), errors.Is(err, ErrHeaderSent):
		http.Error(w, "Internal server error", http.StatusInternalServerError)
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "The session can't be read at the moment.", http.StatusServiceUnavailable)
	}
}
