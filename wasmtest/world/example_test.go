package world_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/mail"
	"github.com/edgeauth/edgeauth/wasmtest/world"
)

// A Browser needs a test. Without one, a client with a cookie jar goes the same way: here, for a handler of package core.
func Example() {
	provider := &world.Provider{Person: world.Person{ID: "1", Name: "Ada", Email: "ada@example.com"}}
	network := world.Hosts{"idp.example": provider}
	auth, err := core.New(core.Config{
		Providers: []core.Provider{core.OAuth{ID: "my-idp", OIDC: true, Issuer: "https://idp.example", ClientID: "id", ClientSecret: "secret"}},
		Secret:    []string{"thirty-two-characters-or-more-in-tests"},
		TrustHost: core.On,
		Transport: network,
	})
	if err != nil {
		panic(err)
	}
	network["app.example"] = auth

	jar, _ := cookiejar.New(nil)
	client := &http.Client{Transport: network, Jar: jar}
	read := func(target string) (body string) {
		resp, err := client.Get(target)
		if err != nil {
			panic(err)
		}
		defer resp.Body.Close()
		raw, _ := io.ReadAll(resp.Body)
		return string(raw)
	}
	site := &url.URL{Scheme: "https", Host: "app.example"}
	begun := auth.SignIn(httptest.NewRequest("POST", site.String(), nil), core.SignInRequest{Provider: "my-idp"})
	jar.SetCookies(site, (&http.Response{Header: begun.Header}).Cookies())
	read(begun.Header.Get("Location")) // to the provider, and back

	var session struct{ User map[string]string }
	_ = json.Unmarshal([]byte(read("https://app.example/auth/session")), &session)
	fmt.Println(session.User)
	for _, visit := range provider.Visits() {
		fmt.Println(visit.Method, visit.Endpoint)
	}
	// Output:
	// map[email:ada@example.com name:Ada]
	// GET /.well-known/openid-configuration
	// GET /authorize
	// POST /token
	// GET /keys
}

func ExampleMailbox() {
	mailbox := new(world.Mailbox)
	provider := mail.Resend(mail.Options{From: "app@example.com"})
	err := provider.Send(context.Background(), core.VerificationRequest{ // which core calls at POST signin/resend
		Identifier: "ada@example.com", Site: "https://app.example", URL: "https://app.example/auth/callback/resend?token=1",
		From: provider.From, APIKey: "key", Transport: world.Hosts{"api.resend.com": mailbox},
	})
	message := mailbox.Last("ada@example.com")
	fmt.Println(err, message.Subject, message.Link)
	// Output: <nil> Sign in to app.example https://app.example/auth/callback/resend?token=1
}

func ExampleToken() {
	token := world.Token{Secret: "thirty-two-characters-or-more-in-tests", Person: world.Person{ID: "1", Name: "Ada"}}
	cookies, err := token.Cookies("https://app.example")
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest("GET", "https://app.example/account", nil)
	for _, cookie := range cookies {
		r.AddCookie(cookie)
	}

	// What a back end of the site makes of it.
	reader, _ := core.NewTokenReader(core.TokenOptions{Secret: []string{token.Secret}, SecureCookie: true})
	claims, err := reader.GetToken(r)
	fmt.Println(cookies[0].Name, claims.String("name"), err)
	// Output: __Secure-authjs.session-token Ada <nil>
}

func ExampleHosts() {
	network := world.Hosts{
		"old.example": http.RedirectHandler("https://new.example/", http.StatusMovedPermanently),
		"new.example": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "welcome to ", r.Host) }),
	}
	client := &http.Client{Transport: network}
	resp, err := client.Get("https://old.example/")
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(string(body))
	_, err = client.Get("https://elsewhere.example/")
	fmt.Println(strings.TrimPrefix(err.Error(), `Get "https://elsewhere.example/": `))
	// Output:
	// welcome to new.example
	// world: there is no host elsewhere.example
}
