package passkey

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// A Vector is a passkey's registration and its first use, recorded (TestBrowser's -record).
type Vector struct {
	Name           string  `json:"name"`
	Origin         string  `json:"origin"`
	RPID           string  `json:"rpId"`
	Registration   Outcome `json:"registration"`
	Authentication Outcome `json:"authentication"`
}

// An Outcome is what was asked, and what was answered.
type Outcome struct {
	Challenge string          `json:"challenge"`
	Answer    json.RawMessage `json:"answer"`
}

// Vectors reads testdata/answers.json.
func Vectors(t testing.TB) []Vector {
	t.Helper()
	raw, err := os.ReadFile("testdata/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var all []Vector
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	if len(all) < 5 {
		t.Fatalf("%d vectors: some are missing", len(all))
	}
	return all
}

func (v *Vector) ceremony(o Outcome) core.Ceremony {
	return core.Ceremony{
		Challenge: o.Challenge, RPID: v.RPID, Origins: []string{v.Origin}, UserVerification: true, Algorithms: New().Algorithms,
	}
}

func (v *Vector) stored(t testing.TB) core.Authenticator {
	t.Helper()
	stored, err := VerifyRegistration(v.Registration.Answer, v.ceremony(v.Registration))
	if err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	return *stored
}

// TestVectors: recorded answers are accepted, but for nothing else than what they answer.
func TestVectors(t *testing.T) {
	t.Parallel()
	for _, v := range Vectors(t) {
		stored := v.stored(t)
		told, err := VerifyAuthentication(v.Authentication.Answer, v.ceremony(v.Authentication), stored)
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		for name, c := range map[string]struct {
			change func(*core.Ceremony, *core.Authenticator)
			want   error
		}{
			"challenge":     {func(c *core.Ceremony, _ *core.Authenticator) { c.Challenge = v.Registration.Challenge }, ErrChallenge},
			"relying party": {func(c *core.Ceremony, _ *core.Authenticator) { c.RPID = "host" }, ErrRPID},
			"origin":        {func(c *core.Ceremony, _ *core.Authenticator) { c.Origins = []string{v.Origin + "0"} }, ErrOrigin},
			"credential":    {func(_ *core.Ceremony, a *core.Authenticator) { a.CredentialID = "QUJD" }, ErrCredentialID},
			"key": {func(_ *core.Ceremony, a *core.Authenticator) {
				a.CredentialPublicKey = Vectors(t)[0].stored(t).CredentialPublicKey
			}, ErrSignature},
			"kind of device": {func(_ *core.Ceremony, a *core.Authenticator) {
				a.CredentialDeviceType = map[string]string{singleDevice: multiDevice, multiDevice: singleDevice}[a.CredentialDeviceType]
			}, ErrBackup},
			"counter": {func(_ *core.Ceremony, a *core.Authenticator) { a.Counter = max(told.Counter, 1) }, ErrCounter},
		} {
			if name == "key" && v.Name == Vectors(t)[0].Name {
				continue
			}
			ceremony, known := v.ceremony(v.Authentication), stored
			c.change(&ceremony, &known)
			if _, err := VerifyAuthentication(v.Authentication.Answer, ceremony, known); !errors.Is(err, c.want) {
				t.Errorf("%s, another %s: %v, want %v", v.Name, name, err, c.want)
			}
		}
		if _, err := VerifyRegistration(v.Authentication.Answer, v.ceremony(v.Authentication)); !errors.Is(err, ErrCeremony) {
			t.Errorf("%s: an assertion as a registration: %v", v.Name, err)
		}
		if _, err := VerifyAuthentication(v.Registration.Answer, v.ceremony(v.Registration), stored); !errors.Is(err, ErrCeremony) {
			t.Errorf("%s: a registration as an assertion: %v", v.Name, err)
		}
	}
}
