package kvadapter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/kvadapter"
)

// A plain store alone promises nothing that users and accounts need, and core.New says so.
func TestPlainStoreIsRefused(t *testing.T) {
	t.Parallel()
	adapter := kvadapter.New(plain{newLab()}, kvadapter.Options{})
	methods := reflect.ValueOf(*adapter)
	for i := range methods.NumField() {
		if f := methods.Type().Field(i); f.Type.Kind() == reflect.Func && !methods.Field(i).IsNil() {
			t.Errorf("%s is there", f.Name)
		}
	}
	if len(adapter.Absent) != 19 {
		t.Errorf("%d reasons, want 19", len(adapter.Absent))
	}
	_, err := core.New(core.Config{
		Secret: []string{strings.Repeat("s", 32)}, Adapter: adapter,
		Providers: []core.Provider{core.Email{ID: "email", Send: func(context.Context, core.VerificationRequest) error { return nil }}},
	})
	if !errors.Is(err, core.ErrMissingAdapterMethods) || !strings.Contains(err.Error(), "Durable Object") {
		t.Errorf("core.New: %v", err)
	}
	records := kvadapter.Open(newLab(), kvadapter.Options{KeyPrefix: "a:b"})
	if records.Adapter().GetUser != nil || !errors.Is(records.SignOutEverywhere(t.Context(), "ada"), kvadapter.ErrRefused) {
		t.Error("a key prefix with a colon is accepted")
	}
}

// The unsafe option keeps every rule that is not about calls at the same time.
func TestUnsafe(t *testing.T) {
	t.Parallel()
	const raced = "the store can't tell who was first, which the option says"
	adaptertest.Run(t, func(*testing.T) *core.Adapter {
		return kvadapter.New(plain{newLab()}, kvadapter.Options{InsecureReplayAndDuplicates: true})
	}, adaptertest.Options{Skip: map[string]string{
		"users/address-race": raced, "users/update-race": raced, "accounts/race": raced, "sessions/race": raced, "tokens/race": raced,
		"authenticators/race": raced, "authenticators/counter-race": raced, "deletion/race": raced,
	}})
}

// K-2 and K-3: a record that was copied to another record's key is not found there.
func TestSwappedRecords(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	fill := func(corrupt *[]string) *bench {
		b := layouts["one atomic store"](kvadapter.Options{OnCorrupt: func(_ context.Context, key string, _ error) { *corrupt = append(*corrupt, key) }})
		if err := adaSignedIn(ctx, b); err != nil {
			t.Fatal(err)
		}
		must[*core.User](t)(b.CreateUser(ctx, bob))
		must[*core.AdapterSession](t)(b.CreateSession(ctx, sessionOf(bob, "bobs")))
		if err := b.CreateVerificationToken(ctx, core.VerificationToken{Identifier: "a", Token: "t", Expires: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	var none []string
	keys := fill(&none).alive()
	for _, from := range keys {
		for _, to := range keys {
			if from == to {
				continue
			}
			var corrupt []string
			b := fill(&corrupt)
			b.rest.values[to] = b.rest.values[from]
			for token, id := range map[string]string{"one": ada.ID, "two": ada.ID, "bobs": bob.ID} {
				if s, u, _ := b.GetSessionAndUser(ctx, token); s != nil && (s.UserID != id || u.ID != id) {
					t.Errorf("%s at %s: session %s is %s's", from, to, token, u.ID)
				}
			}
			for _, id := range []string{ada.ID, bob.ID} {
				if u, _ := b.GetUser(ctx, id); u != nil && u.ID != id {
					t.Errorf("%s at %s: user %s is %s", from, to, id, u.ID)
				}
			}
			for address, id := range map[string]string{ada.Email: ada.ID, bob.Email: bob.ID} {
				if u, _ := b.GetUserByEmail(ctx, address); u != nil && u.ID != id {
					t.Errorf("%s at %s: %s is %s", from, to, address, u.ID)
				}
			}
			_, _ = b.GetUserByAccount(ctx, "github", "1")
			_, _ = b.GetAuthenticator(ctx, "QUFB")
			_, _ = b.UseVerificationToken(ctx, "a", "t")
			if len(corrupt) == 0 || corrupt[0] != to {
				t.Errorf("%s at %s: told %v", from, to, corrupt)
			}
		}
	}
}

// K-4: whoever reads the whole store can't sign in with what is there.
func TestNoSecretsInStore(t *testing.T) {
	t.Parallel()
	forEachLayout(t, func(t *testing.T, open func(kvadapter.Options) *bench) {
		b := open(kvadapter.Options{})
		must[*core.User](t)(b.CreateUser(t.Context(), ada))
		must[*core.AdapterSession](t)(b.CreateSession(t.Context(), sessionOf(ada, "SESSION-SECRET")))
		if err := b.CreateVerificationToken(t.Context(), core.VerificationToken{Identifier: ada.Email, Token: "LINK-SECRET", Expires: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		for _, l := range []*lab{b.sessions, b.rest} {
			for key, v := range l.values {
				if dump := strings.ToUpper(key + string(v.value)); strings.Contains(dump, "SECRET") {
					t.Errorf("%s", dump)
				}
			}
		}
	})
}

// K-21: a damaged session is no session, a damaged user is no user, and the hook is told.
func TestCorruption(t *testing.T) {
	t.Parallel()
	for _, damage := range []struct {
		name string
		do   func(value []byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"truncated", func(v []byte) []byte { return v[:len(v)/2] }},
		{"not JSON", func([]byte) []byte { return []byte("\xff\x00") }},
		{"null", func([]byte) []byte { return []byte("null") }},
		{"a list", func([]byte) []byte { return []byte("[]") }},
		{"no version", func(v []byte) []byte { return bytes.Replace(v, []byte(`"version":1`), []byte(`"version":0`), 1) }},
		{"another kind", func(v []byte) []byte { return bytes.Replace(v, []byte(`"kind":"`), []byte(`"kind":"x`), 1) }},
		{"another type", func(v []byte) []byte { return bytes.Replace(v, []byte(`"version":1`), []byte(`"version":"1"`), 1) }},
		{"followed by more", func(v []byte) []byte { return append(v, '{') }},
		{"25 MiB", func([]byte) []byte { return bytes.Repeat([]byte("["), 25<<20) }},
	} {
		t.Run(damage.name, func(t *testing.T) {
			t.Parallel()
			told := 0
			b := layouts["one atomic store"](kvadapter.Options{OnCorrupt: func(context.Context, string, error) { told++ }})
			if err := adaSignedIn(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			for key, v := range b.rest.values {
				v.value = damage.do(v.value)
				b.rest.values[key] = v
			}
			if err := isDead(t.Context(), b, "one", "two"); err != nil || told != 2 {
				t.Errorf("%v; told %d times, want 2", err, told)
			}
			if u, err := b.GetUser(t.Context(), ada.ID); u != nil || err != nil {
				t.Errorf("GetUser: %v, %v", u, err)
			}
			if u, err := b.GetUserByEmail(t.Context(), ada.Email); u != nil || err != nil {
				t.Errorf("GetUserByEmail: %v, %v", u, err)
			}
			// What nobody can read is nobody's proof: the account stays ada's where only her record is damaged.
			if _, err := b.UpdateSession(t.Context(), sessionOf(ada, "one")); err != nil {
				t.Errorf("UpdateSession: %v", err)
			}
			if _, err := b.DeleteSession(t.Context(), "one"); err != nil {
				t.Errorf("DeleteSession: %v", err)
			}
		})
	}
}

// A user whose record is damaged loses neither the address nor the account to the next who asks.
func TestDamagedUserKeepsClaims(t *testing.T) {
	t.Parallel()
	b := layouts["one atomic store"](kvadapter.Options{})
	if err := errors.Join(adaSignedIn(t.Context(), b)); err != nil {
		t.Fatal(err)
	}
	must[*core.User](t)(b.CreateUser(t.Context(), core.User{ID: "thief"}))
	for key, v := range b.rest.values {
		if strings.HasPrefix(key, "user.") && bytes.Contains(v.value, []byte(ada.Email)) {
			b.rest.values[key] = labValue{value: v.value[:9]}
		}
	}
	if _, err := b.CreateUser(t.Context(), core.User{ID: "new", Email: ada.Email}); !errors.Is(err, core.ErrConflict) {
		t.Errorf("CreateUser: %v", err)
	}
	if err := b.LinkAccount(t.Context(), githubOf(core.User{ID: "thief"}, "1")); !errors.Is(err, core.ErrConflict) {
		t.Errorf("LinkAccount: %v", err)
	}
}

// K-25: a later version's records are read, and what this one doesn't know in them survives
// its writes.
func TestLaterVersion(t *testing.T) {
	t.Parallel()
	b := layouts["one atomic store"](kvadapter.Options{})
	if err := adaSignedIn(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for key, v := range b.rest.values {
		later := bytes.Replace(v.value, []byte(`"version":1`), []byte(`"version":2,"later":{"n":9007199254740993}`), 1)
		b.rest.values[key] = labValue{later, v.expires}
	}
	must[*core.User](t)(b.UpdateUser(t.Context(), core.User{ID: ada.ID, Name: "renamed"}))
	must[*core.AdapterSession](t)(b.UpdateSession(t.Context(), core.AdapterSession{SessionToken: "one", Expires: time.Now().Add(time.Hour)}))
	must[*core.Authenticator](t)(b.UpdateAuthenticatorCounter(t.Context(), "QUFB", 9))
	if err := shows(t.Context(), b, "one", core.User{Name: "renamed", Email: ada.Email}); err != nil {
		t.Error(err)
	}
	for key, v := range b.rest.values {
		var kept struct {
			Version int
			Later   json.RawMessage
		}
		if err := json.Unmarshal(v.value, &kept); err != nil || kept.Version != 2 || string(kept.Later) != `{"n":9007199254740993}` {
			t.Errorf("%s: %s", key, v.value)
		}
	}
}

// A session ends to the second, and the longest TTL later the store is empty (K-20, K-24).
func TestLifetimes(t *testing.T) {
	t.Parallel()
	for name, open := range layouts {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, ctx := open(kvadapter.Options{}), t.Context()
				for i := range 50 {
					user := core.User{ID: fmt.Sprint(i), Email: fmt.Sprint(i, "@example.com")}
					must[*core.User](t)(b.CreateUser(ctx, user))
					for _, token := range []string{"ends", "out"} {
						s := sessionOf(user, fmt.Sprint(token, i))
						s.Expires = time.Now().Add(30 * time.Second)
						must[*core.AdapterSession](t)(b.CreateSession(ctx, s))
					}
					must[*core.AdapterSession](t)(b.DeleteSession(ctx, fmt.Sprint("out", i)))
					if err := b.CreateVerificationToken(ctx, core.VerificationToken{Identifier: "a", Token: fmt.Sprint(i), Expires: time.Now().Add(30 * time.Second)}); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(30*time.Second - time.Millisecond) // the bubble's clock
				if s, _, err := b.GetSessionAndUser(ctx, "ends0"); s == nil || err != nil {
					t.Fatalf("a millisecond too early: %v, %v", s, err)
				}
				time.Sleep(time.Millisecond)
				if err := isDead(ctx, b, "ends0"); err != nil {
					t.Fatal(err)
				}
				if v, err := b.UseVerificationToken(ctx, "a", "0"); v != nil || err != nil {
					t.Fatalf("a link that has expired: %v, %v", v, err)
				}
				for i := range 50 {
					if err := b.DeleteUser(ctx, fmt.Sprint(i)); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(2 * time.Minute)
				for _, l := range []*lab{b.sessions, b.rest} {
					for key := range l.values {
						if _, ok := l.get(key); ok {
							t.Errorf("%s is still there", key)
						}
					}
				}
			})
		})
	}
}

// Repair brings back what can be told from other records.
func TestRepair(t *testing.T) {
	t.Parallel()
	forEachLayout(t, func(t *testing.T, open func(kvadapter.Options) *bench) {
		ctx, b := t.Context(), open(kvadapter.Options{KeyPrefix: "app."})
		if err := adaSignedIn(ctx, b); err != nil {
			t.Fatal(err)
		}
		must[*core.User](t)(b.CreateUser(ctx, bob))
		if got, err := b.Repair(ctx); err != nil || got != (kvadapter.Repaired{Users: 2}) {
			t.Fatalf("Repair with nothing to do: %+v, %v", got, err)
		}
		for key, v := range b.rest.values {
			switch {
			case strings.HasPrefix(key, "app.address."):
				delete(b.rest.values, key)
			case strings.HasPrefix(key, "app.user."): // the index of accounts and passkeys is lost
				var fields map[string]json.RawMessage
				if err := json.Unmarshal(v.value, &fields); err != nil {
					t.Fatal(err)
				}
				fields["owns"] = json.RawMessage("null")
				value, err := json.Marshal(fields)
				if err != nil {
					t.Fatal(err)
				}
				b.rest.values[key] = labValue{value: value}
			}
		}
		if got, err := b.Repair(ctx); err != nil || got != (kvadapter.Repaired{Users: 2, Restored: 4}) {
			t.Fatalf("Repair: %+v, %v; want 4 restored", got, err)
		}
		if u, err := b.GetUserByEmail(ctx, ada.Email); err != nil || u == nil || u.ID != ada.ID {
			t.Errorf("GetUserByEmail: %v, %v", u, err)
		}
		if err := errors.Join(b.DeleteUser(ctx, ada.ID), b.DeleteUser(ctx, bob.ID)); err != nil {
			t.Fatal(err)
		}
		if left := b.alive(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// The index is bounded: one session more than a hundred ends the one that would expire first.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	forEachLayout(t, func(t *testing.T, open func(kvadapter.Options) *bench) {
		b := open(kvadapter.Options{})
		must[*core.User](t)(b.CreateUser(t.Context(), ada))
		for i := range 103 {
			s := sessionOf(ada, fmt.Sprint(i))
			s.Expires = s.Expires.Add(time.Duration(i) * time.Second)
			must[*core.AdapterSession](t)(b.CreateSession(t.Context(), s))
			if i == 0 { // is in use, and will be extended
				must[*core.AdapterSession](t)(b.UpdateSession(t.Context(), core.AdapterSession{SessionToken: "0", Expires: s.Expires.Add(time.Hour)}))
			}
		}
		if err := errors.Join(isDead(t.Context(), b, "1", "2", "3"), shows(t.Context(), b, "0", ada), shows(t.Context(), b, "4", ada)); err != nil {
			t.Error(err)
		}
		if n := alive(b, "session."); n != 100 {
			t.Errorf("%d sessions, want 100", n)
		}
	})
}
