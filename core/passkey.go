package core

import (
	"encoding/base64"
	"errors"
)

// webAuthnCallback answers POST callback with a passkey's answer.
func (x *exchange) webAuthnCallback() (reply, error) {
	switch x.bodyText("action") {
	case actionAuthenticate:
		return x.authenticateWithPasskey()
	case actionRegister:
		return x.registerPasskey()
	}
	return reply{}, fail(ErrCallbackRoute, "the action is neither register nor authenticate", nil)
}

// authenticateWithPasskey signs in whoever the passkey belongs to. That a credential is unknown is
// told like any other failure, so that nobody can ask which there are.
func (x *exchange) authenticateWithPasskey() (reply, error) {
	adapter, answer := x.config.Adapter, []byte(x.bodyText("data"))
	c, err := x.finishCeremony(actionAuthenticate, answer)
	if err != nil {
		return reply{}, err
	}
	known, err := x.storedAuthenticator(answer)
	if err != nil {
		return reply{}, err
	}
	if c.Named != "" && known.UserID != c.Named {
		return reply{}, fail(ErrWebAuthnVerification, "the credential is none of those that were listed", nil)
	}
	told, err := x.provider.webauthn.routes.verifyAuthentication(answer, x.ceremony(c.Challenge), *known)
	if err != nil {
		return reply{}, fail(ErrWebAuthnVerification, "", err)
	}
	if told.UserHandle == "" && c.Named == "" {
		return reply{}, fail(ErrWebAuthnVerification, "nobody was named, and the answer has no user handle", nil)
	}
	if !isHandleOf(told.UserHandle, known.UserID) {
		return reply{}, fail(ErrWebAuthnVerification, "the user handle is another user's", nil)
	}
	account, err := adapter.GetAccount(x.ctx, known.ProviderAccountID, x.provider.id)
	if err != nil {
		return reply{}, fail(ErrAdapter, "getAccount", err)
	}
	if account == nil || account.UserID != known.UserID {
		return reply{}, fail(ErrWebAuthnVerification, "the credential has no account at this provider", nil)
	}
	_, err = adapter.UpdateAuthenticatorCounter(x.ctx, known.CredentialID, told.Counter)
	if errors.Is(err, ErrConflict) {
		return reply{}, fail(ErrWebAuthnVerification, "the counter has just been used by another answer", err)
	}
	if err != nil {
		return reply{}, fail(ErrAdapter, "updateAuthenticatorCounter", err)
	}
	user, err := adapter.GetUser(x.ctx, account.UserID)
	if err != nil {
		return reply{}, fail(ErrAdapter, "getUser", err)
	}
	if user == nil {
		return reply{}, fail(ErrWebAuthnVerification, "the credential's user is gone", nil)
	}
	now, err := x.current()
	if err != nil {
		return reply{}, err
	}
	redirect, err := x.authorize(SignInParams{User: user, Account: account})
	if err != nil || redirect != "" {
		return reply{redirect: redirect}, err
	}
	if now != nil && now.ID != user.ID {
		return reply{}, fail(ErrAccountNotLinked, "the passkey belongs to another user than the one who is signed in", nil)
	}
	found, err := x.enter(user, account, false)
	if err != nil {
		return reply{}, err
	}
	return x.finish(nil, found)
}

// storedAuthenticator gives the authenticator that an answer names.
func (x *exchange) storedAuthenticator(answer []byte) (*Authenticator, error) {
	var fields map[string]any
	_ = decodeJSON(answer, &fields) // then there is no id
	text, _ := fields["id"].(string)
	id, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(id) == 0 {
		return nil, fail(ErrCallbackRoute, "the data are not a passkey's answer", nil)
	}
	known, err := x.config.Adapter.GetAuthenticator(x.ctx, base64.StdEncoding.EncodeToString(id))
	if err != nil {
		return nil, fail(ErrAdapter, "getAuthenticator", err)
	}
	if known == nil {
		return nil, fail(ErrWebAuthnVerification, "the credential is unknown", nil)
	}
	return known, nil
}

// registerPasskey stores a new passkey: for the user who asked for it while signed in, and still is,
// or for a new one.
func (x *exchange) registerPasskey() (reply, error) {
	adapter, answer := x.config.Adapter, []byte(x.bodyText("data"))
	c, err := x.finishCeremony(actionRegister, answer)
	if err != nil {
		return reply{}, err
	}
	key, err := x.provider.webauthn.routes.verifyRegistration(answer, x.ceremony(c.Challenge))
	if err != nil {
		return reply{}, fail(ErrWebAuthnVerification, "", err)
	}
	user := userOf(c.User)
	now, err := x.current()
	switch {
	case err != nil:
		return reply{}, err
	case c.IsNew && now != nil, !c.IsNew && (now == nil || now.ID != user.ID):
		return reply{}, fail(ErrAccountNotLinked, "the passkey was made for another user than the one who is signed in", nil)
	case now != nil:
		user = now
	}
	account := &Account{Provider: x.provider.id, ProviderAccountID: key.ProviderAccountID, Type: TypeWebAuthn, UserID: user.ID}
	// A credential that is stored already is never registered again, whoever asks: its ID is no
	// secret, and this answer is signed with whatever key it brought along.
	stored, err := adapter.GetAuthenticator(x.ctx, key.CredentialID)
	if err != nil {
		return reply{}, fail(ErrAdapter, "getAuthenticator", err)
	}
	owner, err := adapter.GetUserByAccount(x.ctx, account.Provider, account.ProviderAccountID)
	if err != nil {
		return reply{}, fail(ErrAdapter, "getUserByAccount", err)
	}
	if stored != nil || owner != nil {
		return reply{}, fail(ErrAccountNotLinked, "the credential is registered already", nil)
	}
	redirect, err := x.authorize(SignInParams{User: user, Account: account})
	if err != nil || redirect != "" {
		return reply{redirect: redirect}, err
	}
	if c.IsNew {
		if user, err = x.createPasskeyUser(user, account, key); err != nil {
			return reply{}, err
		}
	} else if err := x.keepPasskey(user, account, key, user, false); err != nil {
		return reply{}, err
	}
	found, err := x.enter(user, account, c.IsNew)
	if err != nil {
		return reply{}, err
	}
	return x.finish(nil, found)
}

// createPasskeyUser makes the user that a passkey was registered for. Nobody has verified the address,
// so a user who has it already is not touched.
func (x *exchange) createPasskeyUser(profile *User, account *Account, key *Authenticator) (*User, error) {
	if profile.Email != "" {
		other, err := x.config.Adapter.GetUserByEmail(x.ctx, profile.Email)
		if err != nil {
			return nil, fail(ErrAdapter, "getUserByEmail", err)
		}
		if other != nil {
			return nil, fail(ErrAccountNotLinked, "another user has the e-mail address", nil)
		}
	}
	user, err := x.makeUser(profile)
	if errors.Is(err, ErrConflict) {
		return nil, fail(ErrAccountNotLinked, "another sign-in has just taken the e-mail address", err)
	}
	if err != nil {
		return nil, fail(ErrAdapter, "createUser", err)
	}
	return user, x.orDelete(user, func() error {
		if user.ID != profile.ID { // the passkey's user handle would be another's
			return fail(ErrAdapter, "createUser gave the user another ID", nil)
		}
		return x.keepPasskey(user, account, key, profile, true)
	})
}

// keepPasskey stores a passkey and its account, and tells of it. The account alone, if the rest
// fails, lets nobody in.
func (x *exchange) keepPasskey(user *User, account *Account, key *Authenticator, profile *User, isNewUser bool) error {
	kept, err := x.keepAccount(user, account)
	if err != nil {
		return err
	}
	key.UserID = user.ID
	_, err = x.config.Adapter.CreateAuthenticator(x.ctx, *key)
	if errors.Is(err, ErrConflict) {
		return fail(ErrAccountNotLinked, "the credential has just been registered", err)
	}
	if err != nil {
		return fail(ErrAdapter, "createAuthenticator", err)
	}
	x.tellLinked(user, kept, profile, isNewUser)
	return nil
}
