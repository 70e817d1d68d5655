package core

// login is the outcome of finding out, or creating, who a confirmed account belongs to.
type login struct {
	user      *User
	account   *Account
	session   *AdapterSession // database strategy
	isNewUser bool
}

// accountQuery asks who an OAuth account belongs to, else its address.
func accountQuery(profile *User, account *Account) UserQuery {
	return UserQuery{Provider: account.Provider, ProviderAccountID: account.ProviderAccountID, Email: profile.Email}
}

// login signs in with an OAuth account: as the user it is linked to, else as the one who is
// signed in, else as a new one. found is who it belonged to before the SignIn callback was asked.
// Without an adapter it is whoever the provider described.
func (x *exchange) login(profile *User, account *Account, found *FoundUser) (*login, error) {
	if x.config.Adapter == nil {
		return &login{user: profile, account: account}, nil
	}
	now, err := x.current()
	if err != nil {
		return nil, err
	}
	if x.mayHaveChanged(found) {
		if found, err = x.findUser(accountQuery(profile, account)); err != nil {
			return nil, err
		}
	}
	out, err := x.loginAs(now, found, profile, account)
	if !isTaken(err) {
		return out, err
	}
	// Somebody was quicker to take the account or its address. If it was another sign-in with this
	// account, the account is known by now.
	if found, err = x.findUser(accountQuery(profile, account)); err != nil {
		return nil, err
	}
	out, err = x.loginAs(now, found, profile, account)
	if isTaken(err) {
		return nil, fail(ErrOAuthAccountNotLinked, "another user has just taken the account or its e-mail address", err)
	}
	return out, err
}

// mayHaveChanged reports whether what was found must be looked up again because the SignIn callback
// may have changed it. It needn't where SignUp or SignIn follows: they check it. Nothing follows
// for a known user under the jwt strategy, nor for one who is about to be refused.
func (x *exchange) mayHaveChanged(found *FoundUser) bool {
	if x.config.Callbacks.SignIn == nil {
		return false
	}
	commits := found.User == nil || found.Account != nil && x.strategy == StrategyDatabase
	return !commits || !x.config.Adapter.isComposed()
}

// loginAs signs in with an account that belongs to whom was found, while now is signed in. An error
// that isTaken says that somebody was quicker to take the account or its address.
func (x *exchange) loginAs(now *User, found *FoundUser, profile *User, account *Account) (*login, error) {
	switch {
	case found.Account != nil && now != nil && found.User.ID != now.ID:
		return nil, fail(ErrOAuthAccountNotLinked, "the account belongs to another user than the one who is signed in", nil)
	case found.Account != nil:
		by := UserQuery{Provider: account.Provider, ProviderAccountID: account.ProviderAccountID}
		return x.enter(found.User, account, SignIn{By: by, Revision: found.Revision}, nil)
	case now != nil:
		return x.enter(now, account, SignIn{Account: x.accountToKeep(now, account), BySession: x.storedSession()}, profile)
	case found.User == nil:
		return x.register(account, SignUp{User: *profile, Account: x.accountToKeep(profile, account)}, profile)
	case !x.provider.oauth.AllowDangerousEmailAccountLinking:
		return nil, fail(ErrOAuthAccountNotLinked, "another user has the account's e-mail address", nil)
	}
	s := SignIn{Account: x.accountToKeep(found.User, account), By: UserQuery{Email: profile.Email}, Revision: found.Revision}
	return x.enter(found.User, account, s, profile)
}

// accountToKeep is what is stored of an account that is linked to a user.
func (x *exchange) accountToKeep(user *User, account *Account) *Account {
	account.UserID = user.ID
	kept := *account
	if x.provider.oauth != nil && x.provider.oauth.Account != nil {
		kept = x.provider.oauth.Account(*account)
		kept.Provider, kept.ProviderAccountID, kept.Type, kept.UserID = account.Provider, account.ProviderAccountID, account.Type, user.ID
	} else {
		kept.Extra, kept.ExpiresIn = nil, 0
	}
	return &kept
}

// register signs in with a new user. profile is what the provider told, if an account is linked.
func (x *exchange) register(account *Account, s SignUp, profile *User) (*login, error) {
	s.Session, s.EndedSession = x.startSession(s.User.ID)
	user, session, err := x.keepSignUp(s, profile)
	if err != nil {
		return nil, err
	}
	account.UserID = user.ID
	return &login{user: user, account: account, session: session, isNewUser: true}, nil
}

// enter signs in a user who is known. profile is what the provider told, if an account is linked.
func (x *exchange) enter(user *User, account *Account, s SignIn, profile *User) (*login, error) {
	s.User.ID = user.ID
	s.Session, s.EndedSession = x.startSession(user.ID)
	user, session, err := x.keepSignIn(user, s, profile)
	if err != nil {
		return nil, err
	}
	return &login{user: user, account: account, session: session}, nil
}

// startSession is the session that a sign-in starts under the database strategy, and the token of
// the one that it ends, which the browser had: each sign-in has a token of its own (OWASP ASVS 5.0,
// 7.2.4).
func (x *exchange) startSession(userID string) (*AdapterSession, string) {
	if x.strategy != StrategyDatabase {
		return nil, ""
	}
	generate := x.config.Session.GenerateSessionToken
	if generate == nil {
		generate = randomUUID
	}
	return &AdapterSession{SessionToken: generate(), UserID: userID, Expires: x.now.Add(x.maxAge)}, x.storedSession()
}

// storedSession is the token of the session under the database strategy that the browser has.
func (x *exchange) storedSession() string {
	if x.strategy != StrategyDatabase {
		return ""
	}
	return x.sessionCookie()
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
