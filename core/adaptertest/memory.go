// Package adaptertest has an adapter that keeps everything in memory, for tests and
// examples.
package adaptertest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/edgeauth/edgeauth/core"
)

type account struct{ provider, id string }

type link struct{ identifier, token string }

// memory keeps records behind one lock. What it hands out is a copy.
type memory struct {
	mu       sync.Mutex
	users    map[string]core.User
	accounts map[account]core.Account
	sessions map[string]core.AdapterSession
	links    map[link]core.VerificationToken
	keys     map[string]core.Authenticator
}

// Memory gives an empty adapter that forgets everything when the program ends. It is safe
// for concurrent use, and one verification token has one winner.
func Memory() *core.Adapter {
	m := &memory{
		users:    map[string]core.User{},
		accounts: map[account]core.Account{},
		sessions: map[string]core.AdapterSession{},
		links:    map[link]core.VerificationToken{},
		keys:     map[string]core.Authenticator{},
	}
	return &core.Adapter{
		CreateUser: m.createUser, GetUser: m.getUser, GetUserByEmail: m.getUserByEmail,
		GetUserByAccount: m.getUserByAccount, UpdateUser: m.updateUser, DeleteUser: m.deleteUser,
		LinkAccount: m.linkAccount, UnlinkAccount: m.unlinkAccount, GetAccount: m.getAccount,
		CreateSession: m.createSession, GetSessionAndUser: m.getSessionAndUser,
		UpdateSession: m.updateSession, DeleteSession: m.deleteSession,
		CreateVerificationToken: m.createVerificationToken, UseVerificationToken: m.useVerificationToken,
		CreateAuthenticator: m.createAuthenticator, GetAuthenticator: m.getAuthenticator,
		ListAuthenticatorsByUserID: m.listAuthenticatorsByUserID, UpdateAuthenticatorCounter: m.updateAuthenticatorCounter,
	}
}

func (m *memory) createUser(_ context.Context, user core.User) (*core.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isTaken(user.Email, user.ID) {
		return nil, conflict("another user has the address")
	}
	user.Extra = maps.Clone(user.Extra)
	m.users[user.ID] = user
	return m.user(user.ID), nil
}

// isTaken reports whether an address is that of another user than id.
func (m *memory) isTaken(email, id string) bool {
	for _, user := range m.users {
		if email != "" && user.Email == email && user.ID != id {
			return true
		}
	}
	return false
}

func conflict(message string) error {
	return &core.Error{Kind: core.ErrConflict, Message: message}
}

// user gives a copy, or nil.
func (m *memory) user(id string) *core.User {
	user, ok := m.users[id]
	if !ok {
		return nil
	}
	user.Extra = maps.Clone(user.Extra)
	return &user
}

func (m *memory) getUser(_ context.Context, id string) (*core.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.user(id), nil
}

func (m *memory) getUserByEmail(_ context.Context, email string) (*core.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, user := range m.users {
		if user.Email == email {
			return m.user(id), nil
		}
	}
	return nil, nil
}

func (m *memory) getUserByAccount(_ context.Context, provider, id string) (*core.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.accounts[account{provider, id}]
	if !ok {
		return nil, nil
	}
	return m.user(found.UserID), nil
}

func (m *memory) updateUser(_ context.Context, change core.User) (*core.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	user, ok := m.users[change.ID]
	if !ok {
		return nil, errors.New("adaptertest: no such user")
	}
	if m.isTaken(change.Email, change.ID) {
		return nil, conflict("another user has the address")
	}
	if change.Name != "" {
		user.Name = change.Name
	}
	if change.Email != "" {
		user.Email = change.Email
	}
	if change.Image != "" {
		user.Image = change.Image
	}
	if !change.EmailVerified.IsZero() {
		user.EmailVerified = change.EmailVerified
	}
	if change.Extra != nil {
		user.Extra = maps.Clone(change.Extra)
	}
	m.users[user.ID] = user
	return m.user(user.ID), nil
}

func (m *memory) deleteUser(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.users, id)
	maps.DeleteFunc(m.accounts, func(_ account, a core.Account) bool { return a.UserID == id })
	maps.DeleteFunc(m.sessions, func(_ string, s core.AdapterSession) bool { return s.UserID == id })
	maps.DeleteFunc(m.keys, func(_ string, a core.Authenticator) bool { return a.UserID == id })
	return nil
}

func (m *memory) linkAccount(_ context.Context, a core.Account) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := account{a.Provider, a.ProviderAccountID}
	if known, ok := m.accounts[key]; ok && known.UserID != a.UserID {
		return conflict("another user has the account")
	}
	a.Extra = maps.Clone(a.Extra)
	m.accounts[key] = a
	return nil
}

func (m *memory) unlinkAccount(_ context.Context, provider, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.accounts, account{provider, id})
	return nil
}

func (m *memory) getAccount(_ context.Context, id, provider string) (*core.Account, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.accounts[account{provider, id}]
	if !ok {
		return nil, nil
	}
	found.Extra = maps.Clone(found.Extra)
	return &found, nil
}

func (m *memory) createSession(_ context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions[s.SessionToken] = s
	return &s, nil
}

func (m *memory) getSessionAndUser(_ context.Context, token string) (*core.AdapterSession, *core.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[token]
	user := m.user(s.UserID)
	if !ok || user == nil {
		return nil, nil, nil
	}
	return &s, user, nil
}

func (m *memory) updateSession(_ context.Context, change core.AdapterSession) (*core.AdapterSession, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[change.SessionToken]
	if !ok {
		return nil, nil
	}
	if change.UserID != "" {
		s.UserID = change.UserID
	}
	if !change.Expires.IsZero() {
		s.Expires = change.Expires
	}
	m.sessions[s.SessionToken] = s
	return &s, nil
}

func (m *memory) deleteSession(_ context.Context, token string) (*core.AdapterSession, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[token]
	if !ok {
		return nil, nil
	}
	delete(m.sessions, token)
	return &s, nil
}

func (m *memory) createVerificationToken(_ context.Context, t core.VerificationToken) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.links[link{t.Identifier, t.Token}] = t
	return nil
}

func (m *memory) useVerificationToken(_ context.Context, identifier, token string) (*core.VerificationToken, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.links[link{identifier, token}]
	if !ok {
		return nil, nil
	}
	delete(m.links, link{identifier, token})
	return &t, nil
}

func (m *memory) createAuthenticator(_ context.Context, a core.Authenticator) (*core.Authenticator, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.keys[a.CredentialID]; taken {
		return nil, conflict("the credential is registered already")
	}
	m.keys[a.CredentialID] = a
	return &a, nil
}

func (m *memory) getAuthenticator(_ context.Context, credentialID string) (*core.Authenticator, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.keys[credentialID]
	if !ok {
		return nil, nil
	}
	return &a, nil
}

func (m *memory) listAuthenticatorsByUserID(_ context.Context, userID string) ([]core.Authenticator, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := []core.Authenticator{}
	for _, a := range m.keys {
		if a.UserID == userID {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b core.Authenticator) int { return strings.Compare(a.CredentialID, b.CredentialID) })
	return list, nil
}

func (m *memory) updateAuthenticatorCounter(_ context.Context, credentialID string, counter uint32) (*core.Authenticator, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.keys[credentialID]
	if !ok {
		return nil, errors.New("adaptertest: no such credential")
	}
	if counter <= a.Counter && (counter != 0 || a.Counter != 0) {
		return nil, conflict("the counter did not grow")
	}
	a.Counter = counter
	m.keys[credentialID] = a
	return &a, nil
}
