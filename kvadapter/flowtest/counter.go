package flowtest

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"

	"github.com/edgeauth/edgeauth/core"
)

// counters is K-23.
func counters(c *check) {
	const n = 100
	for round := range c.options.Rounds {
		w := c.world()
		s := w.browser().mustEnter(mail, ada, "before")
		const credential = "Y3JlZGVudGlhbA"
		if _, err := w.adapter.CreateAuthenticator(c.ctx, core.Authenticator{CredentialID: credential, UserID: s.User.ID}); err != nil {
			c.failf("CreateAuthenticator: %w", err)
		}
		// A tick of this clock is the beginning or the end of a call: of two calls one of which
		// ended before the other began, the order is known.
		var clock atomic.Int64
		type attempt struct {
			began, ended int64
			isAccepted   bool
		}
		attempts := make([]attempt, n+1) // by counter
		order := rand.New(rand.NewPCG(uint64(round), 0)).Perm(n)
		w.race(n, func(i int, scope any) {
			counter := order[i] + 1
			a := &attempts[counter]
			a.began = clock.Add(1)
			_, err := w.adapter.UpdateAuthenticatorCounter(withTurns(c.ctx, scope), credential, uint32(counter))
			a.ended = clock.Add(1)
			if a.isAccepted = err == nil; err != nil && !errors.Is(err, core.ErrConflict) {
				c.failf("UpdateAuthenticatorCounter: %w", err)
			}
		})
		largest := 0
		for i, a := range attempts {
			if !a.isAccepted {
				continue
			}
			largest = i
			for j := range i { // a smaller one that was accepted did not come later
				if b := attempts[j]; b.isAccepted && a.ended < b.began {
					c.failf("round %d: %d was accepted after %d", round, j, i)
				}
			}
		}
		stored, err := w.adapter.GetAuthenticator(c.ctx, credential)
		if err != nil || stored == nil || int(stored.Counter) != largest || largest != n {
			c.failf("round %d: stored %+v, %v; the largest that was accepted is %d of %d", round, stored, err, largest, n)
		}
		for counter := range n + 1 {
			if _, err := w.adapter.UpdateAuthenticatorCounter(c.ctx, credential, uint32(counter)); !errors.Is(err, core.ErrConflict) {
				c.failf("round %d: %d after %d: %v, want a conflict", round, counter, n, err)
			}
		}
	}
}
