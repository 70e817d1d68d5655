// Command cgi is an auth endpoint for one person, as a CGI program (RFC 3875): a request is its
// environment and its standard input, the response its standard output. Built for wasip1 it
// needs nothing from its host but that, so any host of CGI modules runs it:
//
//	GOOS=wasip1 GOARCH=wasm go build -tags nethttpomithttp2 -ldflags="-s -w" -trimpath -o auth.wasm ./edge/hosts/cgi
//
// Such a host starts an instance for each request and gives it no network and no store. That is
// enough for sessions in cookies and for passwords, but not for other providers, which have to be
// asked, nor for links by mail, whose use has to be remembered.
//
//	AUTH_SECRET      at least 32 random characters
//	AUTH_NAME        who signs in
//	AUTH_PASSWORD    at least 16 characters: it is all that keeps others out
package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log"
	"net/http"
	"net/http/cgi"
	"os"

	"github.com/edgeauth/edgeauth/core"
)

func main() {
	log.SetFlags(0) // the host's log has the time
	name, password := os.Getenv("AUTH_NAME"), os.Getenv("AUTH_PASSWORD")
	if name == "" || len(password) < 16 {
		log.Fatal("cgi: AUTH_NAME or AUTH_PASSWORD is missing, or the password has less than 16 characters")
	}
	auth, err := core.New(core.Config{
		Providers: []core.Provider{core.Credentials{
			Fields: []core.Field{{Name: "username", Label: "Name"}, {Name: "password", Label: "Password", Type: "password"}},
			Authorize: func(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
				if is(fields["username"], name)&is(fields["password"], password) == 0 {
					return nil, nil
				}
				return &core.User{ID: name, Name: name}, nil
			},
		}},
		TrustHost: core.On, // CGI has no other source of the site's name
		Transport: unreachable{},
		Getenv:    os.Getenv,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := cgi.Serve(auth); err != nil {
		log.Fatal(err)
	}
}

// is gives 1 if the field is the text, in a time that doesn't depend on where they differ.
func is(field any, text string) int {
	given, _ := field.(string)
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(a[:], b[:])
}

type unreachable struct{}

func (unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, errors.New("cgi: this host has no network")
}
