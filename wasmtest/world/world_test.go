package world_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
	"github.com/edgeauth/edgeauth/wasmtest"
	"github.com/edgeauth/edgeauth/wasmtest/testdata/site"
	"github.com/edgeauth/edgeauth/wasmtest/world"
)

const (
	appHost = "app.example"
	appAuth = "https://" + appHost + "/auth"
	idpHost = "idp.example"
)

var (
	secret = strings.Repeat("not-a-secret-", 3)
	ada    = world.Person{ID: "ada-1", Name: "Ada", Email: "ada@example.com", Picture: "https://example.com/ada.png"}
)

// aMinute is how long the site may take to notice a new key.
const aMinute = time.Minute + time.Second

// A stage is the site with everything around it.
type stage struct {
	network  world.Hosts
	provider *world.Provider
	mailbox  *world.Mailbox
	store    *memory.Store
	app      *wasmtest.Module // nil: the site is native
}

// onEach runs a test with the site natively and as a module, in a bubble, in which waiting takes no time.
func onEach(t *testing.T, extra map[string]string, test func(t *testing.T, s *stage)) {
	t.Helper()
	for _, runtime := range []string{"native", "wazero"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, open(t, runtime, extra, nil)) })
		})
	}
}

func open(t testing.TB, runtime string, extra map[string]string, log io.Writer) *stage {
	t.Helper()
	s := &stage{
		provider: &world.Provider{ClientID: "id", ClientSecret: "s&cr t", Person: ada, RedirectURIs: []string{appAuth + "/callback/idp"}},
		mailbox:  &world.Mailbox{Key: "mail-key"},
		store:    memory.New(nil),
	}
	s.network = world.Hosts{idpHost: s.provider, "api.resend.com": s.mailbox, "api.postmarkapp.com": s.mailbox}
	env := map[string]string{
		"AUTH_SECRET": secret, "AUTH_IDP_ISSUER": "https://" + idpHost, "AUTH_IDP_ID": "id", "AUTH_IDP_SECRET": "s&cr t",
		"AUTH_RESEND_KEY": "mail-key", "AUTH_CODE_KEY": "mail-key",
	}
	for name, value := range extra {
		env[name] = value
	}
	if runtime == "wazero" {
		s.app = wasmtest.New(t, "../testdata/site/guest", wasmtest.Config{
			Transport: s.network, Env: env, Log: log, Store: func(string) kv.Store { return s.store },
		})
		s.network[appHost] = s.app
		return s
	}
	app, err := site.New(site.Platform{
		Transport: s.network, Getenv: func(name string) string { return env[name] },
		Store: s.store, Cache: kv.CacheOf(memory.New(nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.network[appHost] = app
	return s
}

func (s *stage) browser(t testing.TB) *world.Browser { return world.NewBrowser(t, s.network, appAuth) }

func mustBe(t *testing.T, b *world.Browser, who *world.Person) {
	t.Helper()
	s := b.Session()
	switch {
	case who == nil && s != nil:
		t.Errorf("somebody is signed in: %s", s.JSON)
	case who != nil && (s == nil || s.User.Email != who.Email || s.User.Name != who.Name || s.Expires.IsZero()):
		t.Errorf("%s should be signed in: %+v", who.Email, s)
	}
}

func TestAStoryFromSignInToSignOut(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"jwt", "database"} {
		onEach(t, map[string]string{"AUTH_SESSION_STRATEGY": strategy}, func(t *testing.T, s *stage) {
			b := s.browser(t)
			mustBe(t, b, nil)
			if page := b.Submit("signin/idp", url.Values{"callbackUrl": {"/account"}}); page.URL != "https://"+appHost+"/account" {
				t.Errorf("the sign-in led to %s: %d", page.URL, page.Status)
			}
			mustBe(t, b, &ada)
			mustBe(t, s.browser(t), nil)
			b.Submit("signout", nil)
			mustBe(t, b, nil)

			b.Submit("signin/resend", url.Values{"email": {"Ada@Example.com "}})
			mustBe(t, b, nil)
			message := s.mailbox.Last(ada.Email)
			if message.From != "app@example.com" || message.Subject != "Sign in to "+appHost || message.Code != "" || !strings.Contains(message.HTML, "<a href") {
				t.Errorf("the message is %+v", message)
			}
			b.Get(message.Link)
			mustBe(t, b, &ada)
			if page := s.browser(t).Get(message.Link); !strings.Contains(page.URL, "error=Verification") {
				t.Errorf("a link worked twice: %s", page.URL)
			}

			b = s.browser(t)
			b.Submit("signin/code", url.Values{"email": {ada.Email}})
			b.Submit("callback/code", url.Values{"code": {s.mailbox.Last(ada.Email).Code}})
			mustBe(t, b, &ada)
		})
	}
}

func TestEveryAlgorithmAndANewKey(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"RS256", "ES256", "EdDSA"} {
		onEach(t, nil, func(t *testing.T, s *stage) {
			s.provider.Algorithm = algorithm
			for range 3 {
				b := s.browser(t)
				b.Submit("signin/idp", nil)
				mustBe(t, b, &ada)
				s.provider.RotateKey()
				time.Sleep(aMinute)
			}
		})
	}
}

func TestNoFaultSignsIn(t *testing.T) {
	t.Parallel()
	onEach(t, nil, func(t *testing.T, s *stage) {
		refused := func(what string) {
			t.Helper()
			b := s.browser(t)
			if page := b.Submit("signin/idp", nil); !strings.Contains(page.URL, "error=") {
				t.Errorf("%s: the browser is at %s", what, page.URL)
			}
			mustBe(t, b, nil)
		}
		for _, fault := range world.Faults() {
			s.provider.Fault = fault
			refused(string(fault))
		}
		s.provider.Fault = ""
		for _, endpoint := range []world.Endpoint{world.TokenEndpoint, world.Keys} {
			s.provider.RotateKey()
			time.Sleep(aMinute)
			s.provider.Fail = map[world.Endpoint]int{endpoint: http.StatusServiceUnavailable}
			refused(string(endpoint))
		}
		s.provider.Fail = nil
		s.provider.Claims = func(claims map[string]any) { delete(claims, "sub") }
		refused("no sub")
		s.provider.Claims = nil
		s.provider.Person = world.Person{}
		refused("nobody agrees")
		s.provider.Ask = func(asked url.Values) world.Person {
			if asked.Get("code_challenge_method") != "S256" || asked.Get("nonce") == "" || asked.Get("state") == "" {
				t.Errorf("the app asked with %v", asked)
			}
			return ada
		}
		time.Sleep(aMinute)
		b := s.browser(t)
		b.Submit("signin/idp", nil)
		mustBe(t, b, &ada)
		s.mailbox.Refuse = http.StatusTooManyRequests
		b.Submit("signin/resend", url.Values{"email": {ada.Email}})
		if n := len(s.mailbox.Messages("")); n != 0 {
			t.Errorf("%d messages are kept", n)
		}
	})
}

// Whole stories, again and again, leave nothing behind in the program.
func TestTheSiteDoesNotLeak(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]func(s *stage, b *world.Browser){
		"a session": func(_ *stage, b *world.Browser) { b.Session() },
		"a sign-in at a provider": func(_ *stage, b *world.Browser) {
			b.Submit("signin/idp", nil)
			b.Submit("signout", nil)
		},
		"a sign-in by mail": func(s *stage, b *world.Browser) {
			b.Submit("signin/resend", url.Values{"email": {ada.Email}})
			b.Get(s.mailbox.Last(ada.Email).Link)
		},
		"a refused sign-in": func(s *stage, b *world.Browser) {
			s.provider.Fault = world.Expired
			b.Submit("signin/idp", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "wazero", nil, io.Discard)
			b := s.browser(t)
			b.SignIn(world.Token{Secret: secret, Person: ada})
			s.app.CheckLeaks(t, func() { story(s, b) })
		})
	}
}
