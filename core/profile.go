package core

import (
	"encoding/json"
	"strings"
)

// userFromProfile makes the user. Its id is new, never the provider's: that one is the account's.
func (x *exchange) userFromProfile(profile Profile, account *Account) (*User, error) {
	read := x.provider.oauth.Profile
	var user *User
	var err error
	if read == nil {
		user, err = defaultProfile(profile)
	} else {
		user, err = read(x.ctx, profile, account)
	}
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, fail(ErrOAuthProfileParse, "Profile gave no user", nil)
	}
	account.ProviderAccountID = or(user.ID, randomUUID())
	user.ID = randomUUID()
	user.Email = strings.ToLower(user.Email)
	return user, nil
}

// defaultProfile reads the standard claims; the first name that is not null counts (fact 80).
func defaultProfile(profile Profile) (*User, error) {
	user := &User{}
	id := profile["sub"]
	if id == nil {
		id = profile["id"]
	}
	switch id := id.(type) {
	case string:
		user.ID = id
	case json.Number:
		user.ID = id.String()
	}
	for _, claim := range [...]string{"name", "nickname", "preferred_username"} {
		if profile[claim] != nil {
			user.set("name", profile, claim)
			break
		}
	}
	if email := profile["email"]; email != nil {
		if _, ok := email.(string); !ok {
			return nil, fail(ErrOAuthProfileParse, "the e-mail address is not text", nil)
		}
		user.set("email", profile, "email")
	}
	user.set("image", profile, "picture")
	return user, nil
}
