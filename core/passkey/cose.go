package passkey

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"math/big"
)

// COSE algorithms (RFC 9053; RFC 8812 for RS256). EdDSA is Ed25519 only, ES256 P-256 only (Web
// Authentication, level 3, section 5.8.5).
const (
	algEdDSA = -8
	algES256 = -7
	algRS256 = -257
)

// RSA keys are from 2,048 bits, as RFC 8812 demands, to 4,096, which is as much work as a
// stranger's key may make.
const (
	minRSABits = 2048
	maxRSABits = 4096
)

// The parameters of a key, as their labels are encoded: 1, 3, -1, -2 and -3 (RFC 9053, section 7).
const (
	labelKeyType   = "\x01"
	labelAlgorithm = "\x03"
	labelMinus1    = "\x20"
	labelMinus2    = "\x21"
	labelMinus3    = "\x22"
)

// A publicKey is the key of a credential.
type publicKey struct {
	algorithm int64
	key       crypto.PublicKey
}

// parseKey reads a COSE key (RFC 9052, section 7). One that is not of a known kind, or not a
// point of its curve, is ErrKey.
func parseKey(raw []byte) (*publicKey, error) {
	members, err := readMap(raw)
	if err != nil {
		return nil, err
	}
	number := func(label string) int64 {
		n, _ := asInt(members[label])
		return n
	}
	content := func(label string) []byte {
		b, _ := asBytes(members[label])
		return b
	}
	out := &publicKey{algorithm: number(labelAlgorithm)}
	switch out.algorithm {
	case algES256:
		x, y := content(labelMinus2), content(labelMinus3)
		if number(labelKeyType) != 2 || number(labelMinus1) != 1 || len(x) != 32 || len(y) != 32 {
			return nil, ErrKey
		}
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
		if err != nil {
			return nil, ErrKey
		}
		out.key = key
	case algEdDSA:
		x := content(labelMinus2)
		if number(labelKeyType) != 1 || number(labelMinus1) != 6 || len(x) != ed25519.PublicKeySize {
			return nil, ErrKey
		}
		out.key = ed25519.PublicKey(x)
	case algRS256:
		n, e := new(big.Int).SetBytes(content(labelMinus1)), content(labelMinus2)
		if number(labelKeyType) != 3 || n.BitLen() < minRSABits || n.BitLen() > maxRSABits || n.Bit(0) == 0 || len(e) == 0 || len(e) > 4 {
			return nil, ErrKey
		}
		exponent := new(big.Int).SetBytes(e).Int64()
		if exponent < 3 || exponent > 1<<31-1 || exponent&1 == 0 {
			return nil, ErrKey
		}
		out.key = &rsa.PublicKey{N: n, E: int(exponent)}
	default:
		return nil, ErrAlgorithm
	}
	return out, nil
}

// verify reports whether the signature of a message is the key's.
func (k *publicKey) verify(message, signature []byte) bool {
	digest := sha256.Sum256(message)
	switch key := k.key.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, digest[:], signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) == nil
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, signature)
	}
	return false
}
