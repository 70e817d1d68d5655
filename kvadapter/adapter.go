package kvadapter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// Options say how records are kept. The zero value is right for a store alone.
type Options struct {
	// Cache holds copies of sessions, near those who read them: Workers KV. Nil: every session
	// check asks the store.
	Cache Cache

	// CacheFor is for how long a copy may be shown after it was read from the store, and so the
	// longest that a session is seen which has ended. Zero: one minute.
	CacheFor time.Duration

	// WaitUntil runs what an answer needn't wait for: edge.WaitUntil. Nil: the answer waits.
	WaitUntil func(ctx context.Context, f func(context.Context))

	// InsecureReplayAndDuplicates makes do with a cache and no store. A sign-in link may then work
	// more than once, two users may get one address or one account, a cloned passkey may go
	// unnoticed, and a session that was ended may come back.
	InsecureReplayAndDuplicates bool

	// KeyPrefix begins every key, so that several apps can share a store: up to 100 characters
	// of A-Z a-z 0-9 _ - and dots. No app's prefix may be the beginning of another's. Empty: none.
	KeyPrefix string

	// Log is told what went wrong without failing anybody: a value that is not the record which
	// belongs there, since it was damaged or moved, and counts as absent; a cache that didn't
	// answer. Neither key nor error has a secret in it. Nil: it goes to standard error.
	Log func(ctx context.Context, key string, err error)
}

// Records are the users, accounts, sessions, verification tokens and passkeys in a store.
type Records struct {
	store     Store // nil: everything is refused
	refusal   string
	cache     Cache
	cacheFor  time.Duration
	prefix    string
	sleep     func(ctx context.Context, d time.Duration) error
	waitUntil func(ctx context.Context, f func(context.Context))
	log       func(ctx context.Context, key string, err error)
}

// New gives an adapter that keeps its records in a store. The store may be nil if there is
// Options.InsecureReplayAndDuplicates. If the records can't be kept as [core.Adapter] promises,
// the methods are nil and [core.New] reports the fix.
func New(store Store, o Options) *core.Adapter {
	return Open(store, o).Adapter()
}

// Open is [New] for those who also need [Records.SignOutEverywhere].
func Open(store Store, o Options) *Records {
	r := &Records{store: store, cache: o.Cache, cacheFor: o.CacheFor, prefix: o.KeyPrefix, waitUntil: o.WaitUntil, log: o.Log}
	if r.cacheFor <= 0 {
		r.cacheFor = time.Minute
	}
	if r.log == nil {
		r.log = func(_ context.Context, key string, err error) {
			fmt.Fprintf(os.Stderr, "kvadapter: %s: %v\n", key, err)
		}
	}
	if r.waitUntil == nil {
		r.waitUntil = func(ctx context.Context, f func(context.Context)) { f(ctx) }
	}
	r.sleep = sleep
	for _, platform := range []any{store, o.Cache} {
		if s, ok := platform.(kv.Sleeper); ok {
			r.sleep = s.Sleep
		}
	}
	if r.store == nil && o.Cache != nil && o.InsecureReplayAndDuplicates {
		r.store, r.cache = cacheStore{o.Cache}, nil
	}
	switch {
	case !isKeyPrefix(o.KeyPrefix):
		r.refusal = "set kvadapter.Options.KeyPrefix to at most 100 of the characters A-Z a-z 0-9 _ - and ."
	case r.store == nil:
		r.refusal = "a cache can't tell who was first: give kvadapter.New a store that commits, such as a Durable Object, D1 or Postgres"
	}
	return r
}

// Adapter gives the methods that [core.Config] takes.
func (r *Records) Adapter() *core.Adapter {
	if r.refusal != "" {
		absent := map[string]string{}
		for _, name := range methodNames {
			absent[name] = r.refusal
		}
		return &core.Adapter{Absent: absent}
	}
	a := &core.Adapter{
		CreateUser: r.createUser, GetUser: r.getUser, GetUserByEmail: r.getUserByEmail,
		GetUserByAccount: r.getUserByAccount, UpdateUser: r.updateUser, DeleteUser: r.deleteUser,
		LinkAccount: r.linkAccount, UnlinkAccount: r.unlinkAccount, GetAccount: r.getAccount,
		CreateSession: r.createSession, GetSessionAndUser: r.getSessionAndUser,
		UpdateSession: r.updateSession, DeleteSession: r.deleteSession,
		CreateVerificationToken: r.createVerificationToken, UseVerificationToken: r.useVerificationToken,
		CreateAuthenticator: r.createAuthenticator, GetAuthenticator: r.getAuthenticator,
		ListAuthenticatorsByUserID: r.listAuthenticatorsByUserID, UpdateAuthenticatorCounter: r.updateAuthenticatorCounter,
		FindUser: r.findUser, SignUp: r.signUp, SignIn: r.signIn,
	}
	if _, ok := r.store.(Lister); ok {
		a.Users = r.users
	}
	return a
}

// methodNames are the names of the adapter's methods in the contract.
var methodNames = [...]string{
	"createUser", "getUser", "getUserByEmail", "getUserByAccount", "updateUser", "deleteUser",
	"linkAccount", "unlinkAccount", "getAccount",
	"createSession", "getSessionAndUser", "updateSession", "deleteSession",
	"createVerificationToken", "useVerificationToken",
	"createAuthenticator", "getAuthenticator", "listAuthenticatorsByUserId", "updateAuthenticatorCounter",
}

var (
	// ErrNoUser is the error for a write that needs a user who isn't there.
	ErrNoUser = errors.New("kvadapter: no such user")
	// ErrNoAuthenticator is the error for the counter of a credential that isn't there.
	ErrNoAuthenticator = errors.New("kvadapter: no such credential")
	// ErrBusy is the error when others kept changing a record for as long as a call tried to. The
	// same call may be made again.
	ErrBusy = errors.New("kvadapter: the record keeps changing")
	// ErrTooMany is the error for a user's 101st account or passkey.
	ErrTooMany = errors.New("kvadapter: a user has at most 100 accounts and passkeys")
	// ErrDamaged is the error of [Records.SignOutEverywhere] for a user whose record can't be read.
	ErrDamaged = errors.New("kvadapter: the user's record is damaged")
	// ErrText is the error for an ID or an address that is not UTF-8, which JSON can't hold.
	ErrText = errors.New("kvadapter: an ID or address is not UTF-8")
	// ErrRefused is the error of [Records.SignOutEverywhere] where the adapter has no methods.
	ErrRefused = errors.New("kvadapter: there is no store to keep these records")
)

func conflict(message string) error {
	return &core.Error{Kind: core.ErrConflict, Message: message}
}
