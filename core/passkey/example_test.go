package passkey_test

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/core/passkey"
	"github.com/edgeauth/edgeauth/core/passkey/passkeytest"
)

// Somebody registers a passkey, with an authenticator in software in place of a browser.
func ExampleNew() {
	auth, err := core.New(core.Config{
		Secret:       []string{"at least 32 random characters, from AUTH_SECRET"},
		TrustHost:    core.On,
		Adapter:      adaptertest.Memory(),
		Providers:    []core.Provider{passkey.New()},
		Experimental: core.Experimental{EnableWebAuthn: true},
		Logger:       core.Logger{Warn: func(string, ...any) {}}, // that it is experimental
	})
	if err != nil {
		log.Fatal(err)
	}

	// What to ask the authenticator for.
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://app.example/auth/webauthn-options/passkey?email=ada@example.com", nil))
	var asked struct {
		Action  string
		Options json.RawMessage
	}
	if err := json.Unmarshal(w.Body.Bytes(), &asked); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Code, asked.Action)

	// Its answer, as the browser's form sends it.
	key := passkeytest.Authenticator{Origin: "https://app.example"}
	data, err := key.Create(asked.Options)
	if err != nil {
		log.Fatal(err)
	}
	form := url.Values{"action": {asked.Action}, "data": {string(data)}, "callbackUrl": {"/welcome"}}
	r := httptest.NewRequest(http.MethodPost, "https://app.example/auth/callback/passkey", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range w.Result().Cookies() {
		r.AddCookie(c)
	}
	w = httptest.NewRecorder()
	auth.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("Location"))
	// Output:
	// 200 register
	// 302 https://app.example/welcome
}
