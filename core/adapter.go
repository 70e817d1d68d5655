package core

import (
	"context"
	"time"
)

// An Adapter keeps users, accounts, sessions, verification tokens and authenticators. Every
// method is optional; [New] names those that the configuration needs and that are nil.
//
// An absent record is nil without an error; an error means that the store failed, or that a
// write would have broken a rule below, which errors.Is tells as [ErrConflict] and which
// changes nothing. Methods are called concurrently, and what they are given or give is never
// shared with the store. A call whose context has ended fails and changes nothing. Times are
// kept to the millisecond, their zone is not; Extra comes back as the same JSON, numbers with
// all their digits. The suite in package adaptertest checks all of this.
type Adapter struct {
	// CreateUser stores a user whose ID is set. An address that another user has is ErrConflict;
	// users without one are not compared.
	CreateUser       func(ctx context.Context, user User) (*User, error)
	GetUser          func(ctx context.Context, id string) (*User, error)
	GetUserByEmail   func(ctx context.Context, email string) (*User, error) // compared byte by byte; nobody has the empty address
	GetUserByAccount func(ctx context.Context, provider, providerAccountID string) (*User, error)
	// UpdateUser changes the fields that aren't zero, Extra as a whole. An unknown user is an error, another user's
	// address ErrConflict.
	UpdateUser func(ctx context.Context, user User) (*User, error)
	// DeleteUser deletes a user with all accounts, sessions and authenticators. An unknown one is none.
	DeleteUser func(ctx context.Context, id string) error

	// LinkAccount stores an account whose UserID is set. An account that another user has is
	// ErrConflict; one that the same user has is replaced.
	LinkAccount   func(ctx context.Context, account Account) error
	UnlinkAccount func(ctx context.Context, provider, providerAccountID string) error // an unknown one is none
	GetAccount    func(ctx context.Context, providerAccountID, provider string) (*Account, error)

	CreateSession func(ctx context.Context, session AdapterSession) (*AdapterSession, error)
	// GetSessionAndUser gives both or neither, the user as it is now. It may give a session that
	// has expired; the caller looks.
	GetSessionAndUser func(ctx context.Context, sessionToken string) (*AdapterSession, *User, error)
	// UpdateSession changes the fields that aren't zero. A session that is gone stays gone, and is nil.
	UpdateSession func(ctx context.Context, session AdapterSession) (*AdapterSession, error)
	// DeleteSession gives what it deleted, for the signOut event.
	DeleteSession func(ctx context.Context, sessionToken string) (*AdapterSession, error)

	CreateVerificationToken func(ctx context.Context, token VerificationToken) error
	// UseVerificationToken gives the token and deletes it in one step: of concurrent callers one
	// gets it. A wrong identifier or token uses nothing up. It may give one that has expired;
	// the caller looks.
	UseVerificationToken func(ctx context.Context, identifier, token string) (*VerificationToken, error)

	// CreateAuthenticator stores a passkey. A credential that is stored already is ErrConflict.
	CreateAuthenticator        func(ctx context.Context, a Authenticator) (*Authenticator, error)
	GetAuthenticator           func(ctx context.Context, credentialID string) (*Authenticator, error)
	ListAuthenticatorsByUserID func(ctx context.Context, userID string) ([]Authenticator, error) // empty for an unknown user
	// UpdateAuthenticatorCounter stores a counter. An unknown credential is an error. One that is
	// not above the stored one, unless both are zero, is ErrConflict and changes nothing: the
	// authenticator may have been cloned (Web Authentication, level 3, section 6.1.1).
	UpdateAuthenticatorCounter func(ctx context.Context, credentialID string, counter uint32) (*Authenticator, error)

	// The next three do in one step each what a sign-in does in several with the above. If all of
	// them are there, signing in calls them in place of those that change users, accounts and
	// authenticators, or start sessions; so whoever wraps one of those wraps these as well, or sets
	// them to nil.

	// FindUser answers in one step who has an account and, if nobody has, who has an address. It
	// is never nil without an error; with User nil it is nobody.
	FindUser func(ctx context.Context, q UserQuery) (*FoundUser, error)
	// SignUp stores a new user with account, passkey and session, whose UserID is the user's ID, at
	// once, or nothing. An ID, an address, an account or a credential that somebody has already is
	// ErrConflict.
	SignUp func(ctx context.Context, s SignUp) (*User, *AdapterSession, error)
	// SignIn changes a known user, links, and starts a session at once, or does nothing. An unknown
	// user is an error, and so is a Credential that the user does not have; another user's address
	// or account, a credential to store that is stored, or a counter that did not grow ErrConflict,
	// and so are By and BySession where they lead to this user no longer. Apart from that it goes by
	// what is stored by now, whatever has changed since FindUser gave Revision.
	SignIn func(ctx context.Context, s SignIn) (*User, *AdapterSession, error)

	// Users lists users, a page at a time: empty cursor first, empty next last. A page may be empty.
	Users func(ctx context.Context, cursor string) (users []User, next string, err error)

	// Absent says why methods are nil, by their names in the contract and with the fix. New tells
	// it when a configuration needs one of them. Nil: there is nothing to say.
	Absent map[string]string
}

// An AdapterSession is a session of the database strategy.
type AdapterSession struct {
	SessionToken string // random; the value of the session cookie
	UserID       string
	Expires      time.Time

	// Revision may be anything by which the adapter knows again what it has read: UpdateSession
	// gets back what GetSessionAndUser gave, and can spare reading it once more. Nil: nothing.
	Revision any
}

// A UserQuery is what [Adapter].FindUser is asked.
type UserQuery struct {
	Provider, ProviderAccountID string // both or neither
	CredentialID                string // of a passkey; empty: none
	Email                       string // asked only if nobody has the account; empty: nobody
}

// A FoundUser is what [Adapter].FindUser knows.
type FoundUser struct {
	User          *User
	Account       *Account       // nil: the user was found by the address alone, or nobody was
	Authenticator *Authenticator // of the credential, if that was asked for and is known

	// Revision may be anything by which the adapter knows again what it has read: SignIn gets it back.
	Revision any
}

// A SignUp is a first sign-in: a new user, and what is stored with it; nil: there is none.
type SignUp struct {
	User          User // with its ID
	Account       *Account
	Authenticator *Authenticator
	Session       *AdapterSession
	EndedSession  string // token of a session that ends with this sign-in; empty: none
}

// A SignIn is a sign-in of a user who is known.
type SignIn struct {
	User          User            // its ID, and the fields that change, as for UpdateUser
	Account       *Account        // to link; nil: none
	Authenticator *Authenticator  // to store; nil: none
	Credential    *Authenticator  // a passkey that has just signed: its CredentialID and new Counter, stored by UpdateAuthenticatorCounter's rule; nil: none
	Session       *AdapterSession // to start; nil: none
	EndedSession  string          // token of a session that ends with this sign-in; empty: none
	By            UserQuery       // the account, else the address, that says who it is, and must still; zero: none
	BySession     string          // token of the session that says who it is, and must still; empty: none
	Revision      any             // FoundUser.Revision, if it was this user that was found
}

// A VerificationToken is the stored half of a sign-in link, or a challenge that a passkey has yet
// to answer.
type VerificationToken struct {
	Identifier string // the address; of a challenge "webauthn:" and the provider's ID
	Token      string // SHA-256 of the link's token and the secret, hexadecimal; of a challenge "challenge:" and the like
	Expires    time.Time
}

// An Authenticator is a passkey of a user (Web Authentication, level 3).
type Authenticator struct {
	CredentialID         string // base64
	UserID               string
	ProviderAccountID    string
	CredentialPublicKey  string // base64, COSE
	Counter              uint32 // how often it signed
	CredentialDeviceType string
	CredentialBackedUp   bool
	Transports           string // separated by commas
}

// adapterMethod is a method that some configurations need, by its name in the contract.
type adapterMethod struct {
	name string
	has  bool
}

// tokenMethods make a link, or a challenge, work once.
func (a *Adapter) tokenMethods() []adapterMethod {
	return []adapterMethod{
		{"createVerificationToken", a.CreateVerificationToken != nil},
		{"useVerificationToken", a.UseVerificationToken != nil},
	}
}

// userMethods are those that signing in and linking accounts call under either strategy.
func (a *Adapter) userMethods() []adapterMethod {
	return []adapterMethod{
		{"createUser", a.CreateUser != nil},
		{"getUser", a.GetUser != nil},
		{"getUserByEmail", a.GetUserByEmail != nil},
		{"getUserByAccount", a.GetUserByAccount != nil},
		{"updateUser", a.UpdateUser != nil},
		{"linkAccount", a.LinkAccount != nil},
	}
}

// passkeyMethods are those that passkeys need besides users, links and tokens.
func (a *Adapter) passkeyMethods() []adapterMethod {
	return []adapterMethod{
		{"getAccount", a.GetAccount != nil},
		{"createAuthenticator", a.CreateAuthenticator != nil},
		{"getAuthenticator", a.GetAuthenticator != nil},
		{"listAuthenticatorsByUserId", a.ListAuthenticatorsByUserID != nil},
		{"updateAuthenticatorCounter", a.UpdateAuthenticatorCounter != nil},
	}
}

func (a *Adapter) sessionMethods() []adapterMethod {
	return []adapterMethod{
		{"createSession", a.CreateSession != nil},
		{"getSessionAndUser", a.GetSessionAndUser != nil},
		{"updateSession", a.UpdateSession != nil},
		{"deleteSession", a.DeleteSession != nil},
	}
}
