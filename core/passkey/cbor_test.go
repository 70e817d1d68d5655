package passkey

import (
	"crypto/rsa"
	"errors"
	"math/big"
	"testing"

	"github.com/edgeauth/edgeauth/core/passkey/passkeytest"
)

// What authenticators must not write is not read (CTAP 2.1, section 8).
func TestCBOR(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     bool
	}{
		{"an integer", "\x17", true},
		{"an integer of two bytes", "\x18\x18", true},
		{"an integer that could be shorter", "\x18\x17", false},
		{"one of four bytes that could be two", "\x1a\x00\x00\xff\xff", false},
		{"one of eight bytes that could be four", "\x1b\x00\x00\x00\x00\xff\xff\xff\xff", false},
		{"the least integer", "\x3b\xff\xff\xff\xff\xff\xff\xff\xff", true},
		{"an integer cut off", "\x19\x01", false},
		{"a reserved size", "\x1c" + "\x01\x23\x45\x67\x89\xab\xcd\xef" + "\x01\x23\x45\x67\x89\xab\xcd\xef", false},
		{"bytes", "\x43abc", true},
		{"bytes cut off", "\x43ab", false},
		{"bytes beyond all bounds", "\x5b\xff\xff\xff\xff\xff\xff\xff\xff", false},
		{"bytes of indefinite length", "\x5f\x41a\xff", false},
		{"text", "\x63a\xc3\xa9", true},
		{"text that is not UTF-8", "\x62a\xff", false},
		{"a list", "\x82\x01\x80", true},
		{"a list beyond all bounds", "\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x01", false},
		{"a list of indefinite length", "\x9f\xff", false},
		{"five lists in one another", "\x81\x81\x81\x81\x81\x01", true},
		{"six lists in one another", "\x81\x81\x81\x81\x81\x81\x01", false},
		{"a map", "\xa2\x01\x02\x20\x03", true},
		{"a map in any order", "\xa2\x20\x02\x01\x03", true},
		{"a map with a key twice", "\xa2\x01\x02\x01\x03", false},
		{"a map in a map with a key twice", "\xa1\x01\xa2\x61a\x02\x61a\x03", false},
		{"a map without its last value", "\xa1\x01", false},
		{"five maps in one another", "\xa1\x01\xa1\x01\xa1\x01\xa1\x01\xa1\x01\x01", true},
		{"six maps in one another", "\xa1\x01\xa1\x01\xa1\x01\xa1\x01\xa1\x01\xa1\x01\x01", false},
		{"a tag", "\xc0\x01", false},
		{"true", "\xf5", true},
		{"undefined", "\xf7", false},
		{"a simple value", "\xf8\xff", false},
		{"a float", "\xf9\x3c\x00", false},
		{"the end of nothing", "\xff", false},
		{"nothing", "", false},
	} {
		_, rest, err := cut([]byte(c.in), maxDepth)
		if got := err == nil && len(rest) == 0; got != c.want || err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: read %v, want %v: %v", c.name, got, c.want, err)
		}
	}
	if _, err := readMap([]byte("\xa0\x00")); !errors.Is(err, ErrMalformed) {
		t.Errorf("something behind the map: %v", err)
	}
}

// RSA keys that are too small to be safe, or too large to be checked for a stranger.
func TestKeyRSA(t *testing.T) {
	t.Parallel()
	modulus := func(bits uint) *big.Int { // odd, and of so many bits; nobody signs with it
		n := new(big.Int).Lsh(big.NewInt(1), bits-1)
		return n.SetBit(n, 0, 1)
	}
	for _, c := range []struct {
		name     string
		n        *big.Int
		exponent int
		want     error
	}{
		{"2048 bits", modulus(2048), 65537, nil},
		{"4096 bits", modulus(4096), 3, nil},
		{"2047 bits", modulus(2047), 65537, ErrKey},
		{"4097 bits", modulus(4097), 65537, ErrKey},
		{"an even modulus", new(big.Int).Lsh(big.NewInt(1), 2047), 65537, ErrKey},
		{"exponent 1", modulus(2048), 1, ErrKey},
		{"exponent 0", modulus(2048), 0, ErrKey},
		{"an even exponent", modulus(2048), 65536, ErrKey},
	} {
		if _, err := parseKey(passkeytest.PublicKey(&rsa.PublicKey{N: c.n, E: c.exponent})); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	long := passkeytest.PublicKey(&rsa.PublicKey{N: modulus(2048), E: 65537})
	long = append(long[:len(long)-4], "\x45\x01\x00\x00\x00\x01"...) // an exponent of 33 bits
	if _, err := parseKey(long); !errors.Is(err, ErrKey) {
		t.Errorf("an exponent of 33 bits: %v", err)
	}
}
