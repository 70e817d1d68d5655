package kvadapter

import (
	"context"
	"errors"
	"maps"
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
	var elsewhere string
	seen := &view{}
	err := r.transact(ctx, seen, keys, func(v *view, c *change) error {
		if v != seen && r.loadUser(ctx, v, s.User.ID) != nil {
			return conflict("another user has the ID")
		}
		u = &userRecord{profile: profileOf(&s.User)}
		if err := r.takeAddress(ctx, c, u, ""); err != nil {
			return err
		}
		elsewhere = u.endIfMine(c, s.EndedSession)
		return r.complete(ctx, c, u, s.Account, s.Authenticator, s.Session)
	})
	return r.entered(ctx, u, s.Session, elsewhere, err)
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
	seen, _ := s.Revision.(*view)
	if seen != nil && !seen.has(userKey) {
		seen = nil
	}
	var u *userRecord
	var elsewhere string
	err := r.transact(ctx, seen, keys, func(v *view, c *change) error {
		if u = r.loadUser(ctx, v, s.User.ID); u == nil {
			return ErrNoUser
		}
		before := u.profile
		u.profile.change(&s.User)
		if err := r.takeAddress(ctx, c, u, before.Email); err != nil {
			return err
		}
		if !u.looksLike(&before) {
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
		elsewhere = u.endIfMine(c, s.EndedSession)
		return r.complete(ctx, c, u, s.Account, s.Authenticator, s.Session)
	})
	return r.entered(ctx, u, s.Session, elsewhere, err)
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

// endIfMine ends a session that is the user's. It gives the token of any other one.
func (u *userRecord) endIfMine(c *change, token string) string {
	key := keyOf(kindSession, token)
	if _, mine := u.Sessions[key]; !mine {
		return token
	}
	u.endSession(c, key)
	return ""
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

// entered is the answer of signUp and signIn. elsewhere is the token of a session that was to end
// and is none of the user's: it ends in a commit of its own.
func (r *Records) entered(ctx context.Context, u *userRecord, s *core.AdapterSession, elsewhere string, err error) (*core.User, *core.AdapterSession, error) {
	if err != nil {
		return nil, nil, err
	}
	user, err := u.fresh()
	if elsewhere != "" {
		_, err2 := r.deleteSession(ctx, elsewhere)
		err = errors.Join(err, err2)
	}
	if err != nil {
		return nil, nil, err
	}
	if s == nil {
		return user, nil, nil
	}
	return user, &core.AdapterSession{SessionToken: s.SessionToken, UserID: user.ID, Expires: s.Expires.Truncate(time.Millisecond)}, nil
}
