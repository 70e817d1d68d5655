package adaptertest

import (
	"fmt"

	"github.com/edgeauth/edgeauth/core"
)

func (c *check) find(q core.UserQuery) *core.FoundUser {
	found, err := c.FindUser(c.ctx, q)
	c.done("FindUser", err)
	if found == nil {
		c.failf("FindUser gave nil without an error")
	}
	return found
}

// finds demands a user, by an account or, if that is nil, by the address.
func (c *check) finds(call string, q core.UserQuery, user core.User, a *core.Account) *core.FoundUser {
	found := c.find(q)
	c.equal(call, of(found.User, nil), user)
	if a == nil {
		c.absent(call+", the account", of(found.Account, nil))
	} else {
		c.equal(call+", the account", of(found.Account, nil), *a)
	}
	return found
}

// findsNobody demands that nobody is found, and no account.
func (c *check) findsNobody(call string, q core.UserQuery) *core.FoundUser {
	found := c.find(q)
	c.absent(call, of(found.User, nil))
	c.absent(call+", the account", of(found.Account, nil))
	return found
}

// signsUp signs a household up at once.
func (c *check) signsUp(h household) {
	user, session, err := c.SignUp(c.ctx, h.signUp())
	c.equal("SignUp", of(user, err), h.user)
	c.equal("SignUp, the session", of(session, err), h.sessions[0])
}

// signsIn makes a sign-in that must succeed.
func (c *check) signsIn(call string, s core.SignIn, want core.User) {
	user, session, err := c.SignIn(c.ctx, s)
	c.equal(call, of(user, err), want)
	if s.Session == nil {
		c.absent(call+", the session", of(session, err))
	} else {
		c.equal(call+", the session", of(session, err), *s.Session)
	}
}

func signInFind(c *check) {
	ada, bob := person(1), person(2)
	a, key := githubAccount(ada, "1"), passkey(ada, "1")
	byAccount := core.UserQuery{Provider: "github", ProviderAccountID: "1"}
	c.findsNobody("FindUser in an empty store", byAccount)
	c.addUsers(ada, bob)
	c.addAccounts(a)
	c.addAuthenticators(key)
	c.finds("FindUser by the account", byAccount, ada, &a)
	byBoth := byAccount
	byBoth.Email = bob.Email
	c.finds("FindUser by the account and another user's address", byBoth, ada, &a)
	c.finds("FindUser by the address alone", core.UserQuery{Email: bob.Email}, bob, nil)
	byBoth.ProviderAccountID = "2"
	c.finds("FindUser by an unknown account and an address", byBoth, bob, nil)
	byKey := core.UserQuery{Provider: "github", ProviderAccountID: "1", CredentialID: key.CredentialID}
	c.equal("FindUser by account and credential", of(c.finds("FindUser by account and credential", byKey, ada, &a).Authenticator, nil), key)
	byKey.ProviderAccountID = "2"
	c.equal("FindUser by a credential and an unknown account", of(c.findsNobody("FindUser by a credential and an unknown account", byKey).Authenticator, nil), key)
	for _, q := range []core.UserQuery{byAccount, {Provider: "github", ProviderAccountID: "1", CredentialID: "2"}} {
		c.absent("FindUser without a credential, or with an unknown one", of(c.find(q).Authenticator, nil))
	}
}

func signInAbsent(c *check) {
	ada := core.User{ID: person(1).ID} // nobody has the empty address
	a := githubAccount(ada, "ID-583231-abc")
	key := passkey(ada, "q83vEg+/AA==")
	c.addUsers(ada)
	c.addAccounts(a)
	c.addAuthenticators(key)
	c.findsNobody("FindUser by nothing", core.UserQuery{})
	c.findsNobody("FindUser by provider and ID, swapped", core.UserQuery{Provider: a.ProviderAccountID, ProviderAccountID: a.Provider})
	for _, unknown := range strangers(a.ProviderAccountID) {
		c.findsNobody(fmt.Sprintf("FindUser by the account %.60q", unknown), core.UserQuery{Provider: a.Provider, ProviderAccountID: unknown})
	}
	for _, unknown := range strangers(key.CredentialID) {
		found := c.findsNobody(fmt.Sprintf("FindUser by the credential %.60q", unknown), core.UserQuery{CredentialID: unknown})
		c.absent(fmt.Sprintf("FindUser by the credential %.60q", unknown), of(found.Authenticator, nil))
	}
	bob := person(2)
	c.addUsers(bob)
	for _, unknown := range strangers(bob.Email) {
		c.findsNobody(fmt.Sprintf("FindUser by the address %.60q", unknown), core.UserQuery{Email: unknown})
	}
}

// The same household is stored in one step, and in several.
func signInRecords(c *check) {
	h := family(1)
	c.signsUp(h)
	c.stored(h)
	c.delete(h.user.ID)
	c.missing(h)
	h.sessions[0] = sessionOf(h.user, 2) // a token never comes back
	c.addUsers(h.user)
	c.addAccounts(h.accounts...)
	c.addAuthenticators(h.keys...)
	c.addSessions(h.sessions...)
	c.stored(h)

	bare := person(2)
	user, session, err := c.SignUp(c.ctx, core.SignUp{User: bare})
	c.equal("SignUp of a user alone", of(user, err), bare)
	c.absent("SignUp of a user alone, the session", of(session, err))
	c.equal("GetUser", c.user(bare.ID), bare)
	full := somebody()
	full.ID = person(3).ID
	given := full
	given.Extra = extra()
	user, _, err = c.SignUp(c.ctx, core.SignUp{User: given})
	c.equal("SignUp of a user with Extra", of(user, err), full)
	c.equal("GetUser", c.user(full.ID), full)
}

func signInKnown(c *check) {
	for i, isKnownBy := range []string{"nothing", "a Revision"} {
		h, more := family(2*i), family(2*i+1)
		c.signsUp(h)
		a, key, s := more.accounts[0], more.keys[0], more.sessions[0]
		a.UserID, key.UserID, s.UserID = h.user.ID, h.user.ID, h.user.ID
		in := core.SignIn{User: core.User{ID: h.user.ID, EmailVerified: tomorrow()}, Account: &a, Authenticator: &key, Session: &s}
		if isKnownBy == "a Revision" {
			in.Revision = c.find(core.UserQuery{Provider: a.Provider, ProviderAccountID: a.ProviderAccountID, Email: h.user.Email}).Revision
		}
		h.user.EmailVerified = in.User.EmailVerified
		h.accounts, h.keys, h.sessions = append(h.accounts, a), append(h.keys, key), append(h.sessions, s)
		c.signsIn("SignIn with all there is", in, h.user)
		c.stored(h)
		h.accounts[1].AccessToken = "another"
		c.signsIn("SignIn with an account that the user has", core.SignIn{User: core.User{ID: h.user.ID}, Account: &h.accounts[1]}, h.user)
		c.stored(h)
		h.user.Name, h.user.Email = "new", fmt.Sprintf("new-%d@example.com", i)
		c.signsIn("SignIn with a new address", core.SignIn{User: core.User{ID: h.user.ID, Name: h.user.Name, Email: h.user.Email}}, h.user)
		c.stored(h)
		c.delete(h.user.ID)
		c.missing(h)
	}
}

// Each call would store something, were it not for one thing.
func signInNothing(c *check) {
	h := family(1)
	c.signsUp(h)
	other := family(2)
	for name, change := range map[string]func(*household){
		"a user's ID":         func(n *household) { n.user.ID = h.user.ID },
		"a user's address":    func(n *household) { n.user.Email = h.user.Email },
		"a user's account":    func(n *household) { n.accounts[0].ProviderAccountID = h.accounts[0].ProviderAccountID },
		"a stored credential": func(n *household) { n.keys[0].CredentialID = h.keys[0].CredentialID },
	} {
		n := family(2)
		change(&n)
		up := n.signUp()
		up.EndedSession = h.sessions[0].SessionToken
		_, _, err := c.SignUp(c.ctx, up)
		c.conflict("SignUp with "+name, err)
		c.missing(other)
		c.stored(h)
	}

	bare := person(2)
	bare.Email = "bare@example.com"
	c.addUsers(bare)
	fresh := func(change func(in *core.SignIn)) core.SignIn {
		n := family(2)
		in := core.SignIn{
			User: core.User{ID: n.user.ID, Name: "renamed", Email: n.user.Email}, Account: &n.accounts[0], Authenticator: &n.keys[0],
			Session: &n.sessions[0], EndedSession: h.sessions[0].SessionToken,
		}
		change(&in)
		return in
	}
	for _, one := range []struct {
		name       string
		isConflict bool
		change     func(in *core.SignIn)
	}{
		{"another user's address", true, func(in *core.SignIn) { in.User.Email = h.user.Email }},
		{"another user's account", true, func(in *core.SignIn) { in.Account.ProviderAccountID = h.accounts[0].ProviderAccountID }},
		{"a credential that is stored", true, func(in *core.SignIn) { in.Authenticator.CredentialID = h.keys[0].CredentialID }},
		{"an unknown credential", false, func(in *core.SignIn) { in.Credential = &core.Authenticator{CredentialID: "QUFB", Counter: 9} }},
		{"another user's credential", false, func(in *core.SignIn) {
			in.Credential = &core.Authenticator{CredentialID: h.keys[0].CredentialID, Counter: 9}
		}},
		{"an unknown user", false, func(in *core.SignIn) { in.User.ID = "unknown" }},
	} {
		_, _, err := c.SignIn(c.ctx, fresh(one.change))
		if c.fails("SignIn with "+one.name, err); one.isConflict {
			c.conflict("SignIn with "+one.name, err)
		}
		c.equal("GetUser", c.user(bare.ID), bare)
		c.absent("GetUser", c.user("unknown"))
		c.absent("GetUserByEmail", c.userOf(other.user.Email))
		c.hasNot(other.accounts[0].Provider, other.accounts[0].ProviderAccountID)
		c.holds(bare.ID)
		c.noSession("GetSessionAndUser", other.sessions[0].SessionToken)
		c.stored(h)
	}
	in := fresh(func(*core.SignIn) {})
	in.EndedSession = ""
	want := bare
	want.Name, want.Email = in.User.Name, in.User.Email
	c.signsIn("SignIn with nothing wrong", in, want)
}

func signInCounter(c *check) {
	h := family(1)
	c.signsUp(h)
	key := &h.keys[0]
	for i, counter := range []uint32{6, 6, 5, 0, 9, 8} {
		s := sessionOf(h.user, 10+i)
		q := core.UserQuery{Provider: h.accounts[0].Provider, ProviderAccountID: h.accounts[0].ProviderAccountID, CredentialID: key.CredentialID}
		in := core.SignIn{
			User: core.User{ID: h.user.ID}, Credential: &core.Authenticator{CredentialID: key.CredentialID, Counter: counter},
			Session: &s, Revision: c.find(q).Revision,
		}
		call := fmt.Sprintf("SignIn with the counter %d after %d", counter, key.Counter)
		if counter > key.Counter {
			key.Counter = counter
			h.sessions = append(h.sessions, s)
			c.signsIn(call, in, h.user)
		} else {
			_, _, err := c.SignIn(c.ctx, in)
			c.conflict(call, err)
			c.noSession("GetSessionAndUser after a counter that did not grow", s.SessionToken)
		}
		c.stored(h)
	}
	never := passkey(h.user, "QkJC") // an authenticator that doesn't count
	c.addAuthenticators(never)
	for range 2 {
		c.signsIn("SignIn with the counter 0 after 0", core.SignIn{User: core.User{ID: h.user.ID}, Credential: &never}, h.user)
	}
	h.keys = append(h.keys, never)
	c.stored(h)
}

// The session that ends is the user's, another user's, or none.
func signInEnded(c *check) {
	ada, bob := family(1), family(2)
	c.signsUp(ada)
	c.signsUp(bob)
	for i, ended := range []core.AdapterSession{ada.sessions[0], bob.sessions[0], sessionOf(ada.user, 404)} {
		s := sessionOf(ada.user, 10+i)
		ada.sessions = append(ada.sessions, s)
		q := core.UserQuery{Email: ada.user.Email}
		in := core.SignIn{User: core.User{ID: ada.user.ID}, Session: &s, EndedSession: ended.SessionToken, Revision: c.find(q).Revision}
		c.signsIn("SignIn that ends a session", in, ada.user)
		c.noSession("GetSessionAndUser of a session that ended with a sign-in", ended.SessionToken)
		c.absent("DeleteSession of a session that ended with a sign-in", of(c.DeleteSession(c.ctx, ended.SessionToken)))
		c.opens(ada.user, s)
	}
	carol := family(3)
	up := carol.signUp()
	up.EndedSession = ada.sessions[1].SessionToken
	_, _, err := c.SignUp(c.ctx, up)
	c.done("SignUp that ends a session", err)
	c.noSession("GetSessionAndUser of a session that ended with a sign-up", up.EndedSession)
	c.stored(carol)
	ada.sessions = ada.sessions[2:]
	c.stored(ada)
}

// What FindUser saw is changed before SignIn comes.
func signInRevision(c *check) {
	h := family(1)
	c.signsUp(h)
	q := core.UserQuery{Provider: h.accounts[0].Provider, ProviderAccountID: h.accounts[0].ProviderAccountID, CredentialID: h.keys[0].CredentialID, Email: h.user.Email}
	seen := c.find(q).Revision
	enter := func(n int) core.SignIn {
		s := sessionOf(h.user, n)
		return core.SignIn{User: core.User{ID: h.user.ID, EmailVerified: tomorrow()}, Session: &s, Revision: seen}
	}
	verified := func(in core.SignIn) core.SignIn {
		h.user.EmailVerified = in.User.EmailVerified
		h.sessions = append(h.sessions, *in.Session)
		return in
	}
	h.user.Name, h.user.Email = "renamed", "new@example.com"
	c.equal("UpdateUser", of(c.UpdateUser(c.ctx, core.User{ID: h.user.ID, Name: h.user.Name, Email: h.user.Email})), h.user)
	c.signsIn("SignIn by a Revision from before UpdateUser", verified(enter(10)), h.user)
	c.stored(h)
	c.signsIn("SignIn by the same Revision again", verified(enter(11)), h.user)
	c.stored(h)
	gone := h.sessions[0]
	h.sessions = h.sessions[1:]
	c.equal("DeleteSession", of(c.DeleteSession(c.ctx, gone.SessionToken)), gone)
	c.signsIn("SignIn by a Revision from before DeleteSession", verified(enter(12)), h.user)
	c.noSession("GetSessionAndUser after SignIn by a Revision from before DeleteSession", gone.SessionToken)
	c.stored(h)
	in := enter(13)
	in.Credential = &core.Authenticator{CredentialID: h.keys[0].CredentialID, Counter: h.keys[0].Counter + 1}
	h.keys[0].Counter += 2
	c.equal("UpdateAuthenticatorCounter", of(c.UpdateAuthenticatorCounter(c.ctx, h.keys[0].CredentialID, h.keys[0].Counter)), h.keys[0])
	_, _, err := c.SignIn(c.ctx, in)
	c.conflict("SignIn by a Revision from before UpdateAuthenticatorCounter", err)
	c.stored(h)
	c.delete(h.user.ID)
	late := enter(14)
	_, _, err = c.SignIn(c.ctx, late)
	c.fails("SignIn by a Revision from before DeleteUser", err)
	c.missing(h)
	c.noSession("GetSessionAndUser after SignIn by a Revision from before DeleteUser", late.Session.SessionToken)
	c.addUsers(core.User{ID: h.user.ID}) // what was merely hidden would be back
	c.noSession("GetSessionAndUser after SignIn by a Revision from before DeleteUser", late.Session.SessionToken)
}

func signInRace(c *check) {
	for round := range rounds {
		email := fmt.Sprintf("shared-%d@example.com", round)
		all := make([]household, c.crowd)
		errs := make([]error, c.crowd)
		for i := range all {
			all[i] = family(round*c.crowd + i)
			all[i].user.Email = email
		}
		c.together(c.crowd, func(i int) { _, _, errs[i] = c.SignUp(c.ctx, all[i].signUp()) })
		winner := c.onlyWinner("SignUp with one address", errs)
		c.stored(all[winner])
		for i, h := range all {
			if h.user.Email = person(round*c.crowd + i).Email; i != winner {
				c.missing(h)
			}
		}
	}
}

// Somebody signs in at many places at once, and each of them counts.
func signInTogether(c *check) {
	h := family(1)
	c.signsUp(h)
	seen := c.find(core.UserQuery{Email: h.user.Email}).Revision
	places := c.crowd / 2 // an adapter may bound how many sessions a user has
	for i := range places {
		h.sessions, h.accounts = append(h.sessions, sessionOf(h.user, 10+i)), append(h.accounts, githubAccount(h.user, fmt.Sprint(i)))
	}
	c.together(places, func(i int) {
		_, _, err := c.SignIn(c.ctx, core.SignIn{User: core.User{ID: h.user.ID}, Account: &h.accounts[1+i], Session: &h.sessions[1+i], Revision: seen})
		c.done("SignIn at many places at once", err)
	})
	c.stored(h)
	c.delete(h.user.ID)
	c.missing(h)
}

func signInDeletion(c *check) {
	for round := range rounds {
		h := family(round)
		c.signsUp(h)
		seen := c.find(core.UserQuery{Email: h.user.Email}).Revision
		for i := range c.crowd {
			n := round*c.crowd + i
			h.sessions, h.accounts = append(h.sessions, sessionOf(h.user, 1000+n)), append(h.accounts, githubAccount(h.user, fmt.Sprint(n)))
		}
		c.together(c.crowd, func(i int) {
			if i == c.crowd/2 {
				c.delete(h.user.ID)
				return
			}
			in := core.SignIn{User: core.User{ID: h.user.ID, Name: "renamed"}, Account: &h.accounts[1+i], Session: &h.sessions[1+i], Revision: seen}
			_, _, _ = c.SignIn(c.ctx, in) // done, or an error: the user is gone
		})
		c.missing(h)
		c.addUsers(h.user) // what was merely hidden would be back
		for _, s := range h.sessions {
			c.noSession("GetSessionAndUser after DeleteUser beside SignIn", s.SessionToken)
		}
		for _, a := range h.accounts {
			c.hasNot(a.Provider, a.ProviderAccountID)
		}
	}
}

func signInSharing(c *check) {
	want, given := somebody(), somebody()
	a, key, s := fullAccount(want), passkey(want, "QUFB"), sessionOf(want, 1)
	h := household{want, []core.Account{fullAccount(want)}, []core.Authenticator{key}, []core.AdapterSession{s}}
	user, session, err := c.SignUp(c.ctx, core.SignUp{User: given, Account: &a, Authenticator: &key, Session: &s})
	c.equal("SignUp", of(user, err), want)
	scribbleAll := func(user *core.User, a *core.Account, key *core.Authenticator, sessions ...*core.AdapterSession) {
		scribbleUser(user)
		scribble(a.Extra)
		*a, *key = core.Account{}, core.Authenticator{}
		for _, s := range sessions {
			*s = core.AdapterSession{}
		}
		c.stored(h)
	}
	c.unchanged("SignUp", h, core.SignIn{Account: &a, Authenticator: &key, Session: &s})
	scribble(given.Extra)
	scribbleAll(user, &a, &key, &s, session)
	q := core.UserQuery{Provider: h.accounts[0].Provider, ProviderAccountID: h.accounts[0].ProviderAccountID, CredentialID: h.keys[0].CredentialID}
	found := c.find(q)
	c.equal("FindUser", of(found.User, nil), want)
	scribbleAll(found.User, found.Account, found.Authenticator)
	key, s = passkey(want, "QkJC"), sessionOf(want, 2)
	linked := fullAccount(want)
	h.keys, h.sessions = append(h.keys, key), append(h.sessions, s)
	h.keys[0].Counter = 1
	signed := core.Authenticator{CredentialID: h.keys[0].CredentialID, Counter: 1}
	in := core.SignIn{
		User: core.User{ID: want.ID, Extra: extra()}, Account: &linked, Authenticator: &key, Session: &s,
		Credential: &signed, Revision: found.Revision,
	}
	user, session, err = c.SignIn(c.ctx, in)
	c.equal("SignIn", of(user, err), want)
	c.unchanged("SignIn", h, in)
	c.equal("SignIn, in the credential it was given,", of(&signed, nil), core.Authenticator{CredentialID: h.keys[0].CredentialID, Counter: 1})
	signed = core.Authenticator{}
	scribbleAll(user, &linked, &key, &s, session)
}

// unchanged demands that a call has left what it was given, the last of a household, as it was.
func (c *check) unchanged(call string, h household, given core.SignIn) {
	c.equal(call+", in the account it was given,", of(given.Account, nil), h.accounts[len(h.accounts)-1])
	c.equal(call+", in the authenticator it was given,", of(given.Authenticator, nil), h.keys[len(h.keys)-1])
	c.equal(call+", in the session it was given,", of(given.Session, nil), h.sessions[len(h.sessions)-1])
}

func contextSignIn(c *check) {
	h, ctx := family(1), c.ended()
	_, _, err := c.SignUp(ctx, h.signUp())
	c.fails("SignUp", err)
	c.missing(h)
	c.signsUp(h)
	_, err = c.FindUser(ctx, core.UserQuery{Email: h.user.Email})
	c.fails("FindUser", err)
	s := sessionOf(h.user, 2)
	_, _, err = c.SignIn(ctx, core.SignIn{User: core.User{ID: h.user.ID, Name: "renamed"}, Session: &s, EndedSession: h.sessions[0].SessionToken})
	c.fails("SignIn", err)
	c.noSession("GetSessionAndUser after SignIn failed", s.SessionToken)
	c.stored(h)
}
