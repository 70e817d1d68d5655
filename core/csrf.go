package core

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
)

// checkCSRF reads or makes the CSRF token. The cookie is "token|hash", the hash binding the
// token to the secrets; a POST is verified if its body repeats the token (facts 17 to 20).
func (x *exchange) checkCSRF() {
	if x.config.SkipCSRFCheck {
		x.csrfVerified = true
		return
	}
	if value, ok := x.jar.Get(x.cookies.csrf.name); ok {
		token, rest, _ := strings.Cut(value, "|")
		hash, _, _ := strings.Cut(rest, "|") // a third part is ignored (fact 18)
		if want := x.csrfHash(token); subtle.ConstantTimeCompare([]byte(hash), want[:]) == 1 {
			x.csrfToken = token
			x.csrfVerified = x.r.Method == http.MethodPost && sameText(x.bodyText("csrfToken"), x.csrfToken)
			return
		}
	}
	x.csrfToken = randomHex(32)
	hash := x.csrfHash(x.csrfToken)
	x.set = append(x.set, x.cookies.csrf.with(x.csrfToken+"|"+string(hash[:])))
}

// csrfHash binds a token to the secrets, as hexadecimal text.
func (x *exchange) csrfHash(token string) (out [2 * sha256.Size]byte) {
	var few [256]byte
	sum := sha256.Sum256(append(append(few[:0], token...), x.secretText...))
	hex.Encode(out[:], sum[:])
	return out
}

func (x *exchange) requireCSRF() error {
	if x.csrfVerified || x.config.CSRF == CSRFOrigin && x.isSameOrigin() {
		return nil
	}
	return fail(ErrMissingCSRF, "the body's csrfToken is missing or not the cookie's", nil)
}

// isSameOrigin reports whether a browser says that the request comes from this site. A
// request without such a word, which net/http would let pass as no browser's, is not one,
// and an Origin must be the site's to the letter: net/http compares hosts only.
func (x *exchange) isSameOrigin() bool {
	site, origin := x.r.Header.Get("Sec-Fetch-Site"), x.r.Header.Get("Origin")
	if site == "" && origin == "" || origin != "" && origin != x.origin {
		return false
	}
	public := *x.r
	public.Host = x.host() // of the public origin, which a proxy may have replaced
	return http.NewCrossOriginProtection().Check(&public) == nil
}

// csrf answers GET csrf.
func (x *exchange) csrf() (reply, error) {
	if x.config.SkipCSRFCheck {
		x.set = append(x.set, x.cookies.csrf.cleared())
		return reply{status: http.StatusNotFound}, nil
	}
	body := append(appendText([]byte(`{"csrfToken":`), x.csrfToken), '}')
	return reply{mime: typeJSON, body: body, noStore: true}, nil
}

// hashHex is SHA-256 as hexadecimal text.
func hashHex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// randomHex is n random bytes as hexadecimal text. It can't fail: crypto/rand ends the
// program when the system has no randomness.
func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// randomUUID is a version 4 UUID (RFC 9562, section 5.4).
func randomUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return uuid(b)
}

func uuid(b [16]byte) string {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var out [36]byte
	hex.Encode(out[:8], b[:4])
	hex.Encode(out[9:13], b[4:6])
	hex.Encode(out[14:18], b[6:8])
	hex.Encode(out[19:23], b[8:10])
	hex.Encode(out[24:], b[10:])
	out[8], out[13], out[18], out[23] = '-', '-', '-', '-'
	return string(out[:])
}

// sameText compares in a time that tells nothing of the contents.
func sameText(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
