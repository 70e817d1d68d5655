package adaptertest

import (
	"context"
	"errors"

	"github.com/edgeauth/edgeauth/core"
)

// onFind, onSignUp and onSignIn change what a method is asked, or what it answers.

func onFind(change func(m *memory, q *core.UserQuery) func(*core.FoundUser)) func(*memory, *core.Adapter) {
	return func(m *memory, a *core.Adapter) {
		a.FindUser = func(ctx context.Context, q core.UserQuery) (*core.FoundUser, error) {
			after := change(m, &q)
			found, err := m.findUser(ctx, q)
			if found != nil && after != nil {
				after(found)
			}
			return found, err
		}
	}
}

func onSignUp(change func(*core.SignUp)) func(*memory, *core.Adapter) {
	return func(m *memory, a *core.Adapter) {
		a.SignUp = func(ctx context.Context, s core.SignUp) (*core.User, *core.AdapterSession, error) {
			change(&s)
			return m.signUp(ctx, s)
		}
	}
}

func onSignIn(change func(m *memory, s *core.SignIn) error) func(*memory, *core.Adapter) {
	return func(m *memory, a *core.Adapter) {
		a.SignIn = func(ctx context.Context, s core.SignIn) (*core.User, *core.AdapterSession, error) {
			if err := errors.Join(ctx.Err(), change(m, &s)); err != nil {
				return nil, nil, err
			}
			return m.signIn(ctx, s)
		}
	}
}

// withRevision makes FindUser give the user it saw as the Revision.
func withRevision(a *core.Adapter) {
	find := a.FindUser
	a.FindUser = func(ctx context.Context, q core.UserQuery) (*core.FoundUser, error) {
		found, err := find(ctx, q)
		if found != nil && found.User != nil {
			found.Revision = *found.User
		}
		return found, err
	}
}

var signInFaults = []fault{
	{"the address counts more than the account", []string{"signin/find"},
		onFind(func(m *memory, q *core.UserQuery) func(*core.FoundUser) {
			if m.userOf(q.Email) != nil {
				q.Provider = ""
			}
			return nil
		})},
	{"a user who was found by the address has an account", []string{"signin/find"},
		onFind(func(_ *memory, q *core.UserQuery) func(*core.FoundUser) {
			return func(found *core.FoundUser) {
				if found.User != nil && found.Account == nil {
					found.Account = &core.Account{Provider: q.Provider, ProviderAccountID: q.ProviderAccountID, UserID: found.User.ID}
				}
			}
		})},
	{"a credential is found with its account only", []string{"signin/find"},
		onFind(func(*memory, *core.UserQuery) func(*core.FoundUser) {
			return func(found *core.FoundUser) {
				if found.User == nil {
					found.Authenticator = nil
				}
			}
		})},
	{"nobody is nil", []string{"signin/find", "signin/absent"},
		func(m *memory, a *core.Adapter) {
			a.FindUser = func(ctx context.Context, q core.UserQuery) (*core.FoundUser, error) {
				found, err := m.findUser(ctx, q)
				if found != nil && found.User == nil {
					found = nil
				}
				return found, err
			}
		}},
	{"a user without an address is found by the empty one", []string{"signin/absent"},
		onFind(func(m *memory, q *core.UserQuery) func(*core.FoundUser) {
			return func(found *core.FoundUser) {
				for id, user := range m.users {
					if q.Email == "" && user.Email == "" && found.User == nil {
						found.User = m.user(id)
					}
				}
			}
		})},
	{"SignUp forgets the passkey", []string{"signin/records"}, onSignUp(func(s *core.SignUp) { s.Authenticator = nil })},
	{"SignUp forgets the session", []string{"signin/records"}, onSignUp(func(s *core.SignUp) { s.Session = nil })},
	{"SignUp leaves the session that ends", []string{"signin/ended"}, onSignUp(func(s *core.SignUp) { s.EndedSession = "" })},
	{"SignUp shares the user's Extra", []string{"signin/sharing"},
		func(m *memory, a *core.Adapter) {
			a.SignUp = func(ctx context.Context, s core.SignUp) (*core.User, *core.AdapterSession, error) {
				user, session, err := m.signUp(ctx, s)
				if err == nil {
					m.mu.Lock()
					defer m.mu.Unlock()
					m.users[s.User.ID] = s.User
				}
				return user, session, err
			}
		}},
	{"SignUp is the single methods in turn", []string{"signin/nothing", "signin/race"},
		func(m *memory, a *core.Adapter) {
			a.SignUp = func(ctx context.Context, s core.SignUp) (*core.User, *core.AdapterSession, error) {
				if known, _ := m.getUserByEmail(ctx, s.User.Email); known != nil && s.User.Email != "" {
					return nil, nil, conflict("another user has the address")
				}
				gap()
				m.mu.Lock()
				m.users[s.User.ID] = s.User
				m.mu.Unlock()
				if s.Account != nil {
					if err := m.linkAccount(ctx, *s.Account); err != nil {
						return nil, nil, err
					}
				}
				return m.signIn(ctx, core.SignIn{User: s.User, Authenticator: s.Authenticator, Session: s.Session, EndedSession: s.EndedSession})
			}
		}},
	{"SignIn forgets the account", []string{"signin/known"}, onSignIn(func(_ *memory, s *core.SignIn) error { s.Account = nil; return nil })},
	{"SignIn replaces the user", []string{"signin/known"},
		onSignIn(func(m *memory, s *core.SignIn) error {
			m.mu.Lock()
			defer m.mu.Unlock()
			if _, ok := m.users[s.User.ID]; ok && !m.isTaken(s.User.Email, s.User.ID) {
				m.users[s.User.ID] = core.User{ID: s.User.ID}
			}
			return nil
		})},
	{"SignIn changes the user, then links", []string{"signin/nothing"},
		onSignIn(func(m *memory, s *core.SignIn) error {
			_, err := m.updateUser(context.Background(), s.User)
			return err
		})},
	{"SignIn ends the session before it knows whether it succeeds", []string{"signin/nothing", "signin/context"},
		func(m *memory, a *core.Adapter) {
			a.SignIn = func(ctx context.Context, s core.SignIn) (*core.User, *core.AdapterSession, error) {
				_, _ = m.deleteSession(context.Background(), s.EndedSession)
				return m.signIn(ctx, s)
			}
		}},
	{"SignIn takes anybody's credential", []string{"signin/nothing"},
		onSignIn(func(m *memory, s *core.SignIn) error {
			if s.Credential == nil {
				return nil
			}
			_, err := m.updateAuthenticatorCounter(context.Background(), s.Credential.CredentialID, s.Credential.Counter)
			s.Credential = nil
			return err
		})},
	{"SignIn stores any counter", []string{"signin/counter", "signin/revision"},
		onSignIn(func(m *memory, s *core.SignIn) error {
			if s.Credential != nil {
				m.mu.Lock()
				defer m.mu.Unlock()
				if key, ok := m.keys[s.Credential.CredentialID]; ok && key.UserID == s.User.ID {
					key.Counter = s.Credential.Counter
					m.keys[key.CredentialID] = key
					s.Credential = nil
				}
			}
			return nil
		})},
	{"SignIn takes no counter that is zero", []string{"signin/counter"},
		onSignIn(func(_ *memory, s *core.SignIn) error {
			if s.Credential != nil && s.Credential.Counter == 0 {
				return conflict("the counter did not grow")
			}
			return nil
		})},
	{"SignIn ends the user's own sessions only", []string{"signin/ended"},
		onSignIn(func(m *memory, s *core.SignIn) error {
			if ended, _, _ := m.getSessionAndUser(context.Background(), s.EndedSession); ended != nil && ended.UserID != s.User.ID {
				s.EndedSession = ""
			}
			return nil
		})},
	{"SignIn writes the user as FindUser saw it", []string{"signin/revision"},
		func(m *memory, a *core.Adapter) {
			withRevision(a)
			onSignIn(func(m *memory, s *core.SignIn) error {
				if seen, ok := s.Revision.(core.User); ok && seen.ID == s.User.ID {
					m.mu.Lock()
					defer m.mu.Unlock()
					m.users[seen.ID] = seen
				}
				return nil
			})(m, a)
		}},
	{"SignIn with a Revision that is out of date is refused", []string{"signin/revision", "signin/together"},
		func(m *memory, a *core.Adapter) {
			seen := map[string]int{} // how often a user has signed in
			find := a.FindUser
			a.FindUser = func(ctx context.Context, q core.UserQuery) (*core.FoundUser, error) {
				found, err := find(ctx, q)
				if found != nil && found.User != nil {
					m.mu.Lock()
					defer m.mu.Unlock()
					found.Revision = seen[found.User.ID]
				}
				return found, err
			}
			onSignIn(func(m *memory, s *core.SignIn) error {
				m.mu.Lock()
				defer m.mu.Unlock()
				if revision, ok := s.Revision.(int); ok && revision != seen[s.User.ID] {
					return conflict("the user has changed")
				}
				seen[s.User.ID]++
				return nil
			})(m, a)
		}},
	{"SignIn doesn't ask by what account or address", []string{"signin/by"},
		onSignIn(func(_ *memory, s *core.SignIn) error { s.By = core.UserQuery{}; return nil })},
	{"SignIn doesn't ask by what session", []string{"signin/by"},
		onSignIn(func(_ *memory, s *core.SignIn) error { s.BySession = ""; return nil })},
	{"SignIn looks the user up, then stores", []string{"signin/deletion-race"},
		func(m *memory, a *core.Adapter) {
			a.SignIn = func(ctx context.Context, s core.SignIn) (*core.User, *core.AdapterSession, error) {
				user, err := m.getUser(ctx, s.User.ID)
				if user == nil || s.Session == nil || s.Account == nil {
					return m.signIn(ctx, s)
				}
				gap()
				m.mu.Lock()
				defer m.mu.Unlock()
				if m.isOthers(*s.Account) {
					return nil, nil, conflict("another user has the account")
				}
				m.add(s.Account, s.Authenticator)
				return user, m.rotate(s.Session, s.EndedSession), err
			}
		}},
	{"contexts are ignored by FindUser, SignUp and SignIn", []string{"signin/context"},
		func(m *memory, a *core.Adapter) {
			a.SignUp = func(ctx context.Context, s core.SignUp) (*core.User, *core.AdapterSession, error) {
				return m.signUp(context.WithoutCancel(ctx), s)
			}
		}},
	{"users are listed up to the end of a page", []string{"listing/pages"},
		func(m *memory, a *core.Adapter) {
			a.Users = func(ctx context.Context, cursor string) ([]core.User, string, error) {
				page, _, err := m.listUsers(ctx, cursor)
				return page, "", err
			}
		}},
	{"a page begins with the last user of the one before", []string{"listing/pages"},
		func(m *memory, a *core.Adapter) {
			a.Users = func(ctx context.Context, cursor string) ([]core.User, string, error) {
				page, next, err := m.listUsers(ctx, cursor)
				m.mu.Lock()
				defer m.mu.Unlock()
				if user := m.user(cursor); user != nil {
					page = append(page, *user)
				}
				return page, next, err
			}
		}},
	{"users who were deleted are listed", []string{"listing/pages"},
		func(m *memory, a *core.Adapter) {
			var gone []core.User
			a.DeleteUser = func(ctx context.Context, id string) error {
				m.mu.Lock()
				if user := m.user(id); user != nil {
					gone = append(gone, *user)
				}
				m.mu.Unlock()
				return m.deleteUser(ctx, id)
			}
			a.Users = func(ctx context.Context, cursor string) ([]core.User, string, error) {
				page, next, err := m.listUsers(ctx, cursor)
				if next == "" {
					page = append(page, gone...)
				}
				return page, next, err
			}
		}},
}
