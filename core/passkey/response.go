package passkey

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/core"
)

// maxClientData is how long client data may be, in bytes. Browsers write some 200.
const maxClientData = 16 << 10

// object is a JSON object, its values still encoded.
type object map[string]json.RawMessage

// readObject reads a JSON object that is UTF-8, has no name twice, and is all there is.
func readObject(raw []byte) (object, error) {
	if !utf8.Valid(raw) {
		return nil, malformed("the JSON is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, malformed("the JSON is no object")
	}
	out := object{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, malformed("the JSON can't be read")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, malformed("the JSON can't be read")
		}
		text, _ := name.(string)
		if _, twice := out[text]; twice {
			return nil, malformed("the JSON has a name twice")
		}
		out[text] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, malformed("the JSON can't be read")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, malformed("the JSON goes on after its end")
	}
	return out, nil
}

// text gives a member that is text; another one, or none, is no text.
func (o object) text(name string) (text string, ok bool) {
	raw := o[name]
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return text, json.Unmarshal(raw, &text) == nil
}

// bytes gives what a member's base64url text stands for (RFC 4648, section 5, not padded).
func (o object) bytes(name string) ([]byte, error) {
	text, ok := o.text(name)
	if !ok {
		return nil, malformed("there is no text " + name)
	}
	return decodeBase64URL(text)
}

func decodeBase64URL(text string) ([]byte, error) {
	out, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // which the decoder passes over
		return nil, malformed("a text is not base64url")
	}
	return out, nil
}

// readResponse reads what both ceremonies answer (Web Authentication, level 3, section 5.1,
// RegistrationResponseJSON and AuthenticationResponseJSON): the credential's ID, the inner response
// and the client data.
func readResponse(raw []byte) (id []byte, response object, clientData []byte, err error) {
	outer, err := readObject(raw)
	if err != nil {
		return nil, nil, nil, err
	}
	if kind, _ := outer.text("type"); kind != "public-key" {
		return nil, nil, nil, malformed("the credential is no public key")
	}
	if id, err = outer.bytes("id"); err != nil {
		return nil, nil, nil, err
	}
	rawID, err := outer.bytes("rawId")
	if err != nil {
		return nil, nil, nil, err
	}
	if !bytes.Equal(id, rawID) {
		return nil, nil, nil, ErrCredentialID
	}
	if response, err = readObject(outer["response"]); err != nil {
		return nil, nil, nil, err
	}
	clientData, err = response.bytes("clientDataJSON")
	return id, response, clientData, err
}

// checkClientData holds client data to a ceremony (section 5.8.1). It refuses a byte order mark
// and broken UTF-8, which the standard would mend: no browser writes either.
func checkClientData(raw []byte, kind string, c core.Ceremony) error {
	if len(raw) > maxClientData {
		return malformed("the client data are too long")
	}
	data, err := readObject(raw)
	if err != nil {
		return err
	}
	if got, ok := data.text("type"); !ok || got != kind {
		return ErrCeremony
	}
	if got, ok := data.text("challenge"); !ok || got != c.Challenge || got == "" {
		return ErrChallenge
	}
	if got, ok := data.text("origin"); !ok || !slices.Contains(c.Origins, got) {
		return ErrOrigin
	}
	if cross, there := data["crossOrigin"]; there && string(cross) != "false" {
		return ErrCrossOrigin
	}
	if _, there := data["topOrigin"]; there {
		return ErrCrossOrigin
	}
	return nil
}

// withHash gives what an authenticator signs: its data and the hash of the client data.
func withHash(authData, clientData []byte) []byte {
	hash := sha256.Sum256(clientData)
	return slices.Concat(authData, hash[:])
}
