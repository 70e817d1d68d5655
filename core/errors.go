package core

import (
	"errors"
	"net/url"
)

// A Kind names what went wrong, spelled as in Auth.js. It is an error itself, so that
// errors.Is(err, core.ErrAccessDenied) asks for the kind of any error of this package.
type Kind string

// The kinds of errors. Those of the first group are shown to the browser by name; every
// other one is shown as "Configuration" and explained in the log only.
const (
	ErrAccessDenied          Kind = "AccessDenied"              // the signIn callback refused, or failed
	ErrAccountNotLinked      Kind = "AccountNotLinked"          // the passkey's account belongs to another user
	ErrCredentialsSignin     Kind = "CredentialsSignin"         // authorize found no user; Error.Code says more
	ErrMissingCSRF           Kind = "MissingCSRF"               // the POST carried no valid CSRF token
	ErrOAuthAccountNotLinked Kind = "OAuthAccountNotLinked"     // the account or its address belongs to another user
	ErrOAuthCallback         Kind = "OAuthCallbackError"        // the provider answered with an error
	ErrVerification          Kind = "Verification"              // the e-mail link is unknown, used or expired
	ErrWebAuthnVerification  Kind = "WebAuthnVerificationError" // the passkey is unknown, or its answer not valid

	ErrAdapter                Kind = "AdapterError"
	ErrConflict               Kind = "Conflict"           // an adapter's answer to a write that would break one of its rules
	ErrCallbackRoute          Kind = "CallbackRouteError" // anything else that failed in the callback route
	ErrDuplicateConditionalUI Kind = "DuplicateConditionalUI"
	ErrEmailSignIn            Kind = "EmailSignInError"
	ErrErrorPageLoop          Kind = "ErrorPageLoop"
	ErrEvent                  Kind = "EventError"
	ErrExperimentalFeature    Kind = "ExperimentalFeatureNotEnabled"
	ErrInvalidCallbackURL     Kind = "InvalidCallbackUrl"
	ErrInvalidCheck           Kind = "InvalidCheck" // a state, nonce, PKCE or challenge cookie is missing, foreign or wrong
	ErrInvalidConfig          Kind = "InvalidConfig"
	ErrInvalidEndpoints       Kind = "InvalidEndpoints"
	ErrInvalidProvider        Kind = "InvalidProvider"
	ErrJWTSession             Kind = "JWTSessionError"
	ErrMissingAdapter         Kind = "MissingAdapter"
	ErrMissingAdapterMethods  Kind = "MissingAdapterMethods"
	ErrMissingAuthorize       Kind = "MissingAuthorize"
	ErrMissingSecret          Kind = "MissingSecret"
	ErrMissingAutocomplete    Kind = "MissingWebAuthnAutocomplete"
	ErrOAuthProfileParse      Kind = "OAuthProfileParseError"
	ErrOAuthSignIn            Kind = "OAuthSignInError" // the authorization URL could not be made
	ErrPanic                  Kind = "Panic"            // a callback, hook or adapter method panicked
	ErrRequestTooLarge        Kind = "RequestTooLarge"  // the body is over MaxBodyBytes
	ErrSessionToken           Kind = "SessionTokenError"
	ErrSessionTooLarge        Kind = "SessionTooLarge" // the session token is over SessionOptions.MaxCookieBytes
	ErrSignOut                Kind = "SignOutError"
	ErrUnknownAction          Kind = "UnknownAction"
	ErrUnsupportedStrategy    Kind = "UnsupportedStrategy"
	ErrUntrustedHost          Kind = "UntrustedHost"
)

func (k Kind) Error() string { return "core: " + string(k) }

// browserKinds is what a browser may learn: the kinds it is told by name, and the page
// each of them leads to. An error of any other kind is told as "Configuration".
var browserKinds = [...]struct {
	kind   Kind
	action Action
}{
	{ErrAccessDenied, ActionError},
	{ErrAccountNotLinked, ActionSignIn},
	{ErrCredentialsSignin, ActionSignIn},
	{ErrMissingCSRF, ActionSignIn},
	{ErrOAuthAccountNotLinked, ActionSignIn},
	{ErrOAuthCallback, ActionSignIn},
	{ErrVerification, ActionError},
	{ErrWebAuthnVerification, ActionError},
}

// An Error is every error this package returns or logs.
type Error struct {
	Kind    Kind
	Message string // what happened and, for a configuration error, the fix; never a secret or a token
	Code    string // ErrCredentialsSignin only: shown in the URL, so it must not tell what was wrong; empty: "credentials"
	Err     error  // the cause; may be nil
}

// CredentialsSignin is the error for [Credentials.Authorize] to refuse somebody with a
// code of its own. The code ends up in the URL of the sign-in page, so it must not say
// whether the name or the password was wrong.
func CredentialsSignin(code string) error {
	return &Error{Kind: ErrCredentialsSignin, Code: code, Message: "the credentials were refused"}
}

func (e *Error) Error() string {
	text := e.Kind.Error()
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's [Kind].
func (e *Error) Is(target error) bool { return target == error(e.Kind) }

// fail is not inlined: at its many calls that would be another 15 KB of a worker.
//
//go:noinline
func fail(kind Kind, message string, cause error) *Error {
	return &Error{Kind: kind, Message: message, Err: cause}
}

// asError gives the outermost *Error of err, or wraps it in one of the given kind.
func asError(err error, kind Kind) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	return fail(kind, "", err)
}

// shown gives what the browser is told about an error: the page and its query.
func (e *Error) shown() (Action, string) {
	for _, b := range browserKinds {
		if b.kind != e.Kind {
			continue
		}
		if e.Kind != ErrCredentialsSignin {
			return b.action, "error=" + string(b.kind)
		}
		code := e.Code
		if code == "" {
			code = "credentials"
		}
		return b.action, "error=" + string(b.kind) + "&code=" + url.QueryEscape(code)
	}
	return ActionError, "error=Configuration"
}
