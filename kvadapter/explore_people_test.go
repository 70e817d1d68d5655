package kvadapter_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// The people of the explorer: Ada has two sessions, an account and a passkey, Bob and Carol an
// account and a session each. Eve is new: she comes by e-mail, or with an account. Mallory has an account
// that tells Eve's address.
var (
	carol = core.User{ID: "carol", Name: "Carol", Email: "carol@example.com"}
	eve   = core.User{Email: "eve@example.com"}
)

const passkeyOfAda = "QUFB"

// newcomers are the accounts of those who aren't there yet.
const (
	accountOfEve     = "github-eve"
	accountOfMallory = "github-mallory"
)

// facts are what the people of a world were told, and what they tried.
type facts struct {
	sessions []*begun
	endings  []*ending
	updates  []*update
	counts   []*counted
	opened   map[string][]*opening // by token: sign-in links that were opened
	deleted  []*ending             // those endings that are deletions
	ways     []way                 // by which somebody tried to sign in
	unlinked bool                  // somebody tried to unlink Ada's account
	linked   []string              // users who were told that the account "shared" is theirs
}

// An interval is when something was tried, and when it was acknowledged; zero: never.
type interval struct{ from, to int }

func (w *world) from() interval {
	w.now++
	return interval{from: w.now}
}

// done notes that somebody was told that it worked.
func (w *world) done(i *interval) {
	w.now++
	i.to = w.now
}

type (
	begun struct { // a session
		interval
		token, user string
	}
	ending struct { // of a session, or of all of a user
		interval
		token, user string
	}
	update struct { // of a user's name or address
		interval
		user, name, address string
	}
	counted struct { // a passkey's counter
		interval
		counter uint32
	}
	opening struct { // of a sign-in link
		interval
		works   bool
		unknown bool
	}
)

// A way is how somebody signs in.
type way struct {
	account, address string
	credential       string
	plain            bool // method by method
}

// An operation is what somebody does at once with others.
type operation struct {
	name string
	do   func(*actor)
}

// seed is what is stored before anybody does anything.
var seed = func() (all []kvadapter.Write) {
	ctx, store := context.Background(), memory.New(nil)
	a := kvadapter.New(store, kvadapter.Options{})
	sign := func(u core.User, passkey *core.Authenticator, tokens ...string) error {
		account, session := githubOf(u, "github-"+u.ID), sessionOf(u, tokens[0])
		_, _, err := a.SignUp(ctx, core.SignUp{User: u, Account: &account, Authenticator: passkey, Session: &session})
		for _, token := range tokens[1:] {
			_, err2 := a.CreateSession(ctx, sessionOf(u, token))
			err = errors.Join(err, err2)
		}
		return err
	}
	passkey := passkeyOf(ada, passkeyOfAda)
	err := errors.Join(sign(ada, &passkey, "ada-1", "ada-2"), sign(bob, nil, "bob-1"), sign(carol, nil, "carol-1"))
	for _, address := range []string{ada.Email, eve.Email} {
		err = errors.Join(err, a.CreateVerificationToken(ctx, core.VerificationToken{Identifier: address, Token: "link to " + address, Expires: time.Now().Add(24 * time.Hour)}))
	}
	page, _, err2 := store.List(ctx, "", "")
	if err := errors.Join(err, err2); err != nil {
		panic(err)
	}
	return page
}()

func newWorld() *world {
	w := &world{store: memory.New(nil)}
	if ok, err := w.store.Commit(context.Background(), nil, seed); !ok || err != nil {
		panic(err)
	}
	w.opened = map[string][]*opening{}
	for token, user := range map[string]string{"ada-1": "ada", "ada-2": "ada", "bob-1": "bob", "carol-1": "carol"} {
		w.sessions = append(w.sessions, &begun{interval{0, 1}, token, user})
	}
	w.now = 1
	return w
}

var background = context.Background()

// enter is a sign-in as package core does it, with what a browser had ending by it. It gives whether there is a
// session now; refused is whether the address is another user's.
func (x *actor) enter(by way, ended string) (in, refused bool) {
	x.now++
	if !slices.Contains(x.ways, by) {
		x.ways = append(x.ways, by)
	}
	token := x.token()
	s := &begun{interval: x.from(), token: token}
	x.sessions = append(x.sessions, s)
	var over *ending
	if ended != "" {
		over = x.tries(ended, "")
	}
	for range 2 {
		user, err := x.attempt(by, s, ended)
		if err == nil && user == nil {
			return false, true
		}
		if err == nil {
			s.user = user.ID
			x.done(&s.interval)
			if over != nil {
				x.done(&over.interval)
			}
			return true, false
		}
		if !errors.Is(err, core.ErrConflict) {
			return false, false
		}
	}
	return false, false
}

func (x *actor) token() string { return x.name + "'s " + string(rune('0'+len(x.sessions))) }

// attempt signs in or up, once. Without an error and a user, the address is another user's.
func (x *actor) attempt(by way, s *begun, ended string) (*core.User, error) {
	if by.plain {
		return x.attemptInTurn(by, s, ended)
	}
	q := core.UserQuery{Email: by.address, CredentialID: by.credential}
	if by.account != "" {
		q.Provider, q.ProviderAccountID = "github", by.account
	}
	found, err := x.FindUser(background, q)
	if err != nil {
		return nil, err
	}
	s.user = ""
	session := sessionOf(core.User{}, s.token)
	in := core.SignIn{Session: &session, EndedSession: ended, Revision: found.Revision}
	switch {
	case by.credential != "":
		if found.Authenticator == nil {
			return nil, nil
		}
		c := &counted{interval: x.from(), counter: found.Authenticator.Counter + 1}
		x.counts = append(x.counts, c)
		s.user = found.Authenticator.UserID
		in.User.ID, in.Credential = s.user, &core.Authenticator{CredentialID: by.credential, Counter: c.counter}
		user, _, err := x.SignIn(background, in)
		if err == nil {
			x.done(&c.interval)
		}
		return user, err
	case found.Account != nil, found.User != nil && by.account == "":
		s.user, in.User.ID = found.User.ID, found.User.ID
		if by.account == "" {
			in.User.EmailVerified = time.Now()
		}
		user, _, err := x.SignIn(background, in)
		return user, err
	case found.User != nil:
		return nil, nil
	}
	up := core.SignUp{User: core.User{ID: "of " + s.token, Email: by.address}, Session: &session, EndedSession: ended}
	if by.account != "" {
		account := githubOf(up.User, by.account)
		up.Account = &account
	} else {
		up.User.EmailVerified = time.Now()
	}
	s.user = up.User.ID
	user, _, err := x.SignUp(background, up)
	return user, err
}

// attemptInTurn is attempt with the single methods.
func (x *actor) attemptInTurn(by way, s *begun, ended string) (*core.User, error) {
	s.user = ""
	user, err := x.GetUserByAccount(background, "github", by.account)
	if err != nil {
		return nil, err
	}
	if user == nil {
		if other, err := x.GetUserByEmail(background, by.address); other != nil || err != nil {
			return nil, err
		}
		if user, err = x.CreateUser(background, core.User{ID: "of " + s.token, Email: by.address}); err != nil {
			return nil, err
		}
		if err := x.LinkAccount(background, githubOf(*user, by.account)); err != nil {
			x.deleteUser(user.ID) // as core does
			return nil, err
		}
	}
	s.user = user.ID
	if _, err := x.CreateSession(background, sessionOf(*user, s.token)); err != nil {
		return nil, err
	}
	if ended != "" {
		if _, err := x.DeleteSession(background, ended); err != nil {
			return nil, err
		}
	}
	return user, nil
}

// open opens a sign-in link, and signs in.
func (x *actor) open(address, token string) {
	o := &opening{interval: x.from(), unknown: true}
	x.opened[token] = append(x.opened[token], o)
	used, err := x.UseVerificationToken(background, address, token)
	if err != nil {
		return
	}
	o.unknown, o.works = false, used != nil
	x.done(&o.interval)
	if used != nil {
		x.enter(way{address: address}, "")
	}
}

// askAndOpen asks for a link, and opens it twice.
func (x *actor) askAndOpen(address string) {
	link := core.VerificationToken{Identifier: address, Token: x.token(), Expires: time.Now().Add(time.Hour)}
	x.sessions = append(x.sessions, &begun{token: link.Token}) // no two are the same
	if err := x.CreateVerificationToken(background, link); err == nil {
		x.open(address, link.Token)
		x.open(address, link.Token)
	}
}

// update changes a user.
func (x *actor) update(change core.User) {
	u := &update{interval: x.from(), user: change.ID, name: change.Name, address: change.Email}
	x.updates = append(x.updates, u)
	if _, err := x.UpdateUser(background, change); err == nil {
		x.done(&u.interval)
	}
}

// tries notes that a session is about to end, or all of a user.
func (x *actor) tries(token, user string) *ending {
	e := &ending{interval: x.from(), token: token, user: user}
	x.endings = append(x.endings, e)
	return e
}

// ends notes what came of it.
func (x *actor) ends(e *ending, err error) {
	if err == nil {
		x.done(&e.interval)
	}
}

func (x *actor) signOutEverywhere(user string) {
	e := x.tries("", user)
	x.ends(e, x.records.SignOutEverywhere(background, user))
}

func (x *actor) deleteUser(user string) {
	e := x.tries("", user)
	x.deleted = append(x.deleted, e)
	x.ends(e, x.DeleteUser(background, user))
}

func (x *actor) signOut(token string) {
	e := x.tries(token, "")
	_, err := x.DeleteSession(background, token)
	x.ends(e, err)
}

func (x *actor) refresh(token string) {
	s, _, err := x.GetSessionAndUser(background, token)
	if err != nil || s == nil {
		return
	}
	_, _ = x.UpdateSession(background, core.AdapterSession{SessionToken: token, Expires: time.Now().Add(48 * time.Hour), Revision: s.Revision})
}

func (x *actor) count(counter uint32) {
	c := &counted{interval: x.from(), counter: counter}
	x.counts = append(x.counts, c)
	if _, err := x.UpdateAuthenticatorCounter(background, passkeyOfAda, counter); err == nil {
		x.done(&c.interval)
	}
}

// The operations.
var (
	firstSignIn   = operation{"Eve's first sign-in", func(x *actor) { x.enter(way{account: accountOfEve, address: eve.Email}, "") }}
	firstOfOther  = operation{"Mallory's first sign-in", func(x *actor) { x.enter(way{account: accountOfMallory, address: eve.Email}, "") }}
	firstNameless = operation{"a first sign-in without an address", func(x *actor) { x.enter(way{account: accountOfEve}, "") }}
	firstInTurn   = operation{"Eve's first sign-in in turn", func(x *actor) { x.enter(way{account: accountOfEve, address: eve.Email, plain: true}, "") }}
	firstByLink   = operation{"Eve's first link", func(x *actor) { x.open(eve.Email, "link to "+eve.Email) }}
	byLink        = operation{"Ada's link", func(x *actor) { x.open(ada.Email, "link to "+ada.Email) }}
	asking        = operation{"Carol's link", func(x *actor) { x.askAndOpen(carol.Email) }}
	returning     = operation{"Ada returns", func(x *actor) { x.enter(way{account: "github-ada", address: ada.Email}, "") }}
	returningOver = operation{"Ada returns over a session", func(x *actor) { x.enter(way{account: "github-ada", address: ada.Email}, "ada-1") }}
	intoBobs      = operation{"Ada returns over Bob's session", func(x *actor) { x.enter(way{account: "github-ada", address: ada.Email}, "bob-1") }}
	inTurn        = operation{"Ada returns in turn", func(x *actor) { x.enter(way{account: "github-ada", address: ada.Email, plain: true}, "ada-1") }}
	byPasskey     = operation{"Ada's passkey", func(x *actor) { x.enter(way{credential: passkeyOfAda}, "") }}
	refreshing    = operation{"a refresh", func(x *actor) { x.refresh("ada-1") }}
	signingOut    = operation{"a sign-out", func(x *actor) { x.signOut("ada-1") }}
	everywhere    = operation{"sign-out everywhere", func(x *actor) { x.signOutEverywhere("ada") }}
	deleting      = operation{"a deletion", func(x *actor) { x.deleteUser("ada") }}
	renaming      = operation{"a new name", func(x *actor) {
		x.update(core.User{ID: "ada", Name: "Ada Lovelace", Extra: map[string]any{"role": "admin"}})
	}}
	moving     = operation{"a new address", func(x *actor) { x.update(core.User{ID: "ada", Email: "new@example.com"}) }}
	movingOver = operation{"an address of Eve's", func(x *actor) { x.update(core.User{ID: "bob", Email: eve.Email}) }}
	adaToBob   = operation{"Ada gets Bob's address", func(x *actor) { x.update(core.User{ID: "ada", Email: bob.Email}) }}
	bobToCarol = operation{"Bob gets Carol's address", func(x *actor) { x.update(core.User{ID: "bob", Email: carol.Email}) }}
	carolToAda = operation{"Carol gets Ada's address", func(x *actor) { x.update(core.User{ID: "carol", Email: ada.Email}) }}
	linking    = operation{"Ada links an account", func(x *actor) { x.link(ada) }}
	bobLinking = operation{"Bob links it, too", func(x *actor) { x.link(bob) }}
	unlinking  = operation{"an account is unlinked", func(x *actor) {
		x.unlinked = true
		_ = x.UnlinkAccount(background, "github", "github-ada")
	}}
	counting   = operation{"a counter", func(x *actor) { x.count(8) }}
	countingOn = operation{"a later counter", func(x *actor) { x.count(9) }}

	operations = []operation{
		firstSignIn, firstOfOther, firstNameless, firstInTurn, firstByLink, byLink, asking, returning, returningOver, intoBobs, inTurn, byPasskey,
		refreshing, signingOut, everywhere, deleting, renaming, moving, movingOver, adaToBob, bobToCarol, carolToAda, linking, bobLinking,
		unlinking, counting, countingOn,
	}
)

func (x *actor) link(to core.User) {
	account := githubOf(to, "shared")
	if err := x.LinkAccount(background, account); err == nil {
		x.linked = append(x.linked, to.ID)
	}
}
