package jwe_test

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/edgeauth/edgeauth/core/internal/jwe"
)

const (
	secret = "a secret"
	salt   = "authjs.session-token"
)

// sealJOSE makes a token with go-jose, whatever else it has in its header.
func sealJOSE(t testing.TB, enc jose.ContentEncryption, payload []byte, extra map[jose.HeaderKey]any) string {
	t.Helper()
	length := 64
	if enc == jose.A256GCM {
		length = 32
	}
	options := &jose.EncrypterOptions{ExtraHeaders: extra}
	e, err := jose.NewEncrypter(enc, jose.Recipient{Algorithm: jose.DIRECT, Key: rawKey(t, secret, salt, length)}, options)
	if err != nil {
		t.Fatal(err)
	}
	object, err := e.Encrypt(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func openJOSE(t testing.TB, token string) ([]byte, error) {
	t.Helper()
	object, err := jose.ParseEncryptedCompact(token, []jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256CBC_HS512, jose.A256GCM})
	if err != nil {
		return nil, err
	}
	length := 64
	if raw, _ := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[0]); bytes.Contains(raw, []byte("A256GCM")) {
		length = 32
	}
	return object.Decrypt(rawKey(t, secret, salt, length))
}

// thumbprint is RFC 7638's. Go sorts the members of a map, as that wants it.
func thumbprint(t testing.TB, key []byte, h crypto.Hash) string {
	t.Helper()
	text, err := json.Marshal(map[string]string{"kty": "oct", "k": base64.RawURLEncoding.EncodeToString(key)})
	if err != nil {
		t.Fatal(err)
	}
	sum := h.New()
	sum.Write(text)
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

func TestHeader(t *testing.T) {
	t.Parallel()
	token, err := jwe.NewRing([]string{secret}, salt).Seal([]byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(token, ".")
	got, err := base64.RawURLEncoding.DecodeString(header)
	want := `{"alg":"dir","enc":"A256CBC-HS512","kid":"` + thumbprint(t, rawKey(t, secret, salt, 64), crypto.SHA512) + `"}`
	if err != nil || string(got) != want {
		t.Errorf("header %s, want %s", got, want)
	}
	// The reference's is the same to the byte.
	vectors, _ := readVectors(t)
	n := 0
	for _, v := range vectors {
		if !strings.HasPrefix(v.Name, "encoded") {
			continue
		}
		ours, err := jwe.NewRing(v.Secrets, v.Salt).Seal([]byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		a, _, _ := strings.Cut(ours, ".")
		if b, _, _ := strings.Cut(v.Token, "."); a != b {
			t.Errorf("%s: header %s, want %s", v.Name, a, b)
		}
		n++
	}
	if n == 0 {
		t.Error("no token of the reference found")
	}
}

func FuzzGoJOSE(f *testing.F) {
	for _, n := range []int{0, 1, 15, 16, 17, 31, 32, 300} {
		f.Add(bytes.Repeat([]byte("x"), n), true)
		f.Add(bytes.Repeat([]byte{16}, n), false)
	}
	r := jwe.NewRing([]string{secret}, salt)
	f.Fuzz(func(t *testing.T, payload []byte, named bool) {
		token, err := r.Seal(payload)
		if err != nil {
			t.Skip()
		}
		if got, err := openJOSE(t, token); err != nil || !bytes.Equal(got, payload) {
			t.Errorf("go-jose opens our token as %q, %v; want %q", got, err, payload)
		}
		for enc, h := range map[jose.ContentEncryption]crypto.Hash{jose.A256CBC_HS512: crypto.SHA512, jose.A256GCM: crypto.SHA256} {
			extra := map[jose.HeaderKey]any{}
			if named {
				extra["kid"] = thumbprint(t, rawKey(t, secret, salt, h.Size()), h)
			}
			if got, err := r.Open(sealJOSE(t, enc, payload, extra)); err != nil || !bytes.Equal(got, payload) {
				t.Errorf("we open go-jose's %s token as %q, %v; want %q", enc, got, err, payload)
			}
		}
	})
}

// What we open, go-jose opens, too, and finds the same in it.
func FuzzOpen(f *testing.F) {
	vectors, _ := readVectors(f)
	for i, v := range vectors {
		if i%4 == 0 && len(v.Token) < 2000 {
			f.Add(v.Token)
		}
	}
	r := jwe.NewRing([]string{secret}, salt)
	own, err := r.Seal([]byte(`{"sub":"x"}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	f.Add(sealJOSE(f, jose.A256GCM, []byte("{}"), nil))
	f.Add(sealJOSE(f, jose.A256CBC_HS512, nil, nil))
	f.Fuzz(func(t *testing.T, token string) {
		got, err := r.Open(token)
		if err != nil {
			if !known(err) {
				t.Errorf("error of no kind: %v", err)
			}
			return
		}
		if want, err := openJOSE(t, token); err != nil || !bytes.Equal(got, want) {
			t.Errorf("we open %q as %q, go-jose as %q, %v", token, got, want, err)
		}
	})
}

// Headers with a right MAC: whatever go-jose would not open, we don't, and no name or value in it makes us panic.
func FuzzHeader(f *testing.F) {
	f.Add("x", []byte(`1`), true)
	for _, name := range []string{"crit", "zip", "kid", "typ", "aud", "b64", "enc", "alg"} {
		f.Add(name, []byte(`["x"]`), true)
		f.Add(name, []byte(`"DEF"`), false)
		f.Add(name, []byte(`null`), false)
	}
	r := jwe.NewRing([]string{secret}, salt)
	f.Fuzz(func(t *testing.T, name string, value []byte, gcm bool) {
		if !json.Valid(value) || name == "alg" || name == "enc" {
			t.Skip() // go-jose writes those two itself
		}
		enc := jose.A256CBC_HS512
		if gcm {
			enc = jose.A256GCM
		}
		token := sealJOSE(t, enc, []byte("{}"), map[jose.HeaderKey]any{jose.HeaderKey(name): json.RawMessage(value)})
		if _, err := r.Open(token); err == nil {
			if _, err := openJOSE(t, token); err != nil {
				t.Errorf("we open a token with %q: %s, go-jose does not: %v", name, value, err)
			}
		} else if !known(err) {
			t.Errorf("error of no kind: %v", err)
		}
	})
}

func TestReferenceDecodesOurs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "js" {
		t.Skip("a program in wasm cannot start node")
	}
	folder, err := filepath.Abs("../../../edge/worker/node_modules/@auth/core")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "jwt.js")); err != nil {
		if os.Getenv("CI_STRICT") == "1" {
			t.Fatalf("no @auth/core at %s", folder)
		}
		t.Skipf("no @auth/core at %s; run npm ci in edge/worker", folder)
	}
	type item struct {
		Token   string   `json:"token"`
		Secrets []string `json:"secrets"`
		Salt    string   `json:"salt"`
	}
	var items []item
	var payloads []string
	for _, salt := range []string{"authjs.session-token", "__Secure-authjs.session-token", "encodedState", "日本"} {
		for _, secrets := range [][]string{{"s"}, {"new", "old"}, {"ü\U0001F600"}} {
			for _, payload := range []string{`{}`, `{"sub":"x","exp":99999999999}`, `{"name":"Zoë 日本 😀","pad":"` + strings.Repeat("y", 9000) + `"}`} {
				token, err := jwe.NewRing(secrets[len(secrets)-1:], salt).Seal([]byte(payload))
				if err != nil {
					t.Fatal(err)
				}
				items = append(items, item{token, secrets, salt})
				payloads = append(payloads, payload)
			}
		}
	}
	items = append(items, item{items[0].Token, []string{"another"}, items[0].Salt}) // it does refuse
	payloads = append(payloads, "null")
	input, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "testdata/decode.mjs", folder)
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var got []json.RawMessage
	if err := json.Unmarshal(output, &got); err != nil || len(got) != len(payloads) {
		t.Fatalf("%d results, want %d; %v", len(got), len(payloads), err)
	}
	for i, want := range payloads {
		if string(got[i]) != want {
			t.Errorf("token %d: claims %.80s, want %.80s", i, got[i], want)
		}
	}
}
