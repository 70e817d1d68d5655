package kvadapter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

var (
	ada = core.User{ID: "ada", Name: "Ada", Email: "ada@example.com"}
	bob = core.User{ID: "bob", Name: "Bob", Email: "bob@example.com"}
)

func sessionOf(user core.User, token string) core.AdapterSession {
	return core.AdapterSession{SessionToken: token, UserID: user.ID, Expires: time.Now().Add(24 * time.Hour).Truncate(time.Millisecond)}
}

func githubOf(user core.User, id string) core.Account {
	return core.Account{Provider: "github", ProviderAccountID: id, Type: core.TypeOAuth, UserID: user.ID, AccessToken: "gho_secret"}
}

// TestCost says how many store calls each method makes where nobody else is at work. The
// session check is one read on every kind of store.
func TestCost(t *testing.T) {
	t.Parallel()
	type step struct {
		name          string
		run           func(*bench) error
		atomic, plain int // store calls; plain: sessions in a plain store
	}
	s := sessionOf(ada, "token")
	steps := []step{
		{"CreateUser", func(b *bench) error { _, err := b.CreateUser(t.Context(), ada); return err }, 4, 4},
		{"LinkAccount", func(b *bench) error { return b.LinkAccount(t.Context(), githubOf(ada, "1")) }, 4, 4},
		{"GetUserByAccount", func(b *bench) error { _, err := b.GetUserByAccount(t.Context(), "github", "1"); return err }, 2, 2},
		{"GetUserByEmail", func(b *bench) error { _, err := b.GetUserByEmail(t.Context(), ada.Email); return err }, 2, 2},
		{"CreateSession", func(b *bench) error { _, err := b.CreateSession(t.Context(), s); return err }, 4, 6},
		{"GetSessionAndUser", func(b *bench) error { _, _, err := b.GetSessionAndUser(t.Context(), "token"); return err }, 1, 1},
		{"UpdateSession", func(b *bench) error {
			_, err := b.UpdateSession(t.Context(), core.AdapterSession{SessionToken: "token", Expires: s.Expires.Add(time.Hour)})
			return err
		}, 2, 4},
		{"a refresh by GetSessionAndUser and UpdateSession", func(b *bench) error { return readAndExtend(t.Context(), b, "token") }, 2, 4},
		{"UpdateUser", func(b *bench) error { _, err := b.UpdateUser(t.Context(), core.User{ID: "ada", Name: "A"}); return err }, 6, 8},
		{"UpdateUser, address", func(b *bench) error {
			_, err := b.UpdateUser(t.Context(), core.User{ID: "ada", Email: "new@example.com"})
			return err
		}, 11, 13},
		{"DeleteSession", func(b *bench) error { _, err := b.DeleteSession(t.Context(), "token"); return err }, 3, 4},
		{"UnlinkAccount", func(b *bench) error { return b.UnlinkAccount(t.Context(), "github", "1") }, 7, 7},
		{"CreateVerificationToken", func(b *bench) error {
			return b.CreateVerificationToken(t.Context(), core.VerificationToken{Identifier: "i", Token: "t", Expires: s.Expires})
		}, 1, 1},
		{"UseVerificationToken", func(b *bench) error { _, err := b.UseVerificationToken(t.Context(), "i", "t"); return err }, 1, 1},
		{"DeleteUser", func(b *bench) error { return b.DeleteUser(t.Context(), "ada") }, 7, 7},
	}
	for name, open := range layouts {
		b := open(kvadapter.Options{})
		for _, step := range steps {
			before := b.calls()
			if err := step.run(b); err != nil {
				t.Fatalf("%s: %s: %v", name, step.name, err)
			}
			want := step.atomic
			if strings.HasPrefix(name, "plain sessions") {
				want = step.plain
			}
			if got := b.calls() - before; got != want {
				t.Errorf("%s: %s made %d store calls, want %d", name, step.name, got, want)
			}
		}
	}
}

// K-20: whatever time is left, no store is asked to keep a value for less than a minute, and
// a session lives for exactly as long as it says.
func TestShortLives(t *testing.T) {
	t.Parallel()
	forEachLayout(t, func(t *testing.T, open func(kvadapter.Options) *bench) {
		b := open(kvadapter.Options{})
		must[*core.User](t)(b.CreateUser(t.Context(), ada))
		for left := time.Second; left <= 61*time.Second; left += time.Second {
			s := sessionOf(ada, left.String())
			s.Expires = time.Now().Add(left)
			must[*core.AdapterSession](t)(b.CreateSession(t.Context(), s))
			if got, _, err := b.GetSessionAndUser(t.Context(), s.SessionToken); err != nil || got == nil {
				t.Fatalf("a session with %v left is not there: %v", left, err)
			}
			must[*core.AdapterSession](t)(b.DeleteSession(t.Context(), s.SessionToken))
			if err := b.CreateVerificationToken(t.Context(), core.VerificationToken{Identifier: "a", Token: left.String(), Expires: s.Expires}); err != nil {
				t.Fatal(err)
			}
		}
		for _, ttl := range append(b.sessions.ttls, b.rest.ttls...) {
			if ttl < time.Minute {
				t.Fatalf("a value was to be kept for %v", ttl)
			}
		}
	})
}
