package adaptertest

import "github.com/edgeauth/edgeauth/core"

// list gives all users, by ID.
func (c *check) list() map[string]core.User {
	all, cursors := map[string]core.User{}, map[string]bool{}
	for cursor := ""; ; {
		page, next, err := c.Users(c.ctx, cursor)
		c.done("Users", err)
		for _, user := range page {
			if _, twice := all[user.ID]; twice {
				c.failf("Users gave %.60q twice", user.ID)
			}
			all[user.ID] = user
		}
		if next == "" {
			return all
		}
		if cursors[next] {
			c.failf("Users gave the cursor %.60q twice", next)
		}
		cursors[next], cursor = true, next
	}
}

// lists demands that these are all users there are.
func (c *check) lists(want ...core.User) {
	all := c.list()
	for _, user := range want {
		got, ok := all[user.ID]
		if !ok {
			c.failf("Users did not give %.60q", user.ID)
		}
		c.equal("Users", of(&got, nil), user)
	}
	if len(all) != len(want) {
		c.failf("Users gave %d users, want %d", len(all), len(want))
	}
}

func listingPages(c *check) {
	c.lists()
	ada := somebody()
	ada.ID = person(0).ID
	c.addUsers(ada)
	c.lists(ada)
	all := []core.User{ada}
	for i := range 1234 { // more than a page of any store
		all = append(all, person(i+1))
		c.addUsers(all[i+1])
	}
	c.addAccounts(githubAccount(ada, "1"))
	c.addAuthenticators(passkey(ada, "QUFB"))
	c.addSessions(sessionOf(ada, 1))
	c.lists(all...)
	all[1].Name = "renamed"
	c.equal("UpdateUser", of(c.UpdateUser(c.ctx, core.User{ID: all[1].ID, Name: "renamed"})), all[1])
	c.delete(all[1234].ID)
	c.lists(all[:1234]...)
	_, _, err := c.Users(c.ended(), "")
	c.fails("Users, of a context that has ended,", err)
}
