// Package adaptertest has an adapter that keeps everything in memory, for tests and
// examples.
package adaptertest

import (
	"context"
	"maps"
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
}

// Memory gives an empty adapter that forgets everything when the program ends. It is safe
// for concurrent use, and one verification token has one winner.
func Memory() *core.Adapter {
	m := &memory{
		users:    map[string]core.User{},
		accounts: map[account]core.Account{},
		sessions: map[string]core.AdapterSession{},
		links:    map[link]core.VerificationToken{},
	}
	return &core.Adapter{
		CreateUser: m.createUser, GetUser: m.getUser, GetUserByEmail: m.getUserByEmail,
		GetUserByAccount: m.getUserByAccount, UpdateUser: m.updateUser, DeleteUser: m.deleteUser,
		LinkAccount: m.linkAccount, UnlinkAccount: m.unlinkAccount, GetAccount: m.getAccount,
		CreateSession: m.createSession, GetSessionAndUser: m.getSessionAndUser,
		UpdateSession: m.updateSession, DeleteSession: m.deleteSession,
		CreateVerificationToken: m.createVerificationToken, UseVerificationToken: m.useVerificationToken,
	}
}

func (m *memory) createUser(_ context.Context, user core.User) (*core.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users[user.ID] = user
	return m.user(user.ID), nil
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
	user := m.users[change.ID]
	user.ID = change.ID
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
	return nil
}

func (m *memory) linkAccount(_ context.Context, a core.Account) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	a.Extra = maps.Clone(a.Extra)
	m.accounts[account{a.Provider, a.ProviderAccountID}] = a
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
