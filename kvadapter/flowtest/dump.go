package flowtest

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/core"
)

var dora = person{"subject-of-dora", "Dora", "dora@example.com"}

// everything has people do all that leaves something in the stores. asked is a browser that
// asked for a code that nobody has typed in.
func (w *world) everything() (carol person, asked *browser) {
	w.due().session() // a refresh
	signedOut := w.browser()
	signedOut.mustEnter(mail, ada, "a link that is used")
	signedOut.mustEnter(mail, ada, "over a session")
	signedOut.post(base+"/signout", nil)
	if w.browser().askLink(ada) == "" {
		w.failf("no link was sent")
	}
	w.browser().mustEnter(code, ada, "a code that is used")
	asked = w.browser()
	if asked.askCode(ada) == "" {
		w.failf("no code was sent")
	}
	linking := w.browser()
	linking.mustEnter(hub, bob, "OAuth")
	linking.mustEnter(spoke, bob, "linking")
	w.browser().mustEnter(idp, dora, "OpenID Connect")
	if w.browser().start(idp, ada) == "" {
		w.failf("no sign-in was begun")
	}
	carol = person{"subject-of-carol", "Carol", "carol@example.com"}
	s := w.browser().mustEnter(hub, carol, "before the deletion")
	if err := w.adapter.DeleteUser(w.ctx, s.User.ID); err != nil {
		w.failf("DeleteUser: %w", err)
	}
	return carol, asked
}

// dumped tries whatever is in the stores as whatever a browser may send.
func dumped(c *check) {
	w := c.world()
	carol, asked := w.everything()
	found := candidates{}
	providerTokens := 0
	records := w.dump()
	for at, value := range records {
		found.take(strings.TrimPrefix(at.key, w.prefix), 0)
		found.take(string(value), 0)
	}
	for text := range found {
		if strings.HasPrefix(text, "access-") {
			providerTokens++
		}
	}
	if providerTokens == 0 {
		c.failf("the stores have no provider's tokens, which people's apps need: %d texts", len(found))
	}
	f := forger{
		world: w, jwt: w.site(func(c *core.Config) { c.Session.Strategy = core.StrategyJWT }),
		addresses: []string{ada.address, bob.address, carol.address, dora.address},
		asked:     asked.jar, tokens: map[place][]byte{},
	}
	for at, value := range records {
		if strings.HasPrefix(at.key, w.prefix+"token.") {
			f.tokens[at] = value
		}
	}
	w.network.mu.Lock()
	w.network.gullible = map[string]*person{hub: &bob, spoke: &bob, idp: &dora}
	w.network.mu.Unlock()
	for _, text := range slices.Sorted(maps.Keys(found)) {
		f.try(text)
	}
	c.logf("%d texts, %d of them tokens of providers", len(found), providerTokens)
}

// candidates are the texts in a dump, and what can be decoded of them.
type candidates map[string]bool

const (
	shortestSecret = 6 // shorter texts are guessed, not found
	deepest        = 6
)

// take adds a text, its parts and what they encode.
func (c candidates) take(text string, depth int) {
	if len(text) < shortestSecret || depth > deepest || c[text] {
		return
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if strings.ContainsAny(text[:1], `{["`) && decoder.Decode(&value) == nil {
		c.leaves(value, depth)
		return
	}
	c[text] = true
	for _, separator := range ".:/?&=|,; \t\r\n\x00" {
		if parts := strings.Split(text, string(separator)); len(parts) > 1 {
			for _, part := range parts {
				c.take(part, depth+1)
			}
		}
	}
	if plain, err := url.PathUnescape(text); err == nil {
		c.take(plain, depth+1)
	}
	for _, encoding := range []*base64.Encoding{base64.RawURLEncoding, base64.RawStdEncoding} {
		if raw, err := encoding.DecodeString(strings.TrimRight(text, "=")); err == nil {
			c.bytes(raw, depth+1)
		}
	}
	if raw, err := hex.DecodeString(text); err == nil {
		c.bytes(raw, depth+1)
	}
}

// bytes adds what was decoded: as text if it is one, and as the handler writes hashes.
func (c candidates) bytes(raw []byte, depth int) {
	if len(raw) < shortestSecret {
		return
	}
	if utf8.Valid(raw) {
		c.take(string(raw), depth)
	}
	c[hex.EncodeToString(raw)] = true
	c[base64.RawURLEncoding.EncodeToString(raw)] = true
}

func (c candidates) leaves(value any, depth int) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			c.take(name, depth+1)
			c.leaves(member, depth)
		}
	case []any:
		for _, member := range value {
			c.leaves(member, depth)
		}
	case string:
		c.take(value, depth+1)
	case json.Number:
		c.take(value.String(), depth+1)
	}
}

// A forger sends what it has found. The providers take whatever they are sent for somebody's
// who has an account there, so that nothing but the site's own checks is in the way.
type forger struct {
	*world
	jwt       http.Handler
	addresses []string
	asked     map[string]*http.Cookie // of a browser that asked for a code, as anybody can for any address
	tokens    map[place][]byte        // the records of links and codes, put back for each code that is tried
}

func (f forger) try(text string) {
	value := url.QueryEscape(text) // what a cookie can hold; it is decoded
	for _, handler := range []http.Handler{f.auth, f.jwt} {
		b := f.browserOf(handler).with(value)
		if s := b.session(); s != nil {
			f.failf("%q from the stores is a session cookie: %+v", text, s)
		}
	}
	for _, address := range f.addresses {
		b := f.browser()
		if b.get(base + "/callback/email?" + url.Values{"token": {text}, "email": {address}}.Encode()); b.has() {
			f.failf("%q from the stores is the token of a link", text)
		}
	}
	for at, value := range f.tokens {
		if err := at.store.Put(f.ctx, at.key, value, time.Now().Add(time.Hour)); err != nil {
			f.failf("Put: %w", err)
		}
	}
	b := f.browser()
	b.jar = maps.Clone(f.asked)
	if a := b.typeCode(text, nil); b.has() || a.location != toCodeAgain {
		f.failf("%q from the stores, typed as a code: session cookie %v: %d %s", text, b.has(), a.status, a.location)
	}
	token, _, _ := strings.Cut(text, "|")
	for _, cookie := range []string{value, url.QueryEscape(token + "|" + text)} {
		b := f.browser()
		b.set(csrfCookie, cookie)
		if a := b.send(base+"/signin/"+hub, url.Values{"csrfToken": {token}}); strings.HasPrefix(a.location, issuer(hub)) {
			f.failf("%q from the stores is a CSRF cookie", text)
		}
	}
	for _, provider := range []string{hub, spoke, idp} {
		b := f.browser()
		for _, name := range []string{stateCookie, pkceCookie, nonceCookie} {
			b.set(name, value)
		}
		if b.get(base + "/callback/" + provider + "?" + url.Values{"code": {text}, "state": {text}}.Encode()); b.has() {
			f.failf("%q from the stores is the cookie of a sign-in at %s", text, provider)
		}
	}
}

// set puts a cookie into the jar.
func (b *browser) set(name, value string) {
	b.jar[name] = &http.Cookie{Name: name, Value: value}
}
