package simstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/simstore"
)

var (
	_ kvadapter.Store  = (*simstore.Location)(nil)
	_ kvadapter.Atomic = (*simstore.Atomic)(nil)
)

const (
	site    = "http://app.example"
	address = "ada@example.com"
	cookie  = "authjs.session-token"
)

// A layout says where the adapter keeps its records.
type layout struct {
	name     string
	hasLimit bool // one write a second for each key
	sessions func(s *simstore.Store, location int) kvadapter.Store
}

// layouts are those for which the adapter makes its promises: Workers KV, an eventually
// consistent store that takes any number of writes, and one strongly consistent store.
var layouts = []layout{
	{"kv", true, kv},
	{"eventual", false, kv},
	{"atomic", true, func(s *simstore.Store, _ int) kvadapter.Store { return s.Atomic() }},
}

func kv(s *simstore.Store, location int) kvadapter.Store {
	return patient{s.At(location), s}
}

// patient holds back writes that come too soon after another, as edge.KV does.
type patient struct {
	*simstore.Location
	store *simstore.Store
}

func (p patient) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	return p.again(ctx, func() error { return p.Location.Put(ctx, key, value, expires) })
}

func (p patient) Delete(ctx context.Context, key string) error {
	return p.again(ctx, func() error { return p.Location.Delete(ctx, key) })
}

func (p patient) again(ctx context.Context, write func() error) error {
	for range 2 {
		if err := write(); !errors.Is(err, simstore.ErrTooManyWrites) {
			return err
		}
		if err := p.store.Sleep(ctx, 1100*time.Millisecond); err != nil {
			return err
		}
	}
	return write()
}

// A world is a site that runs at every location of a simulated store, in the time of a
// synctest bubble.
type world struct {
	t       testing.TB
	store   *simstore.Store
	config  core.Config
	layout  layout
	sites   []*core.Auth
	records []*kvadapter.Records
	mails   []string // paths of sign-in links
	logged  map[string]int
	corrupt int // values of which the adapter has told that they are damaged
}

// newWorld makes a world of two locations. config may be nil.
func newWorld(t testing.TB, where layout, options simstore.Options, config func(*core.Config)) *world {
	options.Clock = simstore.Bubble{}
	if !where.hasLimit {
		options.WriteInterval = -1
	}
	w := &world{t: t, store: simstore.New(options), layout: where, logged: map[string]int{}}
	w.config = core.Config{
		Providers: []core.Provider{core.Email{Send: func(_ context.Context, m core.VerificationRequest) error {
			w.mails = append(w.mails, strings.TrimPrefix(m.URL, site))
			return nil
		}}},
		Secret:        []string{"a secret of at least thirty-two characters"},
		Session:       core.SessionOptions{Strategy: core.StrategyDatabase, MaxAge: 30 * 24 * time.Hour, UpdateAge: 24 * time.Hour},
		TrustHost:     core.On,
		SkipCSRFCheck: true,
		Getenv:        func(string) string { return "" },
		Logger: core.Logger{
			Error: func(msg string, _ ...any) { w.logged[msg]++ },
			Warn:  func(string, ...any) {},
		},
	}
	if config != nil {
		config(&w.config)
	}
	for i := range max(options.Locations, 2) {
		records := kvadapter.Open(where.sessions(w.store, i), kvadapter.Options{
			Atomic:    w.store.Atomic(),
			OnCorrupt: func(context.Context, string, error) { w.corrupt++ },
		})
		c := w.config
		c.Adapter = records.Adapter()
		auth, err := core.New(c)
		if err != nil {
			t.Fatal(err)
		}
		w.sites, w.records = append(w.sites, auth), append(w.records, records)
	}
	return w
}

// An answer is what a browser got.
type answer struct {
	status   int
	location string
	body     string
	session  string // the session cookie that was set
	clears   bool   // the session cookie was cleared
	header   http.Header
}

// send makes a request with a session cookie, "" for none, at a location.
func (w *world) send(ctx context.Context, location int, method, path, session string, form url.Values) answer {
	r := httptest.NewRequestWithContext(ctx, method, site+path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if session != "" {
		r.AddCookie(&http.Cookie{Name: cookie, Value: session})
	}
	out := httptest.NewRecorder()
	w.sites[location].ServeHTTP(out, r)
	a := answer{status: out.Code, location: out.Header().Get("Location"), body: out.Body.String(), header: out.Header()}
	for _, c := range out.Result().Cookies() {
		if c.Name == cookie {
			a.session, a.clears = c.Value, c.Value == ""
		}
	}
	return a
}

// read asks for the session.
func (w *world) read(ctx context.Context, location int, session string) answer {
	return w.send(ctx, location, http.MethodGet, "/auth/session", session, nil)
}

// isAlive reports whether a session is somebody's. The store must answer.
func (w *world) isAlive(location int, session string) bool {
	w.t.Helper()
	a := w.read(ctx, location, session)
	if a.status != http.StatusOK {
		w.t.Fatalf("GET session: %d %s\n%s", a.status, a.body, w.store.Trace())
	}
	return strings.Contains(a.body, address)
}

// askLink asks for a sign-in link and gives its path, "" if none was sent.
func (w *world) askLink(ctx context.Context, location int) string {
	before := len(w.mails)
	w.send(ctx, location, http.MethodPost, "/auth/signin/email", "", url.Values{"email": {address}})
	if len(w.mails) == before {
		return ""
	}
	return w.mails[len(w.mails)-1]
}

// useLink follows a link and gives the session, "" if there is none.
func (w *world) useLink(ctx context.Context, location int, link string) string {
	return w.send(ctx, location, http.MethodGet, link, "", nil).session
}

// signIn signs in by a link and demands that it works.
func (w *world) signIn(location int) string {
	w.t.Helper()
	session := w.useLink(ctx, location, w.askLink(ctx, location))
	if session == "" {
		w.t.Fatalf("signing in failed: %v\n%s", w.logged, w.store.Trace())
	}
	return session
}

// signOut signs out; done is whether the store knows of it.
func (w *world) signOut(ctx context.Context, location int, session string) (done bool) {
	before := w.logged[string(core.ErrSignOut)]
	a := w.send(ctx, location, http.MethodPost, "/auth/signout", session, url.Values{})
	return a.clears && w.logged[string(core.ErrSignOut)] == before
}

// user is whose address it is, nil for nobody's.
func (w *world) user(location int) *core.User {
	w.t.Helper()
	user, err := w.records[location].Adapter().GetUserByEmail(ctx, address)
	if err != nil {
		w.t.Fatal(err)
	}
	return user
}

// alive gives the keys of records of a kind that are not tombstones.
func (w *world) alive(kind string) (out []string) {
	w.t.Helper()
	values := map[string][]byte{}
	for _, key := range w.store.Keys() {
		values["kv "+key], _, _ = w.store.Value(key)
	}
	for _, key := range w.store.AtomicKeys() {
		value, _, err := w.store.Atomic().Get(ctx, key)
		if err != nil {
			w.t.Fatal(err)
		}
		values["atomic "+key] = value
	}
	for key, value := range values {
		_, name, _ := strings.Cut(key, " ")
		if strings.HasPrefix(name, kind+".") && !strings.Contains(string(value), `"gone":true`) {
			out = append(out, key)
		}
	}
	return slices.Sorted(slices.Values(out))
}

// puts counts the writes of the sessions' store by what came of them.
func (w *world) puts() map[string]int {
	out := map[string]int{}
	for _, c := range w.store.Calls() {
		if c.Location != simstore.Everywhere && c.Op == simstore.Put {
			out[fmt.Sprint(c.Err)]++
		}
	}
	return maps.Clone(out)
}
