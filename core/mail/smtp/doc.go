// Package smtp sends sign-in links through a mail server. It needs sockets, which a wasm build
// doesn't have: there the package is empty, and one of the services of package mail takes its
// place.
package smtp
