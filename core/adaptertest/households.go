package adaptertest

import (
	"fmt"

	"github.com/edgeauth/edgeauth/core"
)

// A household is a user and all that belongs to them.
type household struct {
	user     core.User
	accounts []core.Account
	keys     []core.Authenticator
	sessions []core.AdapterSession
}

// family gives a household with all fields, different for each n. Its accounts have no Extra, for
// which there are other cases.
func family(n int) household {
	user := somebody()
	user.ID, user.Extra = person(n).ID, nil
	user.Email = person(n).Email
	a := fullAccount(user)
	a.ProviderAccountID, a.Extra = fmt.Sprint(n), nil
	key := passkey(user, fmt.Sprintf("QUFB%04d", n))
	key.Counter = 5
	return household{user, []core.Account{a}, []core.Authenticator{key}, []core.AdapterSession{sessionOf(user, n)}}
}

// signUp is the household's first sign-in.
func (h *household) signUp() core.SignUp {
	return core.SignUp{User: h.user, Account: &h.accounts[0], Authenticator: &h.keys[0], Session: &h.sessions[0]}
}

// stored demands that a household is there, seen by each of the single methods.
func (c *check) stored(h household) {
	c.equal("GetUser", c.user(h.user.ID), h.user)
	c.equal("GetUserByEmail", c.userOf(h.user.Email), h.user)
	for _, a := range h.accounts {
		c.has(h.user, a)
	}
	c.holds(h.user.ID, h.keys...)
	for _, s := range h.sessions {
		c.opens(h.user, s)
	}
}

// missing demands that nothing of a household is there.
func (c *check) missing(h household) {
	c.absent("GetUser", c.user(h.user.ID))
	c.absent("GetUserByEmail", c.userOf(h.user.Email))
	for _, a := range h.accounts {
		c.hasNot(a.Provider, a.ProviderAccountID)
	}
	c.holds(h.user.ID)
	for _, key := range h.keys {
		c.absent("GetAuthenticator", c.authenticator(key.CredentialID))
	}
	for _, s := range h.sessions {
		c.noSession("GetSessionAndUser", s.SessionToken)
	}
}
