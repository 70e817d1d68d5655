package adaptertest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

var sessionFaults = []fault{
	{"a session keeps the user as of its creation", []string{"sessions/user"},
		func(m *memory, a *core.Adapter) {
			var mu sync.Mutex
			users := map[string]*core.User{}
			a.CreateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				mu.Lock()
				defer mu.Unlock()
				users[s.UserID], _ = m.getUser(ctx, s.UserID)
				return m.createSession(ctx, s)
			}
			a.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
				s, user, err := m.getSessionAndUser(ctx, token)
				mu.Lock()
				defer mu.Unlock()
				if user != nil && users[user.ID] != nil {
					copied := *users[user.ID]
					copied.Extra = cloneExtra(copied.Extra)
					user = &copied
				}
				return s, user, err
			}
		}},
	{"session tokens are compared without case", []string{"sessions/absent"},
		func(m *memory, a *core.Adapter) {
			a.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
				m.mu.Lock()
				for known := range m.sessions {
					if strings.EqualFold(known, token) {
						token = known
					}
				}
				m.mu.Unlock()
				return m.getSessionAndUser(ctx, token)
			}
		}},
	{"a session whose user is gone comes without one", []string{"deletion/sessions"},
		func(m *memory, a *core.Adapter) {
			a.DeleteUser = func(ctx context.Context, id string) error {
				m.mu.Lock()
				defer m.mu.Unlock()
				delete(m.users, id)
				return ctx.Err()
			}
			a.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
				s, user, err := m.getSessionAndUser(ctx, token)
				m.mu.Lock()
				defer m.mu.Unlock()
				if known, ok := m.sessions[token]; ok && err == nil {
					s = &known
				}
				return s, user, err
			}
		}},
	{"an update of a session goes by what was read", []string{"sessions/revision"},
		func(m *memory, a *core.Adapter) {
			a.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
				s, user, err := m.getSessionAndUser(ctx, token)
				if s != nil {
					s.Revision = s.UserID
				}
				return s, user, err
			}
			a.UpdateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				if s.UserID == "" {
					s.UserID, _ = s.Revision.(string)
				}
				s.Revision = nil
				return m.updateSession(ctx, s)
			}
		}},
	{"an update of a session replaces it", []string{"sessions/update"},
		func(m *memory, a *core.Adapter) {
			a.UpdateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				m.mu.Lock()
				defer m.mu.Unlock()
				known, ok := m.sessions[s.SessionToken]
				if !ok || ctx.Err() != nil {
					return nil, ctx.Err()
				}
				if s.UserID == "" {
					s.UserID = known.UserID
				}
				m.sessions[s.SessionToken] = s
				return &s, nil
			}
		}},
	{"an update of a session only makes it longer", []string{"sessions/update"},
		func(m *memory, a *core.Adapter) {
			a.UpdateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				if known, _, _ := m.getSessionAndUser(ctx, s.SessionToken); known != nil && s.Expires.Before(known.Expires) {
					s.Expires = time.Time{}
				}
				return m.updateSession(ctx, s)
			}
		}},
	{"an update of a session that is gone creates it", []string{"sessions/gone", "sessions/absent", "sessions/race"},
		func(m *memory, a *core.Adapter) {
			owner := map[string]string{}
			a.CreateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				m.mu.Lock()
				owner[s.SessionToken] = s.UserID
				m.mu.Unlock()
				return m.createSession(ctx, s)
			}
			a.UpdateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				if known, err := m.updateSession(ctx, s); known != nil || err != nil {
					return known, err
				}
				m.mu.Lock()
				if s.UserID == "" {
					s.UserID = owner[s.SessionToken]
				}
				m.mu.Unlock()
				return m.createSession(ctx, s)
			}
		}},
	{"an update reads the session, then writes it (unstorage and Upstash adapters)", []string{"sessions/race"},
		func(m *memory, a *core.Adapter) {
			a.UpdateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				known, _, err := m.getSessionAndUser(ctx, s.SessionToken)
				if known == nil || err != nil {
					return nil, err
				}
				gap()
				if s.UserID != "" {
					known.UserID = s.UserID
				}
				if !s.Expires.IsZero() {
					known.Expires = s.Expires
				}
				return m.createSession(ctx, *known)
			}
		}},
	{"deleting a session gives nothing", []string{"sessions/delete"},
		func(m *memory, a *core.Adapter) {
			a.DeleteSession = func(ctx context.Context, token string) (*core.AdapterSession, error) {
				_, err := m.deleteSession(ctx, token)
				return nil, err
			}
		}},
	{"deleting a session deletes those of the user", []string{"sessions/delete"},
		func(m *memory, a *core.Adapter) {
			a.DeleteSession = func(ctx context.Context, token string) (*core.AdapterSession, error) {
				gone, err := m.deleteSession(ctx, token)
				m.mu.Lock()
				defer m.mu.Unlock()
				for other, s := range m.sessions {
					if gone != nil && s.UserID == gone.UserID {
						delete(m.sessions, other)
					}
				}
				return gone, err
			}
		}},
	{"a session that has expired is an error", []string{"sessions/expired"},
		func(m *memory, a *core.Adapter) {
			a.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
				s, user, err := m.getSessionAndUser(ctx, token)
				if s != nil && s.Expires.Before(time.Now()) {
					return nil, nil, errors.New("the session has expired")
				}
				return s, user, err
			}
		}},
	{"sessions come from a cache that is handed out", []string{"sessions/sharing"},
		func(m *memory, a *core.Adapter) {
			var mu sync.Mutex
			cache := map[string]*core.AdapterSession{}
			a.CreateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				stored, err := m.createSession(ctx, s)
				mu.Lock()
				defer mu.Unlock()
				cache[s.SessionToken] = stored
				return stored, err
			}
			a.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
				s, user, err := m.getSessionAndUser(ctx, token)
				mu.Lock()
				defer mu.Unlock()
				if cached := cache[token]; s != nil && cached != nil && cached.SessionToken != token {
					s = cached
				}
				return s, user, err
			}
		}},
}

var tokenFaults = []fault{
	{"a token is read, then deleted (unstorage and Upstash adapters)", []string{"tokens/race"},
		func(m *memory, a *core.Adapter) {
			a.UseVerificationToken = func(ctx context.Context, address, token string) (*core.VerificationToken, error) {
				m.mu.Lock()
				t, ok := m.links[link{address, token}]
				m.mu.Unlock()
				if !ok || ctx.Err() != nil {
					return nil, ctx.Err()
				}
				gap()
				m.mu.Lock()
				defer m.mu.Unlock()
				delete(m.links, link{address, token})
				return &t, nil
			}
		}},
	{"a token is taken out, and put back if it is another address's", []string{"tokens/race"},
		func(m *memory, a *core.Adapter) {
			a.UseVerificationToken = func(ctx context.Context, address, token string) (*core.VerificationToken, error) {
				t := m.takeToken(func(t core.VerificationToken) bool { return ctx.Err() == nil && t.Token == token })
				if t != nil && t.Identifier != address {
					gap()
					return nil, m.createVerificationToken(ctx, *t)
				}
				return t, ctx.Err()
			}
		}},
	{"a token is not deleted", []string{"tokens/use", "tokens/several", "tokens/expired", "tokens/race"},
		func(m *memory, a *core.Adapter) {
			a.UseVerificationToken = func(ctx context.Context, address, token string) (*core.VerificationToken, error) {
				t, err := m.useVerificationToken(ctx, address, token)
				if t != nil {
					err = m.createVerificationToken(ctx, *t)
				}
				return t, err
			}
		}},
	{"a token is found by its value only", []string{"tokens/mismatch", "tokens/race"},
		func(m *memory, a *core.Adapter) {
			a.UseVerificationToken = func(ctx context.Context, _, token string) (*core.VerificationToken, error) {
				return m.takeToken(func(t core.VerificationToken) bool { return ctx.Err() == nil && t.Token == token }), ctx.Err()
			}
		}},
	{"a token is found by its identifier only", []string{"tokens/mismatch", "tokens/several"},
		func(m *memory, a *core.Adapter) {
			a.UseVerificationToken = func(ctx context.Context, address, _ string) (*core.VerificationToken, error) {
				return m.takeToken(func(t core.VerificationToken) bool { return ctx.Err() == nil && t.Identifier == address }), ctx.Err()
			}
		}},
	{"a wrong value spends the token", []string{"tokens/mismatch"},
		func(m *memory, a *core.Adapter) {
			a.UseVerificationToken = func(ctx context.Context, address, token string) (*core.VerificationToken, error) {
				t, err := m.useVerificationToken(ctx, address, token)
				if t == nil && err == nil {
					m.takeToken(func(t core.VerificationToken) bool { return t.Identifier == address })
				}
				return t, err
			}
		}},
	{"an address has one token", []string{"tokens/several"},
		func(m *memory, a *core.Adapter) {
			a.CreateVerificationToken = func(ctx context.Context, t core.VerificationToken) error {
				m.takeToken(func(old core.VerificationToken) bool { return old.Identifier == t.Identifier })
				return m.createVerificationToken(ctx, t)
			}
		}},
	{"a token that has expired is given again and again", []string{"tokens/expired"},
		func(m *memory, a *core.Adapter) {
			a.UseVerificationToken = func(ctx context.Context, address, token string) (*core.VerificationToken, error) {
				t, err := m.useVerificationToken(ctx, address, token)
				if t != nil && t.Expires.Before(time.Now()) {
					err = m.createVerificationToken(ctx, *t)
				}
				return t, err
			}
		}},
}

// takeToken deletes a token that fits and gives it, or nil.
func (m *memory) takeToken(fits func(core.VerificationToken) bool) *core.VerificationToken {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, t := range m.links {
		if fits(t) {
			delete(m.links, key)
			return &t
		}
	}
	return nil
}
