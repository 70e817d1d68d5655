// Package world is what stands around an auth endpoint in a test, without a socket and without the internet: hosts, an OpenID
// provider, the mail services, browsers, and people who are signed in already.
//
//	provider := &world.Provider{Person: world.Person{ID: "1", Name: "Ada", Email: "ada@example.com"}}
//	mailbox := new(world.Mailbox)
//	network := world.Hosts{"idp.example": provider, "api.resend.com": mailbox}
//	network["app.example"] = app // whose way out is network, too
//
//	browser := world.NewBrowser(t, network, "https://app.example/auth")
//	browser.Submit("signin/my-idp", nil)
//	if s := browser.Session(); s == nil || s.User.Name != "Ada" {
//		t.Errorf("signed in: %+v", s)
//	}
//
// The app is any http.Handler: a module that package wasmtest runs, or a handler of package core itself. Everything the
// package plays is one, too, so that net/http/httptest can put it on a socket for what needs that.
//
// Nothing in here starts a goroutine, and every wait is one that a bubble of testing/synctest makes no time of.
package world
