package remote

// A Kind says why it is not known who is signed in. It is an error itself, so that
// errors.Is(err, remote.ErrDown) asks for the kind of any error of this package.
type Kind string

const (
	ErrConfig     Kind = "InvalidConfig"  // of New: the message tells the fix
	ErrDown       Kind = "EdgeDown"       // no connection, a cut one, status 429 or 5xx
	ErrSlow       Kind = "EdgeSlow"       // no whole answer within Config.Timeout, or the transport's limit
	ErrAnswer     Kind = "EdgeAnswer"     // an answer that is neither a session nor "signed out"
	ErrSecret     Kind = "SecretMismatch" // the token can't be read with Config.Secret
	ErrNotMounted Kind = "NotMounted"     // a request for the edge's own routes has come here
)

func (k Kind) Error() string { return "remote: " + string(k) }

// An Error is every error this package returns.
type Error struct {
	Kind    Kind
	Message string // what happened and, where there is one, the fix; never a cookie or a secret
	Err     error  // the cause; may be nil
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

func fail(kind Kind, message string, cause error) *Error {
	return &Error{Kind: kind, Message: message, Err: cause}
}
