package core

import (
	"context"
	"time"
)

// An Adapter keeps users, accounts, sessions and verification tokens. Every method is
// optional; [New] names those that the configuration needs and that are nil. An absent
// record is nil without an error; an error means that the store failed.
type Adapter struct {
	CreateUser       func(ctx context.Context, user User) (*User, error) // user.ID is set
	GetUser          func(ctx context.Context, id string) (*User, error)
	GetUserByEmail   func(ctx context.Context, email string) (*User, error)
	GetUserByAccount func(ctx context.Context, provider, providerAccountID string) (*User, error)
	UpdateUser       func(ctx context.Context, user User) (*User, error) // only fields that aren't zero change
	DeleteUser       func(ctx context.Context, id string) error

	LinkAccount   func(ctx context.Context, account Account) error // account.UserID is set
	UnlinkAccount func(ctx context.Context, provider, providerAccountID string) error
	GetAccount    func(ctx context.Context, providerAccountID, provider string) (*Account, error)

	CreateSession     func(ctx context.Context, session AdapterSession) (*AdapterSession, error)
	GetSessionAndUser func(ctx context.Context, sessionToken string) (*AdapterSession, *User, error)
	UpdateSession     func(ctx context.Context, session AdapterSession) (*AdapterSession, error) // only fields that aren't zero change
	DeleteSession     func(ctx context.Context, sessionToken string) (*AdapterSession, error)    // gives what was deleted, for the signOut event

	CreateVerificationToken func(ctx context.Context, token VerificationToken) error
	// UseVerificationToken gives the token and deletes it in one step, so that it is usable once.
	UseVerificationToken func(ctx context.Context, identifier, token string) (*VerificationToken, error)
}

// An AdapterSession is a session of the database strategy.
type AdapterSession struct {
	SessionToken string // random; the value of the session cookie
	UserID       string
	Expires      time.Time
}

// A VerificationToken is the stored half of a sign-in link.
type VerificationToken struct {
	Identifier string // the address
	Token      string // SHA-256 of the link's token and the secret, hexadecimal
	Expires    time.Time
}

// adapterMethod is a method that some configurations need, by its name in the contract.
type adapterMethod struct {
	name string
	has  bool
}

func (a *Adapter) emailMethods() []adapterMethod {
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

func (a *Adapter) sessionMethods() []adapterMethod {
	return []adapterMethod{
		{"createSession", a.CreateSession != nil},
		{"getSessionAndUser", a.GetSessionAndUser != nil},
		{"updateSession", a.UpdateSession != nil},
		{"deleteSession", a.DeleteSession != nil},
	}
}
