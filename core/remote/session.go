package remote

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/internal/jwe"
)

// Session gives the session of a request, nil when nobody is signed in. An error means that it
// is not known who is signed in: nobody must be let in for it, and nobody told that they are
// signed out. It is an [Error], but for one of Config.FromToken, which is given as it is.
//
// After [Edge.Handle] the session is found out once for a request, when it is first asked for,
// and the refreshed cookies of the edge go out with the response; so ask before writing it.
// Without Handle every call finds out anew, and the cookies are lost: the session then ends at
// its old time, unless something else extends it.
func (e *Edge) Session(r *http.Request) (*core.Session, error) {
	if v := visitOf(r); v != nil && v.edge == e {
		return v.read(r)
	}
	a, err := e.answer(r)
	return a.session, err
}

// answer finds out who is signed in.
func (e *Edge) answer(r *http.Request) (answer, error) {
	if e.isRoute(r) || r.Header[questionHeader] != nil {
		return answer{}, fail(ErrNotMounted, "a request for the edge's routes has come to the app: the path of Config.URL is not mounted", nil)
	}
	pairs := e.sessionPairs(r)
	if len(pairs) == 0 {
		return answer{}, nil
	}
	if e.tokens == nil {
		return e.cached(r.Context(), pairs)
	}
	session, unread := e.read(r.Context(), pairs)
	var own *refusal
	switch {
	case session != nil:
		return answer{session: session}, nil
	case errors.As(unread, &own):
		return answer{}, own.error
	case errors.Is(unread, errLongExpired):
		return answer{}, nil
	}
	return e.judge(r.Context(), pairs, unread)
}

// judge has the edge decide on cookies that are no session by the secret.
func (e *Edge) judge(ctx context.Context, pairs []string, unread error) (answer, error) {
	a, err := e.cached(ctx, pairs)
	isExpired := errors.Is(unread, jwe.ErrExpired)
	switch {
	case err != nil && isExpired:
		return answer{}, err
	case err != nil:
		return answer{}, fail(ErrSecret, "the session token can't be read with Config.Secret, and the edge can't be asked", errors.Join(unread, err))
	case a.session == nil:
		return a, nil
	case isExpired:
		e.log.Warn("clock", "fix", "set this machine's clock: it is ahead of the edge's")
		return a, nil
	}
	return answer{}, fail(ErrSecret, "the edge knows a session that can't be read here: set Config.Secret to the edge's AUTH_SECRET and Config.CookieName to its cookie, or leave Secret nil if its sessions are in a database", unread)
}

// cached asks the edge unless it has just been asked.
func (e *Edge) cached(ctx context.Context, pairs []string) (answer, error) {
	if e.config.CacheFor < 0 {
		return e.ask(ctx, pairs)
	}
	k := keyOf(pairs)
	if body := e.cache.get(k, time.Now()); body != nil {
		session, err := parseSession(body)
		return answer{session: session}, err
	}
	a, err := e.ask(ctx, pairs)
	if err != nil || a.session == nil {
		return a, err
	}
	ends := time.Now().Add(e.config.CacheFor)
	if a.session.Expires.Before(ends) {
		ends = a.session.Expires
	}
	e.cache.put(k, a.body, ends)
	if len(a.lines) > 0 {
		// With the jwt strategy every answer renews the token, and the browser comes with the
		// new one next.
		e.cache.put(keyOf(next(pairs, a.lines)), a.body, ends)
	}
	return a, nil
}

// isRoute reports whether a request is for the edge, by its path.
func (e *Edge) isRoute(r *http.Request) bool {
	return len(e.paths) > 0 && core.IsRoute(r, e.paths...)
}
