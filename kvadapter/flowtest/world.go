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

	// The lifetimes of sessions: see due for how one comes to its refresh.
	maxAge    = 30 * 24 * time.Hour
	updateAge = 24 * time.Hour
)

// A world is a site over the store of a case, and all that is around it. Its keys begin with
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
	copies map[string][]byte                     // put into the cache
}

// world makes a new one.
func (c *check) world() *world {
	w := &world{
		check: c, prefix: fmt.Sprintf("w%d.", c.worlds.Add(1)), probe: &probe{store: c.store, records: map[string]string{}}, network: newNetwork(),
		mails: map[string][]core.VerificationRequest{}, logged: map[string]int{}, copies: map[string][]byte{},
	}
	if c.options.Bubble {
		w.probe.delay = time.Millisecond // so that people meet also in a store that never waits
	}
	options := kvadapter.Options{KeyPrefix: w.prefix}
	if c.cache != nil {
		options.Cache = recorder{c.cache, w}
	}
	w.records = kvadapter.Open(w.probe, options)
	w.adapter = w.records.Adapter()
	if c.broken != nil {
		c.broken(w, w.adapter)
	}
	w.auth = w.site(nil)
	return w
}

// A recorder is a cache that remembers what was put there.
type recorder struct {
	kvadapter.Cache
	*world
}

// Put implements kvadapter.Cache.
func (r recorder) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	r.mu.Lock()
	r.copies[key] = value
	r.mu.Unlock()
	return r.Cache.Put(ctx, key, value, expires)
}

// site makes a handler over the same records. change may be nil.
func (w *world) site(change func(*core.Config)) http.Handler {
	config := core.Config{
		Providers: []core.Provider{core.Email{Send: w.receive}, provider(hub, core.CheckPKCE, core.CheckState), provider(spoke)},
		Secret:    []string{"a secret of at least thirty-two characters"},
		Adapter:   w.adapter,
		Session:   core.SessionOptions{Strategy: core.StrategyDatabase, MaxAge: maxAge, UpdateAge: updateAge},
		TrustHost: core.On,
		Callbacks: core.Callbacks{Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			return p.Session, nil // with the user's ID
		}},
		ServerTiming: true,
		Transport:    w.network,
		Getenv:       func(string) string { return "" },
		Logger:       core.Logger{Error: w.note, Warn: func(string, ...any) {}},
	}
	if change != nil {
		change(&config)
	}
	auth, err := core.New(config)
	if err != nil {
		w.failf("core.New: %w", err)
	}
	return auth
}

// due gives a browser with a session of Ada's that the next read refreshes: it was made by a site whose
// sessions live as long as those of the main site have left to live then.
func (w *world) due() *browser {
	early := w.browserOf(w.site(func(c *core.Config) { c.Session.MaxAge = maxAge - updateAge }))
	early.mustEnter(mail, ada, "yesterday")
	b := w.browser()
	b.jar = early.jar
	return b
}

// isExtended reports whether a session has been refreshed.
func isExtended(s *state) bool { return time.Until(s.Expires) > maxAge-updateAge/2 }

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

// count is how many records of a kind there are.
func (w *world) count(kind string) (n int) {
	for key := range w.probe.stored() {
		if strings.HasPrefix(key, w.prefix+kind+".") {
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
