package kvadapter

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// Options say where records go. The zero value is for one store that is [Atomic].
type Options struct {
	// Atomic keeps everything but the sessions that browsers read. Nil: the session store, if it
	// is Atomic itself; otherwise the adapter has no methods, and says why.
	Atomic Atomic

	// InsecureReplayAndDuplicates makes do with a session store that isn't Atomic. A sign-in
	// link may then work more than once, two users may get one address or one account, a cloned
	// passkey may go unnoticed, and a session that was ended may come back. It has no effect
	// where there is an Atomic store.
	InsecureReplayAndDuplicates bool

	// KeyPrefix begins every key, so that several apps can share a store: up to 100 characters
	// of A-Z a-z 0-9 _ - and dots. No app's prefix may be the beginning of another's. Empty: none.
	KeyPrefix string

	// OnCorrupt is told the key of each value that is not the record which belongs there, and
	// why: it was damaged, or moved from elsewhere. Such a record counts as absent. Neither has
	// a secret in it. Nil: nobody is told.
	OnCorrupt func(ctx context.Context, key string, err error)
}

// Records are the users, accounts, sessions, verification tokens and passkeys in a store.
type Records struct {
	atomic    Atomic // nil: everything is refused
	sessions  Atomic // where it is decided whether a session lives
	copies    Store  // where requests read sessions, if not there; else nil
	refusal   string
	prefix    string
	onCorrupt func(ctx context.Context, key string, err error)
}

// New gives an adapter that keeps its sessions in one store, and everything else there or in
// Options.Atomic. If the stores can't keep the contract of [core.Adapter], the methods are nil
// and [core.New] reports the fix.
//
// At the edge, sessions belong in Workers KV and Options.Atomic is a Durable Object.
func New(sessions Store, o Options) *core.Adapter {
	return Open(sessions, o).Adapter()
}

// Open is [New] for those who also need [Records.SignOutEverywhere] or [Records.Repair].
func Open(sessions Store, o Options) *Records {
	r := &Records{atomic: o.Atomic, prefix: o.KeyPrefix, onCorrupt: o.OnCorrupt}
	own, isAtomic := sessions.(Atomic)
	switch {
	case isAtomic:
		r.atomic, r.sessions = cmp.Or(o.Atomic, own), own
	case o.Atomic != nil:
		r.sessions, r.copies = o.Atomic, sessions
	case o.InsecureReplayAndDuplicates:
		r.atomic, r.sessions = racy{sessions}, racy{sessions}
	}
	switch {
	case !isKeyPrefix(o.KeyPrefix):
		r.refusal = "set kvadapter.Options.KeyPrefix to at most 100 of the characters A-Z a-z 0-9 _ - and ."
	case r.atomic == nil:
		r.refusal = "the store can't tell who was first: give kvadapter.Options.Atomic a strongly consistent store, such as a Durable Object"
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
	return &core.Adapter{
		CreateUser: r.createUser, GetUser: r.getUser, GetUserByEmail: r.getUserByEmail,
		GetUserByAccount: r.getUserByAccount, UpdateUser: r.updateUser, DeleteUser: r.deleteUser,
		LinkAccount: r.linkAccount, UnlinkAccount: r.unlinkAccount, GetAccount: r.getAccount,
		CreateSession: r.createSession, GetSessionAndUser: r.getSessionAndUser,
		UpdateSession: r.updateSession, DeleteSession: r.deleteSession,
		CreateVerificationToken: r.createVerificationToken, UseVerificationToken: r.useVerificationToken,
		CreateAuthenticator: r.createAuthenticator, GetAuthenticator: r.getAuthenticator,
		ListAuthenticatorsByUserID: r.listAuthenticatorsByUserID, UpdateAuthenticatorCounter: r.updateAuthenticatorCounter,
	}
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
	// ErrText is the error for an ID or an address that is not UTF-8, which JSON can't hold.
	ErrText = errors.New("kvadapter: an ID or address is not UTF-8")
	// ErrRefused is the error of [Records.SignOutEverywhere] and [Records.Repair] where the
	// adapter has no methods.
	ErrRefused = errors.New("kvadapter: the stores can't keep these records")
)

func conflict(message string) error {
	return &core.Error{Kind: core.ErrConflict, Message: message}
}

// racy does in two steps what an Atomic store does in one. It is for
// Options.InsecureReplayAndDuplicates.
type racy struct{ Store }

func (s racy) Insert(ctx context.Context, key string, value []byte, expires time.Time) (bool, error) {
	if _, ok, err := s.Get(ctx, key); ok || err != nil {
		return false, err
	}
	return true, s.Put(ctx, key, value, expires)
}

func (s racy) Take(ctx context.Context, key string) ([]byte, bool, error) {
	value, ok, err := s.Get(ctx, key)
	if !ok || err != nil {
		return nil, false, err
	}
	return value, true, s.Delete(ctx, key)
}

func (s racy) Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
	value, ok, err := s.Get(ctx, key)
	if !ok || err != nil || string(value) != string(old) {
		return false, err
	}
	return true, s.Put(ctx, key, new, expires)
}
