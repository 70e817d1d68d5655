package hook

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// ErrNotForm is the answer to a body that is not application/x-www-form-urlencoded.
var ErrNotForm = errors.New("hook: the body is not application/x-www-form-urlencoded")

// ErrHeaderSent is the answer to whoever signs in or out after the response's header has been
// written: the cookies could not be sent any more.
var ErrHeaderSent = errors.New("hook: the response's header has been sent")

// SignInOptions is what [Hook.SignIn] starts a sign-in with.
type SignInOptions struct {
	Provider            string     // the provider's id; empty: all of them, on the sign-in page
	RedirectTo          string     // where to go afterwards; empty: the page the request came from, else "/"
	Fields              url.Values // credentials, or the e-mail address
	AuthorizationParams url.Values // for the authorization request of an OAuth provider
}

// SignIn starts a sign-in, or completes one with credentials, for a request that passed
// [Hook.Handle], and gives the URL to send the browser to. Its cookies go out with the response.
//
// What the provider refuses is an error, not a URL: core.ErrCredentialsSignin with the code of
// the Authorize function, for instance, which errors.As finds in a *core.Error. A POST must
// come from a page of the site, or it is core.ErrMissingCSRF; other methods are not checked.
func (h *Hook) SignIn(r *http.Request, o SignInOptions) (redirectTo string, err error) {
	return locationOf(h.signIn(r, o))
}

// SignOut ends the session of a request that passed [Hook.Handle], and gives the URL to send
// the browser to: redirectTo, or, if that is empty, the page the request came from, else "/".
// Its cookies go out with the response. A POST must come from a page of the site.
func (h *Hook) SignOut(r *http.Request, redirectTo string) (string, error) {
	return locationOf(h.signOut(r, redirectTo))
}

func locationOf(resp *core.Response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return resp.Header.Get("Location"), nil
}

func (h *Hook) signIn(r *http.Request, o SignInOptions) (*core.Response, error) {
	return h.act(r, false, func(s *site) *core.Response {
		return s.SignIn(r, core.SignInRequest{
			Provider: o.Provider, CallbackURL: target(r, o.RedirectTo), Fields: o.Fields, Params: o.AuthorizationParams,
		})
	})
}

func (h *Hook) signOut(r *http.Request, redirectTo string) (*core.Response, error) {
	return h.act(r, true, func(s *site) *core.Response { return s.Auth.SignOut(r, target(r, redirectTo)) })
}

// act does what a form of the site asks for. With an error of the action itself there is a
// response, too, which leads to the page that tells about it.
func (h *Hook) act(r *http.Request, isOver bool, action func(*site) *core.Response) (*core.Response, error) {
	v := visitOf(r)
	if !v.of(h) {
		return nil, ErrOutsideHandle
	}
	s := v.site()
	switch {
	case s.err != nil:
		return nil, s.err
	case v.hasSent():
		return nil, ErrHeaderSent
	case r.Method == http.MethodPost && !s.config.SkipCSRFCheck && !s.SameOrigin(v.r):
		// A form carries no token: Sec-Fetch-Site and Origin are set by the browser, a page of
		// another site can't change them, and every browser sends one of them with a POST. So a
		// POST that has neither, or another origin's, is refused, and no cookie has to be read
		// to know it.
		return nil, &core.Error{Kind: core.ErrMissingCSRF, Message: "the browser does not say that the form is one of this site"}
	}
	resp := action(s)
	if resp.Err != nil {
		return resp, resp.Err
	}
	v.act(resp, isOver)
	return resp, nil
}

// target is where a sign-in or sign-out leads to by default: back.
func target(r *http.Request, asked string) string {
	if asked != "" {
		return asked
	}
	// A Referer of an app on a phone, say, is no page to go back to.
	if u, err := url.Parse(r.Referer()); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		return r.Referer()
	}
	return "/"
}

// SignInAction is the form action behind [SignInForm], to be mounted at /signin, or wherever
// the form's SignInPage says, for POST. It reads a form as [FormOptions] does and redirects to
// where the sign-in goes on. A failure leads to the page that tells about it, as it does from
// the built-in pages, with error and code in the query; an app that shows failures itself calls
// [Hook.SignIn] in an action of its own.
//
// A field "redirect" of "false", or the header X-Auth-Return-Redirect, asks for the URL as JSON
// in place of the redirect: {"url":"…"}.
func (h *Hook) SignInAction(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(form url.Values) (*core.Response, error) {
		resp, err := h.signIn(r, formOptions(form))
		if errors.Is(err, core.ErrInvalidProvider) {
			// Somebody has tampered with the form, or it is older than the configuration.
			return h.signIn(r, SignInOptions{RedirectTo: formOptions(form).RedirectTo})
		}
		return resp, err
	})
}

// SignOutAction is the form action behind [SignOutForm], to be mounted at /signout, or wherever
// the form's SignOutPage says, for POST. It takes the fields redirectTo, or callbackUrl, and
// redirect as [Hook.SignInAction] does.
func (h *Hook) SignOutAction(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(form url.Values) (*core.Response, error) { return h.signOut(r, formOptions(form).RedirectTo) })
}

func (h *Hook) serve(w http.ResponseWriter, r *http.Request, action func(form url.Values) (*core.Response, error)) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Method not allowed", http.StatusMethodNotAllowed)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, core.MaxBodyBytes)
	form, err := readForm(r)
	if err != nil {
		status := http.StatusBadRequest
		switch tooLarge := (*http.MaxBytesError)(nil); {
		case errors.As(err, &tooLarge):
			status = http.StatusRequestEntityTooLarge
		case errors.Is(err, ErrNotForm):
			status = http.StatusUnsupportedMediaType
		}
		http.Error(w, http.StatusText(status), status)
		return
	}
	resp, err := action(form)
	if resp == nil {
		h.fail(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", noStore)
	location := resp.Header.Get("Location")
	switch {
	case location == "":
		http.Error(w, http.StatusText(resp.Status), resp.Status)
	case last(form, "redirect") == "false" || len(r.Header["X-Auth-Return-Redirect"]) > 0:
		w.Header().Set("Content-Type", "application/json")
		body, _ := json.Marshal(map[string]string{"url": location}) // text always marshals
		_, _ = w.Write(body)                                        // the client has gone; nobody is left to tell
	default:
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusFound)
	}
}

// FormOptions reads the form that [SignInForm] makes: the fields providerId, redirectTo or
// callbackUrl, authorizationParams-<name>, and any others, which are credentials. Of several
// fields of a name the last one counts. A body of more than core.MaxBodyBytes is an
// *http.MaxBytesError, one of another kind than forms have by default ErrNotForm.
func FormOptions(w http.ResponseWriter, r *http.Request) (SignInOptions, error) {
	r.Body = http.MaxBytesReader(w, r.Body, core.MaxBodyBytes)
	form, err := readForm(r)
	return formOptions(form), err
}

const paramPrefix = "authorizationParams-"

func formOptions(form url.Values) SignInOptions {
	out := SignInOptions{Provider: last(form, "providerId"), RedirectTo: last(form, "redirectTo"), Fields: url.Values{}, AuthorizationParams: url.Values{}}
	if out.RedirectTo == "" {
		out.RedirectTo = last(form, "callbackUrl")
	}
	for name := range form {
		switch param, isParam := strings.CutPrefix(name, paramPrefix); {
		case isParam:
			out.AuthorizationParams.Set(param, last(form, name))
		case name != "providerId" && name != "redirectTo" && name != "callbackUrl" && name != "redirect":
			out.Fields.Set(name, last(form, name))
		}
	}
	return out
}

// readForm reads the fields of a body as browsers send them by default. Reading the other kind,
// multipart/form-data, would add 41 KB to a worker.
func readForm(r *http.Request) (url.Values, error) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if kind = strings.TrimSpace(kind); kind != "" && !strings.EqualFold(kind, "application/x-www-form-urlencoded") {
		return nil, ErrNotForm
	}
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	return r.PostForm, nil
}

func last(form url.Values, name string) string {
	values := form[name]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}
