package core

import "context"

// Callbacks are the decisions an app takes over. A nil one is the default.
type Callbacks struct {
	// SignIn decides who may sign in, once the provider has confirmed who it is; for an e-mail
	// provider it is asked twice, the first time before the link is sent. An error refuses,
	// too. Nil: Allow.
	SignIn func(ctx context.Context, p SignInParams) (Verdict, error)

	// Redirect decides where a browser is sent after signing in or out. Nil: to any URL of
	// the same origin, else to the origin itself.
	Redirect func(ctx context.Context, p RedirectParams) (string, error)

	// JWT gives the content of a session token, each time that one is made: at sign-in and
	// whenever the session is read. A nil token ends the session. Nil: the token unchanged.
	JWT func(ctx context.Context, p JWTParams) (JWT, error)

	// Session gives what a client may see. Nil: name, e-mail address and picture only.
	Session func(ctx context.Context, p SessionParams) (*Session, error)
}

// A Verdict is the answer of the SignIn callback. The zero Verdict refuses.
type Verdict struct {
	allowed  bool
	redirect string
}

// Allow lets the sign-in continue, Deny stops it at the error page.
var (
	Allow = Verdict{allowed: true}
	Deny  = Verdict{}
)

// RedirectTo stops the sign-in and sends the browser to a URL, if the Redirect callback lets it.
func RedirectTo(url string) Verdict { return Verdict{redirect: url} }

// SignInParams is what the SignIn callback decides on.
type SignInParams struct {
	User                *User // the stored user if the account is known, else who the provider described
	Account             *Account
	Profile             Profile        // OAuth and OpenID Connect only
	VerificationRequest bool           // e-mail only: a link is about to be sent
	Credentials         map[string]any // credentials only: what was submitted
}

// RedirectParams is what the Redirect callback decides on.
type RedirectParams struct {
	URL     string // what the client asked for; not trustworthy
	BaseURL string // the origin of the site
}

// A Trigger is why the JWT or Session callback is called.
type Trigger string

const (
	TriggerRead   Trigger = ""       // the session is read
	TriggerSignIn Trigger = "signIn" // somebody signed in
	TriggerSignUp Trigger = "signUp" // a user was created
	TriggerUpdate Trigger = "update" // the client sent data
)

// JWTParams is what the JWT callback works on.
type JWTParams struct {
	Token   JWT // at sign-in name, email, picture and sub; later the whole token. The callback may change and return it
	Trigger Trigger
	User    *User    // at sign-in
	Account *Account // at sign-in
	Profile Profile  // at sign-in by OAuth or OpenID Connect
	Session any      // for TriggerUpdate: what the client sent; must be validated before use
}

// SessionParams is what the Session callback works on.
type SessionParams struct {
	Session    *Session // what would be sent without a callback
	Token      JWT      // jwt strategy only
	User       *User    // database strategy only: the stored user
	Trigger    Trigger  // TriggerRead or TriggerUpdate
	NewSession any      // for TriggerUpdate under the database strategy: what the client sent; not trustworthy
}

// Events are told what happened, for audit logs and the like. An event that fails or
// panics is logged and changes nothing else; the response waits for it.
type Events struct {
	SignIn      func(ctx context.Context, e SignInEvent) error
	SignOut     func(ctx context.Context, e SignOutEvent) error
	CreateUser  func(ctx context.Context, e UserEvent) error
	UpdateUser  func(ctx context.Context, e UserEvent) error
	LinkAccount func(ctx context.Context, e LinkAccountEvent) error
	Session     func(ctx context.Context, e SessionEvent) error
}

// SignInEvent tells that somebody signed in.
type SignInEvent struct {
	User      *User
	Account   *Account
	Profile   Profile // OAuth and OpenID Connect only
	IsNewUser *bool   // nil without an adapter and for credentials
}

// SignOutEvent tells that a session ended: its token under the jwt strategy, its record
// under the database strategy (nil when there was none).
type SignOutEvent struct {
	Token   JWT
	Session *AdapterSession
}

// UserEvent tells that a user was created or changed.
type UserEvent struct{ User *User }

// LinkAccountEvent tells that an account was added to a user.
type LinkAccountEvent struct {
	User    *User
	Account *Account
	Profile *User // what the provider told about the account's owner
}

// SessionEvent tells that a session was read.
type SessionEvent struct {
	Session *Session
	Token   JWT // jwt strategy only
}

// defaultSession is what a client may see when no callback says more.
func defaultSession(s *Session) *Session {
	user := &User{}
	if s.User != nil {
		*user = User{Name: s.User.Name, Email: s.User.Email, Image: s.User.Image}
		for _, member := range [...]string{"name", "email", "image"} {
			if _, exact := s.User.Extra[member]; exact {
				user.set(member, s.User.Extra, member)
			}
		}
	}
	return &Session{User: user, Expires: s.Expires}
}
