package adaptertest

import "github.com/edgeauth/edgeauth/core"

// What led to the user leads elsewhere, or nowhere, before SignIn comes.
func signInBy(c *check) {
	byAccount := func(h household) core.SignIn {
		return core.SignIn{By: core.UserQuery{Provider: h.accounts[0].Provider, ProviderAccountID: h.accounts[0].ProviderAccountID, Email: h.user.Email}}
	}
	byEmail := func(h household) core.SignIn { return core.SignIn{By: core.UserQuery{Email: h.user.Email}} }
	bySession := func(h household) core.SignIn { return core.SignIn{BySession: h.sessions[0].SessionToken} }
	unlink := func(h household) {
		c.done("UnlinkAccount", c.UnlinkAccount(c.ctx, h.accounts[0].Provider, h.accounts[0].ProviderAccountID))
	}
	for i, one := range []struct {
		name   string
		by     func(household) core.SignIn
		change func(household)
	}{
		{"an account that was unlinked", byAccount, unlink},
		{"an account that another user has by now", byAccount, func(h household) {
			unlink(h)
			heir := core.User{ID: "heir"}
			c.addUsers(heir)
			a := h.accounts[0]
			a.UserID = heir.ID
			c.done("LinkAccount", c.LinkAccount(c.ctx, a))
		}},
		{"an address that the user has no longer", byEmail, func(h household) {
			_, err := c.UpdateUser(c.ctx, core.User{ID: h.user.ID, Email: "moved@example.com"})
			c.done("UpdateUser", err)
		}},
		{"the address of a user who was deleted", byEmail, func(h household) { c.delete(h.user.ID) }},
		{"a session that has ended", bySession, func(h household) {
			_, err := c.DeleteSession(c.ctx, h.sessions[0].SessionToken)
			c.done("DeleteSession", err)
		}},
	} {
		h := family(100 + i)
		c.signsUp(h)
		in := one.by(h)
		in.Revision = c.find(in.By).Revision
		in.User.ID = h.user.ID
		s := sessionOf(h.user, 1000+i)
		in.Session = &s
		one.change(h)
		_, _, err := c.SignIn(c.ctx, in)
		c.conflict("SignIn by "+one.name, err)
		c.noSession("GetSessionAndUser after SignIn by "+one.name, s.SessionToken)
	}
	h := family(200)
	c.signsUp(h)
	for i, in := range []core.SignIn{byAccount(h), byEmail(h), bySession(h)} {
		s := sessionOf(h.user, 2000+i)
		in.User.ID, in.Session = h.user.ID, &s
		h.sessions = append(h.sessions, s)
		c.signsIn("SignIn by what is still the user's", in, h.user)
	}
	c.stored(h)
}
