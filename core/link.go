package core

import (
	"context"
	"errors"
)

// login is the outcome of finding out, or creating, who a confirmed account belongs to.
type login struct {
	user      *User
	account   *Account
	session   *AdapterSession // database strategy
	isNewUser bool
}

// login finds the user of an OAuth account: the one it is linked to, else the one who is
// signed in, else a new one. Without an adapter it is whoever the provider described.
func (x *exchange) login(profile *User, account *Account) (*login, error) {
	if x.config.Adapter == nil {
		return &login{user: profile, account: account}, nil
	}
	now, err := x.current()
	if err != nil {
		return nil, err
	}
	known, err := x.config.Adapter.GetUserByAccount(x.ctx, account.Provider, account.ProviderAccountID)
	if err != nil {
		return nil, fail(ErrAdapter, "getUserByAccount", err)
	}
	switch {
	case known != nil && now != nil && known.ID != now.ID:
		return nil, fail(ErrOAuthAccountNotLinked, "the account belongs to another user than the one who is signed in", nil)
	case known != nil:
		return x.enter(known, account, false)
	case now != nil:
		if err := x.link(now, account, profile, false); err != nil {
			return nil, err
		}
		return x.enter(now, account, false)
	}
	return x.register(profile, account)
}

// register signs in an account that nobody has yet: with a new user, or with the one who has
// its address if the provider is trusted to have verified it.
func (x *exchange) register(profile *User, account *Account) (*login, error) {
	var user *User
	var err error
	if profile.Email != "" {
		if user, err = x.config.Adapter.GetUserByEmail(x.ctx, profile.Email); err != nil {
			return nil, fail(ErrAdapter, "getUserByEmail", err)
		}
	}
	isNewUser := user == nil
	if !isNewUser && !x.provider.oauth.AllowDangerousEmailAccountLinking {
		return nil, fail(ErrOAuthAccountNotLinked, "another user has the account's e-mail address", nil)
	}
	if isNewUser {
		user, err = x.makeUser(profile)
		if errors.Is(err, ErrConflict) {
			return nil, fail(ErrOAuthAccountNotLinked, "another sign-in has just taken the e-mail address", err)
		}
		if err != nil {
			return nil, fail(ErrAdapter, "createUser", err)
		}
		if err := x.linkNew(user, account, profile); err != nil {
			return nil, err
		}
	} else if err := x.link(user, account, profile, false); err != nil {
		return nil, err
	}
	return x.enter(user, account, isNewUser)
}

// makeUser stores a new user. If that fails, it may have worked all the same, and the address
// would be taken by somebody who has no way to sign in: so the user goes again.
func (x *exchange) makeUser(user *User) (*User, error) {
	made, err := x.config.Adapter.CreateUser(x.ctx, *user)
	if err != nil && !errors.Is(err, ErrConflict) {
		x.unmakeUser(user.ID)
	}
	return made, err
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

// linkNew links an account to the user who was just made for it. If that fails, or panics, the
// user goes again: nobody could sign in as that user, nor with the address, which would be taken.
func (x *exchange) linkNew(user *User, account *Account, profile *User) error {
	return x.orDelete(user, func() error { return x.link(user, account, profile, true) })
}

// orDelete deletes a new user again if linking fails or panics.
func (x *exchange) orDelete(user *User, link func() error) error {
	linked := false
	defer func() {
		if !linked {
			x.unmakeUser(user.ID)
		}
	}()
	err := link()
	linked = err == nil
	return err
}

// link stores an account and tells of it, and first of its user if it is a new one.
func (x *exchange) link(user *User, account *Account, profile *User, isNewUser bool) error {
	kept, err := x.keepAccount(user, account)
	if err != nil {
		return err
	}
	x.tellLinked(user, kept, profile, isNewUser)
	return nil
}

// keepAccount stores an account, and gives what it stored.
func (x *exchange) keepAccount(user *User, account *Account) (*Account, error) {
	account.UserID = user.ID
	kept := *account
	if x.provider.oauth != nil && x.provider.oauth.Account != nil {
		kept = x.provider.oauth.Account(*account)
		kept.Provider, kept.ProviderAccountID, kept.Type, kept.UserID = account.Provider, account.ProviderAccountID, account.Type, user.ID
	} else {
		kept.Extra, kept.ExpiresIn = nil, 0
	}
	err := x.config.Adapter.LinkAccount(x.ctx, kept)
	if errors.Is(err, ErrConflict) {
		kind := ErrOAuthAccountNotLinked
		if x.provider.webauthn != nil {
			kind = ErrAccountNotLinked
		}
		return nil, fail(kind, "the account has just been linked to another user", err)
	}
	if err != nil {
		return nil, fail(ErrAdapter, "linkAccount", err)
	}
	return &kept, nil
}

func (x *exchange) tellLinked(user *User, kept *Account, profile *User, isNewUser bool) {
	x.emit("createUser", isNewUser && x.config.Events.CreateUser != nil, func() error {
		return x.config.Events.CreateUser(x.ctx, UserEvent{User: user})
	})
	x.emit("linkAccount", x.config.Events.LinkAccount != nil, func() error {
		return x.config.Events.LinkAccount(x.ctx, LinkAccountEvent{User: user, Account: kept, Profile: profile})
	})
}

// enter starts a session for a user, and ends the one that the browser had: each sign-in has
// a token of its own (OWASP ASVS 5.0, 7.2.4).
func (x *exchange) enter(user *User, account *Account, isNewUser bool) (*login, error) {
	out := &login{user: user, account: account, isNewUser: isNewUser}
	if x.strategy != StrategyDatabase {
		return out, nil
	}
	generate := x.config.Session.GenerateSessionToken
	if generate == nil {
		generate = randomUUID
	}
	var err error
	out.session, err = x.config.Adapter.CreateSession(x.ctx, AdapterSession{
		SessionToken: generate(), UserID: user.ID, Expires: x.now.Add(x.maxAge),
	})
	if err != nil {
		return nil, fail(ErrAdapter, "createSession", err)
	}
	if before := x.sessionCookie(); before != "" {
		if _, err := x.config.Adapter.DeleteSession(x.ctx, before); err != nil {
			return nil, fail(ErrAdapter, "deleteSession", err)
		}
	}
	return out, nil
}

// current finds out who is signed in already. A token that can't be read means nobody (fact
// 90), and so does a session that has expired.
func (x *exchange) current() (*User, error) {
	token := x.sessionCookie()
	if token == "" {
		return nil, nil
	}
	if x.strategy == StrategyDatabase {
		session, user, err := x.config.Adapter.GetSessionAndUser(x.ctx, token)
		if err != nil {
			return nil, fail(ErrAdapter, "getSessionAndUser", err)
		}
		if session == nil || session.Expires.Before(x.now) {
			return nil, nil
		}
		return user, nil
	}
	claims, err := x.decodeSession(token)
	if err != nil || claims.String("sub") == "" {
		return nil, nil
	}
	user, err := x.config.Adapter.GetUser(x.ctx, claims.String("sub"))
	if err != nil {
		return nil, fail(ErrAdapter, "getUser", err)
	}
	return user, nil
}
