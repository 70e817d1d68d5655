package adaptertest

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/edgeauth/edgeauth/core"
)

func (c *check) authenticator(id string) answer { return of(c.GetAuthenticator(c.ctx, id)) }

// holds demands that a user has these authenticators, each as it is given, and no others.
func (c *check) holds(userID string, want ...core.Authenticator) {
	list, err := c.ListAuthenticatorsByUserID(c.ctx, userID)
	c.done("ListAuthenticatorsByUserID", err)
	if len(list) != len(want) {
		c.failf("ListAuthenticatorsByUserID gave %d authenticators, want %d", len(list), len(want))
	}
	listed := map[string]*core.Authenticator{}
	for i := range list {
		listed[list[i].CredentialID] = &list[i]
	}
	for _, a := range want {
		c.equal("ListAuthenticatorsByUserID", of(listed[a.CredentialID], nil), a)
		c.equal("GetAuthenticator", c.authenticator(a.CredentialID), a)
	}
}

func authenticatorFields(c *check) {
	ada := person(1)
	c.addUsers(ada)
	bare := core.Authenticator{CredentialID: "AAECAwQF", UserID: ada.ID}
	full := core.Authenticator{
		CredentialID: "+/+/q83vEg==", UserID: ada.ID, ProviderAccountID: "another ID", CredentialPublicKey: "pQEC/+A=" + long,
		Counter: math.MaxUint32, CredentialDeviceType: "multiDevice", CredentialBackedUp: true, Transports: "usb,nfc,ble,hybrid,internal",
	}
	for _, a := range []core.Authenticator{bare, full} {
		c.equal("CreateAuthenticator", of(c.CreateAuthenticator(c.ctx, a)), a)
		c.equal("GetAuthenticator", c.authenticator(a.CredentialID), a)
	}
	c.holds(ada.ID, bare, full)
}

func authenticatorAbsent(c *check) {
	ada, bob := person(1), person(2)
	a := passkey(ada, "q83vEg+/AA==")
	c.absent("GetAuthenticator in an empty store", c.authenticator(a.CredentialID))
	c.addUsers(ada, bob)
	c.addAuthenticators(a)
	for _, id := range append(strangers(a.CredentialID), ada.ID) {
		c.absent(fmt.Sprintf("GetAuthenticator(%.60q)", id), c.authenticator(id))
	}
	c.holds(bob.ID)
	for _, id := range append(strangers(ada.ID), a.CredentialID) {
		c.holds(id)
	}
	c.holds(ada.ID, a)
}

func authenticatorIDs(c *check) {
	ada := person(1)
	c.addUsers(ada)
	longest := strings.Repeat("A", 1360) // 1,023 bytes (Web Authentication, level 3, section 4)
	var all []core.Authenticator
	for _, id := range []string{"QUJD", "qujd", "QUJDRA==", "QUJDRA", "QU/D", "QU+D", "QU-D", "QU_D", "0", "00", longest + "AAAB", longest + "AAAC"} {
		c.absent(fmt.Sprintf("GetAuthenticator(%.60q) before there is this credential", id), c.authenticator(id))
		all = append(all, passkey(ada, id))
		c.addAuthenticators(all[len(all)-1])
	}
	c.holds(ada.ID, all...)
}

func authenticatorList(c *check) {
	ada, bob := person(1), person(2)
	c.addUsers(ada, bob)
	one, two, other := passkey(ada, "QUFB"), passkey(ada, "QkJC"), passkey(bob, "Q0ND")
	c.addAuthenticators(one, other, two)
	c.holds(ada.ID, one, two)
	c.holds(bob.ID, other)
	two.Counter = 7
	c.equal("UpdateAuthenticatorCounter", of(c.UpdateAuthenticatorCounter(c.ctx, two.CredentialID, 7)), two)
	c.holds(ada.ID, one, two)
}

func authenticatorConflict(c *check) {
	ada, bob := person(1), person(2)
	c.addUsers(ada, bob)
	a := passkey(ada, "QUFB")
	a.Counter = 5
	c.addAuthenticators(a)
	for _, user := range []core.User{bob, ada} {
		again := passkey(user, "QUFB")
		again.CredentialPublicKey = "changed"
		_, err := c.CreateAuthenticator(c.ctx, again)
		c.conflict("CreateAuthenticator of a stored credential", err)
		c.holds(ada.ID, a)
		c.holds(bob.ID)
	}
}

func authenticatorRace(c *check) {
	users := [...]core.User{person(0), person(1)}
	c.addUsers(users[:]...)
	want := [2][]core.Authenticator{}
	for round := range rounds {
		id := fmt.Sprintf("QUFB%04d", round)
		errs := make([]error, c.crowd)
		c.together(c.crowd, func(i int) {
			_, errs[i] = c.CreateAuthenticator(c.ctx, passkey(users[i%2], id))
		})
		owner := c.onlyWinner("CreateAuthenticator of one credential", errs) % 2
		want[owner] = append(want[owner], passkey(users[owner], id))
	}
	c.holds(users[0].ID, want[0]...)
	c.holds(users[1].ID, want[1]...)
}

func authenticatorCounter(c *check) {
	ada := person(1)
	c.addUsers(ada)
	a, other := passkey(ada, "QUFB"), passkey(ada, "QkJC")
	c.addAuthenticators(a, other)
	for _, step := range []struct {
		counter  uint32
		accepted bool
	}{
		{0, true}, {0, true}, // an authenticator that doesn't count
		{1, true}, {1, false}, {0, false}, {5, true}, {4, false}, {5, false}, {6, true},
		{math.MaxInt32, true}, {math.MaxInt32 + 1, true}, {math.MaxUint32, true}, {math.MaxUint32, false}, {1, false}, {0, false},
	} {
		got, err := c.UpdateAuthenticatorCounter(c.ctx, a.CredentialID, step.counter)
		call := fmt.Sprintf("UpdateAuthenticatorCounter from %d to %d", a.Counter, step.counter)
		if step.accepted {
			a.Counter = step.counter
			c.equal(call, of(got, err), a)
		} else {
			c.conflict(call, err)
		}
		c.holds(ada.ID, a, other)
	}
}

func authenticatorCounterUnknown(c *check) {
	ada := person(1)
	c.addUsers(ada)
	for _, counter := range []uint32{0, 1} {
		_, err := c.UpdateAuthenticatorCounter(c.ctx, "QUFB", counter)
		c.fails("UpdateAuthenticatorCounter of an unknown credential", err)
		c.absent("GetAuthenticator of an unknown credential", c.authenticator("QUFB"))
	}
	c.addAuthenticators(passkey(ada, "QUFB"))
}

func authenticatorCounterRace(c *check) {
	ada := person(1)
	c.addUsers(ada)
	a := passkey(ada, "QUFB")
	c.addAuthenticators(a)
	for round := range rounds {
		errs := make([]error, c.crowd)
		a.Counter = uint32(round + 1)
		c.together(c.crowd, func(i int) {
			_, errs[i] = c.UpdateAuthenticatorCounter(c.ctx, a.CredentialID, a.Counter)
		})
		c.onlyWinner("UpdateAuthenticatorCounter to one counter", errs)
		c.holds(ada.ID, a)
	}
	// Different counters: each call notes when it began and ended on a clock that all share.
	type use struct {
		began, ended int64
		counter      uint32
		err          error
	}
	var clock atomic.Int64
	uses := make([]use, c.crowd)
	c.together(c.crowd, func(i int) {
		u := use{counter: a.Counter + 1 + uint32(i*37%c.crowd), began: clock.Add(1)} // 37 and the crowd share no divisor
		_, u.err = c.UpdateAuthenticatorCounter(c.ctx, a.CredentialID, u.counter)
		u.ended = clock.Add(1)
		uses[i] = u
	})
	highest := a.Counter + uint32(c.crowd)
	for _, u := range uses {
		switch {
		case u.err != nil && u.counter == highest:
			c.done("UpdateAuthenticatorCounter to the highest counter", u.err)
		case u.err != nil:
			c.conflict("UpdateAuthenticatorCounter", u.err)
		}
		for _, earlier := range uses {
			if u.err == nil && earlier.err == nil && earlier.ended < u.began && earlier.counter >= u.counter {
				c.failf("UpdateAuthenticatorCounter accepted %d after %d", u.counter, earlier.counter)
			}
		}
	}
	a.Counter = highest
	c.holds(ada.ID, a)
}

func authenticatorSharing(c *check) {
	ada := person(1)
	c.addUsers(ada)
	want := passkey(ada, "QUFB")
	created, err := c.CreateAuthenticator(c.ctx, want)
	c.equal("CreateAuthenticator", of(created, err), want)
	*created = core.Authenticator{}
	c.holds(ada.ID, want)
	got, err := c.GetAuthenticator(c.ctx, want.CredentialID)
	c.equal("GetAuthenticator", of(got, err), want)
	*got = core.Authenticator{}
	c.holds(ada.ID, want)
	list, err := c.ListAuthenticatorsByUserID(c.ctx, ada.ID)
	c.done("ListAuthenticatorsByUserID", err)
	clear(list)
	c.holds(ada.ID, want)
	want.Counter = 1
	updated, err := c.UpdateAuthenticatorCounter(c.ctx, want.CredentialID, 1)
	c.equal("UpdateAuthenticatorCounter", of(updated, err), want)
	*updated = core.Authenticator{}
	c.holds(ada.ID, want)
}

func contextAuthenticators(c *check) {
	ada, ctx := person(1), c.ended()
	c.addUsers(ada)
	a := passkey(ada, "QUFB")
	_, err := c.CreateAuthenticator(ctx, a)
	c.fails("CreateAuthenticator", err)
	c.holds(ada.ID)
	c.addAuthenticators(a)
	_, err = c.GetAuthenticator(ctx, a.CredentialID)
	c.fails("GetAuthenticator", err)
	_, err = c.ListAuthenticatorsByUserID(ctx, ada.ID)
	c.fails("ListAuthenticatorsByUserID", err)
	_, err = c.UpdateAuthenticatorCounter(ctx, a.CredentialID, 1)
	c.fails("UpdateAuthenticatorCounter", err)
	c.holds(ada.ID, a)
}
