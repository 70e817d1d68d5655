package wasmtest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
	"github.com/edgeauth/edgeauth/wasmtest"
	"github.com/edgeauth/edgeauth/wasmtest/testdata/site"
	"github.com/edgeauth/edgeauth/wasmtest/world"
)

const guest = "./testdata/site/guest"

var secret = strings.Repeat("not-a-secret-", 3)

// BenchmarkSession has somebody who is signed in ask for the session (jwt), on both sides of the border. It leaves out the
// server and its sockets, which cost both sides the same.
func BenchmarkSession(b *testing.B) {
	env := map[string]string{
		"AUTH_SECRET": secret, "AUTH_IDP_ISSUER": "https://idp.example", "AUTH_IDP_ID": "id", "AUTH_IDP_SECRET": "secret",
		"AUTH_RESEND_KEY": "key", "AUTH_CODE_KEY": "key",
	}
	native := func(b *testing.B) http.Handler {
		h, err := site.New(site.Platform{
			Transport: world.Hosts{}, Getenv: func(name string) string { return env[name] },
			Store: memory.New(nil), Cache: kv.CacheOf(memory.New(nil)),
		})
		if err != nil {
			b.Fatal(err)
		}
		return h
	}
	module := func(isUninterruptible bool) func(*testing.B) http.Handler {
		return func(b *testing.B) http.Handler {
			return wasmtest.New(b, guest, wasmtest.Config{Env: env, Uninterruptible: isUninterruptible})
		}
	}
	for _, c := range []struct {
		name string
		open func(*testing.B) http.Handler
	}{{"native", native}, {"wazero", module(false)}, {"wazero-uninterruptible", module(true)}} {
		b.Run(c.name, func(b *testing.B) {
			h := c.open(b)
			r := httptest.NewRequest("GET", "https://app.example/auth/session", nil)
			cookies, err := world.Token{Secret: secret, Person: world.Person{ID: "1", Name: "Ada", Email: "ada@example.com"}}.Cookies("https://app.example")
			if err != nil {
				b.Fatal(err)
			}
			r.AddCookie(cookies[0])
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); !strings.Contains(w.Body.String(), "ada@example.com") {
				b.Fatalf("%d %s", w.Code, w.Body)
			}
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(discard{http.Header{}}, r)
			}
		})
	}
}
