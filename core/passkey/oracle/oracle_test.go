package oracle

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/descope/virtualwebauthn"
	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/passkey"
	"github.com/fxamacker/cbor/v2"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

var (
	count = flag.Int("answers", 20000, "how many answers to change and verify, of each ceremony one half")
	seed  = flag.Uint64("seed", 1, "what the changes follow from")
)

var algorithms = []int64{-8, -7, -257}

func ours(raw []byte, known *core.Authenticator) error {
	c := core.Ceremony{Challenge: challenge, RPID: rpID, Origins: []string{origin}, UserVerification: true, Algorithms: algorithms}
	if known == nil {
		_, err := passkey.VerifyRegistration(raw, c)
		return err
	}
	_, err := passkey.VerifyAuthentication(raw, c, *known)
	return err
}

func theirs(raw []byte, known *core.Authenticator) error {
	origins := []string{origin}
	if known == nil {
		parsed, err := protocol.ParseCredentialCreationResponseBytes(raw)
		if err != nil {
			return err
		}
		var params []protocol.CredentialParameter
		for _, alg := range algorithms {
			params = append(params, protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.COSEAlgorithmIdentifier(alg)})
		}
		_, err = parsed.Verify(challenge, rpID, origins, nil, nil, protocol.TopOriginExplicitVerificationMode, false, true, true, nil, params,
			protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
		return err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(raw)
	if err != nil {
		return err
	}
	key, err := base64.StdEncoding.DecodeString(known.CredentialPublicKey)
	if err != nil {
		return err
	}
	if base64.StdEncoding.EncodeToString(parsed.RawID) != known.CredentialID {
		return errors.New("another credential")
	}
	return parsed.Verify(challenge, rpID, "", origins, nil, nil, protocol.TopOriginExplicitVerificationMode, false, true, true, key, protocol.SignaturePolicy{})
}

// withoutStatement gives a registration as it counts here if it carries a statement that is not looked
// at, which is one with a certificate or of another format than packed: as one without. It gives nil
// for every other registration.
func withoutStatement(raw []byte) []byte {
	var outer map[string]any
	if json.Unmarshal(raw, &outer) != nil {
		return nil
	}
	response, _ := outer["response"].(map[string]any)
	text, _ := response["attestationObject"].(string)
	object, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	var o attestation
	if cbor.Unmarshal(object, &o) != nil || o.Format == "none" {
		return nil
	}
	if o.Format == "packed" {
		var statement map[string]cbor.RawMessage
		if cbor.Unmarshal(o.Statement, &statement) != nil || statement["x5c"] == nil {
			return nil
		}
	}
	o.Format, o.Statement = "none", cbor.RawMessage{0xa0}
	if object, err = cbor.Marshal(o); err != nil {
		return nil
	}
	response["attestationObject"] = base64.RawURLEncoding.EncodeToString(object)
	out, err := json.Marshal(outer)
	must(err)
	return out
}

// withoutHandle gives an assertion without its user handle. Some clients send it as text, so it need
// not be base64url; comparing it is for the caller of both.
func withoutHandle(raw []byte) []byte {
	var outer map[string]any
	if json.Unmarshal(raw, &outer) != nil {
		return raw
	}
	if response, _ := outer["response"].(map[string]any); response != nil {
		delete(response, "userHandle")
	}
	out, err := json.Marshal(outer)
	must(err)
	return out
}

// isLaxer reports whether an answer is accepted here and refused there.
func isLaxer(raw []byte, known *core.Authenticator) (laxer bool, here, there error) {
	here, there = ours(raw, known), theirs(raw, known)
	if here != nil || there == nil {
		return false, here, there
	}
	if known == nil {
		if without := withoutStatement(raw); without != nil {
			there = theirs(without, nil)
		}
	} else {
		there = theirs(withoutHandle(raw), known)
	}
	return there != nil, here, there
}

// stored is what is known of a key after its registration.
func stored(k keys, i int) *core.Authenticator {
	id, key := base64.StdEncoding.EncodeToString(k[i].ID), base64.StdEncoding.EncodeToString(k[i].Key.AttestationData())
	return &core.Authenticator{CredentialID: id, CredentialPublicKey: key, Counter: 6}
}

// TestUnchanged: what is right is accepted by both.
func TestUnchanged(t *testing.T) {
	k := newKeys()
	r := rand.New(rand.NewPCG(*seed, 0))
	for i := range k {
		for _, isNew := range []bool{true, false} {
			a := newAnswer(r, k[i], isNew)
			a.authData[32] |= 1 | 4   // present and verified
			a.authData[32] &^= 8 | 16 // and not backed up
			a.sign()
			known := stored(k, i)
			if isNew {
				known = nil
			}
			if raw := a.encode(); ours(raw, known) != nil || theirs(raw, known) != nil {
				t.Errorf("ours: %v, theirs: %v: %s", ours(raw, known), theirs(raw, known), raw)
			}
		}
	}
}

// TestChanged: what the oracle refuses is refused.
func TestChanged(t *testing.T) {
	const workers = 4
	var mu sync.Mutex
	accepted, refused, stricter := 0, 0, map[string]int{}
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			k := newKeys()
			r := rand.New(rand.NewPCG(*seed, uint64(worker)))
			for n := range *count / workers {
				isNew := n%2 == 0
				a := newAnswer(r, k.pick(r), isNew)
				i := slices.IndexFunc(k, func(c virtualwebauthn.Credential) bool { return string(c.ID) == string(a.key.ID) })
				known := stored(k, i)
				if isNew {
					known = nil
				}
				other := newAnswer(r, k[r.IntN(len(k)-1)], isNew)
				raw := a.change(r, other)
				laxer, here, there := isLaxer(raw, known)
				mu.Lock()
				switch {
				case laxer:
					t.Errorf("accepted here, and there %v: %s", there, raw)
				case here == nil:
					accepted++
				case there == nil:
					stricter[here.Error()]++
				default:
					refused++
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	t.Logf("%d answers: both accepted %d, both refused %d", *count, accepted, refused)
	for why, n := range stricter {
		t.Logf("refused here only: %d × %s", n, why)
	}
	if accepted < *count/100 || refused < *count/10 {
		t.Errorf("of %d answers both accepted %d and refused %d: the changes are not what they should be", *count, accepted, refused)
	}
}
