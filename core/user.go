package core

import (
	"maps"
	"time"
)

// A User is who signed in, or a stored user.
//
// On the wire an empty field is left out. Extra holds what that can't express: further
// members, and the exact value of a field that is not plain text, such as null.
type User struct {
	ID            string
	Name          string
	Email         string
	Image         string         // the URL of a picture
	EmailVerified time.Time      // stored users only; zero: not yet
	Extra         map[string]any // by JSON name; wins over the field of that name
}

// MarshalJSON writes the members that are set, and Extra.
func (u User) MarshalJSON() ([]byte, error) {
	return u.appendJSON(nil)
}

func (u *User) appendJSON(dst []byte) ([]byte, error) {
	if len(u.Extra) > 0 {
		return appendObject(dst, u.members())
	}
	dst = append(dst, '{')
	start := len(dst)
	for _, m := range [...]struct{ name, text string }{{"email", u.Email}, {"id", u.ID}, {"image", u.Image}, {"name", u.Name}} {
		if m.text == "" {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = appendText(append(appendText(dst, m.name), ':'), m.text)
	}
	return append(dst, '}'), nil
}

func (u User) members() map[string]any {
	out := make(map[string]any, 4+len(u.Extra))
	setText(out, "id", u.ID)
	setText(out, "name", u.Name)
	setText(out, "email", u.Email)
	setText(out, "image", u.Image)
	maps.Copy(out, u.Extra)
	return out
}

// set takes over one member from the record that has it, exactly as it stands there.
func (u *User) set(name string, from map[string]any, member string) {
	value, present := from[member]
	if !present {
		return
	}
	text, plain := value.(string)
	if plain && text != "" {
		switch name {
		case "id":
			u.ID = text
		case "name":
			u.Name = text
		case "email":
			u.Email = text
		case "image":
			u.Image = text
		}
		return
	}
	if u.Extra == nil {
		u.Extra = map[string]any{}
	}
	u.Extra[name] = value
}

func setText(record map[string]any, member, text string) {
	if text != "" {
		record[member] = text
	}
}

// A Profile is what a provider told about somebody: the claims of an ID token or the
// answer of the userinfo endpoint. Numbers are [json.Number].
type Profile map[string]any

// String gives a claim that is text, else "".
func (p Profile) String(claim string) string {
	text, _ := p[claim].(string)
	return text
}

// A JWT is the content of a session token under the jwt strategy. Numbers are [json.Number].
type JWT map[string]any

// String gives a claim that is text, else "".
func (t JWT) String(claim string) string {
	text, _ := t[claim].(string)
	return text
}

// userClaims says which claim of a token holds which member of a user.
var userClaims = [...]struct{ claim, member string }{
	{"name", "name"}, {"email", "email"}, {"picture", "image"}, {"sub", "id"},
}

// newJWT is the token of a user who just signed in, before the jwt callback.
func newJWT(u *User) JWT {
	t, from := JWT{}, u.members()
	for _, c := range userClaims {
		if value, ok := from[c.member]; ok {
			t[c.claim] = value
		}
	}
	return t
}

// user is who a token is about, without the id: what a client may know by default.
func (t JWT) user() *User {
	u := &User{}
	for _, c := range userClaims[:3] {
		u.set(c.member, t, c.claim)
	}
	return u
}

// An Account is what links a user to a provider. The tokens are there during the sign-in
// that got them, and later if the adapter stored them.
type Account struct {
	Provider          string // the provider's ID
	ProviderAccountID string // who it is for the provider
	Type              ProviderType
	UserID            string // the user it belongs to; empty without an adapter

	AccessToken  string
	RefreshToken string
	IDToken      string
	Scope        string
	TokenType    string // lower case
	ExpiresIn    int64  // seconds, as the provider said; zero: it didn't
	ExpiresAt    int64  // seconds since 1970; zero: unknown
	SessionState string
	Extra        map[string]any // whatever else the token endpoint said
}

// A Session is what a client may know about who is signed in.
type Session struct {
	User    *User          // nil: left out
	Expires time.Time      // in the wire's form, 2026-01-31T12:00:00.000Z; zero: left out
	Extra   map[string]any // further members at the top level; wins over the fields above
}

// appendTime writes a time as JavaScript's Date.prototype.toISOString does. Only of the layout
// without milliseconds does package time have a fast version.
func appendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	dst = t.AppendFormat(dst, time.RFC3339)
	milli := t.Nanosecond() / 1e6
	return append(dst[:len(dst)-1], '.', byte('0'+milli/100), byte('0'+milli/10%10), byte('0'+milli%10), 'Z')
}

// MarshalJSON writes the session as the session route sends it.
func (s Session) MarshalJSON() ([]byte, error) {
	return s.appendJSON(nil)
}

func (s *Session) appendJSON(dst []byte) ([]byte, error) {
	var err error
	dst = append(dst, '{')
	start := len(dst)
	member := func(name string) bool {
		if _, replaced := s.Extra[name]; replaced {
			return false
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, name), ':')
		return true
	}
	if !s.Expires.IsZero() && member("expires") {
		dst = append(appendTime(append(dst, '"'), s.Expires), '"')
	}
	if s.User != nil && member("user") {
		if dst, err = s.User.appendJSON(dst); err != nil {
			return nil, err
		}
	}
	if len(s.Extra) == 0 {
		return append(dst, '}'), nil
	}
	if len(dst) > start {
		dst = append(dst, ',')
	}
	at := len(dst)
	if dst, err = appendObject(dst, s.Extra); err != nil {
		return nil, err
	}
	return append(dst[:at], dst[at+1:]...), nil // without the second brace
}
