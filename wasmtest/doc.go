// Package wasmtest runs a wasip1 module built on package edge as an [http.Handler], so that a test, or a small
// server, exercises the very bytes that are deployed. With what package [github.com/edgeauth/edgeauth/wasmtest/world] plays
// around it, the test of an auth endpoint can be this:
//
//	package app_test
//
//	import (
//		"net/url"
//		"testing"
//
//		"github.com/edgeauth/edgeauth/wasmtest"
//		"github.com/edgeauth/edgeauth/wasmtest/world"
//	)
//
//	func TestPeopleSignIn(t *testing.T) {
//		t.Parallel()
//		ada := world.Person{ID: "1", Name: "Ada", Email: "ada@example.com"}
//		provider, mailbox := &world.Provider{Person: ada}, new(world.Mailbox)
//		network := world.Hosts{"idp.example": provider, "api.resend.com": mailbox}
//		const secret = "thirty-two-characters-or-more-in-tests"
//		network["app.example"] = wasmtest.New(t, "github.com/edgeauth/edgeauth/edge/worker", wasmtest.Config{ // or your own package, or a .wasm file
//			Transport: network,
//			Env: map[string]string{
//				"AUTH_SECRET":        secret,
//				"AUTH_TRUST_HOST":    "true",
//				"AUTH_PROVIDERS":     "my-idp,resend",
//				"AUTH_MY_IDP_ISSUER": "https://idp.example",
//				"AUTH_MY_IDP_ID":     "id",
//				"AUTH_MY_IDP_SECRET": "client-secret",
//				"AUTH_RESEND_KEY":    "key",
//				"AUTH_RESEND_FROM":   "app@example.com",
//			},
//		})
//		browser := world.NewBrowser(t, network, "https://app.example/auth")
//		signedIn := func(as string) {
//			t.Helper()
//			got := ""
//			if session := browser.Session(); session != nil {
//				got = session.User.Email
//			}
//			if got != as {
//				t.Errorf("signed in as %q, want %q", got, as)
//			}
//		}
//
//		browser.Submit("signin/my-idp", nil) // to the provider, and back
//		signedIn(ada.Email)
//		browser.Submit("signout", nil)
//		signedIn("")
//
//		browser.Submit("signin/resend", url.Values{"email": {ada.Email}})
//		browser.Get(mailbox.Last(ada.Email).Link)
//		signedIn(ada.Email)
//		browser.Submit("signout", nil)
//
//		provider.Fault = world.Forged // the ID token has somebody else's signature
//		browser.Submit("signin/my-idp", nil)
//		signedIn("")
//
//		bob := world.Person{ID: "2", Name: "Bob", Email: "bob@example.com"}
//		browser.SignIn(world.Token{Secret: secret, Person: bob}) // without the way there
//		signedIn(bob.Email)
//	}
//
// [New] builds the program when it is given a Go package, and fails the test when the program does not start. Outside
// tests, [Open] gives the same handler with errors and Close. The command in the folder serve is a local server made of it.
//
// # Instances
//
// A module is compiled once (seconds; the machine code is cached on disk, and the next process needs a tenth of one) and
// instantiated as often as needed (milliseconds). An instance handles one request at a time and is then used again, so what
// the program keeps in memory survives from request to request, but two requests in a row need not meet the same
// instance. At most Config.MaxInstances live at once; further requests wait for one, and get 503 when their context ends or
// Config.Deadline passes first.
//
// A program that exits, traps, deadlocks, or exceeds the memory limit in the middle of a request costs that request
// (500); one that exceeds the deadline gets 504. Either way the instance is gone and the next request has a new one. A
// client that goes away does not stop its request: a program should not be cut between two writes.
//
// # The world of the program
//
// The program sees nothing but its environment, a clock, randomness, a log, the store and the transport; no files, no
// sockets. By default the clock and randomness are the machine's (wazero's own defaults are a clock in 2022 and the
// same random bytes in every instance); Config.Now and Config.Random pin them. In a bubble of
// testing/synctest the program has the bubble's clock, and its sleeps take no time. With no Transport every outbound request
// fails with an error that says so. Package world has what most tests want there.
//
// The contract between program and host is package [github.com/edgeauth/edgeauth/edge/abi].
package wasmtest
