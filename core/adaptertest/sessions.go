package adaptertest

import (
	"fmt"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// opens demands that a session is stored as it is given, and leads to the user.
func (c *check) opens(user core.User, s core.AdapterSession) {
	session, owner := c.session(s.SessionToken)
	c.equal("GetSessionAndUser", session, s)
	c.equal("GetSessionAndUser", owner, user)
}

func sessionFields(c *check) {
	ada, bob := person(1), person(2)
	ada.Name, ada.EmailVerified = "Ada", tomorrow().Add(-48*time.Hour)
	c.addUsers(ada, bob)
	one, two, other := sessionOf(ada, 1), sessionOf(ada, 2), sessionOf(bob, 3)
	two.Expires = two.Expires.Add(876 * time.Millisecond).UTC()
	for i, s := range []core.AdapterSession{one, two, other} {
		c.equal("CreateSession", of(c.CreateSession(c.ctx, s)), s)
		c.opens([]core.User{ada, ada, bob}[i], s)
	}
	c.opens(ada, one)
}

func sessionUser(c *check) {
	ada := somebody()
	s := sessionOf(ada, 1)
	c.addUsers(ada)
	c.addSessions(s)
	c.opens(ada, s)
	ada.Name, ada.Email = "new name", "new@example.com"
	c.equal("UpdateUser", of(c.UpdateUser(c.ctx, core.User{ID: ada.ID, Name: ada.Name, Email: ada.Email})), ada)
	c.opens(ada, s)
}

func sessionAbsent(c *check) {
	ada := person(1)
	s := sessionOf(ada, 1)
	c.noSession("GetSessionAndUser in an empty store", s.SessionToken)
	c.addUsers(ada)
	c.addSessions(s)
	for _, token := range append(strangers(s.SessionToken), ada.ID, ada.Email) {
		c.noSession(fmt.Sprintf("GetSessionAndUser(%.60q)", token), token)
		change := s
		change.SessionToken = token
		c.absent(fmt.Sprintf("UpdateSession of %.60q", token), of(c.UpdateSession(c.ctx, change)))
		c.noSession(fmt.Sprintf("GetSessionAndUser(%.60q) after UpdateSession", token), token)
		c.absent(fmt.Sprintf("DeleteSession(%.60q)", token), of(c.DeleteSession(c.ctx, token)))
	}
	c.opens(ada, s)
}

// In a key-value store all kinds share one space of keys, and a prefix keeps them apart.
func sessionKinds(c *check) {
	ada := person(1)
	ada.ID, ada.Email = "ada", "mail"
	a, s := githubAccount(ada, "id"), sessionOf(ada, 1)
	s.SessionToken = "token"
	c.addUsers(ada)
	c.addAccounts(a)
	c.addSessions(s)
	keys := []string{"ada", "mail", "id", "github", "token", "github:id", "github/id", "id:github"}
	for _, kind := range []string{"user", "users", "account", "accounts", "session", "sessions", "email", "user-by-email", "by-email", "u", "a", "s", "e"} {
		for _, joint := range []string{":", "/", ".", "-", "_"} {
			for _, key := range keys[:5] {
				keys = append(keys, kind+joint+key)
			}
		}
	}
	for _, key := range keys {
		if key != "ada" {
			c.absent(fmt.Sprintf("GetUser(%q)", key), c.user(key))
		}
		if key != "mail" {
			c.absent(fmt.Sprintf("GetUserByEmail(%q)", key), c.userOf(key))
		}
		if key != "id" {
			c.hasNot("github", key)
		}
		if key != "token" {
			c.noSession(fmt.Sprintf("GetSessionAndUser(%q)", key), key)
		}
	}
}

func sessionUpdate(c *check) {
	ada, bob := person(1), person(2)
	c.addUsers(ada, bob)
	s, other := sessionOf(ada, 1), sessionOf(ada, 2)
	c.addSessions(s, other)
	owner := ada
	for _, change := range []core.AdapterSession{
		{},
		{Expires: s.Expires.Add(72*time.Hour + 4*time.Millisecond)}, // later
		{Expires: s.Expires.Add(-time.Hour)},                        // sooner
		{UserID: bob.ID},
		{UserID: ada.ID, Expires: s.Expires.Add(time.Hour)},
	} {
		if change.UserID != "" {
			s.UserID = change.UserID
			owner = map[string]core.User{ada.ID: ada, bob.ID: bob}[s.UserID]
		}
		if !change.Expires.IsZero() {
			s.Expires = change.Expires
		}
		change.SessionToken = s.SessionToken
		c.equal("UpdateSession", of(c.UpdateSession(c.ctx, change)), s)
		c.opens(owner, s)
	}
	c.opens(ada, other)
}

func sessionRevision(c *check) {
	ada, bob := person(1), person(2)
	c.addUsers(ada, bob)
	s := sessionOf(ada, 1)
	c.addSessions(s)
	read, _, err := c.GetSessionAndUser(c.ctx, s.SessionToken)
	c.equal("GetSessionAndUser", of(read, err), s)
	extend := func() answer {
		s.Expires = s.Expires.Add(time.Hour)
		change := core.AdapterSession{SessionToken: s.SessionToken, Expires: s.Expires, Revision: read.Revision}
		return of(c.UpdateSession(c.ctx, change))
	}
	c.equal("UpdateSession", extend(), s)
	c.equal("UpdateSession by an older Revision", extend(), s)
	c.opens(ada, s)

	ada.Name = "new name"
	c.equal("UpdateUser", of(c.UpdateUser(c.ctx, core.User{ID: ada.ID, Name: ada.Name})), ada)
	c.equal("UpdateSession by a Revision from before UpdateUser", extend(), s)
	c.opens(ada, s)

	s.UserID = bob.ID
	c.equal("UpdateSession", of(c.UpdateSession(c.ctx, core.AdapterSession{SessionToken: s.SessionToken, UserID: bob.ID})), s)
	c.equal("UpdateSession by a Revision from before the session moved", extend(), s)
	c.opens(bob, s)

	_, err = c.DeleteSession(c.ctx, s.SessionToken)
	c.done("DeleteSession", err)
	c.absent("UpdateSession by a Revision from before DeleteSession", extend())
	c.noSession("GetSessionAndUser after UpdateSession by a Revision from before DeleteSession", s.SessionToken)
}

func sessionDelete(c *check) {
	ada := person(1)
	c.addUsers(ada)
	gone, kept := sessionOf(ada, 1), sessionOf(ada, 2)
	c.addSessions(gone, kept)
	c.equal("DeleteSession", of(c.DeleteSession(c.ctx, gone.SessionToken)), gone)
	c.noSession("GetSessionAndUser after DeleteSession", gone.SessionToken)
	c.absent("DeleteSession, again", of(c.DeleteSession(c.ctx, gone.SessionToken)))
	c.opens(ada, kept)
	c.equal("GetUser after DeleteSession", c.user(ada.ID), ada)
}

func sessionGone(c *check) {
	ada := person(1)
	c.addUsers(ada)
	s := sessionOf(ada, 1)
	c.addSessions(s)
	c.equal("DeleteSession", of(c.DeleteSession(c.ctx, s.SessionToken)), s)
	for _, change := range []core.AdapterSession{{Expires: s.Expires.Add(time.Hour)}, {UserID: ada.ID}, s} {
		change.SessionToken = s.SessionToken
		c.absent("UpdateSession of a session that was deleted", of(c.UpdateSession(c.ctx, change)))
		c.noSession("GetSessionAndUser after UpdateSession of a session that was deleted", s.SessionToken)
	}
}

func sessionExpired(c *check) {
	ada := person(1)
	c.addUsers(ada)
	s := sessionOf(ada, 1)
	s.Expires = time.Now().Truncate(time.Millisecond).Add(-time.Hour)
	_, err := c.CreateSession(c.ctx, s)
	c.done("CreateSession", err)
	if session, _ := c.session(s.SessionToken); session.err != nil || session.value != nil {
		c.equal("GetSessionAndUser", session, s)
	}
	_, err = c.DeleteSession(c.ctx, s.SessionToken)
	c.done("DeleteSession", err)
	c.noSession("GetSessionAndUser after DeleteSession", s.SessionToken)
}

// A session is refreshed by many requests, one of its tabs signs out.
func sessionRace(c *check) {
	ada := person(1)
	c.addUsers(ada)
	for round := range rounds {
		s := sessionOf(ada, round)
		c.addSessions(s)
		refreshed := core.AdapterSession{SessionToken: s.SessionToken, Expires: s.Expires.Add(time.Hour)}
		c.together(c.crowd, func(i int) {
			if i == c.crowd/2 {
				_, err := c.DeleteSession(c.ctx, s.SessionToken)
				c.done("DeleteSession while the session is updated", err)
				c.noSession("GetSessionAndUser after DeleteSession while the session is updated", s.SessionToken)
				return
			}
			_, err := c.UpdateSession(c.ctx, refreshed)
			c.done("UpdateSession while the session is deleted", err)
		})
		c.noSession("GetSessionAndUser after DeleteSession and concurrent updates", s.SessionToken)
		c.absent("UpdateSession after DeleteSession", of(c.UpdateSession(c.ctx, refreshed)))
	}
}

func sessionSharing(c *check) {
	ada := somebody()
	want := sessionOf(ada, 1)
	c.addUsers(ada)
	created, err := c.CreateSession(c.ctx, want)
	c.equal("CreateSession", of(created, err), want)
	*created = core.AdapterSession{}
	c.opens(ada, want)
	updated, err := c.UpdateSession(c.ctx, core.AdapterSession{SessionToken: want.SessionToken})
	c.equal("UpdateSession", of(updated, err), want)
	*updated = core.AdapterSession{}
	c.opens(ada, want)
	session, user, err := c.GetSessionAndUser(c.ctx, want.SessionToken)
	c.equal("GetSessionAndUser", of(session, err), want)
	c.equal("GetSessionAndUser", of(user, err), ada)
	*session = core.AdapterSession{}
	scribbleUser(user)
	c.opens(somebody(), want)
}

func contextSessions(c *check) {
	ada, ctx := person(1), c.ended()
	c.addUsers(ada)
	s := sessionOf(ada, 1)
	_, err := c.CreateSession(ctx, s)
	c.fails("CreateSession", err)
	c.noSession("GetSessionAndUser after CreateSession failed", s.SessionToken)
	c.addSessions(s)
	_, _, err = c.GetSessionAndUser(ctx, s.SessionToken)
	c.fails("GetSessionAndUser", err)
	_, err = c.UpdateSession(ctx, core.AdapterSession{SessionToken: s.SessionToken, Expires: s.Expires.Add(time.Hour)})
	c.fails("UpdateSession", err)
	_, err = c.DeleteSession(ctx, s.SessionToken)
	c.fails("DeleteSession", err)
	c.opens(ada, s)
}
