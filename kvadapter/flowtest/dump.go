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
	"unicode/utf8"

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

const (
	shortestSecret = 6 // shorter texts are guessed, not found
	deepest        = 5
)

// take adds a text, its parts and what they encode.
func (c candidates) take(text string, depth int) {
	if len(text) < shortestSecret || depth > deepest || c[text] {
		return
	}
	var value any
	if strings.ContainsAny(text[:1], `{["`) && json.Unmarshal([]byte(text), &value) == nil {
		c.leaves(value, depth)
		return
	}
	c[text] = true
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(".:/?&=|,; \t\r\n\x00", r) }) {
		c.take(part, depth+1)
	}
	for _, decode := range []func(string) ([]byte, error){base64.RawURLEncoding.DecodeString, base64.RawStdEncoding.DecodeString, hex.DecodeString} {
		raw, err := decode(strings.TrimRight(text, "="))
		if err != nil || len(raw) < shortestSecret {
			continue
		}
		if utf8.Valid(raw) {
			c.take(string(raw), depth+1)
		}
		c[hex.EncodeToString(raw)] = true // as the handler writes hashes
	}
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
	}
}
