// Package jwe seals and opens the tokens of @auth/core: JWE in compact serialisation (RFC 7516, 7.1) with a shared key used
// directly ("dir"), encrypted with A256CBC-HS512 or, when opening, with A256GCM too.
//
// A session check opens one token and seals another, and in js/wasm a general JOSE library takes most of the time such a check
// has. This one form is small enough to be written over the standard library. Tests hold it against go-jose and the real jose.
//
// Open accepts what the reference's decode accepts, with four exceptions, none of which @auth/core writes: base64url must be
// canonical, as RFC 7515 defines it (jose lets padding, white space and stray final bits pass, so one token had many
// spellings); "zip" is refused even if it could be inflated; so are "iss", "sub" and "aud" in the header (jose compares them
// with the claims); a token may be at most 64 KiB long.
package jwe

import (
	"bytes"
	"crypto/aes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// The reasons why a token isn't opened or sealed, for logs: a client learns none of them.
var (
	// ErrTooLong is returned for tokens of more than 64 KiB, which no set of cookies can carry.
	ErrTooLong = errors.New("jwe: token longer than 64 KiB")
	// ErrMalformed is returned for what is no compact JWE.
	ErrMalformed = errors.New("jwe: malformed token")
	// ErrUnsupported is returned for another algorithm, and for a header parameter that would have to be obeyed.
	ErrUnsupported = errors.New("jwe: unsupported algorithm or header parameter")
	// ErrNoKey is returned for a token made with a secret or salt that the ring doesn't have.
	ErrNoKey = errors.New("jwe: no key with this id")
	// ErrAuthentication is returned for a token that was changed, or made with another key under a right key's id.
	ErrAuthentication = errors.New("jwe: authentication failed")
)

// MaxToken is how long a token may be, in bytes.
const MaxToken = 64 << 10

const (
	tagSize = 32 // of A256CBC-HS512: half of the SHA-512
	sumSize = 64
	alSize  = 8 // the length of the header in bits, which ends what the MAC covers
)

var b64 = base64.RawURLEncoding.Strict()

// IVSize is how many random bytes a token needs.
const IVSize = aes.BlockSize

// Seal encrypts the payload with the newest secret. It fails with ErrNoKey if there is none, and with ErrTooLong for a token
// that Open would refuse for its length.
func (r *Ring) Seal(payload []byte) (string, error) {
	var iv [IVSize]byte
	rand.Read(iv[:]) // never fails
	return r.SealIV(payload, iv)
}

// SealIV is Seal for a caller that reads random bytes anyway: in js/wasm each reading leaves the program. The bytes must come
// from crypto/rand and serve for nothing else.
func (r *Ring) SealIV(payload []byte, random [IVSize]byte) (string, error) {
	if len(r.secrets) == 0 {
		return "", ErrNoKey
	}
	if len(payload) > MaxToken {
		return "", ErrTooLong
	}
	k := r.cbcKey(0)
	padding := aes.BlockSize - len(payload)%aes.BlockSize
	iv := len(k.header)
	text := iv + aes.BlockSize
	al := text + len(payload) + padding
	tokenSize := len(k.header) + len("....") + b64.EncodedLen(aes.BlockSize) + b64.EncodedLen(al-text) + b64.EncodedLen(tagSize)
	if tokenSize > MaxToken {
		return "", ErrTooLong
	}

	// header | iv | ciphertext | al is what the MAC covers (RFC 7518, 5.2.2.1), in one piece, and then the MAC itself.
	buf := make([]byte, al+alSize, al+alSize+sumSize)
	copy(buf, k.header)
	copy(buf[iv:], random[:])
	copy(buf[text:], payload)
	for i := al - padding; i < al; i++ {
		buf[i] = byte(padding)
	}
	suite := k.suites.Get().(*cbcSuite)
	defer k.suites.Put(suite)
	suite.encrypter.SetIV(buf[iv:text])
	suite.encrypter.CryptBlocks(buf[text:al], buf[text:al])
	binary.BigEndian.PutUint64(buf[al:], uint64(len(k.header))*8)
	tag := suite.appendMAC(buf)[al+alSize:][:tagSize]

	token := make([]byte, 0, tokenSize)
	token = append(token, k.header...)
	token = append(token, '.', '.')
	token = b64.AppendEncode(token, buf[iv:text])
	token = append(token, '.')
	token = b64.AppendEncode(token, buf[text:al])
	token = append(token, '.')
	token = b64.AppendEncode(token, tag)
	return string(token), nil
}

// Open authenticates and decrypts a token made with any of the ring's secrets. The payload is any bytes; ParseClaims reads it.
// The error is one of this package's.
func (r *Ring) Open(token string) ([]byte, error) {
	if len(token) > MaxToken {
		return nil, ErrTooLong
	}
	header, rest, _ := strings.Cut(token, ".")
	rest, direct := strings.CutPrefix(rest, ".") // without an encrypted key
	iv, rest, _ := strings.Cut(rest, ".")
	tagAt := strings.LastIndexByte(rest, '.') + 1 // one dot too many is in the text, where decode meets it
	if !direct || tagAt == 0 {
		return nil, ErrMalformed
	}
	text, tag := rest[:tagAt-1], rest[tagAt:]
	for i := range r.secrets {
		if k := r.cbcKey(i); k.header == header {
			return k.open(header, iv, text, tag)
		}
	}
	h, err := parseHeader(header)
	if err != nil {
		return nil, err
	}
	if h.enc == encGCM {
		if k := r.gcmKeyOf(h.kid, h.named); k != nil {
			return k.open(header, iv, text, tag)
		}
	} else if k := r.cbcKeyOf(h.kid, h.named); k != nil {
		return k.open(header, iv, text, tag)
	}
	return nil, ErrNoKey
}

// header is what a token says about itself. named tells an empty kid from none.
type header struct {
	enc, kid string
	named    bool
}

// parseHeader reads a header that isn't one of our own. Names count as they are written, which rules out a struct: Go would
// take "ALG" for "alg".
func parseHeader(s string) (h header, err error) {
	raw := make([]byte, b64.DecodedLen(len(s)))
	if !decode(raw, s) || !utf8.Valid(raw) || !bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) {
		return h, ErrMalformed
	}
	var members map[string]any
	if json.Unmarshal(raw, &members) != nil {
		return h, ErrMalformed
	}
	for _, name := range [...]string{"crit", "zip", "iss", "sub", "aud"} {
		if _, found := members[name]; found {
			return h, ErrUnsupported
		}
	}
	h.enc, _ = members["enc"].(string)
	if members["alg"] != "dir" || h.enc != encCBC && h.enc != encGCM {
		return h, ErrUnsupported
	}
	kid, named := members["kid"]
	h.named = named
	h.kid, _ = kid.(string) // what is no text becomes "", which is no key's id
	return h, nil
}

func (k *cbcKey) open(header, iv, text, tag string) ([]byte, error) {
	if len(iv) != b64.EncodedLen(aes.BlockSize) || len(tag) != b64.EncodedLen(tagSize) {
		return nil, ErrMalformed
	}
	ivAt := len(header)
	textAt := ivAt + aes.BlockSize
	alAt := textAt + b64.DecodedLen(len(text))
	buf := make([]byte, alAt+alSize, alAt+alSize+sumSize)
	copy(buf, header)
	var gotTag [tagSize]byte
	if !decode(buf[ivAt:textAt], iv) || !decode(buf[textAt:alAt], text) || !decode(gotTag[:], tag) {
		return nil, ErrMalformed
	}
	binary.BigEndian.PutUint64(buf[alAt:], uint64(len(header))*8)
	suite := k.suites.Get().(*cbcSuite)
	defer k.suites.Put(suite)
	sum := suite.appendMAC(buf)[alAt+alSize:]
	if subtle.ConstantTimeCompare(sum[:tagSize], gotTag[:]) != 1 {
		return nil, ErrAuthentication
	}
	// From here on the token is known to be made with the key, so nothing below can serve as an oracle.
	n := alAt - textAt
	if n == 0 || n%aes.BlockSize != 0 {
		return nil, ErrAuthentication
	}
	payload := buf[textAt:alAt]
	suite.decrypter.SetIV(buf[ivAt:textAt])
	suite.decrypter.CryptBlocks(payload, payload)
	padding := int(payload[n-1])
	if padding == 0 || padding > aes.BlockSize {
		return nil, ErrAuthentication
	}
	for _, b := range payload[n-padding:] {
		if int(b) != padding {
			return nil, ErrAuthentication
		}
	}
	return payload[: n-padding : n-padding], nil
}

func (k *gcmKey) open(header, iv, text, tag string) ([]byte, error) {
	if len(iv) != b64.EncodedLen(k.aead.NonceSize()) || len(tag) != b64.EncodedLen(k.aead.Overhead()) {
		return nil, ErrMalformed
	}
	nonce := make([]byte, k.aead.NonceSize())
	n := b64.DecodedLen(len(text))
	sealed := make([]byte, n+k.aead.Overhead())
	if !decode(nonce, iv) || !decode(sealed[:n], text) || !decode(sealed[n:], tag) {
		return nil, ErrMalformed
	}
	payload, err := k.aead.Open(sealed[:0], nonce, sealed, []byte(header))
	if err != nil {
		return nil, ErrAuthentication
	}
	return payload, nil
}

// decode fills dst, which has b64.DecodedLen(len(s)) bytes, with all that s encodes.
//
// Line ends, which the decoder skips, fail here: what is left of s is shorter, and of the lengths that a decoder accepts, which
// are not 1 modulo 4, a shorter one always gives fewer bytes.
func decode(dst []byte, s string) bool {
	if len(s)%4 == 1 {
		return false
	}
	n, err := b64.Decode(dst, []byte(s))
	return err == nil && n == len(dst)
}
