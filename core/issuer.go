package core

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/edgeauth/edgeauth/core/internal/weburl"
	"github.com/go-jose/go-jose/v4"
)

const (
	maxAnswerBytes = 1 << 20          // of a provider's answer
	serverMaxAge   = 15 * time.Minute // how long discovery documents and keys are kept
	keysRetry      = time.Minute      // how soon an unknown key may ask for the keys again

	// assumedIssuer is what the reference takes for the issuer of a provider without one (fact 67).
	assumedIssuer = "https://authjs.dev"
)

// server is what is known about a provider's authorization server: OpenID Connect
// Discovery 1.0, section 3.
type server struct {
	Issuer                string          `json:"issuer"`
	AuthorizationEndpoint string          `json:"authorization_endpoint"`
	TokenEndpoint         string          `json:"token_endpoint"`
	UserInfoEndpoint      string          `json:"userinfo_endpoint"`
	JWKSURI               string          `json:"jwks_uri"`
	SigningAlgs           json.RawMessage `json:"id_token_signing_alg_values_supported"`
	IssParameter          bool            `json:"authorization_response_iss_parameter_supported"`

	at time.Time
}

// keys are a provider's signing keys (RFC 7517).
type keys struct {
	jose.JSONWebKeySet
	issuers map[string]string // by key id: whose tokens the key may sign, if the provider tells
	at      time.Time
}

// callbackServer is the server that answers the callback's requests: discovered, unless the
// configuration names its endpoints.
func (x *exchange) callbackServer(c *oauthClient) (*server, error) {
	s := server{Issuer: or(c.Issuer, assumedIssuer)}
	if c.OIDC || c.Token.URL == "" && c.UserInfo.URL == "" {
		found, err := x.discover(c)
		if err != nil {
			return nil, err
		}
		s = *found
	}
	s.TokenEndpoint = c.Token.or(s.TokenEndpoint)
	s.UserInfoEndpoint = c.UserInfo.or(s.UserInfoEndpoint)
	if s.TokenEndpoint == "" || s.UserInfoEndpoint == "" {
		return nil, fail(ErrCallbackRoute, "the provider's discovery document lacks a token or userinfo endpoint", nil)
	}
	return &s, nil
}

// discover gets the issuer's discovery document. Each request that needs one and finds none
// fetches its own: on js, a request can't wait for what another one has started.
func (x *exchange) discover(c *oauthClient) (*server, error) {
	if s := c.discovered.Load(); s != nil && x.now.Sub(s.at) < serverMaxAge && !x.now.Before(s.at) {
		return s, nil
	}
	issuer, ok := weburl.Parse(c.Issuer)
	if !ok {
		return nil, fail(ErrInvalidEndpoints, "the issuer is no URL", nil)
	}
	document := *issuer
	document.Path = strings.ReplaceAll(issuer.Path+"/.well-known/openid-configuration", "//", "/")
	status, raw, err := x.fetch(http.MethodGet, or(c.WellKnown, document.String()), http.Header{"Accept": {typeJSON}}, "")
	if err != nil {
		return nil, fail(ErrCallbackRoute, "the provider's discovery document can't be fetched", err)
	}
	s := &server{at: x.now}
	if status != http.StatusOK {
		return nil, fail(ErrCallbackRoute, "the provider's discovery document was answered with another status than 200", nil)
	}
	if err := decodeJSON(raw, s); err != nil {
		return nil, fail(ErrCallbackRoute, "the provider's discovery document is not a JSON object of the expected form", nil)
	}
	if named, ok := weburl.Parse(s.Issuer); (!ok || named.String() != issuer.String()) && !c.isTenant(s.Issuer) {
		return nil, fail(ErrCallbackRoute, "the provider's discovery document is another issuer's", nil)
	}
	for _, endpoint := range [...]string{s.AuthorizationEndpoint, s.TokenEndpoint, s.UserInfoEndpoint, s.JWKSURI} {
		if u, ok := weburl.Parse(endpoint); endpoint != "" && (!ok || u.Scheme != "https" && u.Scheme != "http") {
			return nil, fail(ErrCallbackRoute, "the provider's discovery document has an endpoint that is no http URL", nil)
		}
	}
	c.discovered.Store(s)
	return s, nil
}

// or gives the endpoint's URL with its parameters, or the one that was found with them.
func (e *Endpoint) or(found string) string {
	text := or(e.URL, found)
	if u, err := url.Parse(text); err == nil && len(e.Params) > 0 {
		query := u.Query()
		maps.Copy(query, e.Params)
		u.RawQuery = query.Encode()
		text = u.String()
	}
	return text
}

// tenantID stands for the name of a tenant in TenantIssuer.
const tenantID = "{tenantid}"

// isTenant reports whether an issuer is that of a tenant of this server, or of all of them.
func (c *oauthClient) isTenant(issuer string) bool {
	before, after, found := strings.Cut(c.TenantIssuer, tenantID)
	rest, isBefore := strings.CutPrefix(issuer, before)
	tenant, isAfter := strings.CutSuffix(rest, after)
	return found && isBefore && isAfter && tenant != "" && !strings.Contains(tenant, "/")
}

// ofTenant gives the server as the tenant of an ID token has it. The token is yet to be
// checked: whatever tenant it names, its issuer and its key must then be that tenant's.
func (s *server) ofTenant(idToken string) *server {
	if !strings.Contains(s.Issuer, tenantID) {
		return s
	}
	var claims struct{ Tid string }
	if parts := strings.Split(idToken, "."); len(parts) == 3 {
		if raw, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
			_ = json.Unmarshal(raw, &claims) // no tenant's name makes no tenant's issuer
		}
	}
	tenant := *s
	tenant.Issuer = strings.ReplaceAll(s.Issuer, tenantID, claims.Tid)
	return &tenant
}

// fetch makes one request to a provider. Redirects are not followed.
func (x *exchange) fetch(method, url string, header http.Header, body string) (status int, raw []byte, err error) {
	req, err := http.NewRequestWithContext(x.ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, errors.New("the endpoint is no URL")
	}
	if body == "" {
		req.Body, req.GetBody = nil, nil
	}
	req.Header = header
	req.Header.Set("User-Agent", "edgeauth")
	resp, err := x.transport.RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	raw, err = readLimited(resp.Body, maxAnswerBytes)
	return resp.StatusCode, raw, err
}

// asymmetric are the algorithms with which an ID token may be signed. HMAC is not one of
// them: its key would be the client secret, or in an attack the provider's public key. Only a
// configuration that names HS256 for the one algorithm has it, and the secret is then the key.
var asymmetric = [...]jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// signingAlgs are those of the provider's algorithms that are accepted: the only one that the
// configuration names, else those of the list, RS256 without one.
func (s *server) signingAlgs(only string) (algs []string) {
	if only != "" {
		return []string{only}
	}
	var advertised []string
	if json.Unmarshal(s.SigningAlgs, &advertised) != nil || advertised == nil {
		return []string{oidc.RS256}
	}
	for _, known := range asymmetric {
		for _, name := range advertised {
			if name == string(known) {
				algs = append(algs, name)
			}
		}
	}
	return algs
}

// verifyIDToken checks an ID token as OpenID Connect Core 1.0, section 3.1.3.7 demands, its
// signature included, and gives its claims. The signature of a token that comes from a plain
// OAuth provider is not checked, as nothing but its consistency depends on it.
func (x *exchange) verifyIDToken(c *oauthClient, s *server, account *Account, nonce string) (Profile, error) {
	if c.TenantIssuer != "" {
		s = s.ofTenant(account.IDToken)
	}
	algs := s.signingAlgs(c.IDTokenAlg)
	if len(algs) == 0 {
		return nil, fail(ErrCallbackRoute, "the provider signs ID tokens with none of the accepted algorithms", nil)
	}
	verifier := oidc.NewVerifier(s.Issuer, &keySet{x, c, s}, &oidc.Config{
		ClientID:                   c.ClientID,
		SupportedSigningAlgs:       algs,
		SkipExpiryCheck:            true, // checkIDTokenTimes has the tolerance of the reference
		InsecureSkipSignatureCheck: !c.OIDC,
	})
	token, err := verifier.Verify(x.ctx, account.IDToken)
	if err != nil {
		return nil, fail(ErrCallbackRoute, "the id_token is not valid", err)
	}
	var raw json.RawMessage
	var claims Profile
	if token.Claims(&raw) != nil || decodeJSON(raw, &claims) != nil {
		return nil, fail(ErrCallbackRoute, "the id_token's claims can't be read", nil)
	}
	if err := x.checkClaims(c, claims, nonce); err != nil {
		return nil, err
	}
	if token.AccessTokenHash != "" {
		if err := token.VerifyAccessToken(account.AccessToken); err != nil {
			return nil, fail(ErrCallbackRoute, "the id_token belongs to another access token", err)
		}
	}
	return claims, nil
}

// checkClaims checks the claims that go-oidc leaves to its caller.
func (x *exchange) checkClaims(c *oauthClient, claims Profile, nonce string) error {
	bad := func(claim string) error {
		return fail(ErrCallbackRoute, "the id_token's "+claim+" is missing or wrong", nil)
	}
	times := map[string]time.Time{}
	for _, claim := range [...]string{"exp", "iat", "nbf", "auth_time"} {
		value, present := claims[claim]
		if !present {
			continue
		}
		number, ok := value.(json.Number)
		seconds, err := number.Float64()
		if !ok || err != nil {
			return bad(claim)
		}
		times[claim] = time.UnixMilli(int64(seconds * 1000))
	}
	exp, hasExp := times["exp"]
	_, hasIat := times["iat"]
	audiences, _ := claims["aud"].([]any)
	sub, isText := claims["sub"].(string)
	switch {
	case !hasExp || !exp.After(x.now.Add(-clockTolerance)):
		return bad("exp")
	case !hasIat:
		return bad("iat")
	case times["nbf"].After(x.now.Add(clockTolerance)):
		return bad("nbf")
	case !isText || sub == "" && c.OIDC:
		return bad("sub")
	case len(audiences) > 1 && claims["azp"] != c.ClientID:
		return bad("azp")
	}
	if sent, present := claims["nonce"]; nonce == "" && present {
		return bad("nonce")
	} else if text, _ := sent.(string); !sameText(text, nonce) {
		return bad("nonce")
	}
	return nil
}

// keySet verifies signatures with a provider's published keys.
type keySet struct {
	x *exchange
	c *oauthClient
	s *server
}

// VerifySignature implements oidc.KeySet. A key that isn't known yet is looked for once more
// at the provider, at most once a minute.
func (k *keySet) VerifySignature(_ context.Context, token string) ([]byte, error) {
	algs := asymmetric[:]
	if k.c.IDTokenAlg == string(jose.HS256) {
		algs = []jose.SignatureAlgorithm{jose.HS256}
	}
	jws, err := jose.ParseSignedCompact(token, algs)
	if err != nil {
		return nil, err
	}
	if _, critical := jws.Signatures[0].Protected.ExtraHeaders["crit"]; critical {
		return nil, errors.New("critical header parameters are not supported")
	}
	if k.c.IDTokenAlg == string(jose.HS256) {
		return jws.Verify([]byte(k.c.ClientSecret))
	}
	kid := jws.Signatures[0].Protected.KeyID
	known := k.c.keys.Load()
	if known == nil || k.x.now.Sub(known.at) >= serverMaxAge || k.x.now.Before(known.at) ||
		len(known.candidates(kid)) == 0 && k.x.now.Sub(known.at) >= keysRetry {
		if known, err = k.fetch(); err != nil {
			return nil, err
		}
	}
	for _, key := range known.candidates(kid) {
		if issuer := known.issuers[key.KeyID]; issuer != "" && issuer != k.s.Issuer && !strings.Contains(issuer, tenantID) {
			continue // another tenant's
		}
		if payload, err := jws.Verify(key.Key); err == nil {
			return payload, nil
		}
	}
	return nil, errors.New("no key of the provider verifies the signature")
}

// candidates are the signing keys a token may have been signed with: the one it names, or
// any if it names none.
func (k *keys) candidates(kid string) []jose.JSONWebKey {
	var out []jose.JSONWebKey
	for _, key := range k.Keys {
		if (kid == "" || key.KeyID == kid) && (key.Use == "" || key.Use == "sig") && key.IsPublic() {
			out = append(out, key)
		}
	}
	return out
}

func (k *keySet) fetch() (*keys, error) {
	if k.s.JWKSURI == "" {
		return nil, errors.New("the provider's discovery document has no jwks_uri")
	}
	status, raw, err := k.x.fetch(http.MethodGet, k.s.JWKSURI, http.Header{"Accept": {typeJSON}}, "")
	if err != nil {
		return nil, err
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if status != http.StatusOK || json.Unmarshal(raw, &set) != nil {
		return nil, errors.New("the provider's keys can't be read")
	}
	fresh := &keys{at: k.x.now, issuers: map[string]string{}}
	for _, one := range set.Keys {
		// A key of a kind that isn't known must not spoil the others (RFC 7517, section 5).
		var key jose.JSONWebKey
		if json.Unmarshal(one, &key) != nil {
			continue
		}
		fresh.Keys = append(fresh.Keys, key)
		var of struct{ Issuer string }
		if k.c.TenantIssuer != "" && json.Unmarshal(one, &of) == nil {
			fresh.issuers[key.KeyID] = of.Issuer
		}
	}
	if len(fresh.Keys) == 0 {
		return nil, errors.New("the provider has published no keys")
	}
	k.c.keys.Store(fresh)
	return fresh, nil
}
