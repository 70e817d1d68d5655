package core

import (
	"context"
	"errors"
)

// What signing in asks of the adapter is these three: findUser, keepSignUp and keepSignIn. An
// adapter that can does each at once; with any other they are its single methods in turn. The
// error of a method has its name and is ErrAdapter, or ErrConflict for what somebody else has.

// isComposed reports whether the adapter finds, signs up and signs in at once.
func (a *Adapter) isComposed() bool {
	return a.FindUser != nil && a.SignUp != nil && a.SignIn != nil
}

// takenOr is the error of a method that stores what somebody may have already.
func takenOr(method string, err error) *Error {
	if errors.Is(err, ErrConflict) {
		return fail(ErrConflict, method, err)
	}
	return fail(ErrAdapter, method, err)
}

// isTaken reports whether an error says that somebody has the account, the address or the
// credential. A conflict over anything else is one of the store with itself.
func isTaken(err error) bool { return err != nil && asError(err, ErrAdapter).Kind == ErrConflict }

// findUser finds out who has an account, else who has an address.
func (x *exchange) findUser(q UserQuery) (*FoundUser, error) {
	a := x.config.Adapter
	if !a.isComposed() {
		return x.findInTurn(q)
	}
	found, err := a.FindUser(x.ctx, q)
	if err != nil {
		return nil, fail(ErrAdapter, "findUser", err)
	}
	return found, nil
}

func (x *exchange) findInTurn(q UserQuery) (*FoundUser, error) {
	a, found := x.config.Adapter, &FoundUser{}
	var err error
	if q.CredentialID != "" {
		if found.Authenticator, err = a.GetAuthenticator(x.ctx, q.CredentialID); err != nil {
			return nil, fail(ErrAdapter, "getAuthenticator", err)
		}
	}
	if q.Provider != "" {
		if found.User, err = a.GetUserByAccount(x.ctx, q.Provider, q.ProviderAccountID); err != nil {
			return nil, fail(ErrAdapter, "getUserByAccount", err)
		}
	}
	switch {
	case found.User != nil && found.Authenticator != nil: // a passkey signs in with the account as it is stored
		if found.Account, err = a.GetAccount(x.ctx, q.ProviderAccountID, q.Provider); err != nil {
			return nil, fail(ErrAdapter, "getAccount", err)
		}
	case found.User != nil:
		found.Account = &Account{Provider: q.Provider, ProviderAccountID: q.ProviderAccountID, UserID: found.User.ID}
	case q.Email != "":
		if found.User, err = a.GetUserByEmail(x.ctx, q.Email); err != nil {
			return nil, fail(ErrAdapter, "getUserByEmail", err)
		}
	}
	return found, nil
}

// keepSignUp stores a new user with all that belongs to the sign-in, and tells of it. profile is
// what the provider of s.Account told.
func (x *exchange) keepSignUp(s SignUp, profile *User) (*User, *AdapterSession, error) {
	a := x.config.Adapter
	if a.isComposed() {
		user, session, err := a.SignUp(x.ctx, s)
		if err != nil {
			return nil, nil, takenOr("signUp", err)
		}
		x.tellCreated(user)
		x.tellLinked(user, s.Account, profile)
		return user, session, nil
	}
	user, err := a.CreateUser(x.ctx, s.User)
	if err != nil {
		if s.Account != nil && !errors.Is(err, ErrConflict) {
			// It may have worked all the same, and nobody could sign in with the address.
			x.unmakeUser(s.User.ID)
		}
		return nil, nil, takenOr("createUser", err)
	}
	if err := x.linkNew(user, &s); err != nil {
		return nil, nil, err
	}
	x.tellCreated(user)
	x.tellLinked(user, s.Account, profile)
	session, err := x.rotate(user, s.Session, s.EndedSession)
	return user, session, err
}

// linkNew links an account to the user who was just made for it. If that fails, or panics, the
// user goes again: nobody could sign in as that user, nor with the address, which would be taken.
func (x *exchange) linkNew(user *User, s *SignUp) error {
	linked := false
	defer func() {
		if !linked {
			x.unmakeUser(user.ID)
		}
	}()
	if s.Authenticator != nil && user.ID != s.User.ID { // the passkey's user handle would be another's
		return fail(ErrAdapter, "createUser gave the user another ID", nil)
	}
	err := x.linkInTurn(user, s.Account, s.Authenticator)
	linked = err == nil
	return err
}

// unmakeUser deletes a user whom nobody could sign in as.
func (x *exchange) unmakeUser(id string) {
	if x.config.Adapter.DeleteUser == nil {
		return
	}
	if err := x.config.Adapter.DeleteUser(context.WithoutCancel(x.ctx), id); err != nil {
		x.logError(fail(ErrAdapter, "deleteUser: a user without an account stays", err))
	}
}

// keepSignIn stores what a sign-in changes of a known user, if anything, and tells of it.
func (x *exchange) keepSignIn(user *User, s SignIn, profile *User) (*User, *AdapterSession, error) {
	a := x.config.Adapter
	updates := !s.User.EmailVerified.IsZero() // signing in changes nothing else
	if a.isComposed() {
		if !updates && s.Account == nil && s.Authenticator == nil && s.Credential == nil && s.Session == nil {
			return user, nil, nil
		}
		user, session, err := a.SignIn(x.ctx, s)
		if err != nil {
			return nil, nil, takenOr("signIn", err)
		}
		if updates {
			x.tellUpdated(user)
		}
		x.tellLinked(user, s.Account, profile)
		return user, session, nil
	}
	if s.Credential != nil {
		if _, err := a.UpdateAuthenticatorCounter(x.ctx, s.Credential.CredentialID, s.Credential.Counter); err != nil {
			return nil, nil, takenOr("updateAuthenticatorCounter", err)
		}
	}
	if updates {
		var err error
		if user, err = a.UpdateUser(x.ctx, s.User); err != nil {
			return nil, nil, fail(ErrAdapter, "updateUser", err)
		}
		x.tellUpdated(user)
	}
	if err := x.linkInTurn(user, s.Account, s.Authenticator); err != nil {
		return nil, nil, err
	}
	x.tellLinked(user, s.Account, profile)
	session, err := x.rotate(user, s.Session, s.EndedSession)
	return user, session, err
}

// linkInTurn stores an account and a passkey of a user, where there are any. The account alone, if
// the rest fails, lets nobody in.
func (x *exchange) linkInTurn(user *User, account *Account, key *Authenticator) error {
	if account != nil {
		account.UserID = user.ID
		if err := x.config.Adapter.LinkAccount(x.ctx, *account); err != nil {
			return takenOr("linkAccount", err)
		}
	}
	if key != nil {
		if _, err := x.config.Adapter.CreateAuthenticator(x.ctx, *key); err != nil {
			return takenOr("createAuthenticator", err)
		}
	}
	return nil
}

// rotate starts a session, if there is to be one, and ends the one that the browser had.
func (x *exchange) rotate(user *User, session *AdapterSession, ended string) (*AdapterSession, error) {
	if session == nil {
		return nil, nil
	}
	session.UserID = user.ID
	started, err := x.config.Adapter.CreateSession(x.ctx, *session)
	if err != nil {
		return nil, fail(ErrAdapter, "createSession", err)
	}
	if ended != "" {
		if _, err := x.config.Adapter.DeleteSession(x.ctx, ended); err != nil {
			return nil, fail(ErrAdapter, "deleteSession", err)
		}
	}
	return started, nil
}

func (x *exchange) tellCreated(user *User) {
	x.emit("createUser", x.config.Events.CreateUser != nil, func() error {
		return x.config.Events.CreateUser(x.ctx, UserEvent{User: user})
	})
}

func (x *exchange) tellUpdated(user *User) {
	x.emit("updateUser", x.config.Events.UpdateUser != nil, func() error {
		return x.config.Events.UpdateUser(x.ctx, UserEvent{User: user})
	})
}

// tellLinked tells of an account that was linked, if one was.
func (x *exchange) tellLinked(user *User, account *Account, profile *User) {
	x.emit("linkAccount", account != nil && x.config.Events.LinkAccount != nil, func() error {
		return x.config.Events.LinkAccount(x.ctx, LinkAccountEvent{User: user, Account: account, Profile: profile})
	})
}
