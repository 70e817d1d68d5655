package oracle

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/descope/virtualwebauthn"
	"github.com/fxamacker/cbor/v2"
)

const (
	origin = "https://app.example"
	rpID   = "app.example"
)

var party = virtualwebauthn.RelyingParty{ID: rpID, Name: "The app", Origin: origin}

// keys are the credentials that answer, half of them again among the attackers.
type keys []virtualwebauthn.Credential

func newKeys() keys {
	var out keys
	for len(out) < 8 {
		// The module drops leading zeros of a point's coordinates, which COSE forbids (RFC 9053, section
		// 7.1.1) and the verifier here refuses: one key of 128 is not used.
		if c := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(c.Key.AttestationData()) == 77 {
			out = append(out, c)
		}
	}
	return append(out, virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeRSA))
}

func (k keys) pick(r *rand.Rand) virtualwebauthn.Credential {
	if r.IntN(40) == 0 {
		return k[len(k)-1] // RSA is slow
	}
	return k[r.IntN(len(k)-1)]
}

// An answer is a response in its parts, to be changed and put together again.
type answer struct {
	outer      map[string]any
	response   map[string]any
	clientData []byte
	authData   []byte
	format     string
	statement  cbor.RawMessage
	signature  []byte
	key        virtualwebauthn.Credential
	isNew      bool // a registration
}

var challenge = base64.RawURLEncoding.EncodeToString([]byte("a challenge of thirty-two bytes."))

// newAnswer makes a right answer of an authenticator that mostly does what is asked for.
func newAnswer(r *rand.Rand, key virtualwebauthn.Credential, isNew bool) *answer {
	often := func() bool { return r.IntN(8) == 0 }
	device := virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{
		UserHandle: []byte("ada"), UserNotPresent: often(), UserNotVerified: often(), BackupEligible: often(), BackupState: often(),
	})
	key.Counter = 7
	a := &answer{key: key, isNew: isNew}
	var raw string
	if isNew {
		raw = virtualwebauthn.CreateAttestationResponse(party, device, key, virtualwebauthn.AttestationOptions{Challenge: decode(challenge)})
	} else {
		raw = virtualwebauthn.CreateAssertionResponse(party, device, key, virtualwebauthn.AssertionOptions{Challenge: decode(challenge)})
	}
	must(json.Unmarshal([]byte(raw), &a.outer))
	a.response = a.outer["response"].(map[string]any)
	a.clientData = decode(a.response["clientDataJSON"].(string))
	if isNew {
		var o attestation
		must(cbor.Unmarshal(decode(a.response["attestationObject"].(string)), &o))
		a.format, a.statement, a.authData = o.Format, o.Statement, o.AuthData
		return a
	}
	a.authData, a.signature = decode(a.response["authenticatorData"].(string)), decode(a.response["signature"].(string))
	return a
}

type attestation struct {
	Format    string          `cbor:"fmt"`
	Statement cbor.RawMessage `cbor:"attStmt"`
	AuthData  []byte          `cbor:"authData"`
}

// sign makes the signature that the parts need: an attacker has a key, if not the right one.
func (a *answer) sign() {
	hash := sha256.Sum256(a.clientData)
	digest := sha256.Sum256(slices.Concat(a.authData, hash[:]))
	signature, err := a.key.Key.Sign(digest[:])
	must(err)
	if !a.isNew {
		a.signature = signature
		return
	}
	algorithm := -7
	if a.key.Key.Type == virtualwebauthn.KeyTypeRSA {
		algorithm = -257
	}
	a.statement, err = cbor.Marshal(map[string]any{"alg": algorithm, "sig": signature})
	must(err)
}

// encode puts the answer together.
func (a *answer) encode() []byte {
	text := base64.RawURLEncoding.EncodeToString
	a.response["clientDataJSON"] = text(a.clientData)
	if a.isNew {
		object, err := cbor.Marshal(attestation{a.format, a.statement, a.authData})
		must(err)
		a.response["attestationObject"] = text(object)
	} else {
		a.response["authenticatorData"], a.response["signature"] = text(a.authData), text(a.signature)
	}
	out, err := json.Marshal(a.outer)
	must(err)
	return out
}

// change alters an answer in one place, and signs it again half of the time: a change that a
// signature gives away tests nothing else. Other is another answer to take parts from.
func (a *answer) change(r *rand.Rand, other *answer) (encoded []byte) {
	resign := r.IntN(2) == 0
	switch r.IntN(14) {
	case 0:
		a.clientData = disturb(r, a.clientData, other.clientData)
	case 1:
		a.authData = disturb(r, a.authData, other.authData)
	case 2:
		a.authData[32] ^= 1 << r.IntN(8) // a flag
	case 3:
		a.authData[33+r.IntN(4)] ^= 1 << r.IntN(8) // the counter
	case 4:
		a.signature, a.statement = disturb(r, a.signature, other.signature), other.statement
		resign = false
	case 5:
		a.clientData = changeJSON(r, a.clientData)
	case 6:
		a.format = formats[r.IntN(len(formats))]
		if r.IntN(2) == 0 {
			a.statement, resign = cbor.RawMessage{0xa0}, false
		}
	case 7:
		a.key, resign = other.key, true // another key signs
	case 8:
		a.authData, resign = append(a.authData, other.authData...), true
	case 9:
		a.outer["id"], a.outer["rawId"] = other.outer["id"], other.outer["rawId"]
	case 10:
		a.outer[[]string{"id", "rawId", "type"}[r.IntN(3)]] = []any{"", "public-key", "AA", "AA==", nil, 1}[r.IntN(6)]
	case 11:
		extension, err := cbor.Marshal(values[r.IntN(len(values))])
		must(err)
		a.authData = append(a.authData, extension...)
		a.authData[32] |= 1 << 7
	case 12:
		return disturb(r, a.encode(), other.encode())
	case 13: // nothing
	}
	if resign {
		a.sign()
	}
	encoded = a.encode()
	if a.isNew && r.IntN(4) == 0 {
		// In the attestation object itself, where the parts can't get to.
		object := disturb(r, decode(a.response["attestationObject"].(string)), other.authData)
		a.response["attestationObject"] = base64.RawURLEncoding.EncodeToString(object)
		encoded, _ = json.Marshal(a.outer)
	}
	return encoded
}

var formats = []string{"none", "packed", "fido-u2f", "tpm", "apple", "android-key", "compound", "", "None", "home-made"}

var values = []any{map[string]any{}, map[string]any{"credProtect": 2}, map[string]any{"x": []any{1, map[string]any{"y": 2.5}}}, []any{}, 1, "x", nil, map[int]any{1: 2}}

// disturb changes a few bytes, drops some, doubles some, or takes some from elsewhere.
func disturb(r *rand.Rand, b, other []byte) []byte {
	b = slices.Clone(b)
	if len(b) == 0 {
		return b
	}
	at := r.IntN(len(b))
	to := min(len(b), at+1+r.IntN(8))
	switch r.IntN(6) {
	case 0:
		b[at] ^= 1 << r.IntN(8)
	case 1:
		b[at] = byte(r.Uint32())
	case 2:
		b = slices.Delete(b, at, to)
	case 3:
		b = slices.Insert(b, at, b[at:to]...)
	case 4:
		b = b[:at]
	case 5:
		if len(other) > 0 {
			from := r.IntN(len(other))
			b = slices.Insert(b, at, other[from:min(len(other), from+8)]...)
		}
	}
	return b
}

// changeJSON alters a member of the client data.
func changeJSON(r *rand.Rand, raw []byte) []byte {
	text := string(raw)
	for _, c := range [][2]string{
		{`"type"`, `"Type"`}, {`webauthn.`, `webauthn`}, {`.get`, `.create`}, {`.create`, `.get`}, {origin, "https://evil.example"},
		{origin, strings.ToUpper(origin)}, {origin, origin + "/"}, {origin, origin + ":443"}, {origin, origin + ".evil.example"}, {origin, "https://user@app.example"},
		{`{`, `{"crossOrigin":true,`}, {`{`, `{"crossOrigin":false,`}, {`{`, `{"topOrigin":"https://app.example",`}, {`{`, `{"topOrigin":"",`},
		{`{`, `{"origin":"https://evil.example",`}, {`}`, `,"origin":"https://evil.example"}`}, {`}`, `,"challenge":"AA"}`}, {`{`, `{"tokenBinding":{"status":"present"},`},
		{challenge, challenge + "="}, {challenge, challenge[:10]}, {challenge, ""}, {`"challenge"`, `"x"`}, {`{`, "\ufeff{"}, {`}`, `}{}`}, {`{`, `{"x":"\ud800",`}, {`}`, `,"crossOrigin":null}`},
		{`}`, `,"crossOrigin":1}`}, {`{`, "{\"\xff\":1,"}, {`{`, `[{`}, {`{`, ` { `},
	} {
		if r.IntN(10) == 0 {
			text = strings.Replace(text, c[0], c[1], 1)
		}
	}
	return []byte(text)
}

func decode(text string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(text)
	must(err)
	return b
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
