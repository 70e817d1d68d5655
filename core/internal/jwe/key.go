package jwe

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"sync"
)

// The two content encryptions (RFC 7518, 5.2.5 and 5.3) that sessions may use. The first is what Seal writes.
const (
	encCBC = "A256CBC-HS512"
	encGCM = "A256GCM"
)

// cbcKey is a key for A256CBC-HS512. It is safe for concurrent use.
type cbcKey struct {
	id     string
	header string    // the encoded header of what this key seals, and of nearly all it opens
	suites sync.Pool // of *cbcSuite: setting one up costs two blocks of SHA-512 and most of the allocations
}

// cbcSuite is what seals and opens one token at a time.
type cbcSuite struct {
	mac                  hash.Hash // HMAC-SHA-512
	encrypter, decrypter cbcMode
}

// cbcMode is what AES has in CBC mode; crypto/tls relies on it, too.
type cbcMode interface {
	cipher.BlockMode
	SetIV(iv []byte)
}

func newCBCKey(secret, salt string) *cbcKey {
	raw := derive(secret, salt, 64)
	sum := sha512.Sum512(jwk(raw))
	k := &cbcKey{id: base64.RawURLEncoding.EncodeToString(sum[:])}
	k.header = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"dir","enc":"` + encCBC + `","kid":"` + k.id + `"}`))
	k.suites.New = func() any {
		block, iv := newBlock(raw[32:]), make([]byte, aes.BlockSize)
		return &cbcSuite{
			mac:       hmac.New(sha512.New, raw[:32]),
			encrypter: cipher.NewCBCEncrypter(block, iv).(cbcMode),
			decrypter: cipher.NewCBCDecrypter(block, iv).(cbcMode),
		}
	}
	return k
}

// appendMAC appends the whole HMAC of b to b.
func (s *cbcSuite) appendMAC(b []byte) []byte {
	s.mac.Reset()
	s.mac.Write(b)
	return s.mac.Sum(b)
}

// gcmKey is a key for A256GCM. It is safe for concurrent use.
type gcmKey struct {
	id   string
	aead cipher.AEAD
}

func newGCMKey(secret, salt string) *gcmKey {
	raw := derive(secret, salt, 32)
	sum := sha256.Sum256(jwk(raw))
	aead, err := cipher.NewGCM(newBlock(raw))
	if err != nil {
		panic(err) // no other block size
	}
	return &gcmKey{id: base64.RawURLEncoding.EncodeToString(sum[:]), aead: aead}
}

// derive is the reference's getDerivedEncryptionKey (jwt.ts): HKDF of RFC 5869 with the salt in the info, too, so that a token
// for one cookie is worthless as another.
func derive(secret, salt string, length int) []byte {
	key, err := hkdf.Key(sha256.New, []byte(secret), []byte(salt), "Auth.js Generated Encryption Key ("+salt+")", length)
	if err != nil {
		panic(err) // only for more than 255 blocks
	}
	return key
}

// jwk is the canonical JSON of RFC 7638, 3.2, the hash of which identifies the key.
func jwk(raw []byte) []byte {
	return []byte(`{"k":"` + base64.RawURLEncoding.EncodeToString(raw) + `","kty":"oct"}`)
}

func newBlock(key []byte) cipher.Block {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // no other length
	}
	return block
}
