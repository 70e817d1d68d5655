// Package oracle holds package passkey to another implementation. It is a module of its own, so that
// nobody who uses the library gets what it is compared with:
//
//	cd core/passkey/oracle && go test ./... [-answers 1000000]
//
// Answers are made by github.com/descope/virtualwebauthn, changed at random, and verified here and by
// github.com/go-webauthn/webauthn. Whatever the latter refuses has to be refused here, too.
package oracle
