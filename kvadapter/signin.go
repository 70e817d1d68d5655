package kvadapter

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// findUser reads the account, the credential and the address at once, and with each its user.
func (r *Records) findUser(ctx context.Context, q core.UserQuery) (*core.FoundUser, error) {
	account, passkey, address := "", "", ""
	var keys []string
	add := func(key *string, kind string, parts ...string) {
		*key = keyOf(kind, parts...)
		keys = append(keys, *key)
	}
	if q.Provider != "" {
		add(&account, kindAccount, q.Provider, q.ProviderAccountID)
	}
	if q.CredentialID != "" {
		add(&passkey, kindPasskey, q.CredentialID)
	}
	if q.Email != "" {
		add(&address, kindAddress, q.Email)
	}
	if len(keys) == 0 {
		return &core.FoundUser{}, ctx.Err()
	}
	v, err := r.get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	found := &core.FoundUser{Revision: v}
	if p := (&passkeyRecord{}); passkey != "" && r.load(ctx, v, passkey, p) && v.has(keyOf(kindUser, p.User)) {
		found.Authenticator = p.authenticator()
	}
	if a := (&accountRecord{}); account != "" && r.load(ctx, v, account, a) {
		if found.User = r.loadProfile(ctx, v, a.User); found.User != nil {
			found.Account = a.account()
			return found, nil
		}
	}
	if a := (&addressRecord{}); address != "" && r.load(ctx, v, address, a) {
		if u := r.loadProfile(ctx, v, a.User); u != nil && u.Email == q.Email {
			found.User = u
		}
	}
	return found, nil
}

// signUp stores a new user with what belongs to them. It takes for granted that nothing of it
// is there yet, and reads only if that was wrong.
func (r *Records) signUp(ctx context.Context, s core.SignUp) (*core.User, *core.AdapterSession, error) {
	if err := checkText(s.User.ID, s.User.Email); err != nil {
		return nil, nil, err
	}
	userKey := keyOf(kindUser, s.User.ID)
	keys := []string{userKey}
	if s.User.Email != "" {
		keys = append(keys, keyOf(kindAddress, s.User.Email))
	}
	keys = append(keys, gainedKeys(s.Account, s.Authenticator, s.Session)...)
	var u *userRecord
	seen := &view{}
	if s.EndedSession != "" {
		keys, seen = append(keys, keyOf(kindSession, s.EndedSession)), nil
	}
	err := r.transact(ctx, seen, keys, func(v *view, c *change) error {
		if r.loadUser(ctx, v, s.User.ID) != nil {
			return conflict("another user has the ID")
		}
		u = &userRecord{profile: profileOf(&s.User)}
		if err := r.takeAddress(ctx, c, u, ""); err != nil {
			return err
		}
		if err := r.endBefore(ctx, c, u, s.EndedSession); err != nil {
			return err
		}
		return r.complete(ctx, c, u, s.Account, s.Authenticator, s.Session)
	})
	return entered(u, s.Session, err)
}

// signIn changes a user and stores what they gain by it. Any method that changes a user is one.
func (r *Records) signIn(ctx context.Context, s core.SignIn) (*core.User, *core.AdapterSession, error) {
	if err := checkText(s.User.ID, s.User.Email); err != nil {
		return nil, nil, err
	}
	userKey := keyOf(kindUser, s.User.ID)
	keys := append([]string{userKey}, gainedKeys(s.Account, s.Authenticator, s.Session)...)
	if s.User.Email != "" {
		keys = append(keys, keyOf(kindAddress, s.User.Email))
	}
	credential := ""
	if s.Credential != nil {
		credential = keyOf(kindPasskey, s.Credential.CredentialID)
		keys = append(keys, credential)
	}
	if s.EndedSession != "" {
		keys = append(keys, keyOf(kindSession, s.EndedSession))
	}
	if s.By.Provider != "" {
		keys = append(keys, keyOf(kindAccount, s.By.Provider, s.By.ProviderAccountID))
	}
	seen, _ := s.Revision.(*view)
	if seen != nil && !seen.has(userKey) {
		seen = nil
	}
	var u *userRecord
	err := r.transact(ctx, seen, keys, func(v *view, c *change) error {
		u = r.loadUser(ctx, v, s.User.ID)
		if !r.leadsTo(ctx, v, &s, u) {
			return conflict("what the user was found by is no longer theirs")
		}
		if u == nil {
			return ErrNoUser
		}
		before := u.profile
		u.profile.change(&s.User)
		if err := r.takeAddress(ctx, c, u, before.Email); err != nil {
			return err
		}
		if !reflect.DeepEqual(u.profile, before) {
			c.stale = slices.Collect(maps.Keys(u.Sessions))
		}
		if credential != "" {
			signed := *s.Credential // the caller's stays as it is
			if err := r.count(ctx, c, credential, &signed); err != nil {
				return err
			}
			if signed.UserID != u.ID {
				return ErrNoAuthenticator
			}
		}
		if err := r.endBefore(ctx, c, u, s.EndedSession); err != nil {
			return err
		}
		return r.complete(ctx, c, u, s.Account, s.Authenticator, s.Session)
	})
	return entered(u, s.Session, err)
}

// leadsTo reports whether what a user was found by is theirs. All of it changes with the user's
// record, which the commit checks.
func (r *Records) leadsTo(ctx context.Context, v *view, s *core.SignIn, u *userRecord) bool {
	if u == nil {
		return s.By == core.UserQuery{} && s.BySession == ""
	}
	isTheirs := true
	switch {
	case s.By.Provider != "":
		var a accountRecord
		isTheirs = r.load(ctx, v, keyOf(kindAccount, s.By.Provider, s.By.ProviderAccountID), &a) && a.User == u.ID
	case s.By.Email != "":
		isTheirs = u.Email == s.By.Email
	}
	if s.BySession != "" {
		end, lives := u.Sessions[keyOf(kindSession, s.BySession)]
		isTheirs = isTheirs && lives && !hasEnded(end)
	}
	return isTheirs
}

// gainedKeys are the keys of what a user gains. Each may be nil.
func gainedKeys(a *core.Account, p *core.Authenticator, s *core.AdapterSession) (keys []string) {
	if a != nil {
		keys = append(keys, keyOf(kindAccount, a.Provider, a.ProviderAccountID))
	}
	if p != nil {
		keys = append(keys, keyOf(kindPasskey, p.CredentialID))
	}
	if s != nil {
		keys = append(keys, keyOf(kindSession, s.SessionToken))
	}
	return keys
}

// endBefore ends the session that the browser had before. It may be another user's, which takes
// a read that includes it.
func (r *Records) endBefore(ctx context.Context, c *change, u *userRecord, token string) error {
	key := keyOf(kindSession, token)
	if token == "" {
		return nil
	}
	if _, mine := u.Sessions[key]; mine {
		u.endSession(c, key)
		return nil
	}
	if !slices.ContainsFunc(c.view.entries, func(e Entry) bool { return e.Key == key }) {
		return errUnread
	}
	var s sessionRecord
	if !r.load(ctx, c.view, key, &s) {
		return nil
	}
	c.check(key)
	if s.User == u.ID {
		u.endSession(c, key)
	} else if other := r.loadUser(ctx, c.view, s.User); other != nil {
		other.endSession(c, key)
		c.putUser(other)
	} else {
		c.delete(key)
	}
	return nil
}

// complete adds to a change what a user gains, and the user.
func (r *Records) complete(ctx context.Context, c *change, u *userRecord, a *core.Account, p *core.Authenticator, s *core.AdapterSession) error {
	if a != nil {
		if err := r.link(ctx, c, u, a); err != nil {
			return err
		}
	}
	if p != nil {
		if err := r.register(ctx, c, u, p); err != nil {
			return err
		}
	}
	if s != nil && !hasEnded(millis(s.Expires)) {
		key := keyOf(kindSession, s.SessionToken)
		if r.loadSession(ctx, c.view, key) != nil {
			return conflict("another session has the token")
		}
		u.addSession(c, key, millis(s.Expires))
		c.putSession(s.SessionToken, &sessionRecord{User: u.ID, Expires: millis(s.Expires)})
	}
	c.putUser(u)
	return nil
}

// entered is the answer of signUp and signIn.
func entered(u *userRecord, s *core.AdapterSession, err error) (*core.User, *core.AdapterSession, error) {
	if err != nil {
		return nil, nil, err
	}
	user, err := u.fresh()
	if err != nil || s == nil {
		return user, nil, err
	}
	return user, &core.AdapterSession{SessionToken: s.SessionToken, UserID: user.ID, Expires: s.Expires.Truncate(time.Millisecond)}, nil
}
