package passkey_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"testing"

	"github.com/edgeauth/edgeauth/core/passkey"
	"github.com/edgeauth/edgeauth/core/passkey/passkeytest"
)

var record = flag.Bool("record", false, "TestBrowser: write testdata/answers.json")

// A recording is the answers that a site was sent, in their order.
type recording struct {
	mu      sync.Mutex
	vectors []*passkey.Vector
}

// take keeps a request's answer, and leaves the request as it is.
func (r *recording) take(t *testing.T, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		t.Error(err)
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	form, err := url.ParseQuery(string(body))
	if err != nil {
		t.Error(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(t, "Chromium", form.Get("action") == "register", []byte(form.Get("data")))
}

func (r *recording) add(t *testing.T, name string, isNew bool, answer []byte) {
	var read struct {
		ID       string
		Response struct{ ClientDataJSON, AttestationObject string }
	}
	var clientData struct{ Challenge, Origin string }
	if err := json.Unmarshal(answer, &read); err != nil {
		t.Error(err)
	}
	raw, err := base64.RawURLEncoding.DecodeString(read.Response.ClientDataJSON)
	if err != nil {
		t.Error(err)
	}
	if err := json.Unmarshal(raw, &clientData); err != nil {
		t.Error(err)
	}
	outcome := passkey.Outcome{Challenge: clientData.Challenge, Answer: answer}
	if isNew {
		at, err := url.Parse(clientData.Origin)
		if err != nil {
			t.Error(err)
			return
		}
		r.vectors = append(r.vectors, &passkey.Vector{Name: name, Origin: clientData.Origin, RPID: at.Hostname(), Registration: outcome})
		return
	}
	for _, v := range r.vectors {
		if v.Authentication.Answer == nil && bytes.Contains(v.Registration.Answer, []byte(`"`+read.ID+`"`)) {
			v.Authentication = outcome
		}
	}
}

// write keeps one vector of each kind of authenticator that Chromium has, and adds those of the
// authenticator in software.
func (r *recording) write(t *testing.T) {
	t.Helper()
	var out []*passkey.Vector
	kinds := map[string]bool{}
	keep := func(v *passkey.Vector) {
		c := ceremony(v.Registration.Challenge)
		c.RPID, c.Origins = v.RPID, []string{v.Origin}
		stored, err := passkey.VerifyRegistration(v.Registration.Answer, c)
		if err != nil || v.Authentication.Answer == nil {
			return
		}
		v.Name += ", " + stored.CredentialDeviceType
		if !kinds[v.Name] {
			out = append(out, v)
		}
		kinds[v.Name] = true
	}
	for _, v := range r.vectors {
		keep(v)
	}
	for alg, name := range map[int64]string{passkeytest.ES256: "ES256, attests itself", passkeytest.EdDSA: "Ed25519", passkeytest.RS256: "RS256"} {
		d := newDevice(t)
		d.Algorithms, d.Attests = []int64{alg}, alg == passkeytest.ES256
		var one recording
		one.add(t, name, true, d.create(nil))
		one.add(t, name, false, d.get(nil))
		keep(one.vectors[0])
	}
	raw, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("testdata/answers.json", append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
