package world

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Provider is an OpenID provider: discovery, keys, authorization without a form, tokens, refresh tokens and userinfo. It
// is as strict as a good one, and wrong on demand. A client authenticates with its secret, in the header or in the form.
//
// The zero Provider is one at which nobody signs in. It is safe for concurrent use; fields are changed between requests only.
type Provider struct {
	// Issuer is the issuer identifier. It may have a path. Empty: scheme and host of each request.
	Issuer string

	// ClientID and ClientSecret are those of the app. Empty: any; for the secret also none, if the request has PKCE.
	ClientID, ClientSecret string

	// RedirectURIs are where the app may be answered, compared exactly. Nil: anywhere.
	RedirectURIs []string

	// Person is who agrees when the app asks, at once. The zero Person refuses (access_denied).
	Person Person

	// Ask gives the Person for the parameters of one authorization request. Nil: always Person.
	Ask func(asked url.Values) Person

	// Algorithm signs ID tokens: "RS256", "ES256" or "EdDSA". Empty: "RS256".
	Algorithm string

	// Claims changes the claims of an ID token before it is signed. It is called concurrently. Nil: they stay.
	Claims func(claims map[string]any)

	// Fault is what is wrong with ID tokens. Empty: nothing.
	Fault Fault

	// Fail has an endpoint answer with a status and an OAuth error, and do nothing. Nil: none does.
	Fail map[Endpoint]int

	// Delay is the time that an endpoint takes before it does anything. Nil: none.
	Delay map[Endpoint]time.Duration

	// TokenAge is how long ID and access tokens are valid. 0: an hour.
	TokenAge time.Duration

	// Now is the provider's clock, as the one of the app under test. Nil: time.Now.
	Now func() time.Time

	mu        sync.Mutex
	key       int // how often RotateKey was called
	codes     map[string]grant
	refreshes map[string]grant
	accesses  map[string]grant
	visits    []Visit
}

// An Endpoint is a path of a Provider, below its issuer.
type Endpoint string

// The endpoints.
const (
	Discovery     Endpoint = "/.well-known/openid-configuration"
	Keys          Endpoint = "/keys"
	Authorization Endpoint = "/authorize"
	TokenEndpoint Endpoint = "/token"
	UserInfo      Endpoint = "/userinfo"
)

// A Visit is one request that a Provider got.
type Visit struct {
	Endpoint Endpoint
	Method   string
	Header   http.Header
	Params   url.Values // of the query and the form
}

// Visits are all requests so far, in the order of their arrival.
func (p *Provider) Visits() []Visit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.visits)
}

// RotateKey replaces the signing key: from now on only the new one is published.
func (p *Provider) RotateKey() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key++
}

// ServeHTTP is the provider.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	issuer := p.issuer(r)
	at, err := url.Parse(issuer)
	if err != nil {
		answerError(w, http.StatusInternalServerError, "server_error")
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, strings.TrimSuffix(at.Path, "/"))
	endpoint := Endpoint(path)
	method, known := map[Endpoint]string{
		Discovery: "GET", Keys: "GET", Authorization: "GET POST", TokenEndpoint: "POST", UserInfo: "GET POST",
	}[endpoint]
	if !ok || !known {
		answerError(w, http.StatusNotFound, "not_found")
		return
	}
	if !slices.Contains(strings.Fields(method), r.Method) {
		answerError(w, http.StatusMethodNotAllowed, "invalid_request")
		return
	}
	if r.ParseForm() != nil {
		answerError(w, http.StatusBadRequest, "invalid_request")
		return
	}
	p.mu.Lock()
	p.visits = append(p.visits, Visit{endpoint, r.Method, r.Header.Clone(), maps.Clone(r.Form)})
	p.mu.Unlock()
	if !wait(r, p.Delay[endpoint]) {
		return
	}
	if status := p.Fail[endpoint]; status != 0 {
		answerError(w, status, "server_error")
		return
	}
	for name, values := range r.Form { // RFC 6749, section 3.1
		if len(values) > 1 && name != "resource" {
			answerError(w, http.StatusBadRequest, "invalid_request")
			return
		}
	}
	switch endpoint {
	case Discovery:
		p.discover(w, issuer)
	case Keys:
		answerJSON(w, http.StatusOK, p.published())
	case Authorization:
		p.authorize(w, r, issuer)
	case TokenEndpoint:
		p.exchange(w, r, issuer)
	case UserInfo:
		p.tell(w, r)
	}
}

func (p *Provider) issuer(r *http.Request) string {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return cmp.Or(p.Issuer, scheme+r.Host)
}

func (p *Provider) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

func (p *Provider) tokenAge() time.Duration { return cmp.Or(p.TokenAge, time.Hour) }

// wait reports whether the client is still there afterwards.
func wait(r *http.Request, delay time.Duration) bool {
	if delay <= 0 {
		return true
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// discover is OpenID Connect Discovery 1.0, section 4.
func (p *Provider) discover(w http.ResponseWriter, issuer string) {
	at := strings.TrimSuffix(issuer, "/")
	answerJSON(w, http.StatusOK, map[string]any{
		"issuer":                                         issuer,
		"authorization_endpoint":                         at + string(Authorization),
		"token_endpoint":                                 at + string(TokenEndpoint),
		"userinfo_endpoint":                              at + string(UserInfo),
		"jwks_uri":                                       at + string(Keys),
		"response_types_supported":                       []string{"code"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"subject_types_supported":                        []string{"public"},
		"id_token_signing_alg_values_supported":          []string{p.algorithm()},
		"scopes_supported":                               []string{"openid", "profile", "email", "offline_access"},
		"token_endpoint_auth_methods_supported":          []string{"client_secret_basic", "client_secret_post", "none"},
		"code_challenge_methods_supported":               []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
	})
}

func answerJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails when the client is gone
}

// answerError is an error as RFC 6749, section 5.2, has it.
func answerError(w http.ResponseWriter, status int, code string) {
	answerJSON(w, status, map[string]any{"error": code})
}
