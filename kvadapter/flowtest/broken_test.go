package flowtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// A wrong is a way in which a site can be wrong, and the cases that must see it.
type wrong struct {
	name     string
	want     []string
	open     func(testing.TB) (kvadapter.Store, kvadapter.Atomic) // nil: a store in memory
	breakage breakage
}

func openMemory(testing.TB) (kvadapter.Store, kvadapter.Atomic) { return memory.New(nil), nil }

// slack is a store that isn't Atomic, and lets others go first.
type slack struct{ kvadapter.Store }

func (s slack) Get(ctx context.Context, key string) ([]byte, bool, error) {
	value, ok, err := s.Store.Get(ctx, key)
	runtime.Gosched()
	return value, ok, err
}

type getSession = func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error)

// reads breaks how sessions are read.
func reads(change func(w *world, get getSession) getSession) breakage {
	return breakage{adapter: func(w *world, a *core.Adapter) { a.GetSessionAndUser = change(w, a.GetSessionAndUser) }}
}

// refreshes breaks how sessions are refreshed.
func refreshes(change func(*core.AdapterSession)) breakage {
	return breakage{adapter: func(_ *world, a *core.Adapter) {
		update := a.UpdateSession
		a.UpdateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
			change(&s)
			return update(ctx, s)
		}
	}}
}

// invites breaks how link tokens are stored.
func invites(change func(ctx context.Context, w *world, t *core.VerificationToken) error) breakage {
	return breakage{adapter: func(w *world, a *core.Adapter) {
		create := a.CreateVerificationToken
		a.CreateVerificationToken = func(ctx context.Context, t core.VerificationToken) error {
			if err := change(ctx, w, &t); err != nil {
				return err
			}
			return create(ctx, t)
		}
	}}
}

// insteadOf gives whoever was read before where a session can't be read, or isn't there.
func insteadOf(isError bool) breakage {
	return reads(func(w *world, get getSession) getSession {
		var mu sync.Mutex
		var last *core.User
		return func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
			s, u, err := get(ctx, token)
			mu.Lock()
			defer mu.Unlock()
			if (err != nil) == isError && u == nil && last != nil && w.probe.isOn() {
				return &core.AdapterSession{SessionToken: token, UserID: last.ID, Expires: time.Now().Add(maxAge)}, last, nil
			}
			if u != nil && u.Email == bob.address {
				last = u
			}
			return s, u, err
		}
	})
}

// isOn reports whether the probe has a plan.
func (p *probe) isOn() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plan != nil
}

// leak puts a text into the store in clear, a little wrapped.
func (w *world) leak(text string) {
	value, _ := json.Marshal(map[string]any{"leak": []string{base64.StdEncoding.EncodeToString([]byte("token:" + text))}})
	sum := sha256.Sum256([]byte(text))
	if err := w.sessions.Put(context.Background(), w.prefix+"leak."+base64.RawURLEncoding.EncodeToString(sum[:]), value, time.Time{}); err != nil {
		panic(err)
	}
}

// leaks stores the cookies of a name that a site sets.
func leaks(name string) breakage {
	return breakage{handler: func(w *world, h http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			seen := httptest.NewRecorder()
			h.ServeHTTP(seen, r)
			for _, c := range seen.Result().Cookies() {
				if c.Name == name && len(c.Value) > 20 {
					w.leak(c.Value)
				}
			}
			for name, values := range seen.Header() {
				out.Header()[name] = values
			}
			out.WriteHeader(seen.Code)
			_, _ = out.Write(seen.Body.Bytes())
		})
	}}
}

// leaksMail stores what an e-mail provider sends.
func leaksMail(provider string) breakage {
	return breakage{config: func(w *world, c *core.Config) {
		for i, p := range c.Providers {
			email, isEmail := p.(core.Email)
			if !isEmail || (email.ID == code) != (provider == code) {
				continue
			}
			send := email.Send
			email.Send = func(ctx context.Context, m core.VerificationRequest) error {
				w.leak(m.Token)
				return send(ctx, m)
			}
			c.Providers[i] = email
		}
	}}
}

// replays gives a token that was used again.
func replays() breakage {
	return breakage{adapter: func(_ *world, a *core.Adapter) {
		use := a.UseVerificationToken
		var used sync.Map
		a.UseVerificationToken = func(ctx context.Context, identifier, token string) (*core.VerificationToken, error) {
			t, err := use(ctx, identifier, token)
			if t != nil {
				used.Store(identifier+" "+token, t)
			} else if again, ok := used.Load(identifier + " " + token); ok && err == nil {
				return again.(*core.VerificationToken), nil
			}
			return t, err
		}
	}}
}

// careless reads a session without a look at the key that is in it.
func (w *world) careless(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
	parts := append(binary.BigEndian.AppendUint64(nil, uint64(len(token))), token...)
	sum := sha256.Sum256(parts)
	value, ok, err := w.sessions.Get(ctx, w.prefix+"session."+base64.RawURLEncoding.EncodeToString(sum[:]))
	var record struct{ User struct{ ID, Email string } }
	if !ok || err != nil || json.Unmarshal(value, &record) != nil || record.User.ID == "" {
		return nil, nil, err
	}
	user := &core.User{ID: record.User.ID, Email: record.User.Email}
	return &core.AdapterSession{SessionToken: token, UserID: user.ID, Expires: time.Now().Add(maxAge)}, user, nil
}

func wrongs() []wrong {
	var later atomic.Int64
	return []wrong{
		{
			"what should be one step is two", []string{"K-11", "K-15"},
			func(testing.TB) (kvadapter.Store, kvadapter.Atomic) { return slack{memory.New(nil)}, nil },
			breakage{options: func(o *kvadapter.Options) { o.InsecureReplayAndDuplicates = true }},
		},
		{"an address is whose who wants it", []string{"K-12/address", "K-12/two-providers"}, nil, breakage{adapter: func(_ *world, a *core.Adapter) {
			create := a.CreateUser
			a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				out, err := create(ctx, u)
				if errors.Is(err, core.ErrConflict) {
					u.Email = ""
					return create(ctx, u)
				}
				return out, err
			}
		}}},
		{"an account is whose who wants it", []string{"K-12/account", "K-12/account-without-address"}, nil, breakage{adapter: func(_ *world, a *core.Adapter) {
			create, link := a.CreateUser, a.LinkAccount
			a.CreateUser = func(ctx context.Context, u core.User) (*core.User, error) {
				u.Email = ""
				return create(ctx, u)
			}
			a.LinkAccount = func(ctx context.Context, account core.Account) error {
				if err := link(ctx, account); !errors.Is(err, core.ErrConflict) {
					return err
				}
				return nil
			}
		}}},
		{"counters go down", []string{"K-23"}, nil, breakage{adapter: func(_ *world, a *core.Adapter) {
			update := a.UpdateAuthenticatorCounter
			a.UpdateAuthenticatorCounter = func(ctx context.Context, id string, counter uint32) (*core.Authenticator, error) {
				out, err := update(ctx, id, counter)
				if errors.Is(err, core.ErrConflict) {
					return a.GetAuthenticator(ctx, id)
				}
				return out, err
			}
		}}},
		{"every read extends the session anew", []string{"K-16"}, nil, refreshes(func(s *core.AdapterSession) {
			s.Expires = s.Expires.Add(time.Duration(later.Add(1)) * 2 * time.Minute)
		})},
		{"a refresh reads again", []string{"cost"}, nil, refreshes(func(s *core.AdapterSession) { s.Revision = "" })},
		{"a read writes", []string{"cost", "K-17/each", "K-17/all"}, nil, reads(func(w *world, get getSession) getSession {
			return func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
				if err := w.probe.over(w.sessions).Put(ctx, w.prefix+"seen", nil, time.Now().Add(time.Hour)); err != nil {
					return nil, nil, err
				}
				return get(ctx, token)
			}
		})},
		{"a failure is nobody", []string{"K-22", "faults/error-before", "faults/timeout"}, nil, reads(func(_ *world, get getSession) getSession {
			return func(ctx context.Context, token string) (*core.AdapterSession, *core.User, error) {
				s, u, err := get(ctx, token)
				if err != nil {
					return nil, nil, nil
				}
				return s, u, nil
			}
		})},
		{"a failure is who was read before", []string{"faults/error-before", "faults/error-after", "faults/throttled", "faults/timeout"}, nil, insteadOf(true)},
		{"nobody is who was read before", []string{"faults/stale", "faults/corrupt"}, nil, insteadOf(false)},
		{"a record's key isn't compared", []string{"K-2"}, nil, reads(func(w *world, _ getSession) getSession { return w.careless })},
		{"users who can't be linked stay", []string{"faults/error-before"}, nil, breakage{adapter: func(_ *world, a *core.Adapter) {
			a.DeleteUser = func(context.Context, string) error { return nil }
		}}},
		{"a refused write is a crash", []string{"K-17/each"}, nil, breakage{adapter: func(_ *world, a *core.Adapter) {
			create := a.CreateSession
			a.CreateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				out, err := create(ctx, s)
				if err != nil {
					panic(err)
				}
				return out, nil
			}
		}}},
		{"links live on", []string{"K-20"}, nil, invites(func(_ context.Context, _ *world, t *core.VerificationToken) error {
			t.Expires = t.Expires.Add(time.Second)
			return nil
		})},
		{"values are kept too shortly", []string{"K-20"}, nil, invites(func(ctx context.Context, w *world, t *core.VerificationToken) error {
			return w.probe.over(w.sessions).Put(ctx, w.prefix+"short", nil, t.Expires)
		})},
		{"session tokens are stored", []string{"dump"}, nil, breakage{adapter: func(w *world, a *core.Adapter) {
			create := a.CreateSession
			a.CreateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				key := w.prefix + "clear." + rand.Text()
				if err := w.sessions.Put(ctx, key, []byte(`{"sessionToken":"`+s.SessionToken+`"}`), s.Expires); err != nil {
					return nil, err
				}
				return create(ctx, s)
			}
		}}},
		{"session tokens are stored in disguise", []string{"dump"}, nil, leaks(sessionCookie)},
		{"CSRF cookies are stored", []string{"dump"}, nil, leaks(csrfCookie)},
		{"check cookies are stored", []string{"dump"}, nil, leaks(pkceCookie)},
		{"link tokens are stored", []string{"dump"}, nil, leaksMail(mail)},
		{"codes are stored", []string{"dump"}, nil, leaksMail(code)},
		{"links and codes are not used up", []string{"K-11", "K-11/code"}, nil, replays()},
		{"a sign-in asks for the user again and again", []string{"cost"}, nil, breakage{adapter: func(_ *world, a *core.Adapter) {
			create := a.CreateSession
			a.CreateSession = func(ctx context.Context, s core.AdapterSession) (*core.AdapterSession, error) {
				for range 5 {
					if _, err := a.GetUser(ctx, s.UserID); err != nil {
						return nil, err
					}
				}
				return create(ctx, s)
			}
		}}},
	}
}

// Each case can fail: it sees the sites that are wrong in its way.
func TestWrongSites(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	all := cases()
	for _, one := range wrongs() {
		for _, name := range one.want {
			seen[name] = true
			i := slices.IndexFunc(all, func(c testCase) bool { return c.name == name })
			if i < 0 {
				t.Fatalf("%s: there is no case %s", one.name, name)
			}
			t.Run(one.name+", "+name, func(t *testing.T) {
				t.Parallel()
				options := Options{Open: openMemory, Bubble: true, Clients: 100, Rounds: 2}
				if one.open != nil {
					options.Open = one.open
				}
				err := all[i].run(t, options, one.breakage)
				if err == nil {
					t.Fatal("the case doesn't see it")
				}
				first, _, _ := strings.Cut(err.Error(), "\n")
				t.Log(first)
			})
		}
	}
	for _, c := range all {
		if !seen[c.name] {
			t.Errorf("%s: nothing shows that it can fail", c.name)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]Options{
		"no stores":       {},
		"an unknown case": {Open: openMemory, Skip: map[string]string{"K-0": "x"}},
		"no reason":       {Open: openMemory, Skip: map[string]string{"K-11": ""}},
	} {
		if options.validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := (Options{Open: openMemory, Skip: map[string]string{"K-11": "x"}}).validate(); err != nil {
		t.Error(err)
	}
}
