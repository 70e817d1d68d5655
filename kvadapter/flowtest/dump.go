package flowtest

import (
	"encoding/base64"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// everything has people do all that leaves something in the store.
func (w *world) everything() {
	w.due().session() // a refresh
	signedOut := w.browser()
	signedOut.mustEnter(mail, ada, "a link that is used")
	signedOut.session()
	signedOut.post(base+"/signout", nil)
	if w.browser().askLink(ada) == "" {
		w.failf("no link was sent")
	}
	linking := w.browser()
	linking.mustEnter(hub, bob, "OAuth")
	linking.mustEnter(spoke, bob, "linking")
	linking.session()
}

// dumped tries whatever is in the store, or the cache, as whatever a browser may send.
func dumped(c *check) {
	w := c.world()
	w.everything()
	found := candidates{}
	for key, value := range w.probe.stored() {
		found.take(strings.TrimPrefix(key, w.prefix), 0)
		found.take(value, 0)
	}
	for key, value := range w.copies {
		found.take(strings.TrimPrefix(key, w.prefix), 0)
		found.take(string(value), 0)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(found)), func(text string) bool { return strings.HasPrefix(text, "access-") }) {
		c.failf("the store has no provider's tokens, which people's apps need: %d texts", len(found))
	}
	jwt := w.site(func(c *core.Config) { c.Session.Strategy = core.StrategyJWT })
	for _, text := range slices.Sorted(maps.Keys(found)) {
		for _, handler := range []http.Handler{w.auth, jwt} {
			if s := w.browserOf(handler).with(url.QueryEscape(text)).session(); s != nil {
				c.failf("%q from the store is a session cookie: %+v", text, s)
			}
		}
		for _, who := range []person{ada, bob} {
			b := w.browser()
			if b.get(base + "/callback/email?" + url.Values{"token": {text}, "email": {who.address}}.Encode()); b.has() {
				c.failf("%q from the store is the token of a link", text)
			}
		}
	}
	c.logf("%d texts", len(found))
}

// candidates are the texts in a dump, and what can be decoded of them.
type candidates map[string]bool

// word is what may be a secret: shorter texts are guessed, not found.
var word = regexp.MustCompile(`[0-9A-Za-z_+/=|.:@-]{6,}`)

// take adds the words of a text, their parts and what they encode.
func (c candidates) take(text string, depth int) {
	for _, whole := range word.FindAllString(text, -1) {
		for _, part := range append(strings.FieldsFunc(whole, func(r rune) bool { return strings.ContainsRune(".:/|", r) }), whole) {
			c[part] = true
			for _, decode := range []func(string) ([]byte, error){base64.RawURLEncoding.DecodeString, base64.RawStdEncoding.DecodeString, hex.DecodeString} {
				raw, err := decode(strings.TrimRight(part, "="))
				if err != nil || depth > 3 {
					continue
				}
				c.take(string(raw), depth+1)
				c[hex.EncodeToString(raw)] = true // as the handler writes hashes
			}
		}
	}
}
