package passkey

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// VerifyRegistration checks what navigator.credentials.create gave, as RegistrationResponseJSON,
// by the steps of Web Authentication, level 3, section 7.1, and gives the authenticator to store.
// Its UserID is for the caller to set, and so is the step that the credential is nobody's yet.
//
// The extensions' results are not looked at: none is asked for but credProps, which binds nobody.
func VerifyRegistration(response []byte, c core.Ceremony) (*core.Authenticator, error) {
	id, inner, clientData, err := readResponse(response)
	if err != nil {
		return nil, err
	}
	if err := checkClientData(clientData, "webauthn.create", c); err != nil {
		return nil, err
	}
	attestation, err := inner.bytes("attestationObject")
	if err != nil {
		return nil, err
	}
	members, err := readMap(attestation)
	if err != nil {
		return nil, err
	}
	raw, ok := asBytes(members[textKey("authData")])
	if !ok {
		return nil, malformed("there are no authenticator data")
	}
	data, err := parseAuthData(raw)
	if err != nil {
		return nil, err
	}
	if err := data.check(c); err != nil {
		return nil, err
	}
	if data.flags&flagAttested == 0 {
		return nil, malformed("there are no attested credential data")
	}
	if !bytes.Equal(data.credentialID, id) {
		return nil, ErrCredentialID
	}
	key, err := parseKey(data.publicKey)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(c.Algorithms, key.algorithm) {
		return nil, ErrAlgorithm
	}
	format, _ := asText(members[textKey("fmt")])
	if err := checkAttestation(format, members[textKey("attStmt")], key, withHash(raw, clientData)); err != nil {
		return nil, err
	}
	return &core.Authenticator{
		CredentialID:         base64.StdEncoding.EncodeToString(id),
		ProviderAccountID:    base64.StdEncoding.EncodeToString(id),
		CredentialPublicKey:  base64.StdEncoding.EncodeToString(data.publicKey),
		Counter:              data.counter,
		CredentialDeviceType: data.deviceType(),
		CredentialBackedUp:   data.flags&flagBackedUp != 0,
		Transports:           transports(inner["transports"]),
	}, nil
}

// checkAttestation checks a statement (sections 8.2 and 8.7): that "none" states nothing, and that
// a key attests itself. Statements of other keys are not asked for and not trusted: without the
// roots of the authenticators' makers they prove nothing. An answer with one counts as one without.
func checkAttestation(format string, statement []byte, key *publicKey, signed []byte) error {
	switch format {
	case "tpm", "android-key", "android-safetynet", "fido-u2f", "apple", "compound":
		if len(statement) == 0 {
			return ErrAttestation
		}
		return nil
	case "none", "packed":
	default:
		return ErrAttestation
	}
	members, err := readMap(statement)
	if err != nil {
		return ErrAttestation
	}
	if format == "none" {
		if len(members) > 0 {
			return ErrAttestation
		}
		return nil
	}
	if _, foreign := members[textKey("x5c")]; foreign {
		return nil
	}
	algorithm, _ := asInt(members[textKey("alg")])
	signature, _ := asBytes(members[textKey("sig")])
	if algorithm != key.algorithm || !key.verify(signed, signature) {
		return ErrAttestation
	}
	return nil
}

// maxTransports is more than there are.
const maxTransports = 8

// transports joins the names of transports by commas. They are a hint from the browser that
// nothing vouches for; what can't be a name is left out.
func transports(raw json.RawMessage) string {
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	list = slices.DeleteFunc(list, func(name string) bool {
		return name == "" || len(name) > 32 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != ""
	})
	return strings.Join(list[:min(len(list), maxTransports)], ",")
}
