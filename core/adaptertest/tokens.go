package adaptertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

func (c *check) use(identifier, token string) answer {
	return of(c.UseVerificationToken(c.ctx, identifier, token))
}

func tokenUse(c *check) {
	for i, address := range []string{"ada@example.com", "zoë+tag@exämple.com", "a:b/c|d..e%@example.com"} {
		t := invitation(address, i)
		c.absent("UseVerificationToken before there is one", c.use(t.Identifier, t.Token))
		c.addTokens(t)
		c.equal("UseVerificationToken", c.use(t.Identifier, t.Token), t)
		c.absent("UseVerificationToken, again", c.use(t.Identifier, t.Token))
		c.absent("UseVerificationToken, again", c.use(t.Identifier, t.Token))
	}
}

func tokenMismatch(c *check) {
	t, other := invitation("ada@example.com", 1), invitation("bob@example.com", 2)
	c.addTokens(t, other)
	for _, identifier := range append(strangers(t.Identifier), other.Identifier) {
		c.absent(fmt.Sprintf("UseVerificationToken with the identifier %.60q", identifier), c.use(identifier, t.Token))
	}
	for _, token := range append(strangers(t.Token), other.Token) {
		c.absent(fmt.Sprintf("UseVerificationToken with the token %.60q", token), c.use(t.Identifier, token))
	}
	c.absent("UseVerificationToken with both swapped", c.use(t.Token, t.Identifier))
	for _, joint := range []string{":", "/", "|", ".", " ", ""} {
		c.absent("UseVerificationToken with an empty token", c.use(t.Identifier+joint+t.Token, ""))
		c.absent("UseVerificationToken with an empty identifier", c.use("", t.Identifier+joint+t.Token))
		c.absent("UseVerificationToken with both divided elsewhere", c.use(t.Identifier+joint+t.Token[:8], t.Token[8:]))
	}
	c.equal("UseVerificationToken after it was tried with wrong ones", c.use(t.Identifier, t.Token), t)
	c.equal("UseVerificationToken after it was tried with wrong ones", c.use(other.Identifier, other.Token), other)
}

func tokenSeveral(c *check) {
	one, two, three, other := invitation("ada@example.com", 1), invitation("ada@example.com", 2), invitation("ada@example.com", 3), invitation("bob@example.com", 4)
	two.Expires = two.Expires.Add(time.Hour)
	c.addTokens(one, two, three, other)
	for _, t := range []core.VerificationToken{two, one, other, three} {
		c.equal("UseVerificationToken", c.use(t.Identifier, t.Token), t)
		c.absent("UseVerificationToken, again", c.use(t.Identifier, t.Token))
	}
}

func tokenExpired(c *check) {
	t, valid := invitation("ada@example.com", 1), invitation("ada@example.com", 2)
	t.Expires = time.Now().Truncate(time.Millisecond).Add(-time.Hour)
	c.addTokens(t, valid)
	if got := c.use(t.Identifier, t.Token); got.err != nil || got.value != nil {
		c.equal("UseVerificationToken of one that has expired", got, t)
	}
	c.absent("UseVerificationToken of one that has expired, again", c.use(t.Identifier, t.Token))
	c.equal("UseVerificationToken of one that has not expired", c.use(valid.Identifier, valid.Token), valid)
}

// Some of the crowd, or all but one, have another address: they get nothing and spoil nothing.
func tokenRace(c *check) {
	for round := range rounds {
		t := invitation("ada@example.com", round)
		c.addTokens(t)
		answers := make([]answer, c.crowd)
		wrong := func(i int) bool { return i%10 == 0 }
		if round%2 == 1 {
			wrong = func(i int) bool { return i != c.crowd/2 }
		}
		c.together(c.crowd, func(i int) {
			identifier := t.Identifier
			if wrong(i) {
				identifier = strings.ToUpper(identifier)
			}
			answers[i] = c.use(identifier, t.Token)
		})
		winners := 0
		for i, got := range answers {
			if got.err == nil && got.value == nil {
				continue
			}
			if wrong(i) {
				c.absent("UseVerificationToken with another identifier", got)
			}
			c.equal("UseVerificationToken by many at once", got, t)
			winners++
		}
		if winners != 1 {
			c.failf("UseVerificationToken: %d of %d concurrent callers got the token, want 1", winners, c.crowd)
		}
		c.absent("UseVerificationToken after the race", c.use(t.Identifier, t.Token))
	}
}

func contextTokens(c *check) {
	t, ctx := invitation("ada@example.com", 1), c.ended()
	c.fails("CreateVerificationToken", c.CreateVerificationToken(ctx, t))
	c.absent("UseVerificationToken after CreateVerificationToken failed", c.use(t.Identifier, t.Token))
	c.addTokens(t)
	_, err := c.UseVerificationToken(ctx, t.Identifier, t.Token)
	c.fails("UseVerificationToken", err)
	c.equal("UseVerificationToken after one that failed", c.use(t.Identifier, t.Token), t)
}
