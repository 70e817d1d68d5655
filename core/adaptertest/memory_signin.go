package adaptertest

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/edgeauth/edgeauth/core"
)

func (m *memory) findUser(ctx context.Context, q core.UserQuery) (*core.FoundUser, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	found := &core.FoundUser{Account: m.account(q.Provider, q.ProviderAccountID)}
	if found.Account != nil {
		found.User = m.user(found.Account.UserID)
	} else {
		found.User = m.userOf(q.Email)
	}
	if a, ok := m.keys[q.CredentialID]; ok {
		found.Authenticator = &a
	}
	return found, nil
}

func (m *memory) signUp(ctx context.Context, s core.SignUp) (*core.User, *core.AdapterSession, error) {
	if err := m.enter(ctx); err != nil {
		return nil, nil, err
	}
	defer m.mu.Unlock()
	if _, taken := m.users[s.User.ID]; taken {
		return nil, nil, conflict("another user has the ID")
	}
	if m.isTaken(s.User.Email, s.User.ID) {
		return nil, nil, conflict("another user has the address")
	}
	if err := m.mayAdd(s.Account, s.Authenticator); err != nil {
		return nil, nil, err
	}
	s.User.Extra = cloneExtra(s.User.Extra)
	m.users[s.User.ID] = s.User
	m.add(s.Account, s.Authenticator)
	return m.user(s.User.ID), m.rotate(s.Session, s.EndedSession), nil
}

func (m *memory) signIn(ctx context.Context, s core.SignIn) (*core.User, *core.AdapterSession, error) {
	if err := m.enter(ctx); err != nil {
		return nil, nil, err
	}
	defer m.mu.Unlock()
	if !m.leadsTo(s.By, s.BySession, s.User.ID) {
		return nil, nil, conflict("what the user was found by is no longer theirs")
	}
	user, ok := m.users[s.User.ID]
	if !ok {
		return nil, nil, errors.New("adaptertest: no such user")
	}
	if m.isTaken(s.User.Email, s.User.ID) {
		return nil, nil, conflict("another user has the address")
	}
	if err := m.mayAdd(s.Account, s.Authenticator); err != nil {
		return nil, nil, err
	}
	if s.Credential != nil {
		a, ok := m.keys[s.Credential.CredentialID]
		if !ok || a.UserID != user.ID {
			return nil, nil, errors.New("adaptertest: the user has no such credential")
		}
		if !grows(a, s.Credential.Counter) {
			return nil, nil, conflict("the counter did not grow")
		}
		a.Counter = s.Credential.Counter
		m.keys[a.CredentialID] = a
	}
	m.change(user, s.User)
	m.add(s.Account, s.Authenticator)
	return m.user(user.ID), m.rotate(s.Session, s.EndedSession), nil
}

// leadsTo reports whether what a user was found by is theirs.
func (m *memory) leadsTo(by core.UserQuery, session, userID string) bool {
	isTheirs := true
	if by.Provider != "" {
		a := m.account(by.Provider, by.ProviderAccountID)
		isTheirs = a != nil && a.UserID == userID
	} else if by.Email != "" {
		isTheirs = m.users[userID].Email == by.Email
	}
	if session != "" {
		isTheirs = isTheirs && m.sessions[session].UserID == userID
	}
	return isTheirs
}

// mayAdd finds out whether somebody has the account or the credential of a sign-in.
func (m *memory) mayAdd(a *core.Account, key *core.Authenticator) error {
	if a != nil && m.isOthers(*a) {
		return conflict("another user has the account")
	}
	if key != nil {
		if _, taken := m.keys[key.CredentialID]; taken {
			return conflict("the credential is registered already")
		}
	}
	return nil
}

func (m *memory) add(a *core.Account, key *core.Authenticator) {
	if a != nil {
		m.putAccount(*a)
	}
	if key != nil {
		m.keys[key.CredentialID] = *key
	}
}

// rotate starts a session, if there is one, and ends another.
func (m *memory) rotate(s *core.AdapterSession, ended string) *core.AdapterSession {
	delete(m.sessions, ended)
	if s == nil {
		return nil
	}
	m.sessions[s.SessionToken] = *s
	started := *s
	return &started
}

// pageOfUsers is how many users a page has.
const pageOfUsers = 100

// listUsers goes by ID; the cursor is the last one of a page.
func (m *memory) listUsers(ctx context.Context, cursor string) (page []core.User, next string, err error) {
	if err := m.enter(ctx); err != nil {
		return nil, "", err
	}
	defer m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.users)) {
		if cursor != "" && id <= cursor {
			continue
		}
		if len(page) == pageOfUsers {
			return page, page[len(page)-1].ID, nil
		}
		page = append(page, *m.user(id))
	}
	return page, "", nil
}
