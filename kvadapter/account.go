package kvadapter

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/core"
)

// An accountRecord is an account of a user at a provider.
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
	var a accountRecord
	if _, ok, err := r.load(ctx, r.atomic, keyOf(kindAccount, provider, providerAccountID), &a); err != nil || !ok {
		return nil, err
	}
	return a.account(), nil
}

func (r *Records) getUserByAccount(ctx context.Context, provider, providerAccountID string) (*core.User, error) {
	var a ownedRecord
	if _, ok, err := r.load(ctx, r.atomic, keyOf(kindAccount, provider, providerAccountID), &a); err != nil || !ok {
		return nil, err
	}
	return r.getUser(ctx, a.User)
}

// linkAccount stores an account under the key that makes it one user's. One whose user is
// gone, because a deletion did not get that far, is nobody's.
func (r *Records) linkAccount(ctx context.Context, account core.Account) error {
	if !utf8.ValidString(account.Provider) || !utf8.ValidString(account.ProviderAccountID) {
		return ErrText
	}
	key := keyOf(kindAccount, account.Provider, account.ProviderAccountID)
	if err := r.enlist(ctx, account.UserID, key); err != nil {
		return err
	}
	_, err := editFrom(ctx, r, key, time.Time{}, guessNone(), func(a *accountRecord, found bool) (bool, error) {
		if found && a.User != account.UserID {
			if free, err := r.isNobody(ctx, a.User); err != nil || !free {
				return false, errors.Join(err, conflict("another user has the account"))
			}
		}
		*a = accountRecord{
			header: a.header, User: account.UserID, Provider: account.Provider, ProviderAccountID: account.ProviderAccountID,
			Type: string(account.Type), AccessToken: account.AccessToken, RefreshToken: account.RefreshToken, IDToken: account.IDToken,
			Scope: account.Scope, TokenType: account.TokenType, ExpiresIn: account.ExpiresIn, ExpiresAt: account.ExpiresAt,
			SessionState: account.SessionState, Extra: account.Extra,
		}
		return true, nil
	})
	if errors.Is(err, core.ErrConflict) {
		return errors.Join(err, r.delist(ctx, account.UserID, key))
	}
	if err != nil {
		return err
	}
	return r.enlisted(ctx, account.UserID, key)
}

func (r *Records) unlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	key := keyOf(kindAccount, provider, providerAccountID)
	var a ownedRecord
	if _, ok, err := r.load(ctx, r.atomic, key, &a); err != nil || !ok {
		return err
	}
	if removed, err := r.removeOwned(ctx, key, a.User); err != nil || !removed {
		return err
	}
	return r.delist(ctx, a.User, key)
}
