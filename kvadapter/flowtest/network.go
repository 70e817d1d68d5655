package flowtest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/edgeauth/edgeauth/core"
)

// The providers' IDs. The first two are plain OAuth, the third one is OpenID Connect.
const (
	hub   = "hub"
	spoke = "spoke"
	idp   = "idp"
)

const (
	clientID     = "client"
	clientSecret = "client-secret"
)

// A person has an address, and the same ID at every provider.
type person struct {
	id, name string
	address  string // empty: providers tell none
}

var (
	ada = person{"subject-of-ada", "Ada", "ada@example.com"}
	bob = person{"subject-of-bob", "Bob", "bob@example.com"}
)

// A network is the providers, in place of the network.
type network struct {
	mu       sync.Mutex
	grants   map[string]grant   // by code
	tokens   map[string]person  // by access token
	issued   int                // codes and tokens
	gullible map[string]*person // by provider: takes any code and any verifier for this person's; for forgeries
}

// A grant is what a code stands for.
type grant struct {
	person
	provider, nonce, challenge, redirectURI string
}

// signingKey signs ID tokens. Making it takes longer than all else here.
var signingKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

const signingKeyID = "key-1"

func newNetwork() *network {
	return &network{grants: map[string]grant{}, tokens: map[string]person{}, gullible: map[string]*person{}}
}

// providers are these providers for a configuration.
func (n *network) providers() []core.Provider {
	plain := func(id string, checks ...core.Check) core.OAuth {
		at := issuer(id)
		return core.OAuth{
			ID: id, ClientID: clientID, ClientSecret: clientSecret, Checks: checks,
			Authorization: core.Endpoint{URL: at + "/authorize"}, Token: core.Endpoint{URL: at + "/token"}, UserInfo: core.Endpoint{URL: at + "/userinfo"},
		}
	}
	return []core.Provider{
		plain(hub, core.CheckPKCE, core.CheckState),
		plain(spoke),
		core.OAuth{
			ID: idp, OIDC: true, Issuer: issuer(idp), ClientID: clientID, ClientSecret: clientSecret,
			Checks: []core.Check{core.CheckPKCE, core.CheckState, core.CheckNonce},
		},
	}
}

func issuer(provider string) string { return "https://" + provider + ".example" }

// next gives text that was never given before.
func (n *network) next(what string) string {
	n.issued++
	return fmt.Sprintf("%s-%d-%s", what, n.issued, rand.Text())
}

// approve is what a provider does when a person agrees. It gives the path that the browser
// is sent back to.
func (n *network) approve(authorization string, who person) (path string, err error) {
	asked, err := url.Parse(authorization)
	if err != nil {
		return "", err
	}
	query := asked.Query()
	back, err := url.Parse(query.Get("redirect_uri"))
	provider, isProvider := strings.CutSuffix(asked.Host, ".example")
	if err != nil || !isProvider || asked.Path != "/authorize" || query.Get("client_id") != clientID || query.Get("response_type") != "code" ||
		query.Has("code_challenge") && query.Get("code_challenge_method") != "S256" {
		return "", fmt.Errorf("not an authorization request: %s", authorization)
	}
	n.mu.Lock()
	code := n.next("code")
	n.grants[code] = grant{who, provider, query.Get("nonce"), query.Get("code_challenge"), query.Get("redirect_uri")}
	n.mu.Unlock()
	answer := url.Values{"code": {code}}
	if query.Has("state") {
		answer.Set("state", query.Get("state"))
	}
	return back.Path + "?" + answer.Encode(), nil
}

// RoundTrip implements http.RoundTripper.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	provider, _ := strings.CutSuffix(r.URL.Host, ".example")
	at := issuer(provider)
	switch r.Method + " " + r.URL.Path {
	case "GET /.well-known/openid-configuration":
		return respond(http.StatusOK, map[string]any{
			"issuer": at, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token",
			"userinfo_endpoint": at + "/userinfo", "jwks_uri": at + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
		})
	case "GET /keys":
		return respond(http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{
			Key: &signingKey().PublicKey, KeyID: signingKeyID, Algorithm: string(jose.RS256), Use: "sig",
		}}})
	case "POST /token":
		return n.exchange(provider, r)
	case "GET /userinfo":
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		n.mu.Lock()
		who, known := n.tokens[token]
		n.mu.Unlock()
		if !known {
			return respond(http.StatusUnauthorized, map[string]any{"error": "invalid_token"})
		}
		return respond(http.StatusOK, who.claims())
	}
	return nil, fmt.Errorf("flowtest: a request to nobody: %s %s", r.Method, r.URL.Redacted())
}

func (p person) claims() map[string]any {
	claims := map[string]any{"sub": p.id, "name": p.name}
	if p.address != "" {
		claims["email"] = p.address
	}
	return claims
}

// exchange is the token endpoint.
func (n *network) exchange(provider string, r *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(raw))
	id, password, _ := r.BasicAuth()
	if err != nil || id != clientID || password != clientSecret {
		return respond(http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
	}
	n.mu.Lock()
	g, known := n.grants[form.Get("code")]
	delete(n.grants, form.Get("code"))
	claimant := n.gullible[provider]
	access, refresh := n.next("access"), n.next("refresh")
	n.mu.Unlock()
	verified := sha256.Sum256([]byte(form.Get("code_verifier")))
	isRight := known && form.Get("grant_type") == "authorization_code" && g.provider == provider && g.redirectURI == form.Get("redirect_uri") &&
		g.challenge == base64.RawURLEncoding.EncodeToString(verified[:])
	if claimant != nil {
		g = grant{person: *claimant}
	} else if !isRight {
		return respond(http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
	}
	n.mu.Lock()
	n.tokens[access] = g.person
	n.mu.Unlock()
	answer := map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": 3600}
	if provider == idp {
		claims := g.claims()
		claims["iss"], claims["aud"] = issuer(idp), clientID
		claims["iat"], claims["exp"] = time.Now().Unix(), time.Now().Add(time.Hour).Unix()
		if g.nonce != "" {
			claims["nonce"] = g.nonce
		}
		if answer["id_token"], err = sign(claims); err != nil {
			return nil, err
		}
	}
	return respond(http.StatusOK, answer)
}

// sign makes an ID token (OpenID Connect Core 1.0, section 2).
func sign(claims map[string]any) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: signingKey(), KeyID: signingKeyID}}, nil)
	if err != nil {
		return "", err
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

func respond(status int, body any) (*http.Response, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(raw)))}, nil
}
