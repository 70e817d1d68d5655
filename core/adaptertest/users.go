package adaptertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// user looks a user up by ID.
func (c *check) user(id string) answer { return of(c.GetUser(c.ctx, id)) }

// userOf looks a user up by address.
func (c *check) userOf(email string) answer { return of(c.GetUserByEmail(c.ctx, email)) }

func userFields(c *check) {
	full := somebody()
	full.Extra = nil // has a case of its own, which a store with fixed columns may skip
	for _, user := range []core.User{full, {ID: person(2).ID}, person(3), {ID: person(4).ID, Name: " "}} {
		c.addUsers(user)
		c.equal("GetUser", c.user(user.ID), user)
		if user.Email != "" {
			c.equal("GetUserByEmail", c.userOf(user.Email), user)
		}
	}
}

func userExtra(c *check) {
	notText := person(2) // an Extra of the same name wins over a field, so both are kept apart
	notText.Extra = map[string]any{"name": nil, "image": json.Number("1"), "email_verified": false}
	for _, user := range []core.User{somebody(), notText, person(3)} {
		c.addUsers(user)
		c.equal("GetUser", c.user(user.ID), user)
		c.equal("GetUserByEmail", c.userOf(user.Email), user)
	}
}

func userTimes(c *check) {
	day := time.Date(2025, 3, 30, 1, 59, 59, 0, time.UTC) // Europe leaves winter time a second later
	for i, offset := range []int{0, 14 * 3600, -12 * 3600, 5*3600 + 45*60} {
		for j, ms := range []int{0, 1, 10, 500, 999} {
			moment := day.Add(time.Duration(ms) * time.Millisecond).In(time.FixedZone("", offset))
			user := person(100*i + j)
			user.EmailVerified = moment
			c.addUsers(user)
			c.equal("GetUser", c.user(user.ID), user)
			user.EmailVerified = moment.Add(24*time.Hour + time.Millisecond)
			c.equal("UpdateUser", of(c.UpdateUser(c.ctx, core.User{ID: user.ID, EmailVerified: user.EmailVerified})), user)
			c.equal("GetUser", c.user(user.ID), user)
		}
	}
}

func userAbsent(c *check) {
	user := person(1)
	c.absent("GetUser in an empty store", c.user(user.ID))
	c.absent("GetUserByEmail in an empty store", c.userOf(user.Email))
	c.addUsers(user)
	for _, id := range append(strangers(user.ID), user.Email) {
		c.absent(fmt.Sprintf("GetUser(%.60q)", id), c.user(id))
	}
	for _, email := range append(strangers(user.Email), user.ID) {
		c.absent(fmt.Sprintf("GetUserByEmail(%.60q)", email), c.userOf(email))
	}
}

func userIDs(c *check) {
	var users []core.User
	for i, id := range []string{"1", "01", "1 ", "ada", "Ada", "adá", "ad_", "ad%", ".", "..", "a:b", "a/b", "a\\b", "null", "🙂", person(1).ID, strings.ToUpper(person(1).ID)} {
		c.absent(fmt.Sprintf("GetUser(%q) before there is this user", id), c.user(id))
		users = append(users, core.User{ID: id, Email: person(i).Email})
		c.addUsers(users[i])
	}
	for _, user := range users {
		c.equal(fmt.Sprintf("GetUser(%q)", user.ID), c.user(user.ID), user)
	}
}

func userAddressExact(c *check) {
	lookalikes := []string{
		"ada.lovelace@example.com",
		"Ada.Lovelace@example.com", "ada.lovelace@Example.com", "ADA.LOVELACE@EXAMPLE.COM",
		"adalovelace@example.com", "ada-lovelace@example.com", "ada.lovelace+news@example.com",
		" ada.lovelace@example.com", "ada.lovelace@example.com ", "ada.lovelace@example.com.",
		"ada_lovelace@example.com", "ada%@example.com", "%", "_", "*@example.com",
		"adá.lovelace@example.com", "ada\u0301.lovelace@example.com", "\u0430da.lovelace@example.com", "ａda.lovelace@example.com",
	}
	for i, email := range lookalikes {
		c.absent(fmt.Sprintf("GetUserByEmail(%q) before there is this user", email), c.userOf(email))
		user := person(i)
		user.Email = email
		c.equal(fmt.Sprintf("CreateUser with %q", email), of(c.CreateUser(c.ctx, user)), user)
	}
	for i, email := range lookalikes {
		user := person(i)
		user.Email = email
		c.equal(fmt.Sprintf("GetUserByEmail(%q)", email), c.userOf(email), user)
	}
}

func userAddressEmpty(c *check) {
	first, second := core.User{ID: person(1).ID}, core.User{ID: person(2).ID}
	c.addUsers(first, second)
	c.absent(`GetUserByEmail("")`, c.userOf(""))
	first.Name = "first"
	c.equal("UpdateUser", of(c.UpdateUser(c.ctx, first)), first)
	c.equal("GetUser", c.user(first.ID), first)
	c.equal("GetUser", c.user(second.ID), second)
	c.absent(`GetUserByEmail("")`, c.userOf(""))
}

func userAddressUnique(c *check) {
	owner, late := person(1), person(2)
	c.addUsers(owner)
	free := late.Email
	late.Email = owner.Email
	_, err := c.CreateUser(c.ctx, late)
	c.conflict("CreateUser with another user's address", err)
	c.absent("GetUser of the user that was refused", c.user(late.ID))
	c.equal("GetUserByEmail", c.userOf(owner.Email), owner)
	c.equal("GetUser", c.user(owner.ID), owner)
	late.Email = free
	c.equal("CreateUser with an address of their own", of(c.CreateUser(c.ctx, late)), late)
	c.equal("GetUserByEmail", c.userOf(late.Email), late)
}

func userAddressRace(c *check) {
	for round := range rounds {
		email := fmt.Sprintf("race-%d@example.com", round)
		users, errs := make([]core.User, c.crowd), make([]error, c.crowd)
		c.together(c.crowd, func(i int) {
			users[i] = person(round*c.crowd + i)
			users[i].Email = email
			_, errs[i] = c.CreateUser(c.ctx, users[i])
		})
		winner := c.onlyWinner("CreateUser with one address", errs)
		c.equal("GetUserByEmail", c.userOf(email), users[winner])
		for i, user := range users {
			if i != winner {
				c.absent("GetUser of a user that was refused", c.user(user.ID))
			}
		}
	}
}

// onlyWinner demands that one call succeeded and all others were ErrConflict.
func (c *check) onlyWinner(call string, errs []error) int {
	winner, winners := -1, 0
	for i, err := range errs {
		if err == nil {
			winner = i
			winners++
		} else {
			c.conflict(call, err)
		}
	}
	if winners != 1 {
		c.failf("%s: %d of %d concurrent calls succeeded, want 1", call, winners, len(errs))
	}
	return winner
}

func userUpdate(c *check) {
	user := somebody()
	c.addUsers(user)
	for _, change := range []core.User{
		{},
		{Name: "new name"},
		{Image: "https://images.example/new"},
		{EmailVerified: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)},
		{Email: "new@example.com"},
		{Email: "new@example.com", Name: "newer name"}, // the address is the user's own already
		{Extra: map[string]any{"replaced": true}},
		{Name: "newest", Email: "newest@example.com", Image: "i", EmailVerified: tomorrow(), Extra: map[string]any{"all": nil}},
	} {
		if change.Name != "" {
			user.Name = change.Name
		}
		if change.Email != "" {
			user.Email = change.Email
		}
		if change.Image != "" {
			user.Image = change.Image
		}
		if !change.EmailVerified.IsZero() {
			user.EmailVerified = change.EmailVerified
		}
		if change.Extra != nil {
			user.Extra = cloneExtra(change.Extra)
		}
		change.ID = user.ID
		c.equal("UpdateUser", of(c.UpdateUser(c.ctx, change)), user)
		c.equal("GetUser after UpdateUser", c.user(user.ID), user)
		c.equal("GetUserByEmail after UpdateUser", c.userOf(user.Email), user)
	}
}

func userUpdateAddress(c *check) {
	mover, heir, late := person(1), person(2), person(3)
	c.addUsers(mover)
	old := mover.Email
	mover.Email = "moved@example.com"
	c.equal("UpdateUser", of(c.UpdateUser(c.ctx, core.User{ID: mover.ID, Email: mover.Email})), mover)
	c.absent("GetUserByEmail of the old address", c.userOf(old))
	c.equal("GetUserByEmail of the new address", c.userOf(mover.Email), mover)
	late.Email = mover.Email
	_, err := c.CreateUser(c.ctx, late)
	c.conflict("CreateUser with the new address", err)
	heir.Email = old
	c.equal("CreateUser with the old address", of(c.CreateUser(c.ctx, heir)), heir)
	mover.Name = "moved" // must not touch an index entry that is somebody else's now
	c.equal("UpdateUser", of(c.UpdateUser(c.ctx, core.User{ID: mover.ID, Name: mover.Name})), mover)
	c.equal("GetUserByEmail of the old address, now another user's", c.userOf(old), heir)
	_, err = c.UpdateUser(c.ctx, core.User{ID: mover.ID, Email: old})
	c.conflict("UpdateUser back to the old address, now another user's", err)
	c.equal("GetUserByEmail of the new address", c.userOf(mover.Email), mover)
	heir.Email = "heir@example.com"
	c.equal("UpdateUser", of(c.UpdateUser(c.ctx, core.User{ID: heir.ID, Email: heir.Email})), heir)
	mover.Email = old
	c.equal("UpdateUser back to the old address, free again", of(c.UpdateUser(c.ctx, core.User{ID: mover.ID, Email: old})), mover)
	c.equal("GetUserByEmail of the old address", c.userOf(old), mover)
	c.absent("GetUserByEmail of the address in between", c.userOf(late.Email))
}

func userUpdateConflict(c *check) {
	owner, other := person(1), person(2)
	c.addUsers(owner, other)
	_, err := c.UpdateUser(c.ctx, core.User{ID: other.ID, Name: "changed", Email: owner.Email, Image: "changed"})
	c.conflict("UpdateUser with another user's address", err)
	c.equal("GetUser of the user that was refused", c.user(other.ID), other)
	c.equal("GetUserByEmail of the user that was refused", c.userOf(other.Email), other)
	c.equal("GetUserByEmail", c.userOf(owner.Email), owner)
}

func userUpdateUnknown(c *check) {
	user := person(1)
	_, err := c.UpdateUser(c.ctx, user)
	c.fails("UpdateUser of an unknown user", err)
	c.absent("GetUser of the unknown user", c.user(user.ID))
	c.absent("GetUserByEmail of the unknown user", c.userOf(user.Email))
	heir := person(2)
	heir.Email = user.Email
	c.equal("CreateUser with the address", of(c.CreateUser(c.ctx, heir)), heir)
}

// In every other round half of the crowd are new.
func userUpdateRace(c *check) {
	known := make([]core.User, c.crowd)
	for i := range known {
		known[i] = person(i)
	}
	c.addUsers(known...)
	for round := range rounds {
		email := fmt.Sprintf("race-%d@example.com", round)
		fresh := func(i int) core.User { return core.User{ID: person((round+1)*c.crowd + i).ID, Email: email} }
		isFresh := func(i int) bool { return round%2 == 1 && i%2 == 1 }
		errs := make([]error, c.crowd)
		c.together(c.crowd, func(i int) {
			if isFresh(i) {
				_, errs[i] = c.CreateUser(c.ctx, fresh(i))
			} else {
				_, errs[i] = c.UpdateUser(c.ctx, core.User{ID: known[i].ID, Email: email})
			}
		})
		winner := c.onlyWinner("UpdateUser and CreateUser with one address", errs)
		if isFresh(winner) {
			c.equal("GetUserByEmail", c.userOf(email), fresh(winner))
		} else {
			c.absent("GetUserByEmail of the winner's old address", c.userOf(known[winner].Email))
			known[winner].Email = email
		}
		for i, user := range known {
			c.equal("GetUserByEmail", c.userOf(user.Email), user)
			if isFresh(i) && i != winner {
				c.absent("GetUser of a user that was refused", c.user(fresh(i).ID))
			}
		}
	}
}

func userSharing(c *check) {
	given, want := somebody(), somebody()
	created, err := c.CreateUser(c.ctx, given)
	c.equal("CreateUser", of(created, err), want)
	c.equal("CreateUser, in the user it was given,", of(&given, nil), want)
	scribble(given.Extra)
	c.equal("GetUser after the user given to CreateUser was changed", c.user(want.ID), want)
	scribbleUser(created)
	c.equal("GetUser after the user that CreateUser gave was changed", c.user(want.ID), want)
	for _, lookUp := range []struct {
		name string
		call func() (*core.User, error)
	}{
		{"GetUser", func() (*core.User, error) { return c.GetUser(c.ctx, want.ID) }},
		{"GetUserByEmail", func() (*core.User, error) { return c.GetUserByEmail(c.ctx, want.Email) }},
		{"UpdateUser", func() (*core.User, error) { return c.UpdateUser(c.ctx, core.User{ID: want.ID}) }},
	} {
		user, err := lookUp.call()
		c.equal(lookUp.name, of(user, err), want)
		scribbleUser(user)
		c.equal("GetUser after the user that "+lookUp.name+" gave was changed", c.user(want.ID), want)
	}
	given = core.User{ID: want.ID, Extra: extra()}
	updated, err := c.UpdateUser(c.ctx, given)
	c.equal("UpdateUser", of(updated, err), want)
	c.equal("UpdateUser, in the user it was given,", of(&given, nil), core.User{ID: want.ID, Extra: want.Extra})
	scribble(given.Extra)
	c.equal("GetUser after the user given to UpdateUser was changed", c.user(want.ID), want)
	scribbleUser(updated)
	c.equal("GetUser after the user that UpdateUser gave was changed", c.user(want.ID), want)
}

func contextUsers(c *check) {
	user, ctx := person(1), c.ended()
	_, err := c.CreateUser(ctx, user)
	c.fails("CreateUser", err)
	c.absent("GetUser after CreateUser failed", c.user(user.ID))
	c.addUsers(user)
	_, err = c.GetUser(ctx, user.ID)
	c.fails("GetUser", err)
	_, err = c.GetUserByEmail(ctx, user.Email)
	c.fails("GetUserByEmail", err)
	_, err = c.UpdateUser(ctx, core.User{ID: user.ID, Email: "changed@example.com"})
	c.fails("UpdateUser", err)
	c.equal("GetUser after UpdateUser failed", c.user(user.ID), user)
	c.absent("GetUserByEmail after UpdateUser failed", c.userOf("changed@example.com"))
}
