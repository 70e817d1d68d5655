package kvadapter

import (
	"context"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// An accountRecord is an account of a user at a provider. It refers to the user's record.
type accountRecord struct {
	header
	User              string `json:"user"`
	Provider          string `json:"provider"`
	ProviderAccountID string `json:"providerAccountId"`
	Type              string `json:"type"`
	AccessToken       string `json:"accessToken"`
	RefreshToken      string `json:"refreshToken"`
	IDToken           string `json:"idToken"`
	Scope             string `json:"scope"`
	TokenType         string `json:"tokenType"`
	ExpiresIn         int64  `json:"expiresIn"`
	ExpiresAt         int64  `json:"expiresAt"`
	SessionState      string `json:"sessionState"`
	Extra             extra  `json:"extra"`
}

func (a *accountRecord) account() *core.Account {
	return &core.Account{
		Provider: a.Provider, ProviderAccountID: a.ProviderAccountID, Type: core.ProviderType(a.Type), UserID: a.User,
		AccessToken: a.AccessToken, RefreshToken: a.RefreshToken, IDToken: a.IDToken, Scope: a.Scope, TokenType: a.TokenType,
		ExpiresIn: a.ExpiresIn, ExpiresAt: a.ExpiresAt, SessionState: a.SessionState, Extra: a.Extra,
	}
}

func (r *Records) getAccount(ctx context.Context, providerAccountID, provider string) (*core.Account, error) {
	found, err := r.findUser(ctx, core.UserQuery{Provider: provider, ProviderAccountID: providerAccountID})
	if err != nil {
		return nil, err
	}
	return found.Account, nil
}

// linkAccount stores an account under the key that makes it one user's.
func (r *Records) linkAccount(ctx context.Context, account core.Account) error {
	_, _, err := r.signIn(ctx, core.SignIn{User: core.User{ID: account.UserID}, Account: &account})
	return err
}

// link adds an account to a change of its user.
func (r *Records) link(ctx context.Context, c *change, u *userRecord, a *core.Account) error {
	if err := checkText(a.Provider, a.ProviderAccountID); err != nil {
		return err
	}
	key := keyOf(kindAccount, a.Provider, a.ProviderAccountID)
	if !r.isFree(ctx, c.view, key, u.ID) {
		return conflict("another user has the account")
	}
	var before accountRecord
	r.load(ctx, c.view, key, &before)
	c.put(key, &accountRecord{
		header: before.header, User: u.ID, Provider: a.Provider, ProviderAccountID: a.ProviderAccountID, Type: string(a.Type),
		AccessToken: a.AccessToken, RefreshToken: a.RefreshToken, IDToken: a.IDToken, Scope: a.Scope, TokenType: a.TokenType,
		ExpiresIn: a.ExpiresIn, ExpiresAt: a.ExpiresAt, SessionState: a.SessionState, Extra: a.Extra,
	}, keyOf(kindUser, u.ID), time.Time{})
	return u.own(key)
}

func (r *Records) unlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	key := keyOf(kindAccount, provider, providerAccountID)
	return r.transact(ctx, nil, []string{key}, func(v *view, c *change) error {
		var a accountRecord
		if !r.load(ctx, v, key, &a) {
			return nil
		}
		c.check(key)
		c.delete(key)
		if u := r.loadUser(ctx, v, a.User); u != nil {
			u.disown(key)
			c.putUser(u)
		}
		return nil
	})
}
