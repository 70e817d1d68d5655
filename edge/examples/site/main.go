// Command site is a web site whose pages know who is signed in, by package hook. It runs
// wherever edge.Serve does:
//
//	AUTH_SECRET=$(openssl rand -hex 32) AUTH_TRUST_HOST=true go run ./edge/examples/site
//
// The user is ada, with the password engine.
package main

import (
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"os"

	"github.com/edgeauth/edgeauth/core/hook"
	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/edge/examples/demo"
)

var (
	//go:embed head.html
	head string
	//go:embed client.html
	client string
)

func main() {
	auth, err := hook.New(demo.Config())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	protect, err := auth.Protect("/files")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /signin", auth.SignInAction)
	mux.HandleFunc("POST /signout", auth.SignOutAction)
	mux.HandleFunc("GET /{$}", home)
	mux.HandleFunc("GET /client", func(w http.ResponseWriter, _ *http.Request) { page(w, client) })
	mux.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		if session, ok := auth.Require(w, r); ok {
			page(w, `<h1>Account</h1><p id="user">`+html.EscapeString(session.User.Name)+`</p>`)
		}
	})
	mux.HandleFunc("GET /files/", func(w http.ResponseWriter, _ *http.Request) { page(w, `<h1>Files</h1><p>None yet.</p>`) })
	edge.Serve(auth.Handle(protect(mux)))
}

// home shows the session, as the server sees it.
func home(w http.ResponseWriter, r *http.Request) {
	session, err := hook.Auth(r)
	switch {
	case err != nil: // neither signed in nor signed out
		w.WriteHeader(http.StatusServiceUnavailable)
		page(w, `<h1>Home</h1><p id="user">Try again later.</p>`)
	case session == nil:
		page(w, `<h1>Home</h1><p id="user">Nobody is signed in.</p>`+string(hook.SignInForm{RedirectTo: "/"}.HTML()))
	default:
		page(w, `<h1>Home</h1><p id="user">`+html.EscapeString(session.User.Name)+`</p>`+string(hook.SignOutForm{RedirectTo: "/"}.HTML()))
	}
}

func page(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, head, body)
}
