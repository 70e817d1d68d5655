package remote

import (
	"bytes"
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/core"
)

// parseSession reads the body of a session route's answer: null for signed out, or an object
// with the time at which it ends, and a user if there is one. Numbers are json.Number.
func parseSession(body []byte) (*core.Session, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var value any
	if !utf8.Valid(body) || d.Decode(&value) != nil {
		return nil, fail(ErrAnswer, "the answer is no JSON", nil)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fail(ErrAnswer, "the answer is more than one JSON value", nil)
	}
	if value == nil {
		return nil, nil
	}
	members, ok := value.(map[string]any)
	if !ok {
		return nil, fail(ErrAnswer, "the answer is neither an object nor null", nil)
	}
	ends, _ := members["expires"].(string)
	expires, err := time.Parse(time.RFC3339, ends)
	if expires = expires.UTC(); err != nil || expires.Year() < 0 || expires.Year() > 9999 {
		return nil, fail(ErrAnswer, "the answer has no time in expires: the edge's session callback must keep it", nil)
	}
	delete(members, "expires")
	session := &core.Session{Expires: expires}
	switch user := members["user"].(type) {
	case map[string]any:
		session.User = newUser(user)
		delete(members, "user")
	case nil: // absent, or null, which stays as it is
	default:
		return nil, fail(ErrAnswer, "the answer has a user that is no object", nil)
	}
	if len(members) > 0 {
		session.Extra = members
	}
	return session, nil
}

// newUser makes a user of its members on the wire. It keeps what the fields can't express.
func newUser(members map[string]any) *core.User {
	u := &core.User{}
	for name, value := range members {
		text, _ := value.(string)
		switch {
		case text == "":
		case name == "id":
			u.ID = text
			continue
		case name == "name":
			u.Name = text
			continue
		case name == "email":
			u.Email = text
			continue
		case name == "image":
			u.Image = text
			continue
		}
		if u.Extra == nil {
			u.Extra = map[string]any{}
		}
		u.Extra[name] = value
	}
	return u
}
