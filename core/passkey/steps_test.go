package passkey_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/passkey"
	"github.com/edgeauth/edgeauth/core/passkey/passkeytest"
)

const (
	origin = "https://app.example"
	rpID   = "app.example"
)

var all = []int64{passkeytest.EdDSA, passkeytest.ES256, passkeytest.RS256}

// ceremony is one that demands everything.
func ceremony(challenge string) core.Ceremony {
	return core.Ceremony{Challenge: challenge, RPID: rpID, Origins: []string{origin}, UserVerification: true, Algorithms: all}
}

// A device is an authenticator with the browser around it.
type device struct {
	t testing.TB
	*passkeytest.Authenticator
}

func newDevice(t testing.TB) device {
	return device{t, &passkeytest.Authenticator{Origin: origin, Algorithms: []int64{passkeytest.ES256}, Counts: true}}
}

// create is a registration's answer to the challenge "registration".
func (d device) create(tamper func(*passkeytest.Answer)) []byte {
	d.t.Helper()
	params := []map[string]any{}
	for _, alg := range all {
		params = append(params, map[string]any{"type": "public-key", "alg": alg})
	}
	options, err := json.Marshal(map[string]any{
		"challenge": challengeOf("registration"), "rp": map[string]any{"id": rpID}, "pubKeyCredParams": params,
		"user": map[string]any{"id": base64.RawURLEncoding.EncodeToString([]byte("ada"))},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.Tamper = tamper
	answer, err := d.Create(options)
	if err != nil {
		d.t.Fatal(err)
	}
	return answer
}

// get is an assertion's answer to the challenge "authentication".
func (d device) get(tamper func(*passkeytest.Answer)) []byte {
	d.t.Helper()
	options, err := json.Marshal(map[string]any{"challenge": challengeOf("authentication"), "rpId": rpID})
	if err != nil {
		d.t.Fatal(err)
	}
	d.Tamper = tamper
	answer, err := d.Get(options)
	if err != nil {
		d.t.Fatal(err)
	}
	return answer
}

// register makes a passkey and gives what is stored of it.
func (d device) register() core.Authenticator {
	d.t.Helper()
	stored, err := passkey.VerifyRegistration(d.create(nil), ceremony(challengeOf("registration")))
	if err != nil {
		d.t.Fatal(err)
	}
	return *stored
}

func challengeOf(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) }

// replaced is JSON with one member changed.
func replaced(t testing.TB, raw []byte, change func(outer, response map[string]any)) []byte {
	t.Helper()
	var outer map[string]any
	if err := json.Unmarshal(raw, &outer); err != nil {
		t.Fatal(err)
	}
	change(outer, outer["response"].(map[string]any))
	out, err := json.Marshal(outer)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// clientData are the steps on client data, which both ceremonies have.
var clientDataSteps = []struct {
	name   string
	tamper func(*passkeytest.Answer)
	want   error
}{
	{"JSONtext is UTF-8", func(a *passkeytest.Answer) {
		a.ClientDataJSON = []byte(strings.Replace(string(clientDataOf(a)), "{", "{\"x\":\"\xff\",", 1))
	}, passkey.ErrMalformed},
	{"JSONtext has no byte order mark", func(a *passkeytest.Answer) { a.ClientDataJSON = append([]byte("\ufeff"), clientDataOf(a)...) }, passkey.ErrMalformed},
	{"C is one JSON value", func(a *passkeytest.Answer) { a.ClientDataJSON = append(clientDataOf(a), "{}"...) }, passkey.ErrMalformed},
	{"C is an object", func(a *passkeytest.Answer) { a.ClientDataJSON = []byte(`"type"`) }, passkey.ErrMalformed},
	{"C is not cut off", func(a *passkeytest.Answer) { b := clientDataOf(a); a.ClientDataJSON = b[:len(b)-1] }, passkey.ErrMalformed},
	{"C has no name twice", func(a *passkeytest.Answer) {
		a.ClientDataJSON = []byte(strings.Replace(string(clientDataOf(a)), "{", `{"origin":"https://evil.example",`, 1))
	}, passkey.ErrMalformed},
	{"C has a sane length", func(a *passkeytest.Answer) { a.ClientData["padding"] = strings.Repeat("x", 1<<20) }, passkey.ErrMalformed},
	{"C.type is the ceremony's", func(a *passkeytest.Answer) {
		kind := map[any]string{"webauthn.get": "webauthn.create", "webauthn.create": "webauthn.get"}
		a.ClientData["type"] = kind[a.ClientData["type"]]
	}, passkey.ErrCeremony},
	{"C.type is text", func(a *passkeytest.Answer) { a.ClientData["type"] = 1 }, passkey.ErrCeremony},
	{"C.type is there", func(a *passkeytest.Answer) { delete(a.ClientData, "type") }, passkey.ErrCeremony},
	{"C.type has its case", func(a *passkeytest.Answer) {
		a.ClientData["Type"] = a.ClientData["type"]
		delete(a.ClientData, "type")
	}, passkey.ErrCeremony},
	{"C.challenge is that of the options", func(a *passkeytest.Answer) { a.ClientData["challenge"] = challengeOf("another") }, passkey.ErrChallenge},
	{"C.challenge is not padded", func(a *passkeytest.Answer) { a.ClientData["challenge"] = a.ClientData["challenge"].(string) + "=" }, passkey.ErrChallenge},
	{"C.challenge is there", func(a *passkeytest.Answer) { delete(a.ClientData, "challenge") }, passkey.ErrChallenge},
	{"C.challenge is not null", func(a *passkeytest.Answer) { a.ClientData["challenge"] = nil }, passkey.ErrChallenge},
	{"C.origin is the relying party's", func(a *passkeytest.Answer) { a.ClientData["origin"] = "https://evil.example" }, passkey.ErrOrigin},
	{"C.origin is no subdomain", func(a *passkeytest.Answer) { a.ClientData["origin"] = "https://x." + rpID }, passkey.ErrOrigin},
	{"C.origin has the scheme", func(a *passkeytest.Answer) { a.ClientData["origin"] = "http://" + rpID }, passkey.ErrOrigin},
	{"C.origin has the port", func(a *passkeytest.Answer) { a.ClientData["origin"] = origin + ":444" }, passkey.ErrOrigin},
	{"C.origin is compared exactly", func(a *passkeytest.Answer) { a.ClientData["origin"] = origin + "/" }, passkey.ErrOrigin},
	{"C.origin has its case", func(a *passkeytest.Answer) { a.ClientData["origin"] = strings.ToUpper(origin) }, passkey.ErrOrigin},
	{"C.origin is there", func(a *passkeytest.Answer) { delete(a.ClientData, "origin") }, passkey.ErrOrigin},
	{"C.crossOrigin is not true", func(a *passkeytest.Answer) { a.ClientData["crossOrigin"] = true }, passkey.ErrCrossOrigin},
	{"C.crossOrigin is a boolean", func(a *passkeytest.Answer) { a.ClientData["crossOrigin"] = "no" }, passkey.ErrCrossOrigin},
	{"C.topOrigin is not there", func(a *passkeytest.Answer) { a.ClientData["topOrigin"] = origin }, passkey.ErrCrossOrigin},
	{"rpIdHash is the RP ID's", func(a *passkeytest.Answer) { a.RPIDHash[31] ^= 1 }, passkey.ErrRPID},
	{"UP is set", func(a *passkeytest.Answer) { a.Flags &^= passkeytest.UserPresent }, passkey.ErrUserPresence},
	{"UV is set", func(a *passkeytest.Answer) { a.Flags &^= passkeytest.UserVerified }, passkey.ErrUserVerification},
	{"BS is not set without BE", func(a *passkeytest.Answer) { a.Flags |= passkeytest.BackedUp }, passkey.ErrBackup},
	{"authData is not cut off", func(a *passkeytest.Answer) { a.AuthData = make([]byte, 36) }, passkey.ErrMalformed},
	{"authData has the extensions it tells of", func(a *passkeytest.Answer) { a.Flags |= passkeytest.Extended }, passkey.ErrMalformed},
	{"extensions are a map", func(a *passkeytest.Answer) {
		a.Flags |= passkeytest.Extended
		a.Extensions = []byte{0x80}
	}, passkey.ErrMalformed},
	{"extensions have names", func(a *passkeytest.Answer) {
		a.Flags |= passkeytest.Extended
		a.Extensions = []byte{0xa1, 0x01, 0x02}
	}, passkey.ErrMalformed},
	{"authData ends at its end", func(a *passkeytest.Answer) { a.Extensions = []byte{0xa0} }, passkey.ErrMalformed},
}

func clientDataOf(a *passkeytest.Answer) []byte {
	raw, err := json.Marshal(a.ClientData)
	if err != nil {
		panic(err)
	}
	return raw
}

// responseSteps are those on the credential around the response.
var responseSteps = []struct {
	name   string
	change func(outer, response map[string]any)
	want   error
}{
	{"type is public-key", func(o, _ map[string]any) { o["type"] = "password" }, passkey.ErrMalformed},
	{"id is there", func(o, _ map[string]any) { delete(o, "id") }, passkey.ErrMalformed},
	{"id is base64url", func(o, _ map[string]any) { o["id"] = o["id"].(string) + "=" }, passkey.ErrMalformed},
	{"id has no line break", func(o, _ map[string]any) { o["id"] = o["id"].(string) + "\n" }, passkey.ErrMalformed},
	{"id is rawId", func(o, _ map[string]any) { o["rawId"] = challengeOf("another") }, passkey.ErrCredentialID},
	{"response is there", func(o, _ map[string]any) { delete(o, "response") }, passkey.ErrMalformed},
	{"clientDataJSON is there", func(_, r map[string]any) { delete(r, "clientDataJSON") }, passkey.ErrMalformed},
	{"clientDataJSON is base64url", func(_, r map[string]any) { r["clientDataJSON"] = "+/" }, passkey.ErrMalformed},
}

// TestRegistration: Web Authentication, level 3, section 7.1. Each case breaks one step.
func TestRegistration(t *testing.T) {
	t.Parallel()
	check := func(name string, want error, answer func(d device) []byte) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantError(t, refused(passkey.VerifyRegistration(answer(newDevice(t)), ceremony(challengeOf("registration")))), want)
		})
	}
	for _, c := range clientDataSteps {
		check(c.name, c.want, func(d device) []byte { return d.create(c.tamper) })
	}
	for _, c := range responseSteps {
		check(c.name, c.want, func(d device) []byte { return replaced(d.t, d.create(nil), c.change) })
	}
	for _, c := range []struct {
		name   string
		tamper func(*passkeytest.Answer)
		want   error
	}{
		{"attestationObject is CBOR", func(a *passkeytest.Answer) { a.AttestationObject = []byte("no CBOR") }, passkey.ErrMalformed},
		{"attestationObject is a map", func(a *passkeytest.Answer) { a.AttestationObject = []byte{0x80} }, passkey.ErrMalformed},
		{"attestationObject has authData", func(a *passkeytest.Answer) { a.AttestationObject = []byte{0xa0} }, passkey.ErrMalformed},
		{"AT is set", func(a *passkeytest.Answer) { a.Flags &^= passkeytest.Attested }, passkey.ErrMalformed},
		{"the attested data are whole", func(a *passkeytest.Answer) { a.AAGUID, a.CredentialID, a.PublicKey = a.AAGUID[:8], nil, nil }, passkey.ErrMalformed},
		{"the attested ID is the credential's", func(a *passkeytest.Answer) { a.CredentialID = []byte("another") }, passkey.ErrCredentialID},
		{"the attested ID is not empty", func(a *passkeytest.Answer) { a.CredentialID = nil }, passkey.ErrCredentialID},
		{"credentialId has at most 1,023 bytes", func(a *passkeytest.Answer) {
			a.CredentialID = make([]byte, 1024)
			a.ID = base64.RawURLEncoding.EncodeToString(a.CredentialID)
			a.RawID = a.ID
		}, passkey.ErrCredentialID},
		{"the key is a map", func(a *passkeytest.Answer) { a.PublicKey = []byte{0x01} }, passkey.ErrMalformed},
		{"the key is of a known algorithm", func(a *passkeytest.Answer) {
			a.PublicKey = bytes.Replace(a.PublicKey, []byte{3, 0x26}, []byte{3, 0x28}, 1)
		}, passkey.ErrAlgorithm},
		{"the key is of its algorithm's type", func(a *passkeytest.Answer) { a.PublicKey = bytes.Replace(a.PublicKey, []byte{1, 2}, []byte{1, 3}, 1) }, passkey.ErrKey},
		{"the key is on its curve", func(a *passkeytest.Answer) { a.PublicKey[len(a.PublicKey)-1] ^= 1 }, passkey.ErrKey},
		{"the key is on P-256", func(a *passkeytest.Answer) {
			key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				panic(err)
			}
			a.PublicKey = bytes.Replace(passkeytest.PublicKey(&key.PublicKey), []byte{0x20, 1}, []byte{0x20, 2}, 1)
		}, passkey.ErrKey},
		{"fmt is there", func(a *passkeytest.Answer) { a.Format = "" }, passkey.ErrAttestation},
		{"fmt is a known one", func(a *passkeytest.Answer) { a.Format = "homemade" }, passkey.ErrAttestation},
		{"fmt has its case", func(a *passkeytest.Answer) { a.Format = "None" }, passkey.ErrAttestation},
		{"attStmt of none is empty", func(a *passkeytest.Answer) { a.Statement = []byte{0xa1, 0x01, 0x01} }, passkey.ErrAttestation},
		{"attStmt of none is a map", func(a *passkeytest.Answer) { a.Statement = []byte{0x80} }, passkey.ErrAttestation},
		{"attStmt of packed has a signature", func(a *passkeytest.Answer) { a.Format, a.Statement = "packed", []byte{0xa0} }, passkey.ErrAttestation},
		{"attStmt of packed is signed with the key", func(a *passkeytest.Answer) {
			a.Format, a.Statement = "packed", append([]byte("\xa2\x63alg\x26\x63sig\x41"), 0)
		}, passkey.ErrAttestation},
	} {
		check(c.name, c.want, func(d device) []byte { return d.create(c.tamper) })
	}
	check("attStmt of packed has the key's algorithm", passkey.ErrAttestation, func(d device) []byte {
		d.Attests = true
		return replaced(d.t, d.create(nil), func(_, r map[string]any) {
			raw, _ := base64.RawURLEncoding.DecodeString(r["attestationObject"].(string))
			raw = bytes.Replace(raw, []byte("\x63alg\x26"), []byte("\x63alg\x27"), 1)
			r["attestationObject"] = base64.RawURLEncoding.EncodeToString(raw)
		})
	})
	check("fmt is text", passkey.ErrAttestation, func(d device) []byte {
		d.Attests = true
		return replaced(d.t, d.create(nil), func(_, r map[string]any) {
			raw, _ := base64.RawURLEncoding.DecodeString(r["attestationObject"].(string))
			raw = bytes.Replace(raw, []byte("\x63fmt\x66packed"), []byte("\x63fmt\x46packed"), 1)
			r["attestationObject"] = base64.RawURLEncoding.EncodeToString(raw)
		})
	})
	t.Run("alg is one of pubKeyCredParams", func(t *testing.T) {
		t.Parallel()
		c := ceremony(challengeOf("registration"))
		c.Algorithms = []int64{passkeytest.EdDSA}
		wantError(t, refused(passkey.VerifyRegistration(newDevice(t).create(nil), c)), passkey.ErrAlgorithm)
	})
	t.Run("without a challenge nothing is valid", func(t *testing.T) {
		t.Parallel()
		answer := newDevice(t).create(func(a *passkeytest.Answer) { a.ClientData["challenge"] = "" })
		wantError(t, refused(passkey.VerifyRegistration(answer, ceremony(""))), passkey.ErrChallenge)
	})
}

// TestAuthentication: Web Authentication, level 3, section 7.2. Each case breaks one step. Those
// that need the store, and the user handle, are tested through the handler.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	check := func(name string, want error, answer func(d device) []byte) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDevice(t)
			stored := d.register()
			wantError(t, refused(passkey.VerifyAuthentication(answer(d), ceremony(challengeOf("authentication")), stored)), want)
		})
	}
	for _, c := range clientDataSteps {
		check(c.name, c.want, func(d device) []byte { return d.get(c.tamper) })
	}
	for _, c := range responseSteps {
		check(c.name, c.want, func(d device) []byte { return replaced(d.t, d.get(nil), c.change) })
	}
	for _, c := range []struct {
		name   string
		tamper func(*passkeytest.Answer)
		want   error
	}{
		{"credential is the stored one", func(a *passkeytest.Answer) { a.ID, a.RawID = challengeOf("another"), challengeOf("another") }, passkey.ErrCredentialID},
		{"BE is as it was", func(a *passkeytest.Answer) { a.Flags |= passkeytest.BackupEligible }, passkey.ErrBackup},
		{"AT is not set", func(a *passkeytest.Answer) {
			a.Flags |= passkeytest.Attested
			a.AAGUID, a.CredentialID, a.PublicKey = make([]byte, 16), []byte("id"), []byte{0xa0}
		}, passkey.ErrMalformed},
		{"sig is there", func(a *passkeytest.Answer) { a.Signature = []byte{} }, passkey.ErrSignature},
		{"sig is the key's", func(a *passkeytest.Answer) {
			key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				panic(err)
			}
			a.Key = key
		}, passkey.ErrSignature},
		{"signCount has grown", func(a *passkeytest.Answer) { a.Counter = 1 }, passkey.ErrCounter},
		{"signCount does not go back", func(a *passkeytest.Answer) { a.Counter = 0 }, passkey.ErrCounter},
	} {
		check(c.name, c.want, func(d device) []byte { return d.get(c.tamper) })
	}
	check("sig is over authData", passkey.ErrSignature, func(d device) []byte {
		return replaced(d.t, d.get(nil), func(_, r map[string]any) {
			raw, _ := base64.RawURLEncoding.DecodeString(r["authenticatorData"].(string))
			raw[36]++ // the counter
			r["authenticatorData"] = base64.RawURLEncoding.EncodeToString(raw)
		})
	})
	check("sig is over the hash of cData", passkey.ErrSignature, func(d device) []byte {
		return replaced(d.t, d.get(nil), func(_, r map[string]any) {
			raw, _ := base64.RawURLEncoding.DecodeString(r["clientDataJSON"].(string))
			r["clientDataJSON"] = base64.RawURLEncoding.EncodeToString(append(raw, ' '))
		})
	})
	t.Run("the stored key is one", func(t *testing.T) {
		t.Parallel()
		d := newDevice(t)
		stored := d.register()
		for key, want := range map[string]error{"": passkey.ErrMalformed, "***": passkey.ErrKey, "oA==": passkey.ErrAlgorithm} {
			stored.CredentialPublicKey = key
			wantError(t, refused(passkey.VerifyAuthentication(d.get(nil), ceremony(challengeOf("authentication")), stored)), want)
		}
	})
}

// TestAccepted: what all the steps leave, with each algorithm and each kind of authenticator.
func TestAccepted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(a *passkeytest.Authenticator){
		"EdDSA":              func(a *passkeytest.Authenticator) { a.Algorithms = []int64{passkeytest.EdDSA} },
		"ES256":              func(a *passkeytest.Authenticator) { a.Algorithms = []int64{passkeytest.ES256} },
		"RS256":              func(a *passkeytest.Authenticator) { a.Algorithms = []int64{passkeytest.RS256} },
		"self attestation":   func(a *passkeytest.Authenticator) { a.Attests = true },
		"EdDSA attests":      func(a *passkeytest.Authenticator) { a.Attests, a.Algorithms = true, []int64{passkeytest.EdDSA} },
		"synchronised":       func(a *passkeytest.Authenticator) { a.Synced, a.Counts = true, false },
		"transports":         func(a *passkeytest.Authenticator) { a.Transports = []string{"usb", "smart-card"} },
		"hostile transports": func(a *passkeytest.Authenticator) { a.Transports = []string{"usb,internal", "<b>", "", "usb"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDevice(t)
			change(d.Authenticator)
			stored := d.register()
			if stored.CredentialBackedUp != d.Synced || (stored.CredentialDeviceType == "multiDevice") != d.Synced || (stored.Counter > 0) != d.Counts {
				t.Errorf("stored %+v", stored)
			}
			if want := map[string]string{"transports": "usb,smart-card", "hostile transports": "usb"}[name]; stored.Transports != want {
				t.Errorf("stored transports %q, want %q", stored.Transports, want)
			}
			for range 3 {
				told, err := passkey.VerifyAuthentication(d.get(nil), ceremony(challengeOf("authentication")), stored)
				if err != nil {
					t.Fatal(err)
				}
				if (told.Counter > stored.Counter) != d.Counts || told.UserHandle != base64.RawURLEncoding.EncodeToString([]byte("ada")) {
					t.Errorf("told %+v after %+v", told, stored)
				}
				stored.Counter = told.Counter
			}
		})
	}
}

// TestNotDemanded: what is not demanded may be missing.
func TestNotDemanded(t *testing.T) {
	t.Parallel()
	d := newDevice(t)
	d.Unverified = true
	registration, authentication := ceremony(challengeOf("registration")), ceremony(challengeOf("authentication"))
	registration.UserVerification, authentication.UserVerification = false, false
	// Members that nobody knows, and a statement that nobody trusts.
	stored, err := passkey.VerifyRegistration(d.create(func(a *passkeytest.Answer) {
		delete(a.ClientData, "crossOrigin")
		a.ClientData["later"] = map[string]any{"x": 1}
		a.Format, a.Statement = "packed", []byte("\xa1\x63x5c\x80")
		a.Counter = math.MaxUint32 - 1
	}), registration)
	if err != nil {
		t.Fatal(err)
	}
	stored.CredentialDeviceType = "" // stored by somebody who didn't look
	told, err := passkey.VerifyAuthentication(d.get(func(a *passkeytest.Answer) {
		a.UserHandle, a.Counter = nil, math.MaxUint32
		a.Flags |= passkeytest.Extended | passkeytest.BackupEligible
		a.Extensions = []byte("\xa1\x65later\xf5")
	}), authentication, *stored)
	if err != nil || told.UserHandle != "" || told.Counter != math.MaxUint32 {
		t.Errorf("told %+v, %v", told, err)
	}
}

func refused[T any](got *T, err error) error {
	if err == nil || got != nil {
		return errors.Join(errors.New("accepted"), err)
	}
	return err
}

func wantError(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
