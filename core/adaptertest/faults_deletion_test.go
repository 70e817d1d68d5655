package adaptertest

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"

	"github.com/edgeauth/edgeauth/core"
)

// putKey stores an authenticator without asking.
func (m *memory) putKey(a core.Authenticator) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keys[a.CredentialID] = a
}

var authenticatorFaults = []fault{
	{"transports are not stored", []string{"authenticators/fields"},
		func(m *memory, a *core.Adapter) {
			a.CreateAuthenticator = func(ctx context.Context, key core.Authenticator) (*core.Authenticator, error) {
				key.Transports = ""
				return m.createAuthenticator(ctx, key)
			}
		}},
	{"a user without authenticators is an error", []string{"authenticators/absent", "deletion/authenticators"},
		func(m *memory, a *core.Adapter) {
			a.ListAuthenticatorsByUserID = func(ctx context.Context, id string) ([]core.Authenticator, error) {
				list, err := m.listAuthenticatorsByUserID(ctx, id)
				if len(list) == 0 {
					err = errors.New("no such user")
				}
				return list, err
			}
		}},
	{"credential IDs are compared without case", []string{"authenticators/ids"},
		func(m *memory, a *core.Adapter) {
			a.GetAuthenticator = func(ctx context.Context, id string) (*core.Authenticator, error) {
				m.mu.Lock()
				for known := range m.keys {
					if m.keys[id].CredentialID == "" && strings.EqualFold(known, id) {
						id = known
					}
				}
				m.mu.Unlock()
				return m.getAuthenticator(ctx, id)
			}
		}},
	{"a user has one authenticator in the index", []string{"authenticators/list", "authenticators/fields"},
		func(m *memory, a *core.Adapter) {
			a.ListAuthenticatorsByUserID = func(ctx context.Context, id string) ([]core.Authenticator, error) {
				list, err := m.listAuthenticatorsByUserID(ctx, id)
				return list[:min(len(list), 1)], err
			}
		}},
	{"a credential is overwritten", []string{"authenticators/conflict", "authenticators/race"},
		func(m *memory, a *core.Adapter) {
			a.CreateAuthenticator = func(ctx context.Context, key core.Authenticator) (*core.Authenticator, error) {
				if ctx.Err() == nil {
					m.putKey(key)
				}
				return &key, ctx.Err()
			}
		}},
	{"the credential is looked up, then stored", []string{"authenticators/race"},
		func(m *memory, a *core.Adapter) {
			a.CreateAuthenticator = func(ctx context.Context, key core.Authenticator) (*core.Authenticator, error) {
				if known, err := m.getAuthenticator(ctx, key.CredentialID); known != nil || err != nil {
					return nil, errors.Join(err, conflict("the credential is registered already"))
				}
				gap()
				m.putKey(key)
				return &key, nil
			}
		}},
	{"any counter is accepted (all adapters of the reference)", []string{"authenticators/counter", "authenticators/counter-race"},
		func(m *memory, a *core.Adapter) {
			a.UpdateAuthenticatorCounter = func(ctx context.Context, id string, n uint32) (*core.Authenticator, error) {
				key, err := m.getAuthenticator(ctx, id)
				if key == nil {
					return nil, errors.Join(err, errors.New("no such credential"))
				}
				key.Counter = n
				m.putKey(*key)
				return key, nil
			}
		}},
	{"an authenticator that doesn't count is refused", []string{"authenticators/counter"},
		func(m *memory, a *core.Adapter) {
			a.UpdateAuthenticatorCounter = func(ctx context.Context, id string, n uint32) (*core.Authenticator, error) {
				if n == 0 {
					return nil, conflict("the counter did not grow")
				}
				return m.updateAuthenticatorCounter(ctx, id, n)
			}
		}},
	{"the counter is read, then written (unstorage adapter)", []string{"authenticators/counter-race"},
		func(m *memory, a *core.Adapter) {
			a.UpdateAuthenticatorCounter = func(ctx context.Context, id string, n uint32) (*core.Authenticator, error) {
				key, err := m.getAuthenticator(ctx, id)
				if key == nil {
					return nil, errors.Join(err, errors.New("no such credential"))
				}
				if n <= key.Counter && (n != 0 || key.Counter != 0) {
					return nil, conflict("the counter did not grow")
				}
				gap()
				key.Counter = n
				m.putKey(*key)
				return key, nil
			}
		}},
	{"the counter of an unknown credential is stored", []string{"authenticators/counter-unknown"},
		func(m *memory, a *core.Adapter) {
			a.UpdateAuthenticatorCounter = func(ctx context.Context, id string, n uint32) (*core.Authenticator, error) {
				key, err := m.getAuthenticator(ctx, id)
				if key == nil && err == nil {
					m.putKey(core.Authenticator{CredentialID: id, Counter: n})
					return nil, nil
				}
				return m.updateAuthenticatorCounter(ctx, id, n)
			}
		}},
	{"the list that comes back is the cache", []string{"authenticators/sharing"},
		func(m *memory, a *core.Adapter) {
			var mu sync.Mutex
			var last []core.Authenticator
			a.ListAuthenticatorsByUserID = func(ctx context.Context, id string) ([]core.Authenticator, error) {
				mu.Lock()
				defer mu.Unlock()
				list, err := m.listAuthenticatorsByUserID(ctx, id)
				if len(list) > 0 && len(list) == len(last) && (last[0] == core.Authenticator{}) {
					list = last
				}
				last = list
				return list, err
			}
		}},
}

// afterDeleteUser does something once the user is gone.
func afterDeleteUser(then func(m *memory, id string)) func(*memory, *core.Adapter) {
	return func(m *memory, a *core.Adapter) {
		a.DeleteUser = func(ctx context.Context, id string) error {
			err := m.deleteUser(ctx, id)
			m.mu.Lock()
			defer m.mu.Unlock()
			if err == nil {
				then(m, id)
			}
			return err
		}
	}
}

// onDeleteUser deletes a user and whatever else, with the lock held.
func onDeleteUser(deletion func(m *memory, id string)) func(*memory, *core.Adapter) {
	return func(m *memory, a *core.Adapter) {
		a.DeleteUser = func(ctx context.Context, id string) error {
			if err := m.enter(ctx); err != nil {
				return err
			}
			defer m.mu.Unlock()
			deletion(m, id)
			return nil
		}
	}
}

var deletionFaults = []fault{
	{"the address of a deleted user stays taken", []string{"deletion/user", "deletion/race"},
		func(m *memory, a *core.Adapter) {
			taken := map[string]bool{}
			a.DeleteUser = func(ctx context.Context, id string) error {
				m.mu.Lock()
				taken[m.users[id].Email] = true
				m.mu.Unlock()
				return m.deleteUser(ctx, id)
			}
			a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				m.mu.Lock()
				gone := u.Email != "" && taken[u.Email]
				m.mu.Unlock()
				if gone {
					return nil, conflict("another user has the address")
				}
				return m.createUser(ctx, u)
			}
		}},
	{"an account survives its user (unstorage and Upstash adapters)", []string{"deletion/accounts"},
		onDeleteUser(func(m *memory, id string) {
			delete(m.users, id)
			for key, a := range m.accounts {
				if a.UserID == id {
					delete(m.accounts, key)
					break
				}
			}
			maps.DeleteFunc(m.sessions, func(_ string, s core.AdapterSession) bool { return s.UserID == id })
			maps.DeleteFunc(m.keys, func(_ string, a core.Authenticator) bool { return a.UserID == id })
		})},
	{"only the user is deleted", []string{"deletion/accounts", "deletion/sessions", "deletion/authenticators"},
		onDeleteUser(func(m *memory, id string) { delete(m.users, id) })},
	{"sessions survive their user (unstorage and Upstash adapters)", []string{"deletion/sessions"},
		onDeleteUser(func(m *memory, id string) {
			delete(m.users, id)
			for token, s := range m.sessions {
				if s.UserID == id {
					delete(m.sessions, token)
					break
				}
			}
			maps.DeleteFunc(m.accounts, func(_ account, a core.Account) bool { return a.UserID == id })
			maps.DeleteFunc(m.keys, func(_ string, a core.Authenticator) bool { return a.UserID == id })
		})},
	{"deleting a user deletes all sessions", []string{"deletion/others", "deletion/sessions"}, afterDeleteUser(func(m *memory, _ string) { clear(m.sessions) })},
	{"deleting a user deletes all accounts", []string{"deletion/others"}, afterDeleteUser(func(m *memory, _ string) { clear(m.accounts) })},
	{"deleting a user deletes all tokens", []string{"deletion/tokens"}, afterDeleteUser(func(m *memory, _ string) { clear(m.links) })},
	{"deleting a user deletes by prefix", []string{"deletion/ids"}, afterDeleteUser(func(m *memory, id string) {
		maps.DeleteFunc(m.sessions, func(_ string, s core.AdapterSession) bool { return strings.HasPrefix(s.UserID, id) })
	})},
	{"deleting a user deletes the accounts that were once linked to it", []string{"deletion/unlinked"},
		func(m *memory, a *core.Adapter) {
			index := map[string][]account{}
			a.LinkAccount = func(ctx context.Context, x core.Account) error {
				m.mu.Lock()
				index[x.UserID] = append(index[x.UserID], account{x.Provider, x.ProviderAccountID})
				m.mu.Unlock()
				return m.linkAccount(ctx, x)
			}
			a.DeleteUser = func(ctx context.Context, id string) error {
				for _, key := range index[id] {
					if err := m.unlinkAccount(ctx, key.provider, key.id); err != nil {
						return err
					}
				}
				return m.deleteUser(ctx, id)
			}
		}},
	{"an update reads the user, then writes it", []string{"deletion/race"},
		func(m *memory, a *core.Adapter) {
			a.UpdateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				known, err := m.getUser(ctx, u.ID)
				if known == nil || err != nil {
					return nil, errors.Join(err, errors.New("no such user"))
				}
				gap()
				if other, _ := m.getUserByEmail(ctx, u.Email); other != nil && other.ID != u.ID {
					return nil, conflict("another user has the address")
				}
				m.putUser(filledIn(*known, u))
				return m.getUser(ctx, u.ID)
			}
		}},
}
