package core

import "encoding/base64"

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
	answer := []byte(x.bodyText("data"))
	c, err := x.finishCeremony(actionAuthenticate, answer)
	if err != nil {
		return reply{}, err
	}
	id, err := answeredCredential(answer)
	if err != nil {
		return reply{}, err
	}
	// A passkey's account has the credential's ID.
	found, err := x.findUser(UserQuery{Provider: x.provider.id, ProviderAccountID: id, CredentialID: id})
	if err != nil {
		return reply{}, err
	}
	known, user, account := found.Authenticator, found.User, found.Account
	if known == nil {
		return reply{}, fail(ErrWebAuthnVerification, "the credential is unknown", nil)
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
	if account == nil || account.UserID != known.UserID {
		return reply{}, fail(ErrWebAuthnVerification, "the credential has no account at this provider", nil)
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
	signed := &Authenticator{CredentialID: known.CredentialID, Counter: told.Counter}
	by := UserQuery{Provider: account.Provider, ProviderAccountID: account.ProviderAccountID}
	entered, err := x.enter(user, account, SignIn{Credential: signed, By: by, Revision: found.Revision}, nil)
	if isTaken(err) {
		return reply{}, fail(ErrWebAuthnVerification, "the counter has just been used by another answer, or the account was unlinked", err)
	}
	if err != nil {
		return reply{}, err
	}
	return x.finish(nil, entered)
}

// answeredCredential is the ID of the credential that an answer names, as it is stored.
func answeredCredential(answer []byte) (string, error) {
	var fields map[string]any
	_ = decodeJSON(answer, &fields) // then there is no id
	text, _ := fields["id"].(string)
	id, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(id) == 0 {
		return "", fail(ErrCallbackRoute, "the data are not a passkey's answer", nil)
	}
	return base64.StdEncoding.EncodeToString(id), nil
}

// registerPasskey stores a new passkey: for the user who asked for it while signed in, and still is,
// or for a new one.
func (x *exchange) registerPasskey() (reply, error) {
	answer := []byte(x.bodyText("data"))
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
	q := UserQuery{Provider: account.Provider, ProviderAccountID: account.ProviderAccountID, CredentialID: key.CredentialID}
	if c.IsNew {
		q.Email = user.Email
	}
	found, err := x.findUser(q)
	if err != nil {
		return reply{}, err
	}
	// A credential that is stored already is never registered again, whoever asks: its ID is no
	// secret, and this answer is signed with whatever key it brought along.
	if found.Authenticator != nil || found.Account != nil {
		return reply{}, fail(ErrAccountNotLinked, "the credential is registered already", nil)
	}
	redirect, err := x.authorize(SignInParams{User: user, Account: account})
	if err != nil || redirect != "" {
		return reply{redirect: redirect}, err
	}
	var entered *login
	kept := x.accountToKeep(user, account)
	key.UserID = user.ID
	switch {
	case !c.IsNew:
		entered, err = x.enter(user, account, SignIn{Account: kept, Authenticator: key, BySession: x.storedSession()}, user)
	case found.User != nil: // nobody has verified the address, so the one who has it is not touched
		return reply{}, fail(ErrAccountNotLinked, "another user has the e-mail address", nil)
	default:
		entered, err = x.register(account, SignUp{User: *user, Account: kept, Authenticator: key}, user)
	}
	if isTaken(err) {
		return reply{}, fail(ErrAccountNotLinked, "the credential or the e-mail address has just been taken", err)
	}
	if err != nil {
		return reply{}, err
	}
	return x.finish(nil, entered)
}
