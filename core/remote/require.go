package remote

import (
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/route"
)

// Require protects one page or one call of an API, in its handler: it gives the session of
// somebody who is signed in. Otherwise it has answered the request and gives false: a page load
// is sent to the sign-in page with the way back as callbackUrl, 303; everything else gets 401
// and JSON with the sign-in page's URL. What is a page load the browser says in Sec-Fetch-Mode;
// without that, one that accepts text/html is. When it is not known who is signed in, the
// answer is 503 or 500, and nobody is sent anywhere.
func (e *Edge) Require(w http.ResponseWriter, r *http.Request) (*core.Session, bool) {
	v := visitOf(r)
	if v == nil || v.edge != e {
		v = &visit{edge: e, r: r}
	}
	session, err := v.read(r)
	if !v.passed {
		v.commit(w.Header())
	}
	if err != nil {
		e.fail(w, v.r, err)
		return nil, false
	}
	if !hasUser(session) {
		e.deny(w, v.r)
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

// Protect makes a middleware, to stand after [Edge.Handle], that does what [Edge.Require] does
// for all requests to these paths. The patterns are those of [route.NewPaths], "/account" with
// everything below it. The handler's routes and the sign-in page stay open, so that nobody is
// redirected for ever. No paths at all, what is no path, and the sign-in page itself are an
// error, core.ErrInvalidConfig or ErrConfig.
func (e *Edge) Protect(patterns ...string) (func(next http.Handler) http.Handler, error) {
	paths, err := route.NewPaths(patterns...)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(e.signIn, "/") && paths.Names(e.signIn) {
		return nil, fail(ErrConfig, `protecting "`+e.signIn+`" would redirect the sign-in page to itself: leave it out`, nil)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !paths.Match(r) || e.isRoute(r) || route.IsPage(r, e.signIn) {
				next.ServeHTTP(w, r)
				return
			}
			if _, ok := e.Require(w, r); ok {
				next.ServeHTTP(w, r)
			}
		})
	}, nil
}

// SignInURL is where the sign-in page is, with the way back to this request as callbackUrl. The
// way back is a path, or a URL of Config.Origin; no header has a part in it. A request that
// can't be taken up again, as a POST, has none.
func (e *Edge) SignInURL(r *http.Request) string {
	if v := visitOf(r); v != nil && v.edge == e {
		r = v.r // before any prefix was stripped
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return e.signIn
	}
	back := e.config.Origin + "/" + strings.TrimLeft(r.URL.EscapedPath(), "/") // with two slashes it would be another host's
	if r.URL.RawQuery != "" {
		back += "?" + r.URL.RawQuery
	}
	separator := "?"
	if strings.Contains(e.signIn, "?") {
		separator = "&"
	}
	return e.signIn + separator + "callbackUrl=" + url.QueryEscape(back)
}

// isPageLoad reports whether a browser will show what it gets, or go where it is sent.
func isPageLoad(r *http.Request) bool {
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(strings.ToLower(strings.Join(r.Header["Accept"], ",")), "text/html")
}

// deny answers somebody who is not signed in.
func (e *Edge) deny(w http.ResponseWriter, r *http.Request) {
	header, page := w.Header(), e.SignInURL(r)
	header.Set("Cache-Control", noStore)
	if !isPageLoad(r) {
		writeJSON(w, http.StatusUnauthorized, "Sign in first.", page)
		return
	}
	redirects := e.redirects(r)
	if redirects < maxRedirects && !route.IsPage(r, e.signIn) {
		header.Add("Set-Cookie", e.redirectCookie(redirects+1))
		header.Set("Location", page)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	if redirects >= maxRedirects {
		e.log.Warn("signin-loop", "fix", "people are sent to sign in again and again: if they do sign in, the session cookie doesn't reach this app; give it a domain that both share, or mount the handler on this app's origin")
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write([]byte(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Not signed in</title><h1>Not signed in</h1><p><a href="` + html.EscapeString(page) + `">Sign in</a> to see this page.</p></html>`))
}

// Redirects to the sign-in page are counted in a cookie, since a page that signs in without
// asking anybody, and a session that doesn't reach this app, would otherwise make a circle.
const (
	redirectCookieName = "edgeauth.redirects"
	maxRedirects       = 5
	redirectMemory     = 60 // seconds since the last
)

func (e *Edge) redirects(r *http.Request) int {
	c, err := r.Cookie(redirectCookieName)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(c.Value, 10, 8) // what is no number is 0, what is too large 255
	return int(n)
}

func (e *Edge) redirectCookie(count int) string {
	c := http.Cookie{Name: redirectCookieName, Value: strconv.Itoa(count), Path: "/", MaxAge: redirectMemory, HttpOnly: true, Secure: e.secure, SameSite: http.SameSiteLaxMode}
	if count == 0 {
		c.Value, c.MaxAge = "", -1
	}
	return c.String()
}

// fail answers a request of which it is not known who sent it.
func (e *Edge) fail(w http.ResponseWriter, r *http.Request, err error) {
	kind := Kind("SessionError") // of Config.FromToken
	if known := (*Error)(nil); errors.As(err, &known) {
		kind = known.Kind
	}
	e.log.Error(string(kind), "message", err.Error())
	header := w.Header()
	header.Set("Cache-Control", noStore)
	status, message := http.StatusInternalServerError, "There is a problem with the server configuration."
	if kind == ErrDown || kind == ErrSlow {
		status, message = http.StatusServiceUnavailable, "It can't be found out at the moment who is signed in."
		header.Set("Retry-After", "2") // seconds
	}
	if isPageLoad(r) {
		http.Error(w, message, status)
		return
	}
	writeJSON(w, status, message, "")
}

// writeJSON answers a script.
func writeJSON(w http.ResponseWriter, status int, message, signIn string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	body, _ := json.Marshal(struct {
		Message string `json:"message"`
		URL     string `json:"url,omitempty"`
	}{message, signIn}) // text always marshals
	_, _ = w.Write(body)
}
