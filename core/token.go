package core

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
	"github.com/go-jose/go-jose/v4"
)

// requestToken exchanges the code (RFC 6749, section 4.1.3). It is asked once, whatever happens.
func (x *exchange) requestToken(c *oauthClient, s *server, code, verifier string) (*Account, error) {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {x.redirectURI()}}
	if verifier != "" {
		form.Set("code_verifier", verifier)
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded;charset=UTF-8"}, "Accept": {typeJSON}}
	if err := x.authenticate(c, s, header, form); err != nil {
		return nil, fail(ErrCallbackRoute, "the client can't authenticate", err)
	}
	if c.ConformTokenRequest != nil {
		c.ConformTokenRequest(form)
	}
	status, raw, err := x.requestTokenOnce(c, s, header, form)
	if known, ok := err.(*Error); ok {
		return nil, known
	}
	if err != nil {
		if len(c.Token.Params) > 0 {
			err = nil // it may repeat the URL, which can have the client's secret in it
		}
		return nil, fail(ErrCallbackRoute, "the token endpoint can't be reached", err)
	}
	var fields map[string]any
	notJSON := decodeJSON(raw, &fields) != nil || fields == nil
	if status != http.StatusOK {
		reason, _ := fields["error"].(string)
		return nil, fail(ErrCallbackRoute, "the token endpoint answered "+strconv.Itoa(status)+" "+strconv.Quote(clip(reason)), nil)
	}
	if notJSON {
		return nil, fail(ErrCallbackRoute, "the token endpoint's answer is not a JSON object", nil)
	}
	return x.readTokens(fields)
}

// requestTokenOnce sends the request, and lets the provider's ConformToken mend the answer.
func (x *exchange) requestTokenOnce(c *oauthClient, s *server, header http.Header, form url.Values) (int, []byte, error) {
	status, raw, err := x.fetch(http.MethodPost, s.TokenEndpoint, header, form.Encode())
	if err != nil || c.ConformToken == nil {
		return status, raw, err
	}
	return c.ConformToken(x.ctx, status, raw)
}

// authenticate adds the client's credentials to a token request (RFC 6749, section 2.3.1;
// OpenID Connect Core 1.0, section 9).
func (x *exchange) authenticate(c *oauthClient, s *server, header http.Header, form url.Values) error {
	switch c.ClientAuth {
	case ClientAuthNone:
		form.Set("client_id", c.ClientID)
	case ClientSecretPost:
		form.Set("client_id", c.ClientID)
		form.Set("client_secret", c.ClientSecret)
	case ClientSecretJWT, PrivateKeyJWT:
		assertion, err := x.clientAssertion(c, s)
		if err != nil {
			return err
		}
		form.Set("client_id", c.ClientID)
		form.Set("client_assertion", assertion)
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	default:
		pair := formEncode(c.ClientID) + ":" + formEncode(c.ClientSecret)
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	}
	return nil
}

// assertionMaxAge is how long a client assertion is valid.
const assertionMaxAge = time.Minute

// clientAssertion is the token by which a client proves that it has its key (RFC 7523, section 3).
func (x *exchange) clientAssertion(c *oauthClient, s *server) (string, error) {
	claims := map[string]any{
		"iss": c.ClientID, "sub": c.ClientID, "aud": s.Issuer, "jti": randomUUID(),
		"iat": x.now.Unix(), "nbf": x.now.Unix(), "exp": x.now.Add(assertionMaxAge).Unix(),
	}
	signer, err := c.assertionSigner()
	if err != nil {
		return "", err
	}
	if c.ClientAuth == PrivateKeyJWT {
		claims["aud"] = []string{s.Issuer, s.TokenEndpoint}
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// assertionSigner signs with the client's secret or its private key. The algorithm follows
// from the key: HS256, RS256 (PS256 if asked for), ES256 to ES512, or EdDSA.
func (c *oauthClient) assertionSigner() (jose.Signer, error) {
	key := jose.SigningKey{Algorithm: jose.HS256, Key: []byte(c.ClientSecret)}
	if c.ClientAuth == PrivateKeyJWT {
		algorithm, err := c.ClientKey.algorithm()
		if err != nil {
			return nil, err
		}
		key = jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: c.ClientKey.PrivateKey, KeyID: c.ClientKey.ID}}
	}
	return jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
}

func (k *ClientKey) algorithm() (jose.SignatureAlgorithm, error) {
	switch key := k.PrivateKey.(type) {
	case *rsa.PrivateKey:
		switch {
		case key == nil || key.N == nil:
		case k.PSS:
			return jose.PS256, nil
		default:
			return jose.RS256, nil
		}
	case ed25519.PrivateKey:
		if len(key) == ed25519.PrivateKeySize {
			return jose.EdDSA, nil
		}
	case *ecdsa.PrivateKey:
		if key == nil || key.Curve == nil {
			break
		}
		switch key.Curve.Params().BitSize {
		case 256:
			return jose.ES256, nil
		case 384:
			return jose.ES384, nil
		case 521:
			return jose.ES512, nil
		}
	}
	return "", errors.New("ClientKey.PrivateKey is neither an RSA, an ECDSA (P-256, P-384 or P-521) nor an Ed25519 private key")
}

func formEncode(text string) string {
	return strings.ReplaceAll(weburl.EncodeComponent(text), "%20", "+")
}

// readTokens checks the token endpoint's answer (RFC 6749, section 5.1; fact 76).
func (x *exchange) readTokens(fields map[string]any) (*Account, error) {
	bad := func(name string) (*Account, error) {
		return nil, fail(ErrCallbackRoute, "the token endpoint's "+name+" is missing or of the wrong type", nil)
	}
	account := &Account{Provider: x.provider.id, Type: x.provider.kind}
	for _, f := range [...]struct {
		name               string
		into               *string
		required, nonEmpty bool
	}{
		{"access_token", &account.AccessToken, true, true},
		{"token_type", &account.TokenType, true, true},
		{"refresh_token", &account.RefreshToken, false, true},
		{"id_token", &account.IDToken, false, true},
		{"scope", &account.Scope, false, false},
		{"session_state", &account.SessionState, false, false},
	} {
		value, present := fields[f.name]
		if !present && !f.required {
			continue
		}
		text, ok := value.(string)
		if !ok || f.nonEmpty && text == "" {
			return bad(f.name)
		}
		*f.into = text
		delete(fields, f.name)
	}
	account.TokenType = strings.ToLower(account.TokenType)
	if account.TokenType != "bearer" && account.TokenType != "dpop" {
		return bad("token_type")
	}
	if value, present := fields["expires_in"]; present {
		seconds, ok := readSeconds(value)
		if !ok {
			return bad("expires_in")
		}
		account.ExpiresIn = seconds
		if seconds != 0 {
			account.ExpiresAt = x.now.Unix() + seconds
		}
		delete(fields, "expires_in")
	}
	account.Extra = fields
	return account, nil
}

// readSeconds reads a number of seconds, which some providers send as text.
func readSeconds(value any) (int64, bool) {
	var text string
	switch v := value.(type) {
	case string:
		text = strings.TrimSpace(v)
	case json.Number:
		text = v.String()
	}
	seconds, err := strconv.ParseFloat(text, 64)
	const most = 1 << 40
	return int64(seconds), err == nil && seconds >= 0 && seconds < most
}

// userInfo asks who the access token belongs to.
func (x *exchange) userInfo(c *oauthClient, s *server, account *Account, claims Profile) (Profile, error) {
	if c.RequestUserInfo == nil {
		return x.requestUserInfo(c, s, account.AccessToken)
	}
	profile, err := c.RequestUserInfo(x.ctx, UserInfoRequest{
		URL: s.UserInfoEndpoint, Claims: claims, Tokens: account, ClientID: c.ClientID, ClientSecret: c.ClientSecret, Transport: x.transport,
	})
	if err != nil {
		return nil, fail(ErrCallbackRoute, "RequestUserInfo failed", err)
	}
	if profile == nil {
		return nil, fail(ErrCallbackRoute, "RequestUserInfo gave no profile", nil)
	}
	return profile, nil
}

// requestUserInfo asks who the access token belongs to (OpenID Connect Core 1.0, section 5.3).
// The answer may be signed; the signature is then checked.
func (x *exchange) requestUserInfo(c *oauthClient, s *server, accessToken string) (Profile, error) {
	header := http.Header{"Authorization": {"Bearer " + accessToken}, "Accept": {"application/json, application/jwt"}}
	status, raw, err := x.fetch(http.MethodGet, s.UserInfoEndpoint, header, "")
	if err != nil {
		return nil, fail(ErrCallbackRoute, "the userinfo endpoint can't be reached", err)
	}
	if status < 200 || status > 299 {
		return nil, fail(ErrCallbackRoute, "the userinfo endpoint answered "+strconv.Itoa(status), nil)
	}
	if c.OIDC && bytes.HasPrefix(raw, []byte("ey")) { // how a JWS begins, and JSON doesn't
		if raw, err = (&keySet{x, c, s}).VerifySignature(x.ctx, string(raw)); err != nil {
			return nil, fail(ErrCallbackRoute, "the userinfo endpoint's answer is not signed by the provider", err)
		}
	}
	var profile Profile
	if err := decodeJSON(raw, &profile); err != nil || profile == nil {
		return nil, fail(ErrCallbackRoute, "the userinfo endpoint's answer is not a JSON object", nil)
	}
	return profile, nil
}
