// Package passkeytest is an authenticator in software, and the browser around it, for testing
// sign-ins with passkeys without either.
//
//	key := &passkeytest.Authenticator{Origin: "https://app.example"}
//	data, err := key.Create(options) // of GET webauthn-options/passkey?action=register
//
// It keeps no secret, asks nobody, and can be told to lie: see [Authenticator.Tamper].
package passkeytest
