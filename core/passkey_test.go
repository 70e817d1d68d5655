package core_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/passkey/passkeytest"
)

// Somebody registers, signs out, signs in, and adds a second passkey, under either strategy and
// with each algorithm.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		for i, algorithm := range []int64{passkeytest.ES256, passkeytest.RS256, passkeytest.EdDSA, passkeytest.ES256} {
			t.Run(fmt.Sprint(strategy, algorithm, i), func(t *testing.T) {
				t.Parallel()
				p := newPasskeys(t, func(c *core.Config, _ *core.WebAuthn) {
					c.Session.Strategy = strategy
					if i == 3 {
						inTurn(c.Adapter)
					}
				})
				b, key := newBrowser(t, p.auth), newKey()
				key.Algorithms = []int64{algorithm}

				b.register(key, "?email=Ada%40Example.com").wantRedirect(t, site+"/home")
				if b.email() != "ada@example.com" {
					t.Fatalf("signed in as %q", b.email())
				}
				p.wantTold("createUser ada@example.com", "linkAccount ada@example.com webauthn passkey", "signIn ada@example.com new true")
				if b.cookie(challengeCookie) != "" {
					t.Error("the challenge stays in the browser")
				}

				b.post("/auth/signout")
				for range 2 {
					b.authenticate(key, "?action=authenticate").wantRedirect(t, site+"/home")
					if b.email() != "ada@example.com" {
						t.Fatalf("signed in as %q", b.email())
					}
					p.wantTold("signIn ada@example.com new false")
				}

				second := newKey()
				b.register(second, "?action=register").wantRedirect(t, site+"/home")
				p.wantTold("linkAccount ada@example.com webauthn passkey", "signIn ada@example.com new false")
				elsewhere := newBrowser(t, p.auth)
				elsewhere.authenticate(second, "?action=authenticate").wantRedirect(t, site+"/home")
				if elsewhere.email() != "ada@example.com" {
					t.Fatalf("signed in as %q", elsewhere.email())
				}
				ada, err := p.store.GetUserByEmail(t.Context(), "ada@example.com")
				if err != nil || ada == nil || !ada.EmailVerified.IsZero() {
					t.Fatalf("the user is %+v, %v", ada, err)
				}
				stored, err := p.store.ListAuthenticatorsByUserID(t.Context(), ada.ID)
				if err != nil || len(stored) != 2 {
					t.Fatalf("stored %+v, %v", stored, err)
				}
				for _, a := range stored {
					if a.ProviderAccountID != a.CredentialID || a.CredentialDeviceType != "singleDevice" || a.Transports != "internal" {
						t.Errorf("stored %+v", a)
					}
				}
			})
		}
	}
}

// A credential belongs to whoever registered it, whatever an answer says.
func TestPasskeyOfAnother(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, nil)
	ada, adasKey := newBrowser(t, p.auth), newKey()
	var id []byte
	adasKey.Tamper = func(a *passkeytest.Answer) { id = a.CredentialID }
	ada.register(adasKey, "?email=ada@example.com").wantRedirect(t, site+"/home")
	adasKey.Tamper = nil
	before, err := p.store.GetAuthenticator(t.Context(), base64.StdEncoding.EncodeToString(id))
	if err != nil {
		t.Fatal(err)
	}
	steal := func(a *passkeytest.Answer) {
		a.CredentialID, a.ID = id, base64.RawURLEncoding.EncodeToString(id)
		a.RawID = a.ID
	}
	bob := newBrowser(t, p.auth)
	bob.register(newKey(), "?email=bob@example.com").wantRedirect(t, site+"/home")
	p.told = nil

	t.Run("a new user can't register it", func(t *testing.T) {
		thief := newBrowser(t, p.auth)
		thief.register(&passkeytest.Authenticator{Origin: site, Tamper: steal}, "?email=thief@example.com").wantError(t, "signin?error=AccountNotLinked")
		if thief.session() != nil {
			t.Error("the thief is signed in")
		}
		if user, _ := p.store.GetUserByEmail(t.Context(), "thief@example.com"); user != nil {
			t.Error("the thief is a user")
		}
	})
	t.Run("nor can another user", func(t *testing.T) {
		bob.copy().register(&passkeytest.Authenticator{Origin: site, Tamper: steal}, "?action=register").wantError(t, "signin?error=AccountNotLinked")
	})
	t.Run("nor can its owner again", func(t *testing.T) {
		ada.copy().register(&passkeytest.Authenticator{Origin: site, Tamper: steal}, "?action=register").wantError(t, "signin?error=AccountNotLinked")
	})
	t.Run("nobody signs in with another key", func(t *testing.T) {
		other := newKey()
		newBrowser(t, p.auth).register(other, "?email=eve@example.com").wantRedirect(t, site+"/home")
		p.told = nil
		other.Tamper = steal
		newBrowser(t, p.auth).authenticate(other, "").wantError(t, "error?error=WebAuthnVerificationError")
	})
	t.Run("while somebody else is signed in", func(t *testing.T) {
		visitor := bob.copy()
		visitor.authenticate(adasKey, "?action=authenticate").wantError(t, "signin?error=AccountNotLinked")
		if visitor.email() != "bob@example.com" {
			t.Errorf("signed in as %q", visitor.email())
		}
	})
	p.wantTold()
	after, err := p.store.GetAuthenticator(t.Context(), before.CredentialID)
	if err != nil || after.UserID != before.UserID || after.CredentialPublicKey != before.CredentialPublicKey {
		t.Errorf("stored %+v, before %+v: %v", after, before, err)
	}
}

// That a credential is registered once does not hang on the adapter.
func TestPasskeyTwice(t *testing.T) {
	t.Parallel()
	var id []byte
	take := func(a *passkeytest.Answer) { id = a.CredentialID }
	steal := func(a *passkeytest.Answer) {
		a.CredentialID, a.ID = id, base64.RawURLEncoding.EncodeToString(id)
		a.RawID = a.ID
	}
	for _, known := range []string{"GetAuthenticator", "GetUserByAccount"} {
		p := newPasskeys(t, func(c *core.Config, _ *core.WebAuthn) {
			inTurn(c.Adapter)
			c.Adapter.LinkAccount = func(context.Context, core.Account) error { return nil }
			c.Adapter.CreateAuthenticator = func(_ context.Context, a core.Authenticator) (*core.Authenticator, error) { return &a, nil }
		})
		newBrowser(t, p.auth).register(&passkeytest.Authenticator{Origin: site, Tamper: take}, "?email=ada@example.com").wantRedirect(t, site+"/home")
		ada, err := p.store.GetUserByEmail(t.Context(), "ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		// The adapter knows it in one way only.
		p.store.GetAuthenticator = func(_ context.Context, _ string) (*core.Authenticator, error) {
			if known != "GetAuthenticator" {
				return nil, nil
			}
			return &core.Authenticator{UserID: ada.ID}, nil
		}
		p.store.GetUserByAccount = func(context.Context, string, string) (*core.User, error) {
			if known != "GetUserByAccount" {
				return nil, nil
			}
			return ada, nil
		}
		thief := newBrowser(t, p.auth)
		thief.register(&passkeytest.Authenticator{Origin: site, Tamper: steal}, "?email=thief@example.com").wantError(t, "signin?error=AccountNotLinked")
		if thief.session() != nil {
			t.Errorf("known by %s: the thief is signed in", known)
		}
	}
}

// The user handle is derived from the user's ID, so an adapter that changes it is told off at once.
func TestPasskeyUserID(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, func(c *core.Config, _ *core.WebAuthn) {
		create := inTurn(c.Adapter).CreateUser
		c.Adapter.CreateUser = func(ctx context.Context, user core.User) (*core.User, error) {
			user.ID = "42"
			return create(ctx, user)
		}
	})
	newBrowser(t, p.auth).register(newKey(), "?email=ada@example.com").wantError(t, configurationError)
	if ada, _ := p.store.GetUserByEmail(t.Context(), "ada@example.com"); ada != nil {
		t.Errorf("a user stays: %+v", ada)
	}
	p.wantTold()
}

// A passkey is for the user it was made for: nobody else who is signed in by then, and nobody
// who has taken the address.
func TestPasskeyForAnother(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, func(c *core.Config, _ *core.WebAuthn) { c.Session.Strategy = core.StrategyDatabase })
	ada := newBrowser(t, p.auth)
	ada.register(newKey(), "?email=ada@example.com").wantRedirect(t, site+"/home")
	bob := newBrowser(t, p.auth)
	bob.register(newKey(), "?email=bob@example.com").wantRedirect(t, site+"/home")
	p.told = nil
	begun := func(b *browser, query string) (data []byte) {
		t.Helper()
		data, err := newKey().Create(b.wantOptions(query, "register"))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	t.Run("another user signs in meanwhile", func(t *testing.T) {
		b := ada.copy()
		data := begun(b, "?action=register")
		b.set(sessionCookie, bob.cookie(sessionCookie))
		b.answer("register", data).wantError(t, "signin?error=AccountNotLinked")
	})
	t.Run("the user signs out meanwhile", func(t *testing.T) {
		b := ada.copy()
		data := begun(b, "?action=register")
		b.forget(sessionCookie)
		b.answer("register", data).wantError(t, "signin?error=AccountNotLinked")
	})
	t.Run("somebody signs in meanwhile", func(t *testing.T) {
		b := newBrowser(t, p.auth)
		data := begun(b, "?email=new@example.com")
		b.set(sessionCookie, bob.cookie(sessionCookie))
		b.answer("register", data).wantError(t, "signin?error=AccountNotLinked")
	})
	t.Run("somebody takes the address meanwhile", func(t *testing.T) {
		b := newBrowser(t, p.auth)
		data := begun(b, "?email=new@example.com")
		if _, err := p.store.CreateUser(t.Context(), core.User{ID: "quicker", Email: "new@example.com"}); err != nil {
			t.Fatal(err)
		}
		b.answer("register", data).wantError(t, "signin?error=AccountNotLinked")
		list, err := p.store.ListAuthenticatorsByUserID(t.Context(), "quicker")
		if err != nil || len(list) > 0 {
			t.Errorf("stored %+v, %v", list, err)
		}
	})
	p.wantTold()
}

// A cloned authenticator, and one that goes back in time, are refused and change nothing.
func TestPasskeyCounter(t *testing.T) {
	t.Parallel()
	testPasskeyCounter(t, "SignIn", newPasskeys(t, nil))
	testPasskeyCounter(t, "UpdateAuthenticatorCounter", newPasskeys(t, func(c *core.Config, _ *core.WebAuthn) { inTurn(c.Adapter) }))
}

func testPasskeyCounter(t *testing.T, writes string, p *passkeys) {
	key := newKey()
	newBrowser(t, p.auth).register(key, "?email=ada@example.com").wantRedirect(t, site+"/home")
	next := func(counter uint32) *answer {
		key.Tamper = func(a *passkeytest.Answer) { a.Counter = counter }
		return newBrowser(t, p.auth).authenticate(key, "")
	}
	for _, c := range []struct {
		counter uint32
		want    bool
	}{{5, true}, {5, false}, {4, false}, {0, false}, {6, true}, {1 << 31, true}, {7, false}} {
		if a := next(c.counter); c.want {
			a.wantRedirect(t, site+"/home")
		} else {
			a.wantError(t, "error?error=WebAuthnVerificationError")
		}
	}
	// The clone is quicker, in between the check and the write.
	p.store.fail = conflicting(writes)
	next(1<<31+1).wantError(t, "error?error=WebAuthnVerificationError")
}

// Of concurrent answers with growing counters those accepted grow, and the last one is stored (K-23).
func TestPasskeyCounterRace(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, nil)
	key := newKey()
	newBrowser(t, p.auth).register(key, "?email=ada@example.com").wantRedirect(t, site+"/home")
	type attempt struct {
		b    *browser
		data []byte
	}
	var attempts []attempt
	for range 50 {
		b := newBrowser(t, p.auth)
		data, err := key.Get(b.wantOptions("", "authenticate"))
		if err != nil {
			t.Fatal(err)
		}
		attempts = append(attempts, attempt{b, data})
	}
	var accepted sync.Map
	var group sync.WaitGroup
	for i, one := range attempts {
		group.Go(func() {
			if a := one.b.answer("authenticate", one.data); a.location() == site+"/home" {
				accepted.Store(i, true)
			}
		})
	}
	group.Wait()
	ada, err := p.store.GetUserByEmail(t.Context(), "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := p.store.ListAuthenticatorsByUserID(t.Context(), ada.ID)
	if err != nil {
		t.Fatal(err)
	}
	highest := -1
	accepted.Range(func(i, _ any) bool { highest = max(highest, i.(int)); return true })
	if _, last := accepted.Load(len(attempts) - 1); !last || highest < 0 || stored[0].Counter != uint32(highest)+2 {
		t.Errorf("the highest counter accepted is the %d., stored is %d", highest, stored[0].Counter)
	}
}

// What a store that fails half-way leaves lets nobody in, and blocks nobody.
func TestPasskeyStoreFails(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"CreateUser", "LinkAccount", "CreateAuthenticator", "CreateSession", "GetUserByAccount", "GetAuthenticator", "UseVerificationToken", "FindUser", "SignUp"} {
		for _, kind := range []string{"", "conflict"} {
			t.Run(method+kind, func(t *testing.T) {
				t.Parallel()
				p := newPasskeys(t, func(c *core.Config, _ *core.WebAuthn) {
					if method != "FindUser" && method != "SignUp" {
						inTurn(c.Adapter)
					}
				})
				b, key := newBrowser(t, p.auth), newKey()
				p.store.fail = func(name string) error {
					if name == method {
						return errors.New("the store is on fire")
					}
					return nil
				}
				want := configurationError
				if kind == "conflict" {
					p.store.fail = conflicting(method)
					if method == "CreateUser" || method == "LinkAccount" || method == "CreateAuthenticator" || method == "SignUp" {
						want = "signin?error=AccountNotLinked"
					}
				}
				b.register(key, "?email=ada@example.com").wantError(t, want)
				p.store.fail = nil
				if b.session() != nil {
					t.Error("signed in")
				}
				if method == "CreateSession" { // all is stored by then
					b.authenticate(key, "").wantRedirect(t, site+"/home")
					return
				}
				if ada, _ := p.store.GetUserByEmail(t.Context(), "ada@example.com"); ada != nil {
					t.Errorf("a user stays: %+v", ada)
				}
				p.wantTold()
				b.register(newKey(), "?email=ada@example.com").wantRedirect(t, site+"/home")
			})
		}
	}
	t.Run("at options", func(t *testing.T) {
		t.Parallel()
		p := newPasskeys(t, nil)
		for _, c := range []struct{ method, query string }{{"CreateVerificationToken", ""}, {"GetUserByEmail", "?email=ada@example.com"}} {
			p.store.fail = func(name string) error {
				if name == c.method {
					return errors.New("the store is on fire")
				}
				return nil
			}
			a, _, _ := newBrowser(t, p.auth).options(c.query)
			a.wantError(t, configurationError)
		}
	})
	t.Run("an account or a user that is gone", func(t *testing.T) {
		t.Parallel()
		p := newPasskeys(t, nil)
		key := newKey()
		newBrowser(t, p.auth).register(key, "?email=ada@example.com").wantRedirect(t, site+"/home")
		ada, err := p.store.GetUserByEmail(t.Context(), "ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		keys, err := p.store.ListAuthenticatorsByUserID(t.Context(), ada.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.store.UnlinkAccount(t.Context(), "passkey", keys[0].ProviderAccountID); err != nil {
			t.Fatal(err)
		}
		newBrowser(t, p.auth).authenticate(key, "").wantError(t, "error?error=WebAuthnVerificationError")
		bobs := core.Account{Provider: "passkey", ProviderAccountID: keys[0].ProviderAccountID, UserID: "bob", Type: core.TypeWebAuthn}
		if _, err := p.store.CreateUser(t.Context(), core.User{ID: "bob", Email: "bob@example.com"}); err != nil {
			t.Fatal(err)
		}
		if err := p.store.LinkAccount(t.Context(), bobs); err != nil {
			t.Fatal(err)
		}
		newBrowser(t, p.auth).authenticate(key, "").wantError(t, "error?error=WebAuthnVerificationError")
		if err := p.store.DeleteUser(t.Context(), ada.ID); err != nil {
			t.Fatal(err)
		}
		newBrowser(t, p.auth).authenticate(key, "").wantError(t, "error?error=WebAuthnVerificationError")
	})
}

// The signIn callback decides, with its redirect as well.
func TestPasskeySignInCallback(t *testing.T) {
	t.Parallel()
	var verdict core.Verdict
	var asked []string
	p := newPasskeys(t, func(c *core.Config, _ *core.WebAuthn) {
		c.Callbacks.SignIn = func(_ context.Context, in core.SignInParams) (core.Verdict, error) {
			asked = append(asked, in.User.Email+" "+string(in.Account.Type))
			return verdict, nil
		}
	})
	key := newKey()
	newBrowser(t, p.auth).register(key, "?email=ada@example.com").wantError(t, "error?error=AccessDenied")
	if ada, _ := p.store.GetUserByEmail(t.Context(), "ada@example.com"); ada != nil {
		t.Error("a user was made")
	}
	verdict = core.RedirectTo("/elsewhere")
	moved := newBrowser(t, p.auth)
	moved.register(key, "?email=ada@example.com").wantRedirect(t, site+"/elsewhere")
	if moved.session() != nil {
		t.Error("signed in")
	}
	p.wantTold()
	verdict = core.Allow
	newBrowser(t, p.auth).register(key, "?email=ada@example.com").wantRedirect(t, site+"/home")
	verdict = core.Deny
	newBrowser(t, p.auth).authenticate(key, "").wantError(t, "error?error=AccessDenied")
	if want := slices.Repeat([]string{"ada@example.com webauthn"}, 4); !slices.Equal(asked, want) {
		t.Errorf("asked for %q", asked)
	}
}

// The clients differ in how they read and write a user handle.
func TestPasskeyUserHandle(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, nil)
	b, key := newBrowser(t, p.auth), newKey()
	b.register(key, "?email=ada@example.com").wantRedirect(t, site+"/home")
	var ada []byte
	for _, c := range []struct {
		name   string
		handle func(own []byte) []byte
		want   bool
	}{
		{"as it was given", func(own []byte) []byte { return own }, true},
		{"registered by a client that takes the text for the handle", func(own []byte) []byte { return []byte(base64.RawURLEncoding.EncodeToString(own)) }, true},
		{"registered with Auth.js", func([]byte) []byte { return []byte(strings.Repeat("0f", 32)) }, true},
		{"none", func([]byte) []byte { return nil }, false},
		{"another user's", func(own []byte) []byte { return append(own[:len(own)-1:len(own)-1], own[len(own)-1]^1) }, false},
	} {
		visitor := newBrowser(t, p.auth)
		key.Tamper = func(a *passkeytest.Answer) { ada = a.UserHandle; a.UserHandle = c.handle(a.UserHandle) }
		if a := visitor.authenticate(key, ""); c.want {
			a.wantRedirect(t, site+"/home")
		} else {
			a.wantError(t, "error?error=WebAuthnVerificationError")
		}
	}
	key.Tamper = nil
	// A client that sends the handle as text.
	visitor := newBrowser(t, p.auth)
	data, err := key.Get(visitor.wantOptions("", "authenticate"))
	if err != nil {
		t.Fatal(err)
	}
	encoded := `"userHandle":"` + base64.RawURLEncoding.EncodeToString(ada) + `"`
	asText := strings.Replace(string(data), encoded, `"userHandle":"`+string(ada)+`"`, 1)
	if asText == string(data) {
		t.Fatalf("no handle in %s", data)
	}
	visitor.answer("authenticate", []byte(asText)).wantRedirect(t, site+"/home")
}
