package core

import "errors"

// login is the outcome of finding out, or creating, who a confirmed account belongs to.
type login struct {
	user      *User
	account   *Account
	session   *AdapterSession // database strategy
	isNewUser bool
}

// current is who the browser is signed in as already.
type current struct {
	token   string // of a database session
	session *AdapterSession
	user    *User
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
	case known != nil && now.user != nil && known.ID != now.user.ID:
		return nil, fail(ErrOAuthAccountNotLinked, "the account belongs to another user than the one who is signed in", nil)
	case known != nil && now.user != nil:
		return &login{user: now.user, account: account, session: now.session}, nil
	case known != nil:
		return x.enter(known, account, false)
	case now.user != nil:
		if err := x.link(now.user, account, profile); err != nil {
			return nil, err
		}
		return &login{user: now.user, account: account, session: now.session}, nil
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
		user, err = x.config.Adapter.CreateUser(x.ctx, *profile)
		if errors.Is(err, ErrConflict) {
			return nil, fail(ErrOAuthAccountNotLinked, "another sign-in has just taken the e-mail address", err)
		}
		if err != nil {
			return nil, fail(ErrAdapter, "createUser", err)
		}
	}
	// The reference tells createUser for a user who is only linked, too (fact 87).
	x.emit("createUser", x.config.Events.CreateUser != nil, func() error {
		return x.config.Events.CreateUser(x.ctx, UserEvent{User: user})
	})
	if err := x.link(user, account, profile); err != nil {
		return nil, err
	}
	return x.enter(user, account, isNewUser)
}

func (x *exchange) link(user *User, account *Account, profile *User) error {
	account.UserID = user.ID
	kept := *account
	if choose := x.provider.oauth.Account; choose != nil {
		kept = choose(*account)
		kept.Provider, kept.ProviderAccountID, kept.Type, kept.UserID = account.Provider, account.ProviderAccountID, account.Type, user.ID
	} else {
		kept.Extra, kept.ExpiresIn = nil, 0
	}
	err := x.config.Adapter.LinkAccount(x.ctx, kept)
	if errors.Is(err, ErrConflict) {
		return fail(ErrOAuthAccountNotLinked, "the account has just been linked to another user", err)
	}
	if err != nil {
		return fail(ErrAdapter, "linkAccount", err)
	}
	x.emit("linkAccount", x.config.Events.LinkAccount != nil, func() error {
		return x.config.Events.LinkAccount(x.ctx, LinkAccountEvent{User: user, Account: &kept, Profile: profile})
	})
	return nil
}

// enter starts a session for a user.
func (x *exchange) enter(user *User, account *Account, isNewUser bool) (*login, error) {
	out := &login{user: user, account: account, isNewUser: isNewUser}
	if x.strategy != StrategyDatabase {
		return out, nil
	}
	token := ""
	if generate := x.config.Session.GenerateSessionToken; generate != nil {
		token = generate()
	} else {
		token = randomUUID()
	}
	var err error
	out.session, err = x.config.Adapter.CreateSession(x.ctx, AdapterSession{
		SessionToken: token, UserID: user.ID, Expires: x.now.Add(x.maxAge),
	})
	if err != nil {
		return nil, fail(ErrAdapter, "createSession", err)
	}
	return out, nil
}

// current finds out who is signed in. A token that can't be read means nobody (fact 90).
func (x *exchange) current() (current, error) {
	token, _ := x.sessionCookie()
	if token == "" {
		return current{}, nil
	}
	if x.strategy == StrategyDatabase {
		session, user, err := x.config.Adapter.GetSessionAndUser(x.ctx, token)
		if err != nil {
			return current{}, fail(ErrAdapter, "getSessionAndUser", err)
		}
		if session == nil || user == nil || session.Expires.Before(x.now) {
			return current{token: token}, nil
		}
		return current{token: token, session: session, user: user}, nil
	}
	claims, err := x.decodeSession(token)
	if err != nil || claims.String("sub") == "" {
		return current{}, nil
	}
	user, err := x.config.Adapter.GetUser(x.ctx, claims.String("sub"))
	if err != nil {
		return current{}, fail(ErrAdapter, "getUser", err)
	}
	return current{user: user}, nil
}
