package kvadapter

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/core"
)

// A passkeyRecord is an authenticator of a user.
type passkeyRecord struct {
	header
	User                string `json:"user"`
	CredentialID        string `json:"credentialId"`
	ProviderAccountID   string `json:"providerAccountId"`
	CredentialPublicKey string `json:"credentialPublicKey"`
	Counter             uint32 `json:"counter"`
	DeviceType          string `json:"deviceType"`
	BackedUp            bool   `json:"backedUp"`
	Transports          string `json:"transports"`
}

func (p *passkeyRecord) authenticator() *core.Authenticator {
	return &core.Authenticator{
		CredentialID: p.CredentialID, UserID: p.User, ProviderAccountID: p.ProviderAccountID, CredentialPublicKey: p.CredentialPublicKey,
		Counter: p.Counter, CredentialDeviceType: p.DeviceType, CredentialBackedUp: p.BackedUp, Transports: p.Transports,
	}
}

func (r *Records) createAuthenticator(ctx context.Context, a core.Authenticator) (*core.Authenticator, error) {
	if !utf8.ValidString(a.CredentialID) {
		return nil, ErrText
	}
	key := keyOf(kindPasskey, a.CredentialID)
	if err := r.enlist(ctx, a.UserID, key); err != nil {
		return nil, err
	}
	_, err := edit(ctx, r, key, time.Time{}, func(p *passkeyRecord, found bool) (bool, error) {
		if found {
			if free, err := r.isNobody(ctx, p.User); err != nil || !free {
				return false, errors.Join(err, conflict("the credential is stored already"))
			}
		}
		*p = passkeyRecord{
			header: p.header, User: a.UserID, CredentialID: a.CredentialID, ProviderAccountID: a.ProviderAccountID, Counter: a.Counter,
			CredentialPublicKey: a.CredentialPublicKey, DeviceType: a.CredentialDeviceType, BackedUp: a.CredentialBackedUp, Transports: a.Transports,
		}
		return true, nil
	})
	if errors.Is(err, core.ErrConflict) {
		return nil, errors.Join(err, r.delist(ctx, a.UserID, key))
	}
	if err == nil {
		err = r.enlisted(ctx, a.UserID, key)
	}
	if err != nil {
		return nil, err
	}
	return &a, nil
}

func (r *Records) getAuthenticator(ctx context.Context, credentialID string) (*core.Authenticator, error) {
	var p passkeyRecord
	if _, ok, err := r.load(ctx, r.atomic, keyOf(kindPasskey, credentialID), &p); err != nil || !ok {
		return nil, err
	}
	return p.authenticator(), nil
}

func (r *Records) listAuthenticatorsByUserID(ctx context.Context, userID string) ([]core.Authenticator, error) {
	list := []core.Authenticator{}
	u, err := r.loadUser(ctx, userID)
	if err != nil || u == nil {
		return list, err
	}
	for _, key := range u.Owns {
		if kindOf(key) != kindPasskey {
			continue
		}
		var p passkeyRecord
		_, ok, err := r.load(ctx, r.atomic, key, &p)
		if err != nil {
			return nil, err
		}
		if ok && p.User == userID {
			list = append(list, *p.authenticator())
		}
	}
	return list, nil
}

func (r *Records) updateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) (*core.Authenticator, error) {
	p, err := edit(ctx, r, keyOf(kindPasskey, credentialID), time.Time{}, func(p *passkeyRecord, found bool) (bool, error) {
		switch {
		case !found:
			return false, ErrNoAuthenticator
		case counter <= p.Counter && (counter != 0 || p.Counter != 0):
			return false, conflict("the counter did not grow")
		}
		p.Counter = counter
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return p.authenticator(), nil
}
