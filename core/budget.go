package core

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/jwe"
)

// largeSession is the size of a session token, in bytes, that is warned of. All cookies of a
// site share one header line, and nginx and Apache take 8 KB in one; 2 KB of it are left for
// the other cookies.
const largeSession = 6 << 10

// largeSessionFix is what to do about both.
const largeSessionFix = "put less into the token in Config.Callbacks.JWT, or keep sessions in a store (Config.Session.Strategy database)"

// checkBudget refuses a session token that the browser would get, but could not send back, and
// warns once of one that comes near. An error of making the token is passed on.
func (x *exchange) checkBudget(token string, err error) error {
	size := len(token)
	switch {
	case errors.Is(err, jwe.ErrTooLong):
		return fail(ErrSessionTooLarge, largeSessionFix, err)
	case err != nil:
		return err
	case size > x.maxCookie:
		return fail(ErrSessionTooLarge, "the session token has "+strconv.Itoa(size)+" bytes, Config.Session.MaxCookieBytes allows "+strconv.Itoa(x.maxCookie)+": "+largeSessionFix, nil)
	case size > largeSession && x.warnedOfSize.CompareAndSwap(false, true):
		x.log.Warn("session-cookie-large", "bytes", size, "fix", largeSessionFix+": many servers refuse more than 8 KB of cookies", "request", x.requestID())
	}
	return nil
}

// notExtended is a session that was read, but whose new token is too large: the browser keeps
// the old one, and the session ends when that does. Any other error is returned.
func (x *exchange) notExtended(session *Session, old string, err error) error {
	if !errors.Is(err, ErrSessionTooLarge) {
		return err
	}
	x.logError(fail(ErrSessionTooLarge, "the session was not extended", err))
	claims, err := x.decodeSession(old)
	if err != nil || session == nil || !session.Expires.Equal(x.now.Add(x.maxAge)) {
		return nil // the callback has set a time of its own
	}
	if exp, ok := claims["exp"].(json.Number); ok {
		if seconds, err := exp.Int64(); err == nil && seconds < session.Expires.Unix() {
			session.Expires = time.Unix(seconds, 0)
		}
	}
	return nil
}
