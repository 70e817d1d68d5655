package adaptertest

import (
	"fmt"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

func (c *check) account(provider, id string) answer { return of(c.GetAccount(c.ctx, id, provider)) }

func (c *check) owner(provider, id string) answer {
	return of(c.GetUserByAccount(c.ctx, provider, id))
}

// has demands that an account is stored as it is given, and is the user's.
func (c *check) has(user core.User, a core.Account) {
	c.equal(fmt.Sprintf("GetAccount of %.60q at %.60q", a.ProviderAccountID, a.Provider), c.account(a.Provider, a.ProviderAccountID), a)
	c.equal(fmt.Sprintf("GetUserByAccount of %.60q at %.60q", a.ProviderAccountID, a.Provider), c.owner(a.Provider, a.ProviderAccountID), user)
}

// hasNot demands that nobody has an account.
func (c *check) hasNot(provider, id string) {
	c.absent(fmt.Sprintf("GetAccount of %.60q at %.60q", id, provider), c.account(provider, id))
	c.absent(fmt.Sprintf("GetUserByAccount of %.60q at %.60q", id, provider), c.owner(provider, id))
}

func accountFields(c *check) {
	ada, bob := somebody(), person(2)
	ada.Extra = nil
	c.addUsers(ada, bob)
	full := fullAccount(ada)
	full.Extra = nil
	accounts := []core.Account{
		full,
		{Provider: "email", ProviderAccountID: ada.Email, Type: core.TypeEmail, UserID: ada.ID},
		{Provider: "passkey", ProviderAccountID: "q83vEg+/AA==", Type: core.TypeWebAuthn, UserID: ada.ID},
		githubAccount(ada, "583231"),
	}
	c.addAccounts(accounts...)
	atOther := githubAccount(bob, "583231") // the ID of ada's account at another provider
	atOther.Provider = "gitlab"
	c.addAccounts(atOther)
	for _, a := range accounts {
		c.has(ada, a)
	}
	c.has(bob, atOther)
}

func accountExtra(c *check) {
	ada := person(1)
	c.addUsers(ada)
	a := fullAccount(ada)
	c.addAccounts(a)
	c.has(ada, a)
}

func accountAbsent(c *check) {
	ada := person(1)
	a := githubAccount(ada, "ID-583231-abc")
	c.hasNot(a.Provider, a.ProviderAccountID)
	c.addUsers(ada)
	c.addAccounts(a)
	for _, stranger := range append(strangers(a.ProviderAccountID), ada.ID) {
		c.hasNot(a.Provider, stranger)
	}
	for _, stranger := range strangers(a.Provider) {
		c.hasNot(stranger, a.ProviderAccountID)
	}
	c.hasNot(a.ProviderAccountID, a.Provider) // the two methods take them in different orders
	c.hasNot("", a.Provider+a.ProviderAccountID)
	c.hasNot(a.Provider+a.ProviderAccountID, "")
	c.has(ada, a)
}

// distinct demands that each pair of provider and ID is an account that a user of its own can have.
func (c *check) distinct(pairs []account) {
	for i, pair := range pairs {
		c.hasNot(pair.provider, pair.id)
		user := person(i)
		c.addUsers(user)
		a := githubAccount(user, pair.id)
		a.Provider = pair.provider
		c.addAccounts(a)
	}
	for i, pair := range pairs {
		user := person(i)
		a := githubAccount(user, pair.id)
		a.Provider = pair.provider
		c.has(user, a)
	}
}

func accountPairs(c *check) {
	pairs := []account{{"ab", "c"}, {"a", "bc"}, {"c", "ab"}}
	for _, joint := range []string{":", "::", "/", "|", ".", "..", ",", ";", "-", "_", "~", "@", " ", "\t", "\n", "%", "%3A", "#", "?", "&", "=", "\\", "\"", "'", "🙂"} {
		pairs = append(pairs, account{"a" + joint + "b", "c"}, account{"a", "b" + joint + "c"})
	}
	sub := strings.Repeat("s", 254) // a subject may have 255 characters (OpenID Connect Core 1.0, section 2)
	for _, id := range []string{
		"1", "01", "1.0", "1e0", "+1", "1 ", " 1", "١", "9007199254740992", "9007199254740993",
		"A", "a", "ａ", "é", "e\u0301", "ß", "ss", ".", "..", "../1", "null", "undefined", "false", "__proto__", "constructor",
		"\ufffd", "%", "*", sub + "1", sub + "2",
	} {
		pairs = append(pairs, account{"github", id})
	}
	pairs = append(pairs, account{"GitHub", "1"}, account{"gitlab", "1"})
	c.distinct(pairs)
	c.hasNot("github", "\xff") // which JSON writes as U+FFFD
}

func accountNUL(c *check) {
	c.distinct([]account{{"a\x00b", "c"}, {"a", "b\x00c"}, {"a", "b"}, {"a", "b\x00"}, {"a", "\x00b"}})
}

func accountConflict(c *check) {
	ada, bob := person(1), person(2)
	c.addUsers(ada, bob)
	a := githubAccount(ada, "1")
	c.addAccounts(a)
	c.conflict("LinkAccount of another user's account", c.LinkAccount(c.ctx, githubAccount(bob, "1")))
	c.has(ada, a)
	b := githubAccount(bob, "2")
	c.addAccounts(b)
	c.has(bob, b)
}

func accountReplace(c *check) {
	ada := person(1)
	c.addUsers(ada)
	old := fullAccount(ada)
	old.Extra = nil
	c.addAccounts(old)
	fresh := core.Account{Provider: old.Provider, ProviderAccountID: old.ProviderAccountID, UserID: ada.ID, Type: core.TypeOAuth, AccessToken: "fresh"}
	c.addAccounts(fresh)
	c.has(ada, fresh)
	c.addAccounts(fresh)
	c.has(ada, fresh)
}

func accountRace(c *check) {
	users := [...]core.User{person(0), person(1)}
	c.addUsers(users[:]...)
	for round := range rounds {
		id := fmt.Sprint(round)
		errs := make([]error, c.crowd)
		c.together(c.crowd, func(i int) {
			errs[i] = c.LinkAccount(c.ctx, githubAccount(users[i%2], id))
		})
		owner := 0
		if errs[0] != nil {
			owner = 1
		}
		for i, err := range errs {
			if i%2 == owner {
				c.done("LinkAccount by the user who has the account", err)
			} else {
				c.conflict("LinkAccount by two users at once", err)
			}
		}
		c.has(users[owner], githubAccount(users[owner], id))
	}
}

func accountUnlink(c *check) {
	ada, bob := person(1), person(2)
	c.addUsers(ada, bob)
	gone, kept, other := githubAccount(ada, "1"), githubAccount(ada, "2"), githubAccount(bob, "1")
	other.Provider = "gitlab"
	c.addAccounts(gone, kept, other)
	for _, unknown := range []account{{"github", "3"}, {"1", "github"}, {"gitlab", "2"}, {"", ""}} {
		c.done("UnlinkAccount of an unknown account", c.UnlinkAccount(c.ctx, unknown.provider, unknown.id))
	}
	c.has(ada, gone)
	c.done("UnlinkAccount", c.UnlinkAccount(c.ctx, "github", "1"))
	c.hasNot("github", "1")
	c.has(ada, kept)
	c.has(bob, other)
	c.equal("GetUser after UnlinkAccount", c.user(ada.ID), ada)
	c.done("UnlinkAccount, again", c.UnlinkAccount(c.ctx, "github", "1"))
	moved := githubAccount(bob, "1")
	c.done("LinkAccount of an account that was unlinked, by another user", c.LinkAccount(c.ctx, moved))
	c.has(bob, moved)
}

func accountSharing(c *check) {
	ada := somebody()
	c.addUsers(ada)
	given, want := fullAccount(ada), fullAccount(ada)
	c.done("LinkAccount", c.LinkAccount(c.ctx, given))
	c.equal("LinkAccount, in the account it was given,", of(&given, nil), want)
	scribble(given.Extra)
	c.equal("GetAccount after the account given to LinkAccount was changed", c.account(want.Provider, want.ProviderAccountID), want)
	got, err := c.GetAccount(c.ctx, want.ProviderAccountID, want.Provider)
	c.equal("GetAccount", of(got, err), want)
	scribble(got.Extra)
	*got = core.Account{AccessToken: "scribbled"}
	c.equal("GetAccount after the account that it gave was changed", c.account(want.Provider, want.ProviderAccountID), want)
	user, err := c.GetUserByAccount(c.ctx, want.Provider, want.ProviderAccountID)
	c.equal("GetUserByAccount", of(user, err), ada)
	scribbleUser(user)
	c.equal("GetUserByAccount after the user that it gave was changed", c.owner(want.Provider, want.ProviderAccountID), somebody())
}

func contextAccounts(c *check) {
	ada, ctx := person(1), c.ended()
	c.addUsers(ada)
	a := githubAccount(ada, "1")
	c.fails("LinkAccount", c.LinkAccount(ctx, a))
	c.hasNot("github", "1")
	c.addAccounts(a)
	_, err := c.GetAccount(ctx, "1", "github")
	c.fails("GetAccount", err)
	_, err = c.GetUserByAccount(ctx, "github", "1")
	c.fails("GetUserByAccount", err)
	c.fails("UnlinkAccount", c.UnlinkAccount(ctx, "github", "1"))
	c.has(ada, a)
}
