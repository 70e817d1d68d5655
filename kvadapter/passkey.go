package kvadapter

import (
	"context"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// A passkeyRecord is an authenticator of a user. It refers to the user's record.
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
	_, _, err := r.signIn(ctx, core.SignIn{User: core.User{ID: a.UserID}, Authenticator: &a})
	if err != nil {
		return nil, err
	}
	return &a, nil
}

// register adds a passkey to a change of its user.
func (r *Records) register(ctx context.Context, c *change, u *userRecord, a *core.Authenticator) error {
	if err := checkText(a.CredentialID); err != nil {
		return err
	}
	key := keyOf(kindPasskey, a.CredentialID)
	if !r.isFree(ctx, c.view, key, "") {
		return conflict("the credential is stored already")
	}
	c.put(key, &passkeyRecord{
		User: u.ID, CredentialID: a.CredentialID, ProviderAccountID: a.ProviderAccountID, Counter: a.Counter,
		CredentialPublicKey: a.CredentialPublicKey, DeviceType: a.CredentialDeviceType, BackedUp: a.CredentialBackedUp, Transports: a.Transports,
	}, keyOf(kindUser, u.ID), time.Time{})
	return u.own(key)
}

func (r *Records) getAuthenticator(ctx context.Context, credentialID string) (*core.Authenticator, error) {
	found, err := r.findUser(ctx, core.UserQuery{CredentialID: credentialID})
	if err != nil {
		return nil, err
	}
	return found.Authenticator, nil
}

func (r *Records) listAuthenticatorsByUserID(ctx context.Context, userID string) ([]core.Authenticator, error) {
	list := []core.Authenticator{}
	v, err := r.get(ctx, keyOf(kindUser, userID))
	if err != nil {
		return nil, err
	}
	u := r.loadUser(ctx, v, userID)
	if u == nil {
		return list, nil
	}
	var keys []string
	for _, key := range u.Owns {
		if kindOf(key) == kindPasskey {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return list, nil
	}
	if v, err = r.get(ctx, keys...); err != nil {
		return nil, err
	}
	for _, key := range keys {
		var p passkeyRecord
		if r.load(ctx, v, key, &p) && p.User == userID {
			list = append(list, *p.authenticator())
		}
	}
	return list, nil
}

func (r *Records) updateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) (*core.Authenticator, error) {
	key, signed := keyOf(kindPasskey, credentialID), &core.Authenticator{CredentialID: credentialID, Counter: counter}
	err := r.transact(ctx, nil, []string{key}, func(v *view, c *change) error { return r.count(ctx, c, key, signed) })
	if err != nil {
		return nil, err
	}
	return signed, nil
}

// count adds a new counter to a change, and fills in what else is known of the credential.
func (r *Records) count(ctx context.Context, c *change, key string, signed *core.Authenticator) error {
	var p passkeyRecord
	if !r.load(ctx, c.view, key, &p) {
		return ErrNoAuthenticator
	}
	counter := signed.Counter
	if counter <= p.Counter && (counter != 0 || p.Counter != 0) {
		return conflict("the counter did not grow")
	}
	p.Counter = counter
	*signed = *p.authenticator()
	c.put(key, &p, keyOf(kindUser, p.User), time.Time{})
	return nil
}
