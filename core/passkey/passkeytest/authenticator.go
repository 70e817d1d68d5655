package passkeytest

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
)

// An Authenticator is a security key, or a phone, that does what it is told. It keeps every passkey
// it makes. It is not for concurrent use.
type Authenticator struct {
	Origin     string   // of the page it is used on
	Algorithms []int64  // those it can; empty: all of them
	Transports []string // what it tells a browser
	Counts     bool     // it counts its signatures; passkeys that are synchronised don't
	Unverified bool     // it does not verify its user
	Synced     bool     // its passkeys are backed up
	Attests    bool     // its keys attest themselves

	// Tamper changes an answer before it is signed and encoded. Nil: it is as it should be.
	Tamper func(*Answer)

	passkeys []*passkey
}

type passkey struct {
	id      []byte
	rpID    string
	handle  []byte
	key     crypto.Signer
	counter uint32
}

var (
	// ErrExcluded is the error for a user who has a passkey on this authenticator already.
	ErrExcluded = errors.New("passkeytest: the authenticator has one of the excluded credentials")
	// ErrNoPasskey is the error when no passkey fits what is asked for.
	ErrNoPasskey = errors.New("passkeytest: the authenticator has no such passkey")
)

type descriptor struct{ ID string }

// Create makes a passkey, as navigator.credentials.create does, and gives the answer to
// PublicKeyCredentialCreationOptionsJSON. Of a user it keeps one passkey.
func (a *Authenticator) Create(options []byte) ([]byte, error) {
	var o struct {
		Challenge          string
		RP                 struct{ ID string }
		User               struct{ ID string }
		PubKeyCredParams   []struct{ Alg int64 }
		ExcludeCredentials []descriptor
	}
	if err := json.Unmarshal(options, &o); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(a.passkeys, func(p *passkey) bool { return p.isNamed(o.ExcludeCredentials) }) {
		return nil, ErrExcluded
	}
	var algorithm int64
	for _, p := range o.PubKeyCredParams {
		if len(a.Algorithms) == 0 || slices.Contains(a.Algorithms, p.Alg) {
			algorithm = p.Alg
			break
		}
	}
	key, err := newKey(algorithm)
	if err != nil {
		return nil, err
	}
	handle, err := base64.RawURLEncoding.DecodeString(o.User.ID)
	if err != nil || len(handle) == 0 || len(handle) > 64 {
		return nil, errors.New("passkeytest: the user handle is not one of 1 to 64 bytes")
	}
	made := &passkey{id: make([]byte, 32), rpID: o.RP.ID, handle: handle, key: key}
	_, _ = rand.Read(made.id)
	out := a.answer(made, "webauthn.create", o.Challenge)
	out.Flags |= Attested
	out.AAGUID, out.CredentialID, out.PublicKey = make([]byte, 16), made.id, PublicKey(key.Public())
	out.Format, out.Transports = "none", a.Transports
	if a.Attests {
		out.Format = "packed"
	}
	if a.Tamper != nil {
		a.Tamper(out)
	}
	data, err := out.encode(true)
	if err != nil {
		return nil, err
	}
	a.passkeys = slices.DeleteFunc(a.passkeys, func(p *passkey) bool {
		return p.rpID == made.rpID && string(p.handle) == string(made.handle)
	})
	a.passkeys = append(a.passkeys, made)
	return data, nil
}

// Get uses a passkey, as navigator.credentials.get does, and gives the answer to
// PublicKeyCredentialRequestOptionsJSON. Of several that fit it takes the latest.
func (a *Authenticator) Get(options []byte) ([]byte, error) {
	var o struct {
		Challenge        string
		RPID             string
		AllowCredentials []descriptor
	}
	if err := json.Unmarshal(options, &o); err != nil {
		return nil, err
	}
	for _, p := range slices.Backward(a.passkeys) {
		if p.rpID != o.RPID || len(o.AllowCredentials) > 0 && !p.isNamed(o.AllowCredentials) {
			continue
		}
		out := a.answer(p, "webauthn.get", o.Challenge)
		out.UserHandle = p.handle
		if a.Tamper != nil {
			a.Tamper(out)
		}
		return out.encode(false)
	}
	return nil, ErrNoPasskey
}

// answer is what both ceremonies begin with.
func (a *Authenticator) answer(p *passkey, kind, challenge string) *Answer {
	id := base64.RawURLEncoding.EncodeToString(p.id)
	hash := sha256.Sum256([]byte(p.rpID))
	out := &Answer{
		ID: id, RawID: id, Type: "public-key",
		ClientData: map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin, "crossOrigin": false},
		RPIDHash:   hash[:], Flags: UserPresent | UserVerified, Key: p.key,
	}
	if a.Unverified {
		out.Flags &^= UserVerified
	}
	if a.Synced {
		out.Flags |= BackupEligible | BackedUp
	}
	if a.Counts {
		p.counter++
		out.Counter = p.counter
	}
	return out
}

func (p *passkey) isNamed(list []descriptor) bool {
	id := base64.RawURLEncoding.EncodeToString(p.id)
	return slices.ContainsFunc(list, func(d descriptor) bool { return d.ID == id })
}
