package core

import (
	"strings"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

// checkCallbackURL refuses a callbackUrl in the query that is no URL (facts 41 and 42). The
// cookie is not checked here: a bad one is ignored, so that it can't lock a browser out.
func (x *exchange) checkCallbackURL() *Error {
	asked := x.queryText("callbackUrl")
	if asked == "" || x.isHTTP(asked) {
		return nil
	}
	return fail(ErrInvalidCallbackURL, "the query's callbackUrl is neither a path nor an http URL", nil)
}

// isHTTP reports whether text is a path of this site or an absolute http URL.
func (x *exchange) isHTTP(text string) bool {
	if text == x.origin {
		return true
	}
	var u *weburl.URL
	var ok bool
	if strings.HasPrefix(text, "/") {
		base, baseOK := weburl.Parse(x.origin)
		if !baseOK {
			return false
		}
		u, ok = weburl.ParseFrom(text, base)
	} else {
		u, ok = weburl.Parse(text)
	}
	return ok && (u.Scheme == "http" || u.Scheme == "https")
}

// chooseCallbackURL decides where the browser goes after signing in or out: what the body,
// else the query, else the cookie asks for, if the Redirect callback lets it (fact 40).
func (x *exchange) chooseCallbackURL() error {
	kept, _ := x.jar.Get(x.cookies.callbackURL.name)
	if kept != "" && !x.isHTTP(kept) {
		kept = ""
	}
	asked, err := x.askedCallbackURL()
	if err != nil {
		return err
	}
	x.callbackURL = x.origin
	if asked = or(asked, kept); asked != "" {
		if x.callbackURL, err = x.redirectTo(asked); err != nil {
			return err
		}
	}
	if x.callbackURL != kept {
		x.set = append(x.set, x.cookies.callbackURL.with(x.callbackURL))
	}
	return nil
}

// askedCallbackURL is the request's callbackUrl; the body's wins, even when it is empty.
func (x *exchange) askedCallbackURL() (string, error) {
	switch value := x.body["callbackUrl"].(type) {
	case nil:
		return x.queryText("callbackUrl"), nil
	case string:
		return value, nil
	case bool:
		if !value {
			return "", nil
		}
	}
	return "", fail(ErrInvalidCallbackURL, "the body's callbackUrl is not text", nil)
}

// redirectTo asks the Redirect callback about a URL.
func (x *exchange) redirectTo(url string) (string, error) {
	if redirect := x.config.Callbacks.Redirect; redirect != nil {
		return redirect(x.ctx, RedirectParams{URL: url, BaseURL: x.origin})
	}
	return defaultRedirect(url, x.origin)
}

// defaultRedirect allows paths and URLs of the same origin, as they are (fact 43). A URL
// that names a user is not one of them: browsers show the user's name in its place.
func defaultRedirect(url, origin string) (string, error) {
	if strings.HasPrefix(url, "/") {
		return origin + url, nil
	}
	if url == origin {
		return url, nil
	}
	u, ok := weburl.Parse(url)
	if !ok {
		return "", fail(ErrInvalidCallbackURL, "the callbackUrl is no URL", nil)
	}
	if (u.Scheme == "http" || u.Scheme == "https") && !u.User && u.Origin() == origin {
		return url, nil
	}
	return origin, nil
}
