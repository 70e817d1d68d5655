package core

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
)

// ServeHTTP answers a request under the base path.
func (a *Auth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	if len(header) > 0 {
		header = nil // what others have set stays, and ours is added to it
	}
	a.handle(r, header).write(w)
}

// Handle answers a request under the base path. A failure is an answer, too: Response.Err
// tells its cause, which is also logged.
func (a *Auth) Handle(r *http.Request) *Response {
	return a.handle(r, nil)
}

// handle answers a request, in the header that it is given: building one for the Response and
// copying it is a twentieth of a session check.
func (a *Auth) handle(r *http.Request, header http.Header) *Response {
	x, providerID, err := a.accept(r)
	if err != nil {
		return a.refuse(r, err)
	}
	x.header = header
	return x.done(x.respond(providerID))
}

func (x *exchange) respond(providerID string) *Response {
	if resp := x.clientFile(); resp != nil {
		return resp
	}
	if err := x.checkCallbackURL(); err != nil {
		return x.failed(err, x.misconfigured)
	}
	out, err := x.guard(func() (reply, error) {
		if err := x.begin(providerID); err != nil {
			return reply{}, err
		}
		return x.dispatch()
	})
	if err == nil {
		var resp *Response
		if resp, err = x.render(out); err == nil {
			return resp
		}
	}
	known := asError(err, ErrCallbackRoute)
	return x.failed(known, func() *Response { return x.failure(known) })
}

// Session reads the session of any request, under the base path or not, as GET session
// does: Response.Session is nil when nobody is signed in, and Response.CopyCookies
// extends the session in the browser.
func (a *Auth) Session(r *http.Request) (*Response, error) {
	x, err := a.attach(r)
	if err != nil {
		return nil, err
	}
	out, err := x.guard(func() (reply, error) { return x.readSession(false, nil) })
	if err != nil {
		x.done(nil)
		return nil, asError(err, ErrSessionToken)
	}
	resp, err := x.render(out)
	return x.done(resp), err
}

// begin prepares what every action needs: the provider, the CSRF token, the callback URL.
func (x *exchange) begin(providerID string) error {
	if providerID != "" {
		if x.provider = x.Auth.provider(providerID); x.provider == nil {
			return fail(ErrInvalidProvider, "no provider has the id in the path", nil)
		}
	}
	if err := x.checkProxy(); err != nil {
		return err
	}
	x.checkCSRF()
	return x.chooseCallbackURL()
}

func (x *exchange) dispatch() (reply, error) {
	if x.r.Method == http.MethodGet {
		switch x.action {
		case ActionCallback:
			return x.callback()
		case ActionCSRF:
			return x.csrf()
		case ActionError:
			return x.errorPage(), nil
		case ActionProviders:
			return x.listProviders()
		case ActionSession:
			return x.readSession(false, nil)
		case ActionSignIn:
			return x.signInPage()
		case ActionSignOut:
			return x.signOutPage(), nil
		case ActionVerifyRequest:
			return x.verifyRequestPage(), nil
		case ActionWebAuthn:
			if x.provider != nil && x.provider.webauthn != nil {
				return x.provider.webauthn.routes.options(x)
			}
			return reply{}, fail(ErrInvalidProvider, "the webauthn-options route was called without a provider of that type", nil)
		}
		return reply{}, x.unknownAction()
	}
	switch x.action {
	case ActionCallback:
		if x.provider != nil && x.provider.login != nil {
			if err := x.requireCSRF(); err != nil {
				return reply{}, err
			}
		}
		return x.callback()
	case ActionSession, ActionSignIn, ActionSignOut:
		if err := x.requireCSRF(); err != nil {
			return reply{}, err
		}
	}
	switch x.action {
	case ActionSession:
		return x.readSession(true, x.body["data"])
	case ActionSignIn:
		return x.signIn()
	case ActionSignOut:
		return x.signOut()
	}
	return reply{}, x.unknownAction()
}

func (x *exchange) unknownAction() error {
	return fail(ErrUnknownAction, x.r.Method+" is not an action of this route", nil)
}

// guard turns a panic of a callback, a hook or an adapter method into an error, so that
// it fails one request and no other.
func (x *exchange) guard(f func() (reply, error)) (out reply, err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler {
			panic(v)
		}
		x.log.Debug("panic", "stack", string(debug.Stack()), "request", x.requestID())
		err = fail(ErrPanic, fmt.Sprint(v), nil)
	}()
	return f()
}

// failed logs a failure and answers it.
func (x *exchange) failed(err *Error, answer func() *Response) *Response {
	x.logError(err)
	resp := answer()
	resp.Err = err
	return resp
}

func (x *exchange) logError(err *Error) {
	args := []any{"message", err.Error(), "action", string(x.action)}
	if x.provider != nil {
		args = append(args, "provider", x.provider.id)
	}
	x.log.Error(string(err.Kind), append(args, "request", x.requestID())...)
}

// refuse answers a request that could not even be read.
func (a *Auth) refuse(r *http.Request, err error) *Response {
	resp := badRequest()
	known := asError(err, ErrUnknownAction)
	if errors.Is(known, ErrRequestTooLarge) {
		resp = bare(http.StatusRequestEntityTooLarge, typeJSON, `"The request body is too large."`)
	}
	resp.Err = known
	if a.config.Debug {
		a.log.Debug("request refused", "message", known.Error(), "status", resp.Status, "request", RequestID(r))
	}
	return resp
}

// PerRequest answers each request with a configuration made for it, for platforms whose
// settings arrive with the request, and for sites with many tenants. Making one costs a few
// microseconds; keys are derived when they are first used. A configuration with mistakes is
// answered as by [Misconfigured].
func PerRequest(configure func(r *http.Request) (Config, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		config, err := configure(r)
		if err != nil {
			Misconfigured(config, err).ServeHTTP(w, r)
			return
		}
		auth, err := New(config)
		if err != nil {
			Misconfigured(config, err).ServeHTTP(w, r)
			return
		}
		auth.ServeHTTP(w, r)
	})
}

// Misconfigured answers requests in place of an Auth that New refused to make: with the
// error page, or a message in JSON, that tells nothing but that the configuration is wrong.
// It logs err at each request. Config is the one that was refused.
func Misconfigured(config Config, err error) http.Handler {
	a := configure(config)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x, _, refused := a.accept(r)
		if refused != nil {
			a.refuse(r, refused).write(w)
			return
		}
		for _, one := range unjoin(err) {
			x.logError(asError(one, ErrInvalidConfig))
		}
		x.done(x.misconfigured()).write(w)
	})
}

func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
