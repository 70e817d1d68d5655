package adaptertest

import (
	"fmt"

	"github.com/edgeauth/edgeauth/core"
)

func (c *check) delete(id string) { c.done("DeleteUser", c.DeleteUser(c.ctx, id)) }

// deleteAndReturn deletes a user and creates one with the same ID. Records that a deletion
// merely hid, because their user was gone, are then there again.
func (c *check) deleteAndReturn(user core.User) {
	c.delete(user.ID)
	c.absent("GetUser after DeleteUser", c.user(user.ID))
	c.addUsers(user)
}

func deletionUser(c *check) {
	ada, bob, heir := somebody(), person(2), person(3)
	c.addUsers(ada)
	c.delete(bob.ID) // unknown
	former := ada.Email
	ada.Email = "new@example.com"
	c.equal("UpdateUser", of(c.UpdateUser(c.ctx, core.User{ID: ada.ID, Email: ada.Email})), ada)
	bob.Email = former
	c.addUsers(bob)
	c.delete(ada.ID)
	c.absent("GetUser after DeleteUser", c.user(ada.ID))
	c.absent("GetUserByEmail after DeleteUser", c.userOf(ada.Email))
	c.equal("GetUserByEmail of another user, whose address the deleted one once had", c.userOf(former), bob)
	_, err := c.UpdateUser(c.ctx, ada)
	c.fails("UpdateUser after DeleteUser", err)
	c.absent("GetUser after DeleteUser and UpdateUser", c.user(ada.ID))
	heir.Email = ada.Email
	c.equal("CreateUser with the address of a deleted user", of(c.CreateUser(c.ctx, heir)), heir)
	c.delete(ada.ID) // again
	c.equal("GetUserByEmail of another user after a second DeleteUser", c.userOf(heir.Email), heir)
}

func deletionAccounts(c *check) {
	ada, bob := person(1), person(2)
	c.addUsers(ada, bob)
	accounts := []core.Account{githubAccount(ada, "1"), githubAccount(ada, "2"), fullAccount(ada), githubAccount(ada, "3")}
	accounts[2].Extra = nil
	c.addAccounts(accounts...)
	c.delete(ada.ID)
	for _, a := range accounts {
		c.hasNot(a.Provider, a.ProviderAccountID)
	}
	c.addUsers(ada)
	for _, a := range accounts {
		c.hasNot(a.Provider, a.ProviderAccountID)
		a.UserID = bob.ID
		c.done("LinkAccount of an account whose user was deleted", c.LinkAccount(c.ctx, a))
		c.has(bob, a)
	}
}

func deletionSessions(c *check) {
	ada, bob := person(1), person(2)
	c.addUsers(ada, bob)
	var sessions []core.AdapterSession
	for i := range 5 {
		sessions = append(sessions, sessionOf(ada, i))
	}
	c.addSessions(sessions...)
	moved := sessions[4]
	moved.UserID = bob.ID
	c.equal("UpdateSession", of(c.UpdateSession(c.ctx, core.AdapterSession{SessionToken: moved.SessionToken, UserID: bob.ID})), moved)
	c.delete(ada.ID)
	for _, s := range sessions[:4] {
		c.noSession("GetSessionAndUser after DeleteUser", s.SessionToken)
	}
	c.addUsers(ada)
	for _, s := range sessions[:4] {
		c.noSession("GetSessionAndUser after DeleteUser", s.SessionToken)
		c.absent("UpdateSession after DeleteUser", of(c.UpdateSession(c.ctx, s)))
		c.absent("DeleteSession after DeleteUser", of(c.DeleteSession(c.ctx, s.SessionToken)))
	}
	c.opens(bob, moved)
	c.deleteAndReturn(bob)
	c.noSession("GetSessionAndUser after DeleteUser", moved.SessionToken)
}

func deletionAuthenticators(c *check) {
	ada, bob := person(1), person(2)
	c.addUsers(ada, bob)
	keys := []core.Authenticator{passkey(ada, "QUFB"), passkey(ada, "QkJC"), passkey(ada, "Q0ND")}
	kept := passkey(bob, "REFE")
	c.addAuthenticators(append(keys, kept)...)
	c.delete(ada.ID)
	c.holds(ada.ID)
	c.addUsers(ada)
	c.holds(ada.ID)
	c.holds(bob.ID, kept)
	for _, a := range keys {
		c.absent("GetAuthenticator after DeleteUser", c.authenticator(a.CredentialID))
		_, err := c.UpdateAuthenticatorCounter(c.ctx, a.CredentialID, 1)
		c.fails("UpdateAuthenticatorCounter after DeleteUser", err)
		a.UserID = bob.ID
		c.equal("CreateAuthenticator of a credential whose user was deleted", of(c.CreateAuthenticator(c.ctx, a)), a)
	}
}

func deletionOthers(c *check) {
	ada, bob, nobody := person(1), person(2), core.User{ID: person(3).ID}
	c.addUsers(ada, bob, nobody)
	a, s := githubAccount(bob, "2"), sessionOf(bob, 2)
	c.addAccounts(githubAccount(ada, "1"), a)
	c.addSessions(sessionOf(ada, 1), s)
	c.delete(ada.ID)
	c.equal("GetUser of another user", c.user(bob.ID), bob)
	c.equal("GetUserByEmail of another user", c.userOf(bob.Email), bob)
	c.equal("GetUser of another user", c.user(nobody.ID), nobody)
	c.has(bob, a)
	c.opens(bob, s)
}

func deletionIDs(c *check) {
	var users []core.User
	for i, id := range []string{"1", "10", "1:1", "1/1", "01", "a", "A", "a%"} {
		user := core.User{ID: id, Email: person(i).Email}
		users = append(users, user)
		c.addUsers(user)
		c.addAccounts(githubAccount(user, fmt.Sprint(i)))
		c.addSessions(sessionOf(user, i))
	}
	c.delete("")
	c.delete("%")
	c.delete("1")
	c.delete("a")
	for i, user := range users {
		if user.ID == "1" || user.ID == "a" {
			c.hasNot("github", fmt.Sprint(i))
			continue
		}
		c.equal("GetUser of another user", c.user(user.ID), user)
		c.has(user, githubAccount(user, fmt.Sprint(i)))
		session, owner := c.session(sessionOf(user, i).SessionToken)
		c.done("GetSessionAndUser of another user", session.err)
		c.equal("GetSessionAndUser of another user", owner, user)
	}
}

func deletionUnlinked(c *check) {
	ada, bob := person(1), person(2)
	c.addUsers(ada, bob)
	c.addAccounts(githubAccount(ada, "1"))
	c.done("UnlinkAccount", c.UnlinkAccount(c.ctx, "github", "1"))
	moved := githubAccount(bob, "1")
	c.addAccounts(moved)
	c.delete(ada.ID)
	c.has(bob, moved)
	c.deleteAndReturn(bob)
	c.hasNot("github", "1")
}

func deletionTokens(c *check) {
	ada, bob := person(1), person(2)
	c.addUsers(ada, bob)
	t := invitation(bob.Email, 2)
	c.addTokens(invitation(ada.Email, 1), t)
	c.delete(ada.ID)
	c.equal("UseVerificationToken of another address after DeleteUser", c.use(t.Identifier, t.Token), t)
}

func deletionRace(c *check) {
	for round := range rounds {
		user := person(round)
		c.addUsers(user)
		renamed := core.User{ID: user.ID, Name: "renamed", Email: fmt.Sprintf("renamed-%d@example.com", round)}
		c.together(c.crowd, func(i int) {
			if i == c.crowd/2 {
				c.delete(user.ID)
				c.absent("GetUser after DeleteUser while the user is updated", c.user(user.ID))
				return
			}
			_, _ = c.UpdateUser(c.ctx, renamed) // done, or an error: the user is gone
		})
		c.absent("GetUser after DeleteUser and concurrent updates", c.user(user.ID))
		for i, email := range []string{user.Email, renamed.Email} {
			c.absent("GetUserByEmail after DeleteUser and concurrent updates", c.userOf(email))
			heir := person(1000 + 2*round + i)
			heir.Email = email
			c.equal("CreateUser with an address of the deleted user", of(c.CreateUser(c.ctx, heir)), heir)
		}
	}
}

func contextDeletion(c *check) {
	ada := person(1)
	c.addUsers(ada)
	c.fails("DeleteUser", c.DeleteUser(c.ended(), ada.ID))
	c.equal("GetUser after DeleteUser failed", c.user(ada.ID), ada)
}
