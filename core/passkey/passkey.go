// Package passkey makes the provider that signs people in with passkeys and security keys, by Web
// Authentication, level 3 (w3.org/TR/webauthn-3). Only a program that names this package has it
// linked in.
//
//	auth, err := core.New(core.Config{
//		Providers:    []core.Provider{passkey.New()},
//		Adapter:      kvadapter.New(store, kvadapter.Options{}),
//		Experimental: core.Experimental{EnableWebAuthn: true},
//	})
//
// The built-in sign-in page has a form for it. Whoever has a passkey picks it in the field or
// presses the button; a new e-mail address registers one; and whoever is signed in already, and
// comes to the page again, adds another passkey. Pages of the app's own can use the clients made for
// Auth.js: next-auth/webauthn, or @simplewebauthn/browser with the routes
//
//	GET  /auth/webauthn-options/passkey?action=register|authenticate&email=…
//	POST /auth/callback/passkey      action and data, the answer as JSON text
//
// # What a registration proves
//
// That somebody has the key, and nothing else: the e-mail address was typed, and nobody has
// verified it. So it never links to a user who has the address already. An app that goes by the
// address must have it verified, or must let only people register who are signed in
// ([core.WebAuthn.UserInfo] that gives no user).
//
// Attestation is not asked for. A key that attests itself must do it right; the statement of an
// authenticator's maker is accepted and not trusted.
//
// # Keys
//
// Ed25519, ES256 and RS256 with 2,048 to 4,096 bits: what the reference asks for, and what every
// platform has one of.
package passkey

import "github.com/edgeauth/edgeauth/core"

// New gives the provider with the ID "passkey": it asks for passkeys, which are found without
// naming a user, and whose owner the authenticator verifies by a PIN or by looks. The caller may
// change any field. For security keys that store nothing, set ResidentKey to "preferred" and, if
// touching the key is enough, UserVerification to "preferred".
func New() core.WebAuthn {
	p := core.NewWebAuthn(VerifyRegistration, VerifyAuthentication)
	p.ID, p.Name = "passkey", "Passkey"
	p.Algorithms = []int64{algEdDSA, algES256, algRS256}
	return p
}
