package passkey

import (
	"encoding/base64"

	"github.com/edgeauth/edgeauth/core"
)

// VerifyAuthentication checks what navigator.credentials.get gave, as AuthenticationResponseJSON,
// by the steps of Web Authentication, level 3, section 7.2, with the authenticator that is stored
// for the answer's credential. The caller has still to compare the user handle, and to store the
// counter in one step with comparing it again.
func VerifyAuthentication(response []byte, c core.Ceremony, known core.Authenticator) (*core.Assertion, error) {
	id, inner, clientData, err := readResponse(response)
	if err != nil {
		return nil, err
	}
	if base64.StdEncoding.EncodeToString(id) != known.CredentialID {
		return nil, ErrCredentialID
	}
	if err := checkClientData(clientData, "webauthn.get", c); err != nil {
		return nil, err
	}
	raw, err := inner.bytes("authenticatorData")
	if err != nil {
		return nil, err
	}
	data, err := parseAuthData(raw)
	if err != nil {
		return nil, err
	}
	if data.flags&flagAttested != 0 { // section 6.1: never in an assertion
		return nil, malformed("an assertion has attested credential data")
	}
	if err := data.check(c); err != nil {
		return nil, err
	}
	switch known.CredentialDeviceType {
	case singleDevice, multiDevice:
		if data.deviceType() != known.CredentialDeviceType {
			return nil, ErrBackup
		}
	}
	cose, err := base64.StdEncoding.DecodeString(known.CredentialPublicKey)
	if err != nil {
		return nil, ErrKey
	}
	key, err := parseKey(cose)
	if err != nil {
		return nil, err
	}
	signature, err := inner.bytes("signature")
	if err != nil {
		return nil, err
	}
	if !key.verify(withHash(raw, clientData), signature) {
		return nil, ErrSignature
	}
	if data.counter <= known.Counter && (data.counter != 0 || known.Counter != 0) {
		return nil, ErrCounter
	}
	handle, _ := inner.text("userHandle")
	return &core.Assertion{Counter: data.counter, UserHandle: handle}, nil
}
