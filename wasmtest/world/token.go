package world

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// CookieName is the name of the session cookie of a site, given by any of its URLs, unless the site has chosen another.
func CookieName(site string) string {
	if strings.HasPrefix(site, "https:") {
		return "__Secure-authjs.session-token"
	}
	return "authjs.session-token"
}

// A Token makes somebody signed in at a site whose sessions are tokens (the strategy "jwt"), without the way there.
//
// For the strategy "database" the session is made with the adapter's CreateUser and CreateSession, on the store that the
// program has. The cookie has the name of CookieName and the session token for a value.
type Token struct {
	Secret  string    // of the site; of several any one. Required
	Person  Person    // who is signed in
	Expires time.Time // zero: in 30 days, by the clock of this process

	// CookieName is the name of the site's session cookie, on which the token's key depends. Empty: what the function of
	// that name says.
	CookieName string
}

const (
	sessionAge = 30 * 24 * time.Hour
	chunkBytes = 3936 // of a token, in one cookie
)

// Cookies are the site's session cookie, or the several over which a long token is spread. site is any of its URLs.
func (t Token) Cookies(site string) ([]*http.Cookie, error) {
	name := t.CookieName
	if name == "" {
		name = CookieName(site)
	}
	token, err := t.seal(name)
	if err != nil {
		return nil, err
	}
	cookie := func(name, value string) *http.Cookie {
		return &http.Cookie{Name: name, Value: value, Path: "/", Secure: strings.HasPrefix(site, "https:"), HttpOnly: true, SameSite: http.SameSiteLaxMode}
	}
	if len(token) <= chunkBytes {
		return []*http.Cookie{cookie(name, token)}, nil
	}
	var chunks []*http.Cookie
	for i := 0; token != ""; i++ {
		n := min(len(token), chunkBytes)
		chunks = append(chunks, cookie(name+"."+strconv.Itoa(i), token[:n]))
		token = token[n:]
	}
	return chunks, nil
}

// seal encrypts the token as Auth.js does (next-auth, packages/core/src/jwt.ts), with a library of its own: it shares
// nothing with the code that it tests.
func (t Token) seal(name string) (string, error) {
	if t.Secret == "" {
		return "", errors.New("world: Token.Secret is empty: set it to the secret of the site")
	}
	expires := t.Expires
	if expires.IsZero() {
		expires = time.Now().Add(sessionAge)
	}
	claims := t.Person.claims()
	for name, value := range map[string]any{"iat": time.Now().Unix(), "exp": expires.Unix(), "jti": rand.Text()} {
		if _, ok := claims[name]; !ok {
			claims[name] = value
		}
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	key, err := hkdf.Key(sha256.New, []byte(t.Secret), []byte(name), "Auth.js Generated Encryption Key ("+name+")", 64)
	if err != nil {
		return "", err
	}
	thumbprint := sha512.Sum512([]byte(`{"k":"` + base64url(key) + `","kty":"oct"}`)) // RFC 7638
	recipient := jose.Recipient{Algorithm: jose.DIRECT, Key: key, KeyID: base64url(thumbprint[:])}
	encrypter, err := jose.NewEncrypter(jose.A256CBC_HS512, recipient, nil)
	if err != nil {
		return "", err
	}
	sealed, err := encrypter.Encrypt(payload)
	if err != nil {
		return "", err
	}
	return sealed.CompactSerialize()
}
