// Package core signs people in: it is one function from an HTTP request to an
// HTTP response, and speaks the wire protocol of @auth/core 0.41, with the
// same endpoints, cookies, encrypted session tokens and error codes. An app or a
// client written for that library can be pointed at this one and stay signed in.
//
//	auth, err := core.New(core.Config{
//		Providers: []core.Provider{core.OAuth{
//			ID: "idp", Name: "IdP", Issuer: "https://idp.example", OIDC: true,
//			ClientID: id, ClientSecret: secret,
//		}},
//	})
//
// [New] checks the whole configuration and reports every mistake by its name in
// the contract. [Auth] is then an [http.Handler] for all routes under the base
// path; [Auth.Handle] gives the same answer as a value, and [Auth.Session] reads
// the session of a request to any other route.
//
// # Routes
//
//	GET  /auth/signin              the sign-in page
//	POST /auth/signin/{provider}   starts a sign-in
//	GET  /auth/callback/{provider} ends it (POST for credentials and passkeys)
//	GET  /auth/webauthn-options/{provider} what to ask for a passkey
//	GET  /auth/session             the session as JSON, or null; POST updates it
//	GET  /auth/signout             asks; POST signs out
//	GET  /auth/csrf                the CSRF token
//	GET  /auth/providers           the configured providers
//	GET  /auth/error               the error page
//	GET  /auth/verify-request      the page after an e-mail was sent
//	GET  /auth/client.mjs          the browser's module, with client.d.ts beside it
//
// # Platforms
//
// The package knows no platform and no store. Outgoing requests go through
// [Config.Transport], settings come through [Config.Getenv], records go through
// [Config.Adapter], which has the methods of an Auth.js adapter and, if it can, others that do
// all of a sign-in at once. It starts no goroutine, keeps no lock while it waits, and
// sets no timer in a wasm build, so that one instance can serve many requests
// at once where a request may wait on its own events only.
//
// # Deliberate differences
//
// Where the reference is less safe than it could be without breaking a client,
// this package is safer. Each case is an entry of differences.json, from which
// the table in the README is made.
package core
