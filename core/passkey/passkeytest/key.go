package passkeytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// The COSE algorithms that an [Authenticator] can.
const (
	EdDSA = -8
	ES256 = -7
	RS256 = -257
)

// newKey makes a key pair.
func newKey(algorithm int64) (crypto.Signer, error) {
	switch algorithm {
	case ES256:
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case RS256:
		return rsa.GenerateKey(rand.Reader, 2048)
	case EdDSA:
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	}
	return nil, errors.New("passkeytest: an unknown algorithm")
}

// PublicKey encodes a public key for COSE (RFC 9052, section 7): an *ecdsa.PublicKey on P-256, an
// ed25519.PublicKey or an *rsa.PublicKey.
func PublicKey(key crypto.PublicKey) []byte {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		point, err := key.Bytes()
		if err != nil {
			return nil
		}
		b := appendHead(nil, majorMap, 5)
		b = appendInt(appendInt(b, 1), 2)
		b = appendInt(appendInt(b, 3), ES256)
		b = appendInt(appendInt(b, -1), 1)
		b = appendBytes(appendInt(b, -2), point[1:33])
		return appendBytes(appendInt(b, -3), point[33:])
	case ed25519.PublicKey:
		b := appendHead(nil, majorMap, 4)
		b = appendInt(appendInt(b, 1), 1)
		b = appendInt(appendInt(b, 3), EdDSA)
		b = appendInt(appendInt(b, -1), 6)
		return appendBytes(appendInt(b, -2), key)
	case *rsa.PublicKey:
		b := appendHead(nil, majorMap, 4)
		b = appendInt(appendInt(b, 1), 3)
		b = appendInt(appendInt(b, 3), RS256)
		b = appendBytes(appendInt(b, -1), key.N.Bytes())
		exponent := binary.BigEndian.AppendUint32(nil, uint32(key.E))
		return appendBytes(appendInt(b, -2), exponent[1:])
	}
	return nil
}

func algorithmOf(key crypto.PublicKey) int64 {
	switch key.(type) {
	case *ecdsa.PublicKey:
		return ES256
	case *rsa.PublicKey:
		return RS256
	}
	return EdDSA
}

func sign(key crypto.Signer, message []byte) ([]byte, error) {
	if _, whole := key.(ed25519.PrivateKey); whole {
		return key.Sign(rand.Reader, message, crypto.Hash(0))
	}
	digest := sha256.Sum256(message)
	return key.Sign(rand.Reader, digest[:], crypto.SHA256)
}
