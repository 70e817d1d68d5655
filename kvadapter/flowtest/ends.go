package flowtest

import (
	"net/http"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// ends is K-20.
func ends(c *check) {
	var lives []time.Duration
	for seconds := 1; seconds <= 61; seconds++ {
		lives = append(lives, time.Duration(seconds)*time.Second)
	}
	for _, life := range lives {
		l := c.short(life)
		if c.options.Bubble {
			l.sessionEnds([]time.Duration{-time.Millisecond, 0})
			l.linkEnds([]time.Duration{-time.Millisecond, 0})
			l.checkEnds()
		} else {
			l.browser().mustEnter(mail, ada, life.String())
		}
		if least := l.probe.shortest; least < time.Minute {
			c.failf("with a life of %v a value was to be kept for %v", life, least)
		}
	}
	if !c.options.Bubble { // it takes two seconds
		around := []time.Duration{-500 * time.Millisecond, -100 * time.Millisecond, -10 * time.Millisecond, 0, 10 * time.Millisecond}
		tries := []func(){
			func() { c.short(time.Second).sessionEnds(around) },
			func() { c.short(time.Second).linkEnds(around) },
			func() { c.short(2 * time.Second).sessionEnds(around) },
			func() { c.short(2 * time.Second).linkEnds(around) },
		}
		c.crowd(len(tries), func(i int) { tries[i]() })
	}
}

// A shortLived is a world in which everything lives for so long.
type shortLived struct {
	*world
	life time.Duration
}

func (c *check) short(life time.Duration) shortLived {
	w := c.world()
	w.auth = w.site(func(config *core.Config) {
		config.Session.MaxAge, config.Session.UpdateAge = life, life
		email := config.Providers[0].(core.Email)
		email.MaxAge = life
		config.Providers[0] = email
		for _, cookie := range []*core.Cookie{&config.Cookies.State, &config.Cookies.PKCECodeVerifier, &config.Cookies.Nonce} {
			cookie.MaxAge = life
		}
	})
	return shortLived{w, life}
}

// at asks something around a moment, and demands that it is so before and not so from then
// on. An answer during which the moment passed proves nothing.
func (l shortLived) at(what string, end time.Time, offsets []time.Duration, ask func(i int) bool) {
	for i, offset := range offsets {
		l.until(end.Add(offset))
		began := time.Now()
		is := ask(i)
		switch {
		case is && !began.Before(end):
			l.failf("%s of %v works %v after its end", what, l.life, began.Sub(end))
		case !is && time.Now().Before(end):
			l.failf("%s of %v is dead %v before its end", what, l.life, -offset)
		}
	}
}

func (l shortLived) sessionEnds(offsets []time.Duration) {
	b := l.browser()
	end := b.mustEnter(mail, ada, "short").Expires
	if left := time.Until(end); left > l.life || l.options.Bubble && left != l.life {
		l.failf("a session of %v ends in %v", l.life, left)
	}
	token := b.jar[sessionCookie].Value
	var last answer
	l.at("a session", end, offsets, func(int) bool {
		last = b.with(token).get(base + "/session")
		return last.read().is(ada)
	})
	if last.status != http.StatusOK || !last.clears {
		l.failf("a session that has ended: %d, cookie cleared: %v", last.status, last.clears)
	}
}

func (l shortLived) linkEnds(offsets []time.Duration) {
	links := make([]string, len(offsets))
	for i := range links {
		links[i] = l.browser().askLink(ada)
	}
	mails := l.inbox(ada.address)
	mails = mails[len(mails)-len(links):]
	for i := range links { // links[i] first works until just before ends[i]
		end := mails[i].Expires.Truncate(time.Millisecond)
		l.at("a link", end, offsets[i:i+1], func(int) bool {
			b := l.browser()
			a := b.get(links[i])
			if !b.has() && a.location != toVerification {
				l.failf("a link that has ended: %d %s", a.status, a.location)
			}
			return b.has()
		})
	}
}

// checkTolerance is for how long the handler takes check cookies, as the reference does,
// from clients that keep them for longer than they were told to.
const checkTolerance = 15 * time.Second

// checkEnds tries the cookies of sign-ins that take long. They are sealed with times in whole
// seconds, so it begins at one.
func (l shortLived) checkEnds() {
	for _, provider := range []string{hub, spoke, idp} {
		for _, keeps := range []bool{false, true} {
			for _, isLate := range []bool{false, true} {
				l.until(time.Now().Truncate(time.Second).Add(time.Second))
				b := l.browser()
				path := b.start(provider, person{"subject-at-" + provider, "Ada", "ada@" + provider + ".example"})
				wait := l.life
				if keeps {
					wait += checkTolerance
					for _, name := range []string{stateCookie, pkceCookie, nonceCookie} {
						if c := b.jar[name]; c != nil {
							c.Expires = time.Time{}
						}
					}
				}
				if !isLate {
					wait -= time.Millisecond
				}
				l.until(time.Now().Add(wait))
				a := b.get(path)
				if b.has() == isLate || isLate && !strings.HasPrefix(a.location, base+"/error") {
					l.failf("%s's cookies of %v after %v, kept by force: %v: %d %s", provider, l.life, wait, keeps, a.status, a.location)
				}
			}
		}
	}
}
