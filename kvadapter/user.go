package kvadapter

import (
	"context"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/core"
)

// A userRecord is a user and the index of what else there is of them: whoever changes one of
// these records changes the user's in the same commit.
type userRecord struct {
	header
	profile
	Owns     []string         `json:"owns"`     // keys of accounts and passkeys, in order, without the prefix of Options
	Sessions map[string]int64 `json:"sessions"` // by the same kind of key, when each ends
}

// A userProfile is a userRecord without the index.
type userProfile struct {
	header
	profile
}

// An addressRecord says whose an e-mail address is. It refers to the user's record.
type addressRecord struct {
	header
	User string `json:"user"`
}

const (
	maxSessions = 100 // of a user; one more ends the one that would end first
	maxOwned    = 100 // accounts and passkeys of a user
)

// loadUser gives a user with the index, or nil.
func (r *Records) loadUser(ctx context.Context, v *view, id string) *userRecord {
	u := &userRecord{}
	if !r.load(ctx, v, keyOf(kindUser, id), u) {
		return nil
	}
	return u
}

// loadProfile gives a user, or nil.
func (r *Records) loadProfile(ctx context.Context, v *view, id string) *core.User {
	var u userProfile
	if !r.load(ctx, v, keyOf(kindUser, id), &u) {
		return nil
	}
	return u.user()
}

// putUser stores a user.
func (c *change) putUser(u *userRecord) { c.put(keyOf(kindUser, u.ID), u, "", time.Time{}) }

// own puts an account or a passkey into the index.
func (u *userRecord) own(key string) error {
	at, known := slices.BinarySearch(u.Owns, key)
	if known {
		return nil
	}
	if len(u.Owns) >= maxOwned {
		return ErrTooMany
	}
	u.Owns = slices.Insert(u.Owns, at, key)
	return nil
}

func (u *userRecord) disown(key string) {
	if at, known := slices.BinarySearch(u.Owns, key); known {
		u.Owns = slices.Delete(u.Owns, at, at+1)
	}
}

// addSession puts a session into the index and removes those that are over, or too many.
func (u *userRecord) addSession(c *change, key string, expires int64) {
	for other, end := range u.Sessions {
		if other != key && hasEnded(end) {
			delete(u.Sessions, other)
			c.delete(other)
		}
	}
	_, known := u.Sessions[key]
	for !known && len(u.Sessions) >= maxSessions {
		first := ""
		for other, end := range u.Sessions {
			if first == "" || end < u.Sessions[first] {
				first = other
			}
		}
		u.endSession(c, first)
	}
	if u.Sessions == nil {
		u.Sessions = map[string]int64{}
	}
	u.Sessions[key] = expires
}

// endSession removes a session, and its place in the index.
func (u *userRecord) endSession(c *change, key string) {
	delete(u.Sessions, key)
	c.delete(key)
	c.ended = append(c.ended, key)
}

// isFree reports whether a user may have an address, an account or a passkey: unless it is that of
// another one whose record is there. A damaged one is somebody's.
func (r *Records) isFree(ctx context.Context, v *view, key, userID string) bool {
	var owner struct {
		header
		User string `json:"user"`
	}
	if !r.load(ctx, v, key, &owner) {
		return !v.has(key)
	}
	return owner.User == userID || !v.has(keyOf(kindUser, owner.User))
}

// takeAddress makes an address a user's in place of the one they had.
func (r *Records) takeAddress(ctx context.Context, c *change, u *userRecord, before string) error {
	if u.Email == before {
		return nil
	}
	if u.Email != "" {
		key := keyOf(kindAddress, u.Email)
		if !r.isFree(ctx, c.view, key, u.ID) {
			return conflict("another user has the address")
		}
		c.put(key, &addressRecord{User: u.ID}, keyOf(kindUser, u.ID), time.Time{})
	}
	if before != "" {
		c.delete(keyOf(kindAddress, before))
	}
	return nil
}

func (r *Records) getUser(ctx context.Context, id string) (*core.User, error) {
	v, err := r.get(ctx, keyOf(kindUser, id))
	if err != nil {
		return nil, err
	}
	return r.loadProfile(ctx, v, id), nil
}

func (r *Records) getUserByEmail(ctx context.Context, email string) (*core.User, error) {
	found, err := r.findUser(ctx, core.UserQuery{Email: email})
	if err != nil {
		return nil, err
	}
	return found.User, nil
}

func (r *Records) getUserByAccount(ctx context.Context, provider, providerAccountID string) (*core.User, error) {
	found, err := r.findUser(ctx, core.UserQuery{Provider: provider, ProviderAccountID: providerAccountID})
	if err != nil {
		return nil, err
	}
	return found.User, nil
}

func (r *Records) createUser(ctx context.Context, user core.User) (*core.User, error) {
	made, _, err := r.signUp(ctx, core.SignUp{User: user})
	return made, err
}

func (r *Records) updateUser(ctx context.Context, change core.User) (*core.User, error) {
	changed, _, err := r.signIn(ctx, core.SignIn{User: change})
	return changed, err
}

func (r *Records) deleteUser(ctx context.Context, id string) error {
	key := keyOf(kindUser, id)
	return r.transact(ctx, nil, []string{key}, func(v *view, c *change) error {
		if !v.has(key) {
			return nil
		}
		c.check(key)
		c.delete(key)
		u := r.loadUser(ctx, v, id)
		if u == nil { // damaged: what is left belongs to nobody, and shows nobody
			return nil
		}
		for session := range u.Sessions {
			u.endSession(c, session)
		}
		for _, owned := range u.Owns {
			c.delete(owned)
		}
		if u.Email != "" {
			c.delete(keyOf(kindAddress, u.Email))
		}
		return nil
	})
}

// SignOutEverywhere ends all sessions of a user that had begun before the call. With a cache,
// one of them may be seen for as long as Options.CacheFor says. An unknown user has none. A user
// whose record can't be read is [ErrDamaged]: DeleteUser ends the sessions even then.
func (r *Records) SignOutEverywhere(ctx context.Context, userID string) error {
	if r.refusal != "" {
		return ErrRefused
	}
	key := keyOf(kindUser, userID)
	return r.transact(ctx, nil, []string{key}, func(v *view, c *change) error {
		u := r.loadUser(ctx, v, userID)
		if u == nil && v.has(key) {
			return ErrDamaged
		}
		if u == nil || len(u.Sessions) == 0 {
			return nil
		}
		for session := range u.Sessions {
			u.endSession(c, session)
		}
		c.putUser(u)
		return nil
	})
}

// users lists users in no order.
func (r *Records) users(ctx context.Context, cursor string) ([]core.User, string, error) {
	defer core.StoreCall(ctx)()
	page, next, err := r.store.(Lister).List(ctx, r.prefix+kindUser+".", cursor)
	if err != nil {
		return nil, "", err
	}
	users := make([]core.User, 0, len(page))
	for _, w := range page {
		var u userProfile
		if err := parse(w.Key[len(r.prefix):], w.Value, &u); err != nil {
			r.log(ctx, w.Key, err)
			continue
		}
		users = append(users, *u.user())
	}
	return users, next, nil
}

// fresh gives a user that shares nothing with whoever changed it.
func (u *userRecord) fresh() (*core.User, error) {
	if u.Extra == nil {
		return u.user(), nil
	}
	value, err := json.Marshal(u.profile)
	if err != nil {
		return nil, err
	}
	var again profile
	if err := json.Unmarshal(value, &again); err != nil {
		return nil, err
	}
	return again.user(), nil
}

// checkText gives ErrText unless everything is UTF-8.
func checkText(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return ErrText
		}
	}
	return nil
}
