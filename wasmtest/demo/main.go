// Command demo is a small site with a sign-in, to be run by make run. Its form takes any
// name with the password "demo"; with AUTH_IDP_ISSUER, AUTH_IDP_ID and AUTH_IDP_SECRET set,
// an OpenID provider is offered, too. It is for trying things out, and for tests.
//
// With AUTH_SESSION_STRATEGY=database users and sessions are in the store AUTH_DO of the
// platform: for a native program in a file, in the folder AUTH_STORE. The form then takes an e-mail address, and the link that would be sent there is in the log.
package main

import (
	"cmp"
	"context"
	"log"
	"net/http"
	"strings"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/kvadapter"
)

func main() {
	config := core.Config{
		Providers: providers(),
		TrustHost: core.On,
		Transport: edge.Transport,
		Getenv:    edge.Getenv,
	}
	if database() {
		store := edge.Store("AUTH_DO")
		if err := edge.Check(store); err != nil {
			log.Fatal(err)
		}
		config.Adapter = kvadapter.New(store, kvadapter.Options{})
	}
	auth, err := core.New(config)
	if err != nil {
		log.Fatal(err)
	}
	edge.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			home(auth, w, r)
			return
		}
		auth.ServeHTTP(w, r)
	}))
}

func database() bool { return edge.Getenv("AUTH_SESSION_STRATEGY") == string(core.StrategyDatabase) }

func providers() []core.Provider {
	list := []core.Provider{form()}
	if edge.Getenv("AUTH_IDP_ISSUER") != "" {
		list = append([]core.Provider{core.OAuth{ID: "idp", Name: "the local provider", OIDC: true}}, list...)
	}
	return list
}

// form is the provider that needs nobody else. A password makes no session in a database.
func form() core.Provider {
	if database() {
		return core.Email{Name: "a link", Send: func(_ context.Context, m core.VerificationRequest) error {
			log.Printf("the link for %s: %s", m.Identifier, m.URL)
			return nil
		}}
	}
	return core.Credentials{
		Name: "a name",
		Fields: []core.Field{
			{Name: "username", Label: "Name", Autocomplete: "username", Required: true},
			{Name: "password", Label: "Password", Type: "password", Placeholder: "demo", Autocomplete: "current-password", Required: true},
		},
		Authorize: func(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
			name, _ := fields["username"].(string)
			if name == "" || fields["password"] != "demo" {
				return nil, nil
			}
			return &core.User{ID: "demo-" + name, Name: name, Email: name + "@example.com"}, nil
		},
	}
}

const page = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Demo</title>
<style>body{font:1rem/1.6 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1.5rem}</style></head>
<body><main><h1>Demo</h1>%s</main></body></html>`

// home shows who is signed in.
func home(auth *core.Auth, w http.ResponseWriter, r *http.Request) {
	resp, err := auth.Session(r)
	if err != nil {
		http.Error(w, "the session can't be read", http.StatusInternalServerError)
		return
	}
	resp.CopyCookies(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "private, no-store")
	content := `<p>You are signed out.</p><p><a href="/auth/signin">Sign in</a></p>`
	if resp.Session != nil {
		user := resp.Session.User
		name := strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(cmp.Or(user.Name, user.Email))
		content = `<p>Signed in as <strong>` + name + `</strong>.</p>` +
			`<p><a href="/auth/session">The session</a> · <a href="/auth/signout">Sign out</a></p>`
	}
	_, _ = w.Write([]byte(strings.Replace(page, "%s", content, 1)))
}
