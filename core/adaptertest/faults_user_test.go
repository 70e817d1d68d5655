package adaptertest

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// onCreateUser changes what is stored.
func onCreateUser(change func(*core.User)) func(*memory, *core.Adapter) {
	return func(m *memory, a *core.Adapter) {
		a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) {
			change(&u)
			return m.createUser(ctx, u)
		}
	}
}

// putUser stores a user without asking.
func (m *memory) putUser(user core.User) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users[user.ID] = user
}

// filledIn is what a whole record becomes by an update.
func filledIn(user, change core.User) core.User {
	m := newMemory()
	m.putUser(user)
	out, _ := m.updateUser(context.Background(), change)
	return *out
}

var userFaults = []fault{
	{"IDs are made by the store", []string{"users/fields"}, onCreateUser(func(u *core.User) {
		if u.Name != "" {
			u.ID = "made-by-the-store"
		}
	})},
	{"IDs are stored in lower case (uuid columns)", []string{"users/ids"}, onCreateUser(func(u *core.User) { u.ID = strings.ToLower(u.ID) })},
	{"text is cut at 255 characters", []string{"users/fields"}, onCreateUser(func(u *core.User) { u.Image = u.Image[:min(len(u.Image), 255)] })},
	{"Extra is dropped", []string{"users/extra", "users/sharing"}, onCreateUser(func(u *core.User) { u.Extra = nil })},
	{"nulls in Extra are dropped, in the map that was given", []string{"users/extra", "users/sharing"}, onCreateUser(func(u *core.User) {
		for name, value := range u.Extra {
			if value == nil {
				delete(u.Extra, name)
			}
		}
	})},
	{"numbers in Extra become float64 (JSON without UseNumber)", []string{"users/extra"}, onCreateUser(func(u *core.User) {
		text, _ := json.Marshal(u.Extra)
		u.Extra = nil
		_ = json.Unmarshal(text, &u.Extra)
	})},
	{"addresses are compared without case", []string{"users/address-exact", "users/absent"},
		func(m *memory, a *core.Adapter) {
			a.GetUserByEmail = func(ctx context.Context, email string) (*core.User, error) {
				m.mu.Lock()
				defer m.mu.Unlock()
				for id, user := range m.users {
					if user.Email != "" && strings.EqualFold(user.Email, email) {
						return m.user(id), nil
					}
				}
				return nil, ctx.Err()
			}
		}},
	{"addresses are stored in lower case and trimmed", []string{"users/address-exact"}, onCreateUser(func(u *core.User) { u.Email = strings.ToLower(strings.TrimSpace(u.Email)) })},
	{"users without an address have the empty one", []string{"users/address-empty"},
		func(m *memory, a *core.Adapter) {
			a.GetUserByEmail = func(ctx context.Context, email string) (*core.User, error) {
				m.mu.Lock()
				defer m.mu.Unlock()
				for id, user := range m.users {
					if user.Email == email {
						return m.user(id), nil
					}
				}
				return nil, ctx.Err()
			}
		}},
	{"the empty address is unique", []string{"users/address-empty"},
		func(m *memory, a *core.Adapter) {
			a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				m.mu.Lock()
				for _, other := range m.users {
					if u.Email == "" && other.Email == "" {
						m.mu.Unlock()
						return nil, conflict("duplicate key")
					}
				}
				m.mu.Unlock()
				return m.createUser(ctx, u)
			}
		}},
	{"addresses are not unique", []string{"users/address-unique", "users/address-race", "users/update-address"},
		func(m *memory, a *core.Adapter) {
			a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				u.Extra = cloneExtra(u.Extra)
				m.putUser(u)
				return m.getUser(ctx, u.ID)
			}
		}},
	{"a refused user stays", []string{"users/address-unique", "users/address-race", "users/update-race"},
		func(m *memory, a *core.Adapter) {
			a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				out, err := m.createUser(ctx, u)
				if err != nil && ctx.Err() == nil {
					u.Email = ""
					m.putUser(u)
				}
				return out, err
			}
		}},
	{"a conflict is some error", []string{"users/address-unique"},
		func(m *memory, a *core.Adapter) {
			a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				out, err := m.createUser(ctx, u)
				if err != nil {
					err = context.DeadlineExceeded
				}
				return out, err
			}
		}},
	{"the address is looked up, then the user created", []string{"users/address-race"},
		func(m *memory, a *core.Adapter) {
			a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				if other, err := m.getUserByEmail(ctx, u.Email); other != nil || err != nil {
					return nil, conflict("another user has the address")
				}
				gap()
				u.Extra = cloneExtra(u.Extra)
				m.putUser(u)
				return m.getUser(ctx, u.ID)
			}
		}},
	{"the address is looked up, then the user updated", []string{"users/update-race"},
		func(m *memory, a *core.Adapter) {
			a.UpdateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				if other, err := m.getUserByEmail(ctx, u.Email); err != nil || other != nil && other.ID != u.ID {
					return nil, conflict("another user has the address")
				}
				user, _ := m.getUser(ctx, u.ID)
				gap()
				if user == nil {
					return nil, context.Canceled
				}
				m.putUser(filledIn(*user, u))
				return m.getUser(ctx, u.ID)
			}
		}},
	{"an update replaces the record", []string{"users/update", "users/update-address"},
		func(m *memory, a *core.Adapter) {
			a.UpdateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				if out, err := m.updateUser(ctx, u); err != nil {
					return out, err
				}
				u.Extra = cloneExtra(u.Extra)
				m.putUser(u)
				return m.getUser(ctx, u.ID)
			}
		}},
	{"an update merges Extra", []string{"users/update"},
		func(m *memory, a *core.Adapter) {
			a.UpdateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				if known, _ := m.getUser(ctx, u.ID); known != nil && u.Extra != nil {
					for name, value := range u.Extra {
						known.Extra[name] = value
					}
					u.Extra = known.Extra
				}
				return m.updateUser(ctx, u)
			}
		}},
	{"an update with the user's own address drops it from the index (set, then delete)", []string{"users/update"},
		func(m *memory, a *core.Adapter) {
			lost := map[string]bool{}
			a.UpdateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				if known, _ := m.getUserByEmail(ctx, u.Email); known != nil && known.ID == u.ID {
					m.mu.Lock()
					lost[u.Email] = true
					m.mu.Unlock()
				}
				return m.updateUser(ctx, u)
			}
			a.GetUserByEmail = func(ctx context.Context, email string) (*core.User, error) {
				m.mu.Lock()
				gone := lost[email]
				m.mu.Unlock()
				if gone {
					return nil, nil
				}
				return m.getUserByEmail(ctx, email)
			}
		}},
	{"the old address still finds the user (unstorage and Upstash adapters)", []string{"users/update-address", "deletion/user"},
		func(m *memory, a *core.Adapter) {
			index := map[string]string{}
			a.UpdateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				if known, _ := m.getUser(ctx, u.ID); known != nil && u.Email != "" {
					m.mu.Lock()
					index[known.Email] = u.ID
					m.mu.Unlock()
				}
				return m.updateUser(ctx, u)
			}
			a.GetUserByEmail = func(ctx context.Context, email string) (*core.User, error) {
				m.mu.Lock()
				id := index[email]
				m.mu.Unlock()
				if id != "" {
					return m.getUser(ctx, id)
				}
				return m.getUserByEmail(ctx, email)
			}
		}},
	{"an update that is refused has changed the name", []string{"users/update-conflict"},
		func(m *memory, a *core.Adapter) {
			a.UpdateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				if known, _ := m.getUser(ctx, u.ID); known != nil && u.Name != "" {
					known.Name = u.Name
					m.putUser(*known)
				}
				return m.updateUser(ctx, u)
			}
		}},
	{"an update of an unknown user creates it", []string{"users/update-unknown", "deletion/user"},
		func(m *memory, a *core.Adapter) {
			a.UpdateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				if known, err := m.getUser(ctx, u.ID); known == nil && err == nil {
					return m.createUser(ctx, u)
				}
				return m.updateUser(ctx, u)
			}
		}},
	{"the Extra that was given is kept, not copied", []string{"users/sharing"},
		func(m *memory, a *core.Adapter) {
			a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				out, err := m.createUser(ctx, u)
				if err == nil {
					m.putUser(u)
				}
				return out, err
			}
		}},
	{"the Extra that comes back is copied at the top only", []string{"users/sharing", "accounts/sharing", "sessions/sharing"},
		func(m *memory, a *core.Adapter) {
			shallow := func(user *core.User) *core.User {
				if user != nil {
					m.mu.Lock()
					defer m.mu.Unlock()
					for name, value := range m.users[user.ID].Extra {
						user.Extra[name] = value
					}
				}
				return user
			}
			a.GetUser = func(ctx context.Context, id string) (*core.User, error) {
				user, err := m.getUser(ctx, id)
				return shallow(user), err
			}
			a.GetUserByAccount = func(ctx context.Context, provider, id string) (*core.User, error) {
				user, err := m.getUserByAccount(ctx, provider, id)
				return shallow(user), err
			}
			a.GetSessionAndUser = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
				s, user, err := m.getSessionAndUser(ctx, token)
				return s, shallow(user), err
			}
		}},
}
