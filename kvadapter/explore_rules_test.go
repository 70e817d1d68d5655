package kvadapter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

// verify gives an error for each rule that was broken. It signs in everybody who tried to, and
// then ends and deletes everything.
func (w *world) verify() error {
	records := kvadapter.Open(w.store, kvadapter.Options{})
	x := &actor{world: w, records: records, Adapter: records.Adapter(), name: "afterwards"}
	return errors.Join(
		w.agree(), x.sessionsAreRight(), x.usersAreRight(), x.singleUse(), x.countersGrow(),
		x.nobodyIsLockedOut(), x.everythingEnds(),
	)
}

// A stored record has the members of all kinds.
type stored struct {
	Kind, ID, User, Email string
	Owns                  []string
	Sessions              map[string]int64
	Expires               int64
}

// agree compares all records with the index of their users.
func (w *world) agree() error {
	page, _, err := w.store.List(background, "", "")
	if err != nil {
		return err
	}
	records, users := map[string]stored{}, map[string]stored{}
	refs, keys := map[string]string{}, map[string]string{} // by key; by user
	for _, each := range page {
		var s stored
		if err := json.Unmarshal(each.Value, &s); err != nil {
			return err
		}
		records[each.Key], refs[each.Key] = s, each.Ref
		if s.Kind == "user" {
			users[s.ID], keys[s.ID] = s, each.Key
		}
	}
	var wrong []error
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	addresses := map[string]string{}
	for id, u := range users {
		for _, key := range u.Owns {
			if records[key].User != id {
				fail("%s has %s in the index, which is %q's", id, key, records[key].User)
			}
		}
		for key, end := range u.Sessions {
			if records[key].User != id || records[key].Expires != end {
				fail("%s has a session in the index that is %+v", id, records[key])
			}
		}
		if other, taken := addresses[u.Email]; taken && u.Email != "" {
			fail("%s has two owners: %s and %s", u.Email, id, other)
		}
		addresses[u.Email] = id
	}
	delete(addresses, "")
	for key, s := range records {
		owner, known := users[s.User]
		if s.Kind == "user" || s.Kind == "token" {
			continue
		}
		_, session := owner.Sessions[key]
		switch {
		case !known || refs[key] != keys[s.User]:
			fail("%s is of %q, who isn't there, or refers to somebody else", key, s.User)
		case s.Kind == "address" && owner.Email == "":
			fail("%s is of %s, who has no address", key, s.User)
		case s.Kind == "address":
			delete(addresses, owner.Email)
		case !session && !slices.Contains(owner.Owns, key):
			fail("%s is not in the index of %s", key, s.User)
		}
	}
	count := 0
	for _, s := range records {
		if s.Kind == "address" {
			count++
		}
	}
	for address, id := range addresses {
		fail("%s of %s leads to nobody", address, id)
	}
	for _, u := range users {
		if u.Email != "" {
			count--
		}
	}
	if count != 0 {
		fail("there are %d addresses more than users who have one", count)
	}
	return errors.Join(wrong...)
}

// sessionsAreRight says which sessions live, and what they show.
func (x *actor) sessionsAreRight() error {
	var wrong []error
	for _, s := range x.sessions {
		session, user, err := x.GetSessionAndUser(background, s.token)
		if err != nil {
			return err
		}
		mayHaveEnded := false
		for _, e := range x.endings {
			if e.token != s.token && (e.user == "" || e.user != s.user) {
				continue
			}
			mayHaveEnded = mayHaveEnded || e.to == 0 || e.to > s.from
			if e.to != 0 && session != nil && (e.token == s.token || s.to != 0 && s.to < e.from) {
				wrong = append(wrong, fmt.Errorf("the session %q has ended, and is there", s.token))
			}
		}
		if s.to != 0 && session == nil && !mayHaveEnded {
			wrong = append(wrong, fmt.Errorf("the session %q of %s was acknowledged, and is lost", s.token, s.user))
		}
		if session == nil {
			continue
		}
		now, err := x.GetUser(background, session.UserID)
		if err != nil || !reflect.DeepEqual(user, now) || s.user != "" && s.user != user.ID {
			wrong = append(wrong, fmt.Errorf("the session %q of %s shows %+v, and the user is %+v: %v", s.token, s.user, user, now, err))
		}
	}
	return errors.Join(wrong...)
}

// usersAreRight says what became of changes, deletions and an account that two want.
func (x *actor) usersAreRight() error {
	var wrong []error
	for _, before := range []core.User{ada, bob, carol} {
		u, err := x.GetUser(background, before.ID)
		if err != nil {
			return err
		}
		tried, told := x.deletions(before.ID)
		if told && u != nil || !tried && u == nil {
			wrong = append(wrong, fmt.Errorf("%s: a deletion was tried: %t, acknowledged: %t, and the user is %+v", before.ID, tried, told, u))
		}
		if u == nil {
			continue
		}
		names, addresses := map[string]bool{}, map[string]bool{} // that the user may have
		hasName, hasAddress := true, true                        // the user may have those of before
		for _, c := range x.updates {
			if c.user == before.ID && c.name != "" {
				names[c.name], hasName = true, hasName && c.to == 0
			}
			if c.user == before.ID && c.address != "" {
				addresses[c.address], hasAddress = true, hasAddress && c.to == 0
			}
		}
		if !names[u.Name] && !(hasName && u.Name == before.Name) || !addresses[u.Email] && !(hasAddress && u.Email == before.Email) {
			wrong = append(wrong, fmt.Errorf("%s: a change was acknowledged, and the user is %+v", before.ID, u))
		}
		if role := u.Extra["role"]; (role == "admin") != names[u.Name] {
			wrong = append(wrong, fmt.Errorf("%s: half a change: %+v", before.ID, u))
		}
	}
	slices.Sort(x.linked)
	owners := slices.Compact(slices.Clone(x.linked))
	for _, id := range owners {
		u, err := x.GetUserByAccount(background, "github", "shared")
		if tried, _ := x.deletions(id); err != nil || len(owners) == 1 && !tried && (u == nil || u.ID != id) {
			wrong = append(wrong, fmt.Errorf("%s has linked an account, which is %+v's: %v", id, u, err))
		}
	}
	if tried, _ := x.deletions("ada"); len(owners) > 1 && !tried {
		wrong = append(wrong, fmt.Errorf("one account has two owners: %s", owners))
	}
	return errors.Join(wrong...)
}

func (x *actor) deletions(user string) (tried, told bool) {
	for _, e := range x.deleted {
		if e.user == user {
			tried, told = true, told || e.to != 0
		}
	}
	return tried, told
}

// singleUse says how often a link worked.
func (x *actor) singleUse() error {
	for token, all := range x.opened {
		worked, unknown := 0, false
		for _, o := range all {
			unknown = unknown || o.unknown
			if o.works {
				worked++
			}
		}
		if worked > 1 || worked == 0 && !unknown {
			return fmt.Errorf("%s has worked %d times", token, worked)
		}
	}
	return nil
}

// countersGrow says which counters of a passkey may have been accepted.
func (x *actor) countersGrow() error {
	largest := uint32(7)
	for i, one := range x.counts {
		if one.to == 0 {
			continue
		}
		largest = max(largest, one.counter)
		for j, other := range x.counts {
			if i != j && other.to != 0 && (one.counter == other.counter || one.counter > other.counter && one.to < other.from) {
				return fmt.Errorf("the counters %d and %d were accepted", one.counter, other.counter)
			}
		}
	}
	p, err := x.GetAuthenticator(background, passkeyOfAda)
	if err != nil {
		return err
	}
	if tried, _ := x.deletions("ada"); p == nil && !tried || p != nil && p.Counter < largest {
		return fmt.Errorf("the passkey is %+v, and %d was accepted", p, largest)
	}
	return nil
}

// nobodyIsLockedOut has everybody sign in again who tried to, at once and without a fault.
func (x *actor) nobodyIsLockedOut() error {
	ways := x.ways
	if len(x.updates) > 0 {
		ways = append(ways, way{account: "github-bob", address: bob.Email}, way{account: "github-carol", address: carol.Email})
	}
	// Method by method a user can be left without an account by who dies: for that there is SignUp.
	isHalf := x.hadFault && slices.ContainsFunc(ways, func(by way) bool { return by.plain })
	for _, by := range ways {
		by.plain = false
		in, refused := x.enter(by, "")
		switch {
		case in:
			s := x.sessions[len(x.sessions)-1]
			if session, user, err := x.GetSessionAndUser(background, s.token); err != nil || session == nil || user.ID != s.user {
				return fmt.Errorf("%+v has signed in again, and the session is %v, %v, %v", by, session, user, err)
			}
		case refused && by.credential != "":
			if tried, _ := x.deletions("ada"); !tried {
				return fmt.Errorf("%+v is unknown", by)
			}
		case refused && (by.account == "github-ada" && x.unlinked || isHalf):
		case refused:
			// Whoever has the address must be able to sign in as its owner.
			owner, err := x.GetUserByEmail(background, by.address)
			if err != nil || owner == nil || !x.hasWayIn(owner) {
				return fmt.Errorf("%+v is locked out: the address is that of %+v, %v", by, owner, err)
			}
		default:
			return fmt.Errorf("%+v can't sign in", by)
		}
	}
	return nil
}

func (x *actor) hasWayIn(u *core.User) bool {
	if !u.EmailVerified.IsZero() {
		return true
	}
	for _, id := range []string{"github-ada", "github-bob", "github-carol", accountOfEve, accountOfMallory, "shared"} {
		if owner, err := x.GetUserByAccount(background, "github", id); err == nil && owner != nil && owner.ID == u.ID {
			return true
		}
	}
	p, err := x.GetAuthenticator(background, passkeyOfAda)
	return err == nil && p != nil && p.UserID == u.ID
}

// everythingEnds signs everybody out everywhere, and deletes everybody.
func (x *actor) everythingEnds() error {
	users, _, err := x.Users(background, "")
	if err != nil {
		return err
	}
	for _, u := range users {
		err = errors.Join(err, x.records.SignOutEverywhere(background, u.ID))
	}
	for _, s := range x.sessions {
		if session, user, err := x.GetSessionAndUser(background, s.token); session != nil || err != nil {
			return fmt.Errorf("sign-out everywhere has left the session %q of %+v: %v", s.token, user, err)
		}
	}
	left := func(kinds ...string) error {
		page, _, err := x.store.List(background, "", "")
		found := map[string]bool{}
		for _, each := range page {
			kind, _, _ := strings.Cut(each.Key, ".")
			found[kind] = true
		}
		for _, kind := range kinds {
			delete(found, kind)
		}
		if len(found) > 0 {
			err = errors.Join(err, fmt.Errorf("there are left: %s", slices.Sorted(maps.Keys(found))))
		}
		return err
	}
	if err := errors.Join(err, left("user", "address", "account", "passkey", "token")); err != nil {
		return err
	}
	for _, u := range users {
		err = errors.Join(err, x.DeleteUser(background, u.ID))
	}
	return errors.Join(err, left("token"))
}
