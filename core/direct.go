package core

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

// A SignInRequest is what [Auth.SignIn] starts a sign-in with.
type SignInRequest struct {
	Provider    string     // the provider's id; empty: all of them, on the sign-in page
	CallbackURL string     // where to go afterwards; empty: where the last sign-in led, else the origin
	Fields      url.Values // what a form would submit: credentials, or the e-mail address; of several values the last
	Params      url.Values // parameters for the authorization request of an OAuth provider
}

// SignIn starts a sign-in as POST signin does, or completes one with credentials as POST
// callback does, for a request to any route of the app. The Response has where to send the
// browser, in its Location, and cookies that must go with it. A failure is in Response.Err,
// and the Response then leads to the page that tells about it.
//
// It checks no CSRF token. Whoever calls it for what a form has sent must know that the form
// was the site's own: [Auth.SameOrigin] tells.
func (a *Auth) SignIn(r *http.Request, in SignInRequest) *Response {
	return a.direct(r, ActionSignIn, func(x *exchange) (reply, error) {
		x.body = make(map[string]any, len(in.Fields)+1)
		for name, values := range in.Fields {
			if len(values) > 0 {
				x.body[name] = values[len(values)-1]
			}
		}
		x.body["callbackUrl"] = in.CallbackURL
		for _, name := range slices.Sorted(maps.Keys(in.Params)) {
			for _, value := range in.Params[name] {
				x.query = append(x.query, weburl.Param{Name: name, Value: value})
			}
		}
		if err := x.begin(in.Provider); err != nil {
			return reply{}, err
		}
		switch {
		case x.provider == nil:
			page := x.base + "/" + string(ActionSignIn)
			return reply{redirect: withQuery(page, weburl.Query{{Name: "callbackUrl", Value: x.callbackURL}})}, nil
		case x.provider.login != nil:
			x.action = ActionCallback
			return x.credentialsCallback()
		}
		return x.signIn()
	})
}

// SignOut ends the request's session as POST signout does. The Response has where to send the
// browser, and the cookies that make it forget the session. An empty callbackURL leads to
// where the last sign-in led, else to the origin. As with [Auth.SignIn] no CSRF token is checked.
func (a *Auth) SignOut(r *http.Request, callbackURL string) *Response {
	return a.direct(r, ActionSignOut, func(x *exchange) (reply, error) {
		x.body = map[string]any{"callbackUrl": callbackURL}
		if err := x.begin(""); err != nil {
			return reply{}, err
		}
		return x.signOut()
	})
}

// direct runs an action for a request to another route.
func (a *Auth) direct(r *http.Request, action Action, act func(x *exchange) (reply, error)) *Response {
	if isReturnRedirect(r) {
		plain := *r
		plain.Header = r.Header.Clone()
		plain.Header.Del("X-Auth-Return-Redirect") // it asks the route for JSON; here the Location is wanted
		r = &plain
	}
	x, err := a.attach(r)
	if err != nil {
		return a.refuse(r, err)
	}
	x.action = action
	out, err := x.guard(func() (reply, error) { return act(x) })
	if err == nil {
		var resp *Response
		if resp, err = x.render(out); err == nil {
			return x.done(resp)
		}
	}
	known := asError(err, ErrCallbackRoute)
	return x.done(x.failed(known, func() *Response { return x.failure(known) }))
}

// SameOrigin reports whether a browser says, by Sec-Fetch-Site or Origin, that one of the
// site's own pages sent the request. A request without either header is not of the same origin.
func (a *Auth) SameOrigin(r *http.Request) bool {
	post := *r
	post.Method = http.MethodPost // or else net/http would let everything pass
	x, err := a.attach(&post)
	return err == nil && x.isSameOrigin()
}

// WithDefaults gives the logger as the handler uses it: what is nil writes to standard error,
// and Debug is silent unless it is wanted. It is for those who answer requests beside the handler.
func (l Logger) WithDefaults(debug bool) Logger { return l.withDefaults(debug) }

// IsRoute reports whether a request is the handler's to answer: whether the path, after one of
// the base paths and a slash, goes on with the name of an action. What follows may make it a
// bad request all the same.
func IsRoute(r *http.Request, basePaths ...string) bool {
	pathname := pathnameOf("http://localhost", r) // the host plays no part in resolving a path
	for _, base := range basePaths {
		if base = strings.Trim(base, "/"); base != "" {
			base = "/" + base
		}
		rest, ok := strings.CutPrefix(pathname, base)
		if !ok || !strings.HasPrefix(rest, "/") {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
		if IsAction(first) {
			return true
		}
	}
	return false
}
