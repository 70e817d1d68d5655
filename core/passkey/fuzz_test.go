package passkey

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// FuzzCBOR: an item and what follows it are the input again, and an item alone is read the same.
func FuzzCBOR(f *testing.F) {
	for _, seed := range []string{
		"", "\x00", "\x17", "\x18\x18", "\x18\x17", "\x19\x01\x00", "\x19\x00\xff", "\x1a\x00\x01\x00\x00", "\x1b\x00\x00\x00\x01\x00\x00\x00\x00",
		"\x1b\xff\xff\xff\xff\xff\xff\xff\xff", "\x20", "\x3b\xff\xff\xff\xff\xff\xff\xff\xff", "\x43abc", "\x5f\x41a\xff", "\x63abc", "\x61\xff",
		"\x5b\xff\xff\xff\xff\xff\xff\xff\xff", "\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "\xbb\xff\xff\xff\xff\xff\xff\xff\xff",
		"\x80", "\x82\x01\x02", "\x9f\xff", "\x81\x81\x81\x81\x81\x01", "\x81\x81\x81\x81\x81\x81\x01", "\xa1\x01\x02", "\xa2\x01\x02\x01\x03",
		"\xa2\x02\x01\x01\x02", "\xa1\x81\x01\x02", "\xbf\xff", "\xc0\x01", "\xf4", "\xf5", "\xf6", "\xf7", "\xf8\x20", "\xf9\x00\x00", "\xff", "\x1c",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		item, rest, err := cut(b, maxDepth)
		if err != nil {
			return
		}
		if !bytes.Equal(append(bytes.Clone(item), rest...), b) {
			t.Fatalf("%x is %x and %x", b, item, rest)
		}
		again, none, err := cut(item, maxDepth)
		if err != nil || !bytes.Equal(again, item) || len(none) > 0 {
			t.Errorf("%x alone is %x and %x: %v", item, again, none, err)
		}
		if n, ok := asInt(item); ok {
			want := appendCanonical(n)
			if !bytes.Equal(want, item) {
				t.Errorf("%x is %d, which is %x", item, n, want)
			}
		}
		members, after, err := cutMap(b, maxDepth)
		if isMap := b[0]>>5 == majorMap; isMap != (err == nil) || isMap && !bytes.Equal(after, rest) {
			t.Errorf("as a map %x is %v, %x: %v", b, members, after, err)
		}
	})
}

// appendCanonical is an integer as short as can be.
func appendCanonical(n int64) []byte {
	major := byte(majorUint)
	if n < 0 {
		major, n = majorNegint, -1-n
	}
	head := major << 5
	switch {
	case n < 24:
		return []byte{head | byte(n)}
	case n < 1<<8:
		return []byte{head | 24, byte(n)}
	case n < 1<<16:
		return []byte{head | 25, byte(n >> 8), byte(n)}
	case n < 1<<32:
		return []byte{head | 26, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	}
	return []byte{head | 27, byte(n >> 56), byte(n >> 48), byte(n >> 40), byte(n >> 32), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
}

// authDataOf is what a registration has for authenticator data.
func authDataOf(t testing.TB, registration []byte) []byte {
	t.Helper()
	_, inner, _, err := readResponse(registration)
	if err != nil {
		t.Fatal(err)
	}
	object, err := inner.bytes("attestationObject")
	if err != nil {
		t.Fatal(err)
	}
	members, err := readMap(object)
	if err != nil {
		t.Fatal(err)
	}
	data, ok := asBytes(members[textKey("authData")])
	if !ok {
		t.Fatal("no authenticator data")
	}
	return data
}

// FuzzCOSE: whatever is read as a key is one of the known algorithms', and has signed nothing.
func FuzzCOSE(f *testing.F) {
	for _, one := range Vectors(f) {
		data, err := parseAuthData(authDataOf(f, one.Registration.Answer))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data.publicKey)
	}
	f.Add([]byte("\xa0"))
	f.Add([]byte("\xa1\x03\x26"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		key, err := parseKey(raw)
		if err != nil {
			return
		}
		switch key.algorithm {
		case algEdDSA, algES256, algRS256:
		default:
			t.Errorf("algorithm %d", key.algorithm)
		}
		for _, signature := range [][]byte{nil, {}, make([]byte, 64), make([]byte, 256), {0x30, 6, 2, 1, 1, 2, 1, 1}} {
			// A small Ed25519 point is a key that has signed everything; its owner is the one to lose.
			if key.algorithm != algEdDSA && key.verify([]byte("message"), signature) {
				t.Errorf("%x has signed with %x", raw, signature)
			}
		}
	})
}

// FuzzAuthData: the parts that are read lie in the data one behind the other.
func FuzzAuthData(f *testing.F) {
	for _, one := range Vectors(f) {
		raw := authDataOf(f, one.Registration.Answer)
		f.Add(raw)
		extended := append(bytes.Clone(raw), "\xa1\x6bcredProtect\x02"...)
		extended[hashSize] |= flagExtensions
		f.Add(extended)
		plain := bytes.Clone(raw[:fixedSize])
		plain[hashSize] &^= flagAttested
		f.Add(plain)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		data, err := parseAuthData(raw)
		if err != nil {
			return
		}
		size := fixedSize
		if data.flags&flagAttested != 0 {
			size += attestedSize + len(data.credentialID) + len(data.publicKey)
			if n := len(data.credentialID); n == 0 || n > maxCredentialID {
				t.Errorf("a credential's ID of %d bytes", n)
			}
			at := fixedSize + attestedSize
			if !bytes.Equal(raw[at:at+len(data.credentialID)], data.credentialID) || !bytes.HasPrefix(raw[at+len(data.credentialID):], data.publicKey) {
				t.Errorf("the parts of %x are %+v", raw, data)
			}
		} else if data.credentialID != nil || data.publicKey != nil {
			t.Errorf("attested data without the flag: %+v", data)
		}
		if hasMore := size < len(raw); hasMore != (data.flags&flagExtensions != 0) {
			t.Errorf("%d of %d bytes were read: %+v", size, len(raw), data)
		}
	})
}

// FuzzClientData: what is accepted says what it has to by encoding/json's reading, too.
func FuzzClientData(f *testing.F) {
	for _, seed := range []string{
		`{"type":"webauthn.get","challenge":"Y2hhbGxlbmdl","origin":"https://app.example","crossOrigin":false}`,
		`{"type":"webauthn.get","challenge":"Y2hhbGxlbmdl","origin":"https://app.example"}`,
		`{"type":"webauthn.get","challenge":"Y2hhbGxlbmdl","origin":"https://app.example","topOrigin":"https://app.example"}`,
		`{"type":"webauthn.get","type":"webauthn.get","challenge":"Y2hhbGxlbmdl","origin":"https://app.example"}`,
		`{"\u0074ype":"webauthn.get","challenge":"Y2hhbGxlbmdl","origin":"https:\/\/app.example","x":[{"y":1e9}]}`,
		`{"type":"webauthn.create","challenge":"","origin":null}`, `[]`, `null`, `{`, `{}x`, "\ufeff{}", "{\"\xff\":1}", `{"a":1,"\u0061":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := core.Ceremony{Challenge: "Y2hhbGxlbmdl", Origins: []string{"https://app.example"}}
		if checkClientData(raw, "webauthn.get", c) != nil {
			return
		}
		var read map[string]any
		if err := json.Unmarshal(raw, &read); err != nil {
			t.Fatalf("%q is accepted, and no JSON: %v", raw, err)
		}
		if read["type"] != "webauthn.get" || read["challenge"] != c.Challenge || read["origin"] != c.Origins[0] {
			t.Errorf("%q is accepted", raw)
		}
		if read["crossOrigin"] != nil && read["crossOrigin"] != false || read["topOrigin"] != nil {
			t.Errorf("%q is accepted from a frame", raw)
		}
	})
}

// FuzzRegistration: no registration breaks the verifier, and what is accepted can be stored and read.
func FuzzRegistration(f *testing.F) {
	vectors := Vectors(f)
	for _, one := range vectors {
		f.Add([]byte(one.Registration.Answer))
		f.Add([]byte(one.Authentication.Answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, one := range vectors {
			got, err := VerifyRegistration(answer, one.ceremony(one.Registration))
			if err != nil {
				continue
			}
			id, err := base64.StdEncoding.DecodeString(got.CredentialID)
			if err != nil || len(id) == 0 || len(id) > maxCredentialID || got.ProviderAccountID != got.CredentialID {
				t.Errorf("stored %+v", got)
			}
			cose, err := base64.StdEncoding.DecodeString(got.CredentialPublicKey)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parseKey(cose); err != nil {
				t.Errorf("a key is stored that can't be read: %v", err)
			}
		}
	})
}

// FuzzAuthentication: of all answers only those are accepted whose signed bytes are the authenticator's.
func FuzzAuthentication(f *testing.F) {
	vectors := Vectors(f)
	signed := map[string]bool{}
	for _, one := range vectors {
		f.Add([]byte(one.Registration.Answer))
		f.Add([]byte(one.Authentication.Answer))
		signed[signedOf(f, one.Authentication.Answer)] = true
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, one := range vectors {
			_, err := VerifyAuthentication(answer, one.ceremony(one.Authentication), one.stored(t))
			if err == nil && !signed[signedOf(t, answer)] {
				t.Errorf("%q is accepted", answer)
			}
		}
	})
}

func signedOf(t testing.TB, answer []byte) string {
	t.Helper()
	_, inner, clientData, err := readResponse(answer)
	if err != nil {
		t.Fatal(err)
	}
	data, err := inner.bytes("authenticatorData")
	if err != nil {
		t.Fatal(err)
	}
	return string(withHash(data, clientData))
}
