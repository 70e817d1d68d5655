package passkey

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/edgeauth/edgeauth/core"
)

// The flags of authenticator data (Web Authentication, level 3, section 6.1).
const (
	flagUserPresent    = 1 << 0
	flagUserVerified   = 1 << 2
	flagBackupEligible = 1 << 3
	flagBackedUp       = 1 << 4
	flagAttested       = 1 << 6
	flagExtensions     = 1 << 7
)

// The lengths of the parts of authenticator data, in bytes.
const (
	hashSize        = 32
	fixedSize       = hashSize + 1 + 4 // with flags and counter
	attestedSize    = 16 + 2           // the AAGUID and the ID's length
	maxCredentialID = 1023             // section 4, "Credential ID"
)

// authData is authenticator data (section 6.1).
type authData struct {
	rpIDHash     []byte
	flags        byte
	counter      uint32
	credentialID []byte // with flagAttested, like the key
	publicKey    []byte // COSE
}

// parseAuthData reads authenticator data to the last byte.
func parseAuthData(raw []byte) (*authData, error) {
	if len(raw) < fixedSize {
		return nil, malformed("the authenticator data end too early")
	}
	out := &authData{
		rpIDHash: raw[:hashSize],
		flags:    raw[hashSize],
		counter:  binary.BigEndian.Uint32(raw[hashSize+1:]),
	}
	rest := raw[fixedSize:]
	if out.flags&flagAttested != 0 {
		if len(rest) < attestedSize {
			return nil, malformed("the attested credential data end too early")
		}
		length := int(binary.BigEndian.Uint16(rest[attestedSize-2:]))
		rest = rest[attestedSize:]
		switch {
		case length == 0 || length > maxCredentialID:
			return nil, ErrCredentialID
		case len(rest) < length:
			return nil, malformed("the attested credential data end too early")
		}
		out.credentialID = rest[:length]
		_, after, err := cutMap(rest[length:], maxDepth)
		if err != nil {
			return nil, err
		}
		out.publicKey = rest[length : len(rest)-len(after)]
		rest = after
	}
	if out.flags&flagExtensions != 0 {
		extensions, after, err := cutMap(rest, maxDepth)
		if err != nil {
			return nil, err
		}
		for name := range extensions {
			if _, ok := asText([]byte(name)); !ok {
				return nil, malformed("an extension's name is no text")
			}
		}
		rest = after
	}
	if len(rest) > 0 {
		return nil, malformed("the authenticator data go on after their end")
	}
	return out, nil
}

// check holds the data to a ceremony: the steps that registration and authentication share.
func (a *authData) check(c core.Ceremony) error {
	hash := sha256.Sum256([]byte(c.RPID))
	switch {
	case !bytes.Equal(a.rpIDHash, hash[:]):
		return ErrRPID
	case a.flags&flagUserPresent == 0:
		return ErrUserPresence
	case c.UserVerification && a.flags&flagUserVerified == 0:
		return ErrUserVerification
	case a.flags&flagBackupEligible == 0 && a.flags&flagBackedUp != 0:
		return ErrBackup
	}
	return nil
}

// deviceType is how Auth.js stores whether a credential may be backed up.
func (a *authData) deviceType() string {
	if a.flags&flagBackupEligible != 0 {
		return multiDevice
	}
	return singleDevice
}

const (
	multiDevice  = "multiDevice"
	singleDevice = "singleDevice"
)
