package passkeytest

import (
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
)

// The flags of authenticator data (Web Authentication, level 3, section 6.1).
const (
	UserPresent    = 1 << 0
	UserVerified   = 1 << 2
	BackupEligible = 1 << 3
	BackedUp       = 1 << 4
	Attested       = 1 << 6
	Extended       = 1 << 7
)

// An Answer is what a browser is about to give, in its parts. A nil ClientDataJSON, AuthData,
// AttestationObject or Signature is made of the parts above it.
type Answer struct {
	ID, RawID string // base64url
	Type      string

	ClientData     map[string]any
	ClientDataJSON []byte

	RPIDHash     []byte
	Flags        byte
	Counter      uint32
	AAGUID       []byte // 16 bytes, in a registration like the next two
	CredentialID []byte
	PublicKey    []byte // COSE
	Extensions   []byte // CBOR
	AuthData     []byte

	Format            string // of the attestation statement
	Statement         []byte // CBOR; nil: as the format has it
	AttestationObject []byte
	Transports        []string

	Signature  []byte
	UserHandle []byte // empty: none

	Key crypto.Signer // that signs
}

// encode gives the answer as RegistrationResponseJSON or AuthenticationResponseJSON.
func (a *Answer) encode(isRegistration bool) ([]byte, error) {
	if a.ClientDataJSON == nil {
		var err error
		if a.ClientDataJSON, err = json.Marshal(a.ClientData); err != nil {
			return nil, err
		}
	}
	if a.AuthData == nil {
		a.AuthData = a.authData()
	}
	hash := sha256.Sum256(a.ClientDataJSON)
	signed := slices.Concat(a.AuthData, hash[:])
	text := base64.RawURLEncoding.EncodeToString
	response := map[string]any{"clientDataJSON": text(a.ClientDataJSON)}
	if isRegistration {
		if a.AttestationObject == nil {
			if err := a.attest(signed); err != nil {
				return nil, err
			}
		}
		response["attestationObject"] = text(a.AttestationObject)
		response["transports"] = a.Transports
	} else {
		if a.Signature == nil {
			var err error
			if a.Signature, err = sign(a.Key, signed); err != nil {
				return nil, err
			}
		}
		response["authenticatorData"] = text(a.AuthData)
		response["signature"] = text(a.Signature)
		if len(a.UserHandle) > 0 {
			response["userHandle"] = text(a.UserHandle)
		}
	}
	return json.Marshal(map[string]any{
		"id": a.ID, "rawId": a.RawID, "type": a.Type, "response": response, "clientExtensionResults": map[string]any{},
	})
}

func (a *Answer) authData() []byte {
	b := append(slices.Clone(a.RPIDHash), a.Flags)
	b = binary.BigEndian.AppendUint32(b, a.Counter)
	if a.Flags&Attested != 0 {
		b = append(b, a.AAGUID...)
		b = binary.BigEndian.AppendUint16(b, uint16(len(a.CredentialID)))
		b = append(append(b, a.CredentialID...), a.PublicKey...)
	}
	return append(b, a.Extensions...)
}

// attest makes the attestation object: with an empty statement, or for "packed" the key's own.
func (a *Answer) attest(signed []byte) error {
	if a.Statement == nil {
		a.Statement = appendHead(nil, majorMap, 0)
		if a.Format == "packed" {
			signature, err := sign(a.Key, signed)
			if err != nil {
				return err
			}
			a.Statement = appendHead(nil, majorMap, 2)
			a.Statement = appendInt(appendText(a.Statement, "alg"), algorithmOf(a.Key.Public()))
			a.Statement = appendBytes(appendText(a.Statement, "sig"), signature)
		}
	}
	b := appendHead(nil, majorMap, 3)
	b = appendText(appendText(b, "fmt"), a.Format)
	b = append(appendText(b, "attStmt"), a.Statement...)
	a.AttestationObject = appendBytes(appendText(b, "authData"), a.AuthData)
	return nil
}
