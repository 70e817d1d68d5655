package adaptertest

import (
	"context"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// underKey joins provider and ID to a key, by which accounts are stored from then on. The
// accounts themselves come back as they were.
func underKey(key func(provider, id string) string) func(*memory, *core.Adapter) {
	return func(m *memory, a *core.Adapter) {
		stored := map[string]core.Account{}
		a.LinkAccount = func(ctx context.Context, x core.Account) error {
			k := key(x.Provider, x.ProviderAccountID)
			found := x
			x.Provider, x.ProviderAccountID = "", k
			err := m.linkAccount(ctx, x)
			if err == nil {
				m.mu.Lock()
				found.Extra = cloneExtra(found.Extra)
				stored[k] = found
				m.mu.Unlock()
			}
			return err
		}
		a.UnlinkAccount = func(ctx context.Context, provider, id string) error {
			return m.unlinkAccount(ctx, "", key(provider, id))
		}
		a.GetUserByAccount = func(ctx context.Context, provider, id string) (*core.User, error) {
			return m.getUserByAccount(ctx, "", key(provider, id))
		}
		a.GetAccount = func(ctx context.Context, id, provider string) (*core.Account, error) {
			found, err := m.getAccount(ctx, key(provider, id), "")
			if found != nil {
				m.mu.Lock()
				defer m.mu.Unlock()
				*found = stored[key(provider, id)]
				found.Extra = cloneExtra(found.Extra)
			}
			return found, err
		}
	}
}

// onLinkAccount changes what is stored.
func onLinkAccount(change func(*core.Account)) func(*memory, *core.Adapter) {
	return func(m *memory, a *core.Adapter) {
		a.LinkAccount = func(ctx context.Context, x core.Account) error {
			change(&x)
			return m.linkAccount(ctx, x)
		}
	}
}

var accountFaults = []fault{
	{"the key of an account is joined with a colon", []string{"accounts/pairs"}, underKey(func(provider, id string) string { return provider + ":" + id })},
	{"the key of an account is joined with nothing", []string{"accounts/pairs", "accounts/absent"}, underKey(func(provider, id string) string { return provider + id })},
	{"the key of an account has no provider", []string{"accounts/fields", "accounts/unlink"}, underKey(func(_, id string) string { return id })},
	{"account IDs are compared without case", []string{"accounts/pairs", "accounts/absent"}, underKey(func(provider, id string) string { return provider + "\x00" + strings.ToLower(id) })},
	{"account IDs are cut at 191 characters", []string{"accounts/pairs"}, underKey(func(provider, id string) string { return provider + "\x00" + id[:min(len(id), 191)] })},
	{"account IDs are compared without trailing spaces", []string{"accounts/pairs"}, underKey(func(provider, id string) string { return provider + "\x00" + strings.TrimRight(id, " ") })},
	{"account IDs become valid UTF-8", []string{"accounts/pairs"}, underKey(func(provider, id string) string { return provider + "\x00" + strings.ToValidUTF8(id, "\ufffd") })},
	{"account IDs end at NUL", []string{"accounts/nul"}, underKey(func(provider, id string) string {
		id, _, _ = strings.Cut(id, "\x00")
		return provider + ":" + id + "."
	})},
	{"ExpiresAt has 32 bits", []string{"accounts/fields"}, onLinkAccount(func(x *core.Account) { x.ExpiresAt = int64(int32(x.ExpiresAt)) })},
	{"the session state is not stored", []string{"accounts/fields"}, onLinkAccount(func(x *core.Account) { x.SessionState = "" })},
	{"the Extra of an account is not stored", []string{"accounts/extra", "accounts/sharing"}, onLinkAccount(func(x *core.Account) { x.Extra = nil })},
	{"linking overwrites (unstorage and Upstash adapters)", []string{"accounts/conflict", "accounts/race"},
		func(m *memory, a *core.Adapter) {
			a.LinkAccount = func(ctx context.Context, x core.Account) error {
				if err := m.unlinkAccount(ctx, x.Provider, x.ProviderAccountID); err != nil {
					return err
				}
				return m.linkAccount(ctx, x)
			}
		}},
	{"the account is looked up, then linked", []string{"accounts/race"},
		func(m *memory, a *core.Adapter) {
			a.LinkAccount = func(ctx context.Context, x core.Account) error {
				known, err := m.getAccount(ctx, x.ProviderAccountID, x.Provider)
				if err != nil {
					return err
				}
				if known != nil && known.UserID != x.UserID {
					return conflict("another user has the account")
				}
				gap()
				m.mu.Lock()
				defer m.mu.Unlock()
				x.Extra = cloneExtra(x.Extra)
				m.accounts[account{x.Provider, x.ProviderAccountID}] = x
				return nil
			}
		}},
	{"linking again is refused (INSERT)", []string{"accounts/replace"},
		func(m *memory, a *core.Adapter) {
			a.LinkAccount = func(ctx context.Context, x core.Account) error {
				if known, _ := m.getAccount(ctx, x.ProviderAccountID, x.Provider); known != nil {
					return conflict("duplicate key")
				}
				return m.linkAccount(ctx, x)
			}
		}},
	{"linking again keeps the old refresh token", []string{"accounts/replace"},
		func(m *memory, a *core.Adapter) {
			a.LinkAccount = func(ctx context.Context, x core.Account) error {
				if known, _ := m.getAccount(ctx, x.ProviderAccountID, x.Provider); known != nil && x.RefreshToken == "" {
					x.RefreshToken = known.RefreshToken
				}
				return m.linkAccount(ctx, x)
			}
		}},
	{"unlinking leaves the key that finds the user (Upstash adapter)", []string{"accounts/unlink"},
		func(m *memory, a *core.Adapter) {
			left := map[account]string{}
			a.UnlinkAccount = func(ctx context.Context, provider, id string) error {
				if known, _ := m.getAccount(ctx, id, provider); known != nil {
					left[account{provider, id}] = known.UserID
				}
				return m.unlinkAccount(ctx, provider, id)
			}
			a.GetUserByAccount = func(ctx context.Context, provider, id string) (*core.User, error) {
				if userID := left[account{provider, id}]; userID != "" {
					return m.getUser(ctx, userID)
				}
				return m.getUserByAccount(ctx, provider, id)
			}
		}},
	{"unlinking keeps the account taken", []string{"accounts/unlink", "deletion/unlinked"},
		func(m *memory, a *core.Adapter) {
			taken := map[account]string{}
			a.UnlinkAccount = func(ctx context.Context, provider, id string) error {
				if known, _ := m.getAccount(ctx, id, provider); known != nil {
					taken[account{provider, id}] = known.UserID
				}
				return m.unlinkAccount(ctx, provider, id)
			}
			a.LinkAccount = func(ctx context.Context, x core.Account) error {
				m.mu.Lock()
				userID := taken[account{x.Provider, x.ProviderAccountID}]
				m.mu.Unlock()
				if userID != "" && userID != x.UserID {
					return conflict("another user has the account")
				}
				return m.linkAccount(ctx, x)
			}
		}},
	{"unlinking goes by the ID only", []string{"accounts/unlink"},
		func(m *memory, a *core.Adapter) {
			a.UnlinkAccount = func(ctx context.Context, _, id string) error {
				for _, provider := range []string{"github", "gitlab"} {
					if err := m.unlinkAccount(ctx, provider, id); err != nil {
						return err
					}
				}
				return nil
			}
		}},
	{"the account that comes back is the stored one", []string{"accounts/sharing"},
		func(m *memory, a *core.Adapter) {
			a.GetAccount = func(ctx context.Context, id, provider string) (*core.Account, error) {
				found, err := m.getAccount(ctx, id, provider)
				if found != nil {
					m.mu.Lock()
					defer m.mu.Unlock()
					found.Extra = m.accounts[account{provider, id}].Extra
				}
				return found, err
			}
		}},
}
