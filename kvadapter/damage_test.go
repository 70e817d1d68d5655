package kvadapter_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

// A record that was copied to another record's key is not found there, and the log is told.
func TestSwappedRecords(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	fill := func(log func(context.Context, string, error)) (*lab, *core.Adapter) {
		l := newLab()
		a := kvadapter.New(l, kvadapter.Options{Log: log})
		if err := adaSignedUp(ctx, a, "one"); err != nil {
			t.Fatal(err)
		}
		must[*core.User](t)(a.CreateUser(ctx, bob))
		must[*core.AdapterSession](t)(a.CreateSession(ctx, sessionOf(bob, "bobs")))
		if err := a.CreateVerificationToken(ctx, core.VerificationToken{Identifier: "a", Token: "t", Expires: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		return l, a
	}
	l, _ := fill(nil)
	all := dump(t, l)
	for from, moved := range all {
		for to := range all {
			if from == to {
				continue
			}
			told := map[string]bool{}
			l, a := fill(func(_ context.Context, key string, _ error) { told[key] = true })
			moved.Key = to
			if _, err := l.Store.Commit(ctx, nil, []kvadapter.Write{moved}); err != nil {
				t.Fatal(err)
			}
			for token, id := range map[string]string{"one": ada.ID, "bobs": bob.ID} {
				if s, u, _ := a.GetSessionAndUser(ctx, token); s != nil && (s.UserID != id || u.ID != id) {
					t.Errorf("%s at %s: session %s is %s's", from, to, token, u.ID)
				}
			}
			for id, address := range map[string]string{ada.ID: ada.Email, bob.ID: bob.Email} {
				if u, _ := a.GetUser(ctx, id); u != nil && u.ID != id {
					t.Errorf("%s at %s: user %s is %s", from, to, id, u.ID)
				}
				if u, _ := a.GetUserByEmail(ctx, address); u != nil && u.ID != id {
					t.Errorf("%s at %s: %s is %s", from, to, address, u.ID)
				}
			}
			_, _ = a.GetAccount(ctx, "1", "github")
			_, _ = a.GetAuthenticator(ctx, "QUFB")
			_, _ = a.UseVerificationToken(ctx, "a", "t")
			if !told[to] {
				t.Errorf("%s at %s: told %v", from, to, told)
			}
		}
	}
}

// A damaged session is no session, a damaged user is no user, and the log is told.
func TestCorruption(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"truncated":          func(v []byte) []byte { return v[:len(v)/2] },
		"not JSON":           func([]byte) []byte { return []byte("\xff\x00") },
		"null":               func([]byte) []byte { return []byte("null") },
		"a list":             func([]byte) []byte { return []byte("[]") },
		"no version":         func(v []byte) []byte { return bytes.Replace(v, []byte(`"version":1`), []byte(`"version":0`), 1) },
		"another kind":       func(v []byte) []byte { return bytes.Replace(v, []byte(`"kind":"`), []byte(`"kind":"x`), 1) },
		"another type":       func(v []byte) []byte { return bytes.Replace(v, []byte(`"version":1`), []byte(`"version":"1"`), 1) },
		"followed by more":   func(v []byte) []byte { return append(v, '{') },
		"deep inside itself": func([]byte) []byte { return bytes.Repeat([]byte("["), kvMax) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := 0
			l := newLab()
			a := kvadapter.New(l, kvadapter.Options{Log: func(context.Context, string, error) { told++ }})
			if err := adaSignedUp(t.Context(), a, "one"); err != nil {
				t.Fatal(err)
			}
			for _, w := range dump(t, l) {
				w.Value = damage(w.Value)
				if _, err := l.Store.Commit(t.Context(), nil, []kvadapter.Write{w}); err != nil {
					t.Fatal(err)
				}
			}
			s, u, err := a.GetSessionAndUser(t.Context(), "one")
			if s != nil || u != nil || err != nil || told == 0 {
				t.Errorf("%v, %v, %v, told %d times", s, u, err, told)
			}
			if u, err := a.GetUser(t.Context(), ada.ID); u != nil || err != nil {
				t.Errorf("%v, %v", u, err)
			}
			// A damaged address or account is nobody else's: whoever had it may come back.
			if _, err := a.CreateUser(t.Context(), core.User{ID: "eve", Email: ada.Email}); !errors.Is(err, core.ErrConflict) {
				t.Errorf("the address: %v", err)
			}
			must[*core.User](t)(a.CreateUser(t.Context(), bob))
			if err := a.LinkAccount(t.Context(), githubOf(bob, "1")); !errors.Is(err, core.ErrConflict) {
				t.Errorf("the account: %v", err)
			}
		})
	}
}

const kvMax = 64 * 1024

// A user whose own record is damaged keeps what is theirs: it may be mended by hand.
func TestDamagedUserKeepsWhatIsTheirs(t *testing.T) {
	t.Parallel()
	l := newLab()
	a := kvadapter.New(l, kvadapter.Options{Log: func(context.Context, string, error) {}})
	if err := adaSignedUp(t.Context(), a, "one"); err != nil {
		t.Fatal(err)
	}
	for _, w := range dump(t, l) {
		if strings.HasPrefix(w.Key, "user.") {
			w.Value = w.Value[1:]
			if _, err := l.Store.Commit(t.Context(), nil, []kvadapter.Write{w}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := a.CreateUser(t.Context(), core.User{ID: "eve", Email: ada.Email}); !errors.Is(err, core.ErrConflict) {
		t.Errorf("the address: %v", err)
	}
	must[*core.User](t)(a.CreateUser(t.Context(), bob))
	if err := a.LinkAccount(t.Context(), githubOf(bob, "1")); !errors.Is(err, core.ErrConflict) {
		t.Errorf("the account: %v", err)
	}
}
