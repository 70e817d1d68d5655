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

// memory keeps records behind one lock. What it takes in and hands out is a copy.
type memory struct {
	mu       sync.Mutex
	users    map[string]core.User
	accounts map[account]core.Account
	sessions map[string]core.AdapterSession
	links    map[link]core.VerificationToken
	keys     map[string]core.Authenticator
}

// Memory gives an empty adapter that forgets everything when the program ends. It has every
// method and passes every case of this suite. It is for tests and examples: looking an
// address up takes time in proportion to the number of users, and what has expired stays
// until it is deleted.
func Memory() *core.Adapter {
	return newMemory().adapter()
}

func newMemory() *memory {
	return &memory{
		users:    map[string]core.User{},
		accounts: map[account]core.Account{},
		sessions: map[string]core.AdapterSession{},
		links:    map[link]core.VerificationToken{},
		keys:     map[string]core.Authenticator{},
	}
}

func (m *memory) adapter() *core.Adapter {
	return &core.Adapter{
		CreateUser: m.createUser, GetUser: m.getUser, GetUserByEmail: m.getUserByEmail,
		GetUserByAccount: m.getUserByAccount, UpdateUser: m.updateUser, DeleteUser: m.deleteUser,
		LinkAccount: m.linkAccount, UnlinkAccount: m.unlinkAccount, GetAccount: m.getAccount,
		CreateSession: m.createSession, GetSessionAndUser: m.getSessionAndUser,
		UpdateSession: m.updateSession, DeleteSession: m.deleteSession,
		CreateVerificationToken: m.createVerificationToken, UseVerificationToken: m.useVerificationToken,
		CreateAuthenticator: m.createAuthenticator, GetAuthenticator: m.getAuthenticator,
		ListAuthenticatorsByUserID: m.listAuthenticatorsByUserID, UpdateAuthenticatorCounter: m.updateAuthenticatorCounter,
		FindUser: m.findUser, SignUp: m.signUp, SignIn: m.signIn, Users: m.listUsers,
	}
}

// enter takes the lock, unless the caller has given up.
func (m *memory) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	return nil
}

func (m *memory) createUser(ctx context.Context, user core.User) (*core.User, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	if m.isTaken(user.Email, user.ID) {
		return nil, conflict("another user has the address")
	}
	user.Extra = cloneExtra(user.Extra)
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
	user.Extra = cloneExtra(user.Extra)
	return &user
}

// cloneExtra copies the maps and lists of a JSON value, at every depth.
func cloneExtra(extra map[string]any) map[string]any {
	out := maps.Clone(extra)
	for name, value := range out {
		out[name] = cloneJSON(value)
	}
	return out
}

func cloneJSON(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return cloneExtra(value)
	case []any:
		out := slices.Clone(value)
		for i := range out {
			out[i] = cloneJSON(out[i])
		}
		return out
	}
	return value
}

func (m *memory) getUser(ctx context.Context, id string) (*core.User, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	return m.user(id), nil
}

func (m *memory) getUserByEmail(ctx context.Context, email string) (*core.User, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	return m.userOf(email), nil
}

// userOf gives a copy of the user who has an address, or nil.
func (m *memory) userOf(email string) *core.User {
	for id, user := range m.users {
		if email != "" && user.Email == email {
			return m.user(id)
		}
	}
	return nil
}

func (m *memory) getUserByAccount(ctx context.Context, provider, id string) (*core.User, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	found, ok := m.accounts[account{provider, id}]
	if !ok {
		return nil, nil
	}
	return m.user(found.UserID), nil
}

func (m *memory) updateUser(ctx context.Context, change core.User) (*core.User, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	user, ok := m.users[change.ID]
	if !ok {
		return nil, errors.New("adaptertest: no such user")
	}
	if m.isTaken(change.Email, change.ID) {
		return nil, conflict("another user has the address")
	}
	m.change(user, change)
	return m.user(user.ID), nil
}

// change stores the fields of a change that aren't zero.
func (m *memory) change(user, change core.User) {
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
		user.Extra = cloneExtra(change.Extra)
	}
	m.users[user.ID] = user
}

func (m *memory) deleteUser(ctx context.Context, id string) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	delete(m.users, id)
	maps.DeleteFunc(m.accounts, func(_ account, a core.Account) bool { return a.UserID == id })
	maps.DeleteFunc(m.sessions, func(_ string, s core.AdapterSession) bool { return s.UserID == id })
	maps.DeleteFunc(m.keys, func(_ string, a core.Authenticator) bool { return a.UserID == id })
	return nil
}

func (m *memory) linkAccount(ctx context.Context, a core.Account) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if m.isOthers(a) {
		return conflict("another user has the account")
	}
	m.putAccount(a)
	return nil
}

// isOthers reports whether an account is another user's.
func (m *memory) isOthers(a core.Account) bool {
	known, ok := m.accounts[account{a.Provider, a.ProviderAccountID}]
	return ok && known.UserID != a.UserID
}

func (m *memory) putAccount(a core.Account) {
	a.Extra = cloneExtra(a.Extra)
	m.accounts[account{a.Provider, a.ProviderAccountID}] = a
}

func (m *memory) unlinkAccount(ctx context.Context, provider, id string) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	delete(m.accounts, account{provider, id})
	return nil
}

func (m *memory) getAccount(ctx context.Context, id, provider string) (*core.Account, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	return m.account(provider, id), nil
}

// account gives a copy, or nil.
func (m *memory) account(provider, id string) *core.Account {
	found, ok := m.accounts[account{provider, id}]
	if !ok {
		return nil
	}
	found.Extra = cloneExtra(found.Extra)
	return &found
}

func (m *memory) createSession(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	m.sessions[s.SessionToken] = s
	return &s, nil
}

func (m *memory) getSessionAndUser(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
	if err := m.enter(ctx); err != nil {
		return nil, nil, err
	}
	defer m.mu.Unlock()
	s, ok := m.sessions[token]
	user := m.user(s.UserID)
	if !ok || user == nil {
		return nil, nil, nil
	}
	return &s, user, nil
}

func (m *memory) updateSession(ctx context.Context, change core.AdapterSession) (*core.AdapterSession, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
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

func (m *memory) deleteSession(ctx context.Context, token string) (*core.AdapterSession, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	s, ok := m.sessions[token]
	if !ok {
		return nil, nil
	}
	delete(m.sessions, token)
	return &s, nil
}

func (m *memory) createVerificationToken(ctx context.Context, t core.VerificationToken) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.links[link{t.Identifier, t.Token}] = t
	return nil
}

func (m *memory) useVerificationToken(ctx context.Context, identifier, token string) (*core.VerificationToken, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	t, ok := m.links[link{identifier, token}]
	if !ok {
		return nil, nil
	}
	delete(m.links, link{identifier, token})
	return &t, nil
}

func (m *memory) createAuthenticator(ctx context.Context, a core.Authenticator) (*core.Authenticator, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	if _, taken := m.keys[a.CredentialID]; taken {
		return nil, conflict("the credential is registered already")
	}
	m.keys[a.CredentialID] = a
	return &a, nil
}

func (m *memory) getAuthenticator(ctx context.Context, credentialID string) (*core.Authenticator, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	a, ok := m.keys[credentialID]
	if !ok {
		return nil, nil
	}
	return &a, nil
}

func (m *memory) listAuthenticatorsByUserID(ctx context.Context, userID string) ([]core.Authenticator, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
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

func (m *memory) updateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) (*core.Authenticator, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	a, ok := m.keys[credentialID]
	if !ok {
		return nil, errors.New("adaptertest: no such credential")
	}
	if !grows(a, counter) {
		return nil, conflict("the counter did not grow")
	}
	a.Counter = counter
	m.keys[credentialID] = a
	return &a, nil
}

func grows(a core.Authenticator, counter uint32) bool {
	return counter > a.Counter || counter == 0 && a.Counter == 0
}
