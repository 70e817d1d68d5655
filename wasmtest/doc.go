// Package wasmtest runs a wasip1 module built on package edge as an [http.Handler], so that a test, or a small
// server, exercises the very bytes that are deployed.
//
//	func TestSignIn(t *testing.T) {
//		h := wasmtest.New(t, "./cmd/app", wasmtest.Config{
//			Transport: provider, // everything the app may reach: an http.RoundTripper of the test
//			Env:       map[string]string{"AUTH_SECRET": "..."},
//		})
//		w := httptest.NewRecorder()
//		h.ServeHTTP(w, httptest.NewRequest("GET", "https://example.com/auth/session", nil))
//		...
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
// fails with an error that says so.
//
// The contract between program and host is package [github.com/edgeauth/edgeauth/edge/abi].
package wasmtest
