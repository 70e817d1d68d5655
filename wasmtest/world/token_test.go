package world_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/wasmtest/world"
)

func TestATokenSignsIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		token world.Token
		who   *world.Person
	}{
		"whoever it names":              {world.Token{Secret: secret, Person: ada}, &ada},
		"a token of several cookies":    {world.Token{Secret: secret, Person: big(ada)}, &ada},
		"nobody after its time":         {world.Token{Secret: secret, Person: ada, Expires: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)}, nil},
		"nobody with another secret":    {world.Token{Secret: "another" + secret, Person: ada}, nil},
		"nobody under another name":     {world.Token{Secret: secret, Person: ada, CookieName: "other"}, nil},
		"nobody under the name of http": {world.Token{Secret: secret, Person: ada, CookieName: world.CookieName("http://" + appHost)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEach(t, nil, func(t *testing.T, s *stage) {
				b := s.browser(t)
				b.SignIn(c.token)
				mustBe(t, b, c.who)
			})
		})
	}
	if _, err := (world.Token{Person: ada}).Cookies(appAuth); err == nil {
		t.Error("a token was sealed without a secret")
	}
}

// big gives a person more claims than one cookie holds.
func big(p world.Person) world.Person {
	p.Claims = map[string]any{"groups": strings.Repeat(rand.Text(), 300)}
	return p
}

func TestATokenIsReadByTheBackEnd(t *testing.T) {
	t.Parallel()
	for site, isSecure := range map[string]bool{"http://localhost:8787": false, appAuth: true} {
		reader, err := core.NewTokenReader(core.TokenOptions{Secret: []string{secret}, SecureCookie: isSecure})
		if err != nil {
			t.Fatal(err)
		}
		cookies, err := world.Token{Secret: secret, Person: big(ada)}.Cookies(site)
		if err != nil || len(cookies) < 2 {
			t.Fatalf("%d cookies, %v", len(cookies), err)
		}
		r := httptest.NewRequest(http.MethodGet, site, nil)
		for _, c := range cookies {
			r.AddCookie(c)
			if c.Secure != isSecure || !c.HttpOnly || len(c.String()) > 4096 {
				t.Errorf("%s: the cookie %s has %d bytes, Secure %t and HttpOnly %t", site, c.Name, len(c.String()), c.Secure, c.HttpOnly)
			}
		}
		claims, err := reader.GetToken(r)
		if err != nil || claims.String("sub") != ada.ID || claims.String("picture") != ada.Picture || claims["exp"].(json.Number) == "" {
			t.Errorf("%s: %v, %v", site, claims, err)
		}
	}
}

// A session of the database strategy is made by the adapter, on the program's store.
func TestAStoredSessionSignsIn(t *testing.T) {
	t.Parallel()
	onEach(t, map[string]string{"AUTH_SESSION_STRATEGY": "database"}, func(t *testing.T, s *stage) {
		adapter := kvadapter.New(s.store, kvadapter.Options{})
		user, err := adapter.CreateUser(t.Context(), core.User{ID: "1", Name: ada.Name, Email: ada.Email})
		if err != nil {
			t.Fatal(err)
		}
		session, err := adapter.CreateSession(t.Context(), core.AdapterSession{
			SessionToken: rand.Text(), UserID: user.ID, Expires: time.Now().Add(time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
		b := s.browser(t)
		b.SetCookies(&http.Cookie{Name: world.CookieName(appAuth), Value: session.SessionToken, Path: "/", Secure: true})
		mustBe(t, b, &ada)
		b.Submit("signout", nil)
		mustBe(t, b, nil)
	})
}
