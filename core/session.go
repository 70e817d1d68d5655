package core

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/cookie"
)

// attach prepares a request to any route of the app for reading its session.
func (a *Auth) attach(r *http.Request) (*exchange, error) {
	origin, ok := a.origin(r)
	if !ok {
		return nil, fail(ErrUntrustedHost, "the request's host is not a host", nil)
	}
	x := &exchange{Auth: a, ctx: r.Context(), r: r, now: time.Now(), origin: origin, path: a.basePath, base: origin + a.basePath, action: ActionSession}
	x.jar = cookie.Parse(strings.Join(r.Header["Cookie"], "; "))
	x.cookies = a.cookiesFor(origin)
	x.measure()
	return x, nil
}

// readSession answers the session route: GET reads the session and extends it, POST also
// passes the client's data to the callbacks.
func (x *exchange) readSession(isUpdate bool, data any) (reply, error) {
	out := reply{mime: typeJSON, noStore: !isUpdate}
	session, err := x.currentSession(isUpdate, data)
	if err != nil {
		return out, err
	}
	if session == nil {
		out.body = []byte("null")
		return out, nil
	}
	body, err := session.appendJSON(make([]byte, 0, 256))
	if err != nil {
		return out, fail(ErrCallbackRoute, "the session can't be written as JSON", err)
	}
	out.body, out.session = body, session
	return out, nil
}

// currentSession is the session of the request, nil without one, or with one that is over.
func (x *exchange) currentSession(isUpdate bool, data any) (*Session, error) {
	token := x.sessionCookie()
	if token == "" {
		return nil, nil
	}
	trigger := TriggerRead
	if isUpdate {
		trigger = TriggerUpdate
	}
	if x.strategy == StrategyJWT {
		session, err := x.jwtSession(token, trigger, data)
		if err != nil && !errors.Is(err, ErrSessionTooLarge) {
			// An unreadable token is no session (fact 62); what it wrapped is only logged.
			x.logError(fail(ErrJWTSession, "the session cookie was dropped", err))
			x.clearSession()
			return nil, nil
		}
		return session, err
	}
	session, err := x.databaseSession(token, trigger, data)
	if err != nil {
		return nil, fail(ErrSessionToken, "the session could not be looked up", err)
	}
	return session, nil
}

// jwtSession reads the session from its token and issues the token anew, with full lifetime.
func (x *exchange) jwtSession(token string, trigger Trigger, data any) (*Session, error) {
	claims, err := x.decodeSession(token)
	if err != nil {
		return nil, err
	}
	claims, err = x.customJWT(JWTParams{Token: claims, Trigger: trigger, Session: data})
	if err != nil {
		return nil, err
	}
	if claims == nil {
		x.clearSession()
		return nil, nil
	}
	session := &Session{User: claims.user(), Expires: x.now.Add(x.maxAge)}
	session, err = x.customSession(SessionParams{Session: session, Token: claims})
	if err != nil {
		return nil, err
	}
	if err := x.issue(claims); err != nil {
		if trigger == TriggerUpdate {
			return nil, err
		}
		if err := x.notExtended(session, token, err); err != nil {
			return nil, err
		}
	}
	x.emit("session", x.config.Events.Session != nil, func() error {
		return x.config.Events.Session(x.ctx, SessionEvent{Session: session, Token: claims})
	})
	return session, nil
}

// databaseSession looks the session up, deletes it when it has expired, and writes its new
// expiry when that is due (fact 95).
func (x *exchange) databaseSession(token string, trigger Trigger, data any) (*Session, error) {
	stored, user, err := x.config.Adapter.GetSessionAndUser(x.ctx, token)
	if err != nil {
		return nil, fail(ErrAdapter, "getSessionAndUser", err)
	}
	if stored != nil && stored.Expires.Before(x.now) {
		if _, err := x.config.Adapter.DeleteSession(x.ctx, token); err != nil {
			x.logError(fail(ErrAdapter, "deleteSession: an expired session stays in the store", err))
		}
		stored = nil
	}
	if stored == nil || user == nil {
		x.clearSession()
		return nil, nil
	}
	expires := x.now.Add(x.maxAge)
	if due := stored.Expires.Add(x.update - x.maxAge); !due.After(x.now) {
		updated, err := x.config.Adapter.UpdateSession(x.ctx, AdapterSession{SessionToken: token, Expires: expires, Revision: stored.Revision})
		switch {
		case err != nil:
			// The session is as good as before; the next request tries again.
			x.logError(fail(ErrAdapter, "updateSession: the session was not extended", err))
			expires = stored.Expires
		case updated == nil: // it has ended since it was read
			x.clearSession()
			return nil, nil
		}
	}
	session := &Session{User: user, Expires: stored.Expires}
	session, err = x.customSession(SessionParams{Session: session, User: user, Trigger: trigger, NewSession: data})
	if err != nil {
		return nil, err
	}
	x.keepToken(token, expires)
	x.emit("session", x.config.Events.Session != nil, func() error {
		return x.config.Events.Session(x.ctx, SessionEvent{Session: session})
	})
	return session, nil
}

// keepToken puts the token of a database session into the session cookie.
func (x *exchange) keepToken(token string, expires time.Time) {
	c := x.cookies.session.with(token)
	c.Expires = expires
	x.set = append(x.set, c)
}

func (x *exchange) customSession(p SessionParams) (*Session, error) {
	if x.config.Callbacks.Session == nil {
		return defaultSession(p.Session), nil
	}
	return x.config.Callbacks.Session(x.ctx, p)
}

// emit runs an event handler if there is one. What it does wrong is logged, and no more.
func (x *exchange) emit(name string, wanted bool, handler func() error) {
	if !wanted {
		return
	}
	_, err := x.guard(func() (reply, error) { return reply{}, handler() })
	if err != nil {
		x.logError(fail(ErrEvent, name, err))
	}
}
