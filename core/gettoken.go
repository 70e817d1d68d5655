package core

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/cookie"
	"github.com/edgeauth/edgeauth/core/internal/jwe"
	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

// A TokenReader reads the session tokens of requests, for back ends that serve an app whose
// users sign in elsewhere. It needs the secret and nothing else of the configuration.
type TokenReader struct {
	options TokenOptions
	ring    *jwe.Ring
}

// TokenOptions says where a session token is found and how it is read.
type TokenOptions struct {
	Secret       []string // as Config.Secret; required unless Decode is set
	SecureCookie bool     // the cookie is the one of an https site
	CookieName   string   // empty: the default name
	Salt         string   // empty: the cookie's name

	// Decode is the configuration's JWT.Decode. Nil: tokens as Auth.js encrypts them.
	Decode func(ctx context.Context, p JWTDecodeParams) (JWT, error)
}

// NewTokenReader fills in the defaults. Without a secret, or with an empty one, it gives
// ErrMissingSecret.
func NewTokenReader(o TokenOptions) (*TokenReader, error) {
	if o.CookieName == "" {
		o.CookieName = "authjs.session-token"
		if o.SecureCookie {
			o.CookieName = "__Secure-" + o.CookieName
		}
	}
	o.Salt = or(o.Salt, o.CookieName)
	if o.Decode == nil && (len(o.Secret) == 0 || slices.Contains(o.Secret, "")) {
		return nil, fail(ErrMissingSecret, "TokenOptions.Secret is empty, or has an empty entry: set it to the secrets of the site that signs in", nil)
	}
	return &TokenReader{options: o, ring: jwe.NewRing(o.Secret, o.Salt)}, nil
}

// GetToken gives the content of a request's session token: that of the session cookie, whole
// or in chunks, else of the header "Authorization: Bearer". Nil without an error means that
// there is none; a token that can't be read or has expired is ErrJWTSession.
func (t *TokenReader) GetToken(r *http.Request) (JWT, error) {
	token, err := t.Raw(r)
	if token == "" || err != nil {
		return nil, err
	}
	claims, err := t.decode(r.Context(), token)
	if err != nil {
		return nil, fail(ErrJWTSession, "the session token is not valid", err)
	}
	return claims, nil
}

// Raw gives the session token itself, unread; "" without one.
func (t *TokenReader) Raw(r *http.Request) (string, error) {
	jar := cookie.Parse(strings.Join(r.Header["Cookie"], "; "))
	if token := cookie.Chunks(jar, t.options.CookieName); token != "" {
		return token, nil
	}
	scheme, encoded, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme != "Bearer" {
		return "", nil
	}
	encoded, _, _ = strings.Cut(encoded, " ")
	token, ok := weburl.DecodeComponent(encoded)
	if !ok {
		return "", fail(ErrJWTSession, "the bearer token is not percent-encoded text", nil)
	}
	return token, nil
}

func (t *TokenReader) decode(ctx context.Context, token string) (JWT, error) {
	if t.options.Decode != nil {
		claims, err := t.options.Decode(ctx, JWTDecodeParams{Token: token, Salt: t.options.Salt, Secret: t.options.Secret})
		if err == nil && claims == nil {
			err = errors.New("Decode gave no token")
		}
		return claims, err
	}
	return openToken(t.ring, token, time.Now())
}
