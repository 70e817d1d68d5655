package world

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// A Fault is something wrong with the ID tokens of a Provider. An app must not sign in anybody with one of these.
type Fault string

// The faults.
const (
	WrongIssuer   Fault = "wrong issuer"   // iss is another provider's
	WrongAudience Fault = "wrong audience" // aud is another app's
	WrongNonce    Fault = "wrong nonce"    // noticed by an app that sends one
	Expired       Fault = "expired"        // exp has passed, by an hour
	Forged        Fault = "forged"         // signed with another key under the name of the right one
	UnknownKey    Fault = "unknown key"    // signed with a key that isn't published
	Unsigned      Fault = "unsigned"       // with the algorithm "none"
)

// Faults are all of them.
func Faults() []Fault {
	return []Fault{WrongIssuer, WrongAudience, WrongNonce, Expired, Forged, UnknownKey, Unsigned}
}

func (p *Provider) algorithm() string { return cmp.Or(p.Algorithm, string(jose.RS256)) }

// idToken is OpenID Connect Core 1.0, section 2.
func (p *Provider) idToken(g *grant, issuer string) (string, error) {
	claims := g.person.claims()
	claims["iss"], claims["aud"] = issuer, g.client
	claims["iat"], claims["exp"] = p.now().Unix(), p.now().Add(p.tokenAge()).Unix()
	if g.nonce != "" {
		claims["nonce"] = g.nonce
	}
	switch p.Fault {
	case WrongIssuer:
		claims["iss"] = "https://other.example"
	case WrongAudience:
		claims["aud"] = "other-client"
	case WrongNonce:
		claims["nonce"] = "other-nonce"
	case Expired:
		claims["iat"], claims["exp"] = p.now().Add(-2*p.tokenAge()-time.Hour).Unix(), p.now().Add(-time.Hour).Unix()
	}
	if p.Claims != nil {
		p.Claims(claims)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	generation := p.key
	p.mu.Unlock()
	key, id := keys.get(p.algorithm(), generation), keyID(p.algorithm(), generation)
	switch p.Fault {
	case Forged:
		key = keys.get(p.algorithm(), foreign)
	case UnknownKey:
		key, id = keys.get(p.algorithm(), foreign), "unknown"
	case Unsigned:
		return base64url([]byte(`{"alg":"none"}`)) + "." + base64url(payload) + ".", nil
	}
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.SignatureAlgorithm(p.algorithm()), Key: jose.JSONWebKey{Key: key, KeyID: id},
	}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// published is the key set that the signatures are checked with (RFC 7517, section 5).
func (p *Provider) published() jose.JSONWebKeySet {
	p.mu.Lock()
	generation := p.key
	p.mu.Unlock()
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{
		Key: keys.get(p.algorithm(), generation).Public(), KeyID: keyID(p.algorithm(), generation), Algorithm: p.algorithm(), Use: "sig",
	}}}
}

func keyID(algorithm string, generation int) string {
	return fmt.Sprintf("%s-%d", algorithm, generation)
}

// foreign is the generation of a key that no Provider publishes.
const foreign = -1

// keys are made once for all tests of a process: an RSA key takes a tenth of a second and more.
var keys keyRing

type keyRing struct {
	mu   sync.Mutex
	made map[string]crypto.Signer // by keyID
}

func (r *keyRing) get(algorithm string, generation int) crypto.Signer {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := keyID(algorithm, generation)
	if key, ok := r.made[id]; ok {
		return key
	}
	var key crypto.Signer
	var err error
	switch jose.SignatureAlgorithm(algorithm) {
	case jose.RS256:
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	case jose.ES256:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case jose.EdDSA:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		panic("world: Provider.Algorithm is " + algorithm + ": use RS256, ES256 or EdDSA")
	}
	if err != nil {
		panic(err)
	}
	if r.made == nil {
		r.made = map[string]crypto.Signer{}
	}
	r.made[id] = key
	return key
}
