package core_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/core/passkey"
	"github.com/edgeauth/edgeauth/core/passkey/passkeytest"
)

const challengeCookie = "authjs.challenge"

// passkeys is a site where people sign in with passkeys, and what it stored and told.
type passkeys struct {
	t     *testing.T
	auth  *core.Auth
	store *watched
	log   *journal
	mu    sync.Mutex
	told  []string
}

// newPasskeys makes the site; change may alter its configuration, whose first provider is
// passkey.New's.
func newPasskeys(t *testing.T, change func(*core.Config, *core.WebAuthn)) *passkeys {
	t.Helper()
	p := &passkeys{t: t, store: watch(adaptertest.Memory()), log: new(journal)}
	tell := func(event string, user *core.User, more string) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.told = append(p.told, event+" "+user.Email+more)
		return nil
	}
	config := core.Config{
		Adapter: &p.store.Adapter, Experimental: core.Experimental{EnableWebAuthn: true}, Logger: p.log.logger(), Debug: true,
		Events: core.Events{
			CreateUser: func(_ context.Context, e core.UserEvent) error { return tell("createUser", e.User, "") },
			LinkAccount: func(_ context.Context, e core.LinkAccountEvent) error {
				return tell("linkAccount", e.User, " "+string(e.Account.Type)+" "+e.Account.Provider)
			},
			SignIn: func(_ context.Context, e core.SignInEvent) error {
				return tell("signIn", e.User, " new "+strconv.FormatBool(*e.IsNewUser))
			},
		},
	}
	provider := passkey.New()
	if change != nil {
		change(&config, &provider)
	}
	config.Providers = append([]core.Provider{provider}, config.Providers...)
	p.auth = newAuth(t, config)
	return p
}

// wantTold expects these events since the last time.
func (p *passkeys) wantTold(events ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Equal(p.told, events) {
		p.t.Errorf("told %q, want %q", p.told, events)
	}
	p.told = nil
}

func newKey() *passkeytest.Authenticator {
	return &passkeytest.Authenticator{Origin: site, Algorithms: []int64{passkeytest.ES256}, Counts: true, Transports: []string{"internal"}}
}

// options asks what to ask the authenticator for.
func (b *browser) options(query string) (a *answer, action string, options []byte) {
	b.t.Helper()
	a = b.get(b.base + "/webauthn-options/passkey" + query)
	var out struct {
		Action  string
		Options json.RawMessage
	}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil && a.status == http.StatusOK {
		b.t.Fatalf("GET webauthn-options%s: %d %q", query, a.status, a.body)
	}
	return a, out.Action, out.Options
}

// wantOptions expects options for an action.
func (b *browser) wantOptions(query, action string) []byte {
	b.t.Helper()
	a, got, options := b.options(query)
	if a.status != http.StatusOK || got != action {
		b.t.Fatalf("GET webauthn-options%s: %d %s, want options to %s", query, a.status, a.body, action)
	}
	return options
}

// register makes a passkey and sends the answer.
func (b *browser) register(key *passkeytest.Authenticator, query string) *answer {
	b.t.Helper()
	data, err := key.Create(b.wantOptions(query, "register"))
	if err != nil {
		b.t.Fatal(err)
	}
	return b.answer("register", data)
}

// authenticate uses a passkey and sends the answer.
func (b *browser) authenticate(key *passkeytest.Authenticator, query string) *answer {
	b.t.Helper()
	data, err := key.Get(b.wantOptions(query, "authenticate"))
	if err != nil {
		b.t.Fatal(err)
	}
	return b.answer("authenticate", data)
}

func (b *browser) answer(action string, data []byte) *answer {
	b.t.Helper()
	return b.post(b.base+"/callback/passkey", "action", action, "data", string(data), "callbackUrl", "/home")
}

func (b *browser) email() string {
	b.t.Helper()
	user, _ := b.session()["user"].(map[string]any)
	email, _ := user["email"].(string)
	return email
}

// The options' shape is what @simplewebauthn/server gives.
func TestPasskeyOptions(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, nil)
	b, key := newBrowser(t, p.auth), newKey()
	read := func(options []byte) map[string]any {
		t.Helper()
		var out map[string]any
		if err := json.Unmarshal(options, &out); err != nil {
			t.Fatal(err)
		}
		for _, random := range []string{out["challenge"].(string)} {
			if raw, err := base64.RawURLEncoding.DecodeString(random); err != nil || len(raw) != 32 {
				t.Errorf("the challenge is %q", random)
			}
		}
		delete(out, "challenge")
		return out
	}
	text := func(value any) string {
		t.Helper()
		out, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	first := b.wantOptions("?email=ada@example.com", "register")
	got := read(first)
	user := got["user"].(map[string]any)
	if id, err := base64.RawURLEncoding.DecodeString(user["id"].(string)); err != nil || len(user["id"].(string)) > 64 || strings.Contains(string(id), "ada") {
		t.Errorf("the user handle is %q", user["id"])
	}
	delete(user, "id")
	const want = `{"attestation":"none","authenticatorSelection":{"requireResidentKey":true,"residentKey":"required","userVerification":"required"},` +
		`"excludeCredentials":[],"extensions":{"credProps":true},"pubKeyCredParams":[{"alg":-8,"type":"public-key"},{"alg":-7,"type":"public-key"},` +
		`{"alg":-257,"type":"public-key"}],"rp":{"id":"app.example","name":"app.example"},"timeout":300000,` +
		`"user":{"displayName":"ada@example.com","name":"ada@example.com"}}`
	if text(got) != want {
		t.Errorf("options to register\n%s\nwant\n%s", text(got), want)
	}
	const wantGet = `{"rpId":"app.example","timeout":300000,"userVerification":"required"}`
	if got := text(read(b.wantOptions("", "authenticate"))); got != wantGet {
		t.Errorf("options to authenticate %s, want %s", got, wantGet)
	}

	b.register(key, "?email=ada@example.com").wantRedirect(t, site+"/home")
	got = read(b.wantOptions("?action=register", "register"))
	again := got["user"].(map[string]any)["id"]
	excluded := text(got["excludeCredentials"])
	if !strings.Contains(excluded, `"transports":["internal"],"type":"public-key"`) {
		t.Errorf("excluded %s", excluded)
	}
	if other := read(b.wantOptions("?action=register", "register")); other["user"].(map[string]any)["id"] != again {
		t.Error("a user's handle changes")
	}
	a, _, _ := b.options("")
	if a.status != http.StatusBadRequest || a.body != `{"error":"Invalid request"}` {
		t.Errorf("without an action, signed in: %d %s", a.status, a.body)
	}
	a, _, _ = b.options("?action=register")
	if got := a.header.Get("Cache-Control"); !strings.Contains(got, "no-store") || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", a.header)
	}
}

// What is asked for decides about the answer, as in the reference.
func TestPasskeyActions(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, nil)
	known := newBrowser(t, p.auth)
	known.register(newKey(), "?email=ada@example.com").wantRedirect(t, site+"/home")
	for _, c := range []struct {
		signedIn bool
		query    string
		want     string // the action, or the error
	}{
		{false, "", "authenticate"},
		{false, "?email=", "authenticate"},
		{false, "?email=ada@example.com", "authenticate"},
		{false, "?email=new@example.com", "register"},
		{false, "?email=no-address", "authenticate"},
		{false, "?email=" + strings.Repeat("x", 300) + "@example.com", "authenticate"},
		{false, "?action=authenticate", "authenticate"},
		{false, "?action=authenticate&email=new@example.com", "authenticate"},
		{false, "?action=register&email=new@example.com", "register"},
		{false, "?action=register&email=ada@example.com", "Invalid request"},
		{false, "?action=register", "Invalid request"},
		{false, "?action=", "Invalid action"},
		{false, "?action=delete", "Invalid action"},
		{false, "?action=register&action=authenticate", "authenticate"},
		{true, "?action=register", "register"},
		{true, "?action=authenticate", "authenticate"},
		{true, "?action=register&email=new@example.com", "register"},
		{true, "", "Invalid request"},
		{true, "?email=new@example.com", "Invalid request"},
	} {
		b := newBrowser(t, p.auth)
		if c.signedIn {
			b = known.copy()
		}
		a, action, _ := b.options(c.query)
		if action != "" {
			if action != c.want || a.status != http.StatusOK || b.cookie(challengeCookie) == "" {
				t.Errorf("signed in %v, %q: %d %s, want %q", c.signedIn, c.query, a.status, a.body, c.want)
			}
			continue
		}
		if want := `{"error":"` + c.want + `"}`; a.status != http.StatusBadRequest || a.body != want || b.cookie(challengeCookie) != "" {
			t.Errorf("signed in %v, %q: %d %s, want %s", c.signedIn, c.query, a.status, a.body, want)
		}
	}
}

// Routes where there is no such provider, or no such method.
func TestPasskeyRoutes(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, func(c *core.Config, _ *core.WebAuthn) { c.Providers = []core.Provider{anyone} })
	b := newBrowser(t, p.auth)
	for _, target := range []string{"/auth/webauthn-options", "/auth/webauthn-options/credentials", "/auth/webauthn-options/nobody", "/auth/callback/passkey"} {
		b.get(target).wantError(t, configurationError)
	}
	b.post("/auth/webauthn-options/passkey").wantError(t, configurationError)
	b.post("/auth/signin/passkey").wantRedirect(t, site+"/auth/signin")
	for _, fields := range [][]string{{}, {"action", "delete"}, {"action", "register"}, {"action", "authenticate", "data", "{}"}} {
		b.post("/auth/callback/passkey", fields...).wantError(t, configurationError)
	}
	if a := b.get("/auth/providers"); !strings.Contains(a.body, `"passkey":{"id":"passkey","name":"Passkey","type":"webauthn"`) {
		t.Errorf("providers: %s", a.body)
	}
}

// With keys that are not found without naming a user, options name the credentials, and only they do.
func TestPasskeyNotResident(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, func(_ *core.Config, w *core.WebAuthn) { w.ResidentKey, w.UserVerification = "discouraged", "preferred" })
	adasKey, bobsKey := newKey(), newKey()
	adasKey.Unverified = true
	newBrowser(t, p.auth).register(adasKey, "?email=ada@example.com").wantRedirect(t, site+"/home")
	newBrowser(t, p.auth).register(bobsKey, "?email=bob@example.com").wantRedirect(t, site+"/home")

	b := newBrowser(t, p.auth)
	adasKey.Tamper = func(a *passkeytest.Answer) { a.UserHandle = nil }
	b.authenticate(adasKey, "?email=ada@example.com").wantRedirect(t, site+"/home")
	b = newBrowser(t, p.auth)
	b.authenticate(adasKey, "").wantError(t, "error?error=WebAuthnVerificationError") // nobody was named

	// Bob answers in Ada's stead.
	var o map[string]any
	if err := json.Unmarshal(b.wantOptions("?email=ada@example.com", "authenticate"), &o); err != nil {
		t.Fatal(err)
	}
	if list, _ := o["allowCredentials"].([]any); len(list) != 1 || o["userVerification"] != "preferred" {
		t.Errorf("options %v", o)
	}
	delete(o, "allowCredentials")
	options, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	data, err := bobsKey.Get(options)
	if err != nil {
		t.Fatal(err)
	}
	b.answer("authenticate", data).wantError(t, "error?error=WebAuthnVerificationError")
}

// Whether an address is known, and with which credentials, is told to nobody who asks to sign in.
func TestPasskeyEnumeration(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, nil)
	newBrowser(t, p.auth).register(newKey(), "?email=ada@example.com").wantRedirect(t, site+"/home")
	shape := func(query string) string {
		b := newBrowser(t, p.auth)
		a, _, options := b.options(query)
		var o map[string]any
		if err := json.Unmarshal(options, &o); err != nil {
			t.Fatal(err)
		}
		return strings.Join([]string{strconv.Itoa(a.status), strings.Join(slices.Sorted(maps.Keys(o)), " "), strconv.Itoa(len(b.cookie(challengeCookie)))}, "; ")
	}
	p.store.since()
	known := shape("?action=authenticate&email=ada@example.com")
	calls := p.store.since()
	if unknown := shape("?action=authenticate&email=eve@example.com"); unknown != known {
		t.Errorf("a known address: %s, an unknown one: %s", known, unknown)
	}
	if unknown := p.store.since(); !maps.Equal(calls, unknown) || calls["GetUserByEmail"] != 0 {
		t.Errorf("calls for a known address %v, for an unknown one %v", calls, unknown)
	}
	var o map[string]any
	if err := json.Unmarshal(newBrowser(t, p.auth).wantOptions("?email=ada@example.com", "authenticate"), &o); err != nil || o["allowCredentials"] != nil {
		t.Errorf("options %v, %v", o, err)
	}
	// An app that lets only its users register tells nothing at all.
	p = newPasskeys(t, func(_ *core.Config, w *core.WebAuthn) {
		w.UserInfo = func(context.Context, *http.Request) (*core.User, bool, error) { return nil, false, nil }
	})
	if known, unknown := shape("?email=ada@example.com"), shape("?email=eve@example.com"); known != unknown {
		t.Errorf("%s and %s", known, unknown)
	}
}

// A site may be known under another domain, and answer to several origins.
func TestPasskeyRelyingParty(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, func(_ *core.Config, w *core.WebAuthn) {
		w.RelyingParty = core.RelyingParty{ID: "example", Name: "The app", Origins: []string{"https://one.example", "https://two.example"}}
	})
	b := newBrowser(t, p.auth)
	options := b.wantOptions("?email=ada@example.com", "register")
	if !strings.Contains(string(options), `"rp":{"name":"The app","id":"example"}`) {
		t.Errorf("options %s", options)
	}
	key := newKey()
	for origin, want := range map[string]bool{"https://one.example": true, "https://two.example": true, site: false, "https://three.example": false} {
		key.Origin = origin
		email := "?email=" + strconv.Itoa(len(origin)) + origin[8:11] + "@example.com"
		if a := newBrowser(t, p.auth).register(key, email); want {
			a.wantRedirect(t, site+"/home")
		} else {
			a.wantError(t, "error?error=WebAuthnVerificationError")
		}
	}
}

// UserInfo can make more of a user than an address, and fail.
func TestPasskeyUserInfo(t *testing.T) {
	t.Parallel()
	var info func() (*core.User, bool, error)
	p := newPasskeys(t, func(_ *core.Config, w *core.WebAuthn) {
		w.UserInfo = func(context.Context, *http.Request) (*core.User, bool, error) { return info() }
	})
	b := newBrowser(t, p.auth)
	info = func() (*core.User, bool, error) {
		return &core.User{ID: "ada-1", Name: "Ada", Email: "ada@example.com", Image: "/ada.png", Extra: map[string]any{"tenant": json.Number("7")}}, false, nil
	}
	b.register(newKey(), "").wantRedirect(t, site+"/home")
	ada, err := p.store.GetUser(t.Context(), "ada-1")
	if err != nil || ada == nil || ada.Name != "Ada" || ada.Image != "/ada.png" || ada.Extra["tenant"] != json.Number("7") {
		t.Errorf("stored %+v, %v", ada, err)
	}
	info = func() (*core.User, bool, error) { return nil, false, errors.New("no") }
	a, _, _ := newBrowser(t, p.auth).options("")
	a.wantError(t, configurationError)
	info = func() (*core.User, bool, error) {
		return &core.User{Name: strings.Repeat("x", 4096), Email: "x@example.com"}, false, nil
	}
	a, _, _ = newBrowser(t, p.auth).options("")
	a.wantError(t, configurationError)
}

func TestPasskeyConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*core.Config, *core.WebAuthn)
		want   core.Kind
	}{
		"not enabled":           {func(c *core.Config, _ *core.WebAuthn) { c.Experimental.EnableWebAuthn = false }, core.ErrExperimentalFeature},
		"no adapter":            {func(c *core.Config, _ *core.WebAuthn) { c.Adapter = nil }, core.ErrMissingAdapter},
		"no verifier":           {func(_ *core.Config, w *core.WebAuthn) { *w = core.WebAuthn{Algorithms: w.Algorithms} }, core.ErrInvalidProvider},
		"no algorithm":          {func(_ *core.Config, w *core.WebAuthn) { w.Algorithms = nil }, core.ErrInvalidProvider},
		"unknown verification":  {func(_ *core.Config, w *core.WebAuthn) { w.UserVerification = "always" }, core.ErrInvalidProvider},
		"unknown resident key":  {func(_ *core.Config, w *core.WebAuthn) { w.ResidentKey = "never" }, core.ErrInvalidProvider},
		"unknown attachment":    {func(_ *core.Config, w *core.WebAuthn) { w.Attachment = "glue" }, core.ErrInvalidProvider},
		"the ID is a URL":       {func(_ *core.Config, w *core.WebAuthn) { w.RelyingParty.ID = "https://app.example" }, core.ErrInvalidProvider},
		"the origin is a URL":   {func(_ *core.Config, w *core.WebAuthn) { w.RelyingParty.Origins = []string{"https://app.example/"} }, core.ErrInvalidProvider},
		"no field for autofill": {func(_ *core.Config, w *core.WebAuthn) { w.Fields = []core.Field{{Name: "email"}} }, core.ErrMissingAutocomplete},
		"two with autofill": {func(c *core.Config, _ *core.WebAuthn) {
			second := passkey.New()
			second.ID = "second"
			c.Providers = []core.Provider{second}
		}, core.ErrDuplicateConditionalUI},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := core.Config{Adapter: adaptertest.Memory(), Experimental: core.Experimental{EnableWebAuthn: true}}
			provider := passkey.New()
			c.change(&config, &provider)
			config.Providers = append([]core.Provider{provider}, config.Providers...)
			if _, err := core.New(inTest(config)); !errors.Is(err, c.want) {
				t.Errorf("New: %v, want %s", err, c.want)
			}
		})
	}
	for _, method := range []string{"GetAccount", "CreateAuthenticator", "GetAuthenticator", "ListAuthenticatorsByUserID", "UpdateAuthenticatorCounter", "CreateVerificationToken", "UseVerificationToken"} {
		store := *adaptertest.Memory()
		reflect.ValueOf(&store).Elem().FieldByName(method).SetZero()
		_, err := core.New(inTest(core.Config{Adapter: &store, Providers: []core.Provider{passkey.New()}, Experimental: core.Experimental{EnableWebAuthn: true}}))
		if name := strings.ToLower(method[:1]) + strings.Replace(method[1:], "ID", "Id", 1); !errors.Is(err, core.ErrMissingAdapterMethods) || !strings.Contains(err.Error(), name) {
			t.Errorf("New without %s: %v", method, err)
		}
	}
	log := new(journal)
	newAuth(t, core.Config{
		Adapter: adaptertest.Memory(), Providers: []core.Provider{passkey.New()}, Experimental: core.Experimental{EnableWebAuthn: true}, Logger: log.logger(),
	})
	if !strings.Contains(log.text(), "warn experimental-webauthn") {
		t.Errorf("logged %q", log.text())
	}
}

// The sign-in page has a form for passkeys, a script that its policy allows, and nothing from elsewhere.
func TestPasskeyPage(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t, nil)
	b := newBrowser(t, p.auth)
	a := b.get("/auth/signin")
	for _, part := range []string{
		`action="http://app.example/auth/callback/passkey" id="passkey-form" data-options="http://app.example/auth/webauthn-options/passkey" data-autofill="600000" hidden>`,
		`autocomplete="username webauthn"`, `>Sign in with Passkey</button>`, `<script>`,
	} {
		if !strings.Contains(a.body, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	policy := a.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "; script-src 'sha256-") || !strings.HasSuffix(policy, "; connect-src 'self'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
	b.register(newKey(), "?email=ada@example.com").wantRedirect(t, site+"/home")
	a = b.get("/auth/signin")
	if !strings.Contains(a.body, `data-action="register" hidden>`) || !strings.Contains(a.body, `>Add a passkey</button>`) || strings.Contains(a.body, `name="email"`) {
		t.Error("the page offers no second passkey")
	}
	p.store.fail = func(string) error { return errors.New("the store is on fire") }
	if a = b.get("/auth/signin"); a.status != http.StatusOK || !strings.Contains(a.body, `>Sign in with Passkey</button>`) {
		t.Errorf("with a store that fails: %d", a.status)
	}
}
