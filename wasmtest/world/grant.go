package world

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A grant is what a person has agreed to. Codes and tokens stand for one.
type grant struct {
	person              Person
	client, redirectURI string
	scope, nonce        string
	challenge           string
	expires             time.Time
}

func (g *grant) has(scope string) bool { return slices.Contains(strings.Fields(g.scope), scope) }

const codeAge = 10 * time.Minute // RFC 6749, section 4.1.2

// authorize is the page at which a person agrees (RFC 6749, section 4.1.1; OpenID Connect Core 1.0, section 3.1.2). This one
// needs nobody to click.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request, issuer string) {
	back, err := url.Parse(r.Form.Get("redirect_uri"))
	client := r.Form.Get("client_id")
	switch {
	case client == "" || p.ClientID != "" && client != p.ClientID:
		answerError(w, http.StatusBadRequest, "invalid_client") // never to an address that nobody vouches for
		return
	case err != nil || !back.IsAbs() || back.Fragment != "" || p.RedirectURIs != nil && !slices.Contains(p.RedirectURIs, back.String()):
		answerError(w, http.StatusBadRequest, "invalid_redirect_uri")
		return
	}
	answer := url.Values{"iss": {issuer}} // RFC 9207
	if r.Form.Has("state") {
		answer.Set("state", r.Form.Get("state"))
	}
	person := p.Person
	if p.Ask != nil {
		person = p.Ask(maps.Clone(r.Form))
	}
	switch {
	case r.Form.Get("response_type") != "code":
		answer.Set("error", "unsupported_response_type")
	case r.Form.Get("code_challenge") != "" && r.Form.Get("code_challenge_method") != "S256":
		answer.Set("error", "invalid_request")
	case person.isNobody():
		answer.Set("error", "access_denied")
	default:
		code := rand.Text()
		p.mu.Lock()
		put(&p.codes, code, grant{
			person: person, client: client, redirectURI: r.Form.Get("redirect_uri"), scope: r.Form.Get("scope"),
			nonce: r.Form.Get("nonce"), challenge: r.Form.Get("code_challenge"), expires: p.now().Add(codeAge),
		})
		p.mu.Unlock()
		answer.Set("code", code)
	}
	query := back.Query()
	maps.Copy(query, answer)
	back.RawQuery = query.Encode()
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// exchange is the token endpoint (RFC 6749, sections 4.1.3 and 6).
func (p *Provider) exchange(w http.ResponseWriter, r *http.Request, issuer string) {
	client, ok := p.client(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", "Basic")
		answerError(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	var g grant
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		g, ok = p.take(&p.codes, r.PostForm.Get("code"))
		ok = ok && g.redirectURI == r.PostForm.Get("redirect_uri") && isVerified(g.challenge, r.PostForm.Get("code_verifier")) &&
			(g.challenge != "" || isSecret(r))
	case "refresh_token":
		g, ok = p.take(&p.refreshes, r.PostForm.Get("refresh_token"))
		g.nonce = "" // OpenID Connect Core 1.0, section 12.2
	default:
		answerError(w, http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	if !ok || g.client != client {
		answerError(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	answer := map[string]any{"token_type": "Bearer", "expires_in": int(p.tokenAge() / time.Second), "scope": g.scope}
	if g.has("openid") {
		token, err := p.idToken(&g, issuer)
		if err != nil {
			answerError(w, http.StatusInternalServerError, "server_error")
			return
		}
		answer["id_token"] = token
	}
	access, refresh := rand.Text(), rand.Text()
	p.mu.Lock()
	g.expires = time.Time{}
	put(&p.refreshes, refresh, g)
	g.expires = p.now().Add(p.tokenAge())
	put(&p.accesses, access, g)
	p.mu.Unlock()
	answer["access_token"], answer["refresh_token"] = access, refresh
	answerJSON(w, http.StatusOK, answer)
}

// take uses up a code or a refresh token: it works once.
func (p *Provider) take(from *map[string]grant, token string) (g grant, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, ok = (*from)[token]
	delete(*from, token)
	return g, ok && (g.expires.IsZero() || p.now().Before(g.expires))
}

func put(into *map[string]grant, token string, g grant) {
	if *into == nil {
		*into = map[string]grant{}
	}
	(*into)[token] = g
}

// client is who asks, if that is proved (RFC 6749, section 2.3.1).
func (p *Provider) client(r *http.Request) (id string, ok bool) {
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if user, password, inHeader := r.BasicAuth(); inHeader {
		if secret != "" { // one method only
			return "", false
		}
		var err, err2 error
		id, err = url.QueryUnescape(user)
		secret, err2 = url.QueryUnescape(password)
		if err != nil || err2 != nil {
			return "", false
		}
	}
	return id, id != "" && (p.ClientID == "" || id == p.ClientID) && (p.ClientSecret == "" || secret == p.ClientSecret)
}

// isSecret reports whether the client has sent a secret, whose rightness client has checked.
func isSecret(r *http.Request) bool {
	_, password, _ := r.BasicAuth()
	return password != "" || r.PostForm.Get("client_secret") != ""
}

// isVerified is RFC 7636, section 4.6. Without a challenge there must be no verifier.
func isVerified(challenge, verifier string) bool {
	if challenge == "" {
		return verifier == ""
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64url(sum[:])), []byte(challenge)) == 1
}

func base64url(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// tell is the userinfo endpoint (OpenID Connect Core 1.0, section 5.3).
func (p *Provider) tell(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	p.mu.Lock()
	g, ok := p.accesses[token]
	p.mu.Unlock()
	if !ok || !p.now().Before(g.expires) {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		answerError(w, http.StatusUnauthorized, "invalid_token")
		return
	}
	answerJSON(w, http.StatusOK, g.person.claims())
}
