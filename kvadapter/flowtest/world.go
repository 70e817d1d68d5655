package flowtest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

const (
	origin = "http://app.example"
	base   = "/auth"

	sessionCookie = "authjs.session-token"
	csrfCookie    = "authjs.csrf-token"
	stateCookie   = "authjs.state"
	pkceCookie    = "authjs.pkce.code_verifier"
	nonceCookie   = "authjs.nonce"

	// The lifetimes of sessions: see yesterday for how one becomes due.
	maxAge    = 30 * 24 * time.Hour
	updateAge = 24 * time.Hour
)

// A world is a site over the stores of a case, and all that is around it. Its keys begin with
// a prefix of its own.
type world struct {
	*check
	prefix  string
	probe   *probe
	network *network
	records *kvadapter.Records
	adapter *core.Adapter
	auth    http.Handler

	mu     sync.Mutex
	mails  map[string][]core.VerificationRequest // by address
	logged map[string]int                        // errors by kind
	notes  []string                              // what was logged
}

// world makes a new one.
func (c *check) world() *world {
	w := &world{
		check: c, prefix: fmt.Sprintf("w%d.", c.worlds.Add(1)), probe: newProbe(), network: newNetwork(),
		mails: map[string][]core.VerificationRequest{}, logged: map[string]int{},
	}
	options := kvadapter.Options{KeyPrefix: w.prefix}
	if c.atomic != nil {
		options.Atomic = w.probe.overAtomic(c.atomic)
	}
	if c.broken.options != nil {
		c.broken.options(&options)
	}
	w.records = kvadapter.Open(w.probe.over(c.sessions), options)
	w.adapter = w.records.Adapter()
	if c.broken.adapter != nil {
		c.broken.adapter(w, w.adapter)
	}
	w.auth = w.site(nil)
	return w
}

// site makes a handler over the same records. change may be nil.
func (w *world) site(change func(*core.Config)) http.Handler {
	config := core.Config{
		Providers: append([]core.Provider{
			core.Email{Send: w.receive},
			core.Email{ID: code, Code: true, Send: w.receive},
		}, w.network.providers()...),
		Secret:    []string{"a secret of at least thirty-two characters"},
		Adapter:   w.adapter,
		Session:   core.SessionOptions{Strategy: core.StrategyDatabase, MaxAge: maxAge, UpdateAge: updateAge},
		TrustHost: core.On,
		Callbacks: core.Callbacks{Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			return p.Session, nil // with the user's ID
		}},
		Transport: w.network,
		Getenv:    func(string) string { return "" },
		Logger:    core.Logger{Error: w.note, Warn: func(string, ...any) {}},
	}
	if w.broken.config != nil {
		w.broken.config(w, &config)
	}
	if change != nil {
		change(&config)
	}
	auth, err := core.New(config)
	if err != nil {
		w.failf("core.New: %w", err)
	}
	if w.broken.handler != nil {
		return w.broken.handler(w, auth)
	}
	return auth
}

// yesterday is a site whose sessions live as long as those of the main site have left to live
// when they are due: a session that it makes is due there at once.
func (w *world) yesterday() http.Handler {
	return w.site(func(c *core.Config) { c.Session.MaxAge = maxAge - updateAge })
}

func (w *world) receive(_ context.Context, m core.VerificationRequest) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mails[m.Identifier] = append(w.mails[m.Identifier], m)
	return nil
}

// inbox is the mail to an address.
func (w *world) inbox(address string) []core.VerificationRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]core.VerificationRequest(nil), w.mails[address]...)
}

func (w *world) note(kind string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logged[kind]++
	if len(w.notes) < 20 {
		w.notes = append(w.notes, kind+" "+fmt.Sprint(args...))
	}
}

// errors gives how often something of a kind was logged as an error.
func (w *world) errors(kind core.Kind) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logged[string(kind)]
}

func (w *world) journal() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.notes, "\n")
}

// A place is where a record is.
type place struct {
	store kvadapter.Store
	key   string
}

// dump gives all records of the world, past the probe.
func (w *world) dump() map[place][]byte {
	out := map[place][]byte{}
	stores := []kvadapter.Store{w.sessions}
	if w.atomic != nil {
		stores = append(stores, w.atomic)
	}
	for _, store := range stores {
		cursor := ""
		for {
			keys, next, err := store.List(w.ctx, w.prefix, cursor)
			if err != nil {
				w.failf("List: %w", err)
			}
			for _, key := range keys {
				value, ok, err := store.Get(w.ctx, key)
				if err != nil {
					w.failf("Get: %w", err)
				}
				if ok {
					out[place{store, key}] = value
				}
			}
			if cursor = next; cursor == "" {
				break
			}
		}
	}
	return out
}

// count is how many records of a kind there are, without tombstones and users who are being
// deleted.
func (w *world) count(kind string) (n int) {
	for at, value := range w.dump() {
		isOver := strings.Contains(string(value), `"gone":true`) || strings.Contains(string(value), `"deleted":true`)
		if strings.HasPrefix(at.key, w.prefix+kind+".") && !isOver {
			n++
		}
	}
	return n
}

// wantUsers demands that there are so many users.
func (w *world) wantUsers(n int, when string) {
	if got := w.count("user"); got != n {
		w.failf("%s: there are %d users, want %d\n%s", when, got, n, w.journal())
	}
}
