package hook_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/hook"
)

// The configuration of the examples: whoever knows the password gets in.
var config = core.Config{
	Secret:    []string{"at least 32 random characters, from AUTH_SECRET"},
	TrustHost: core.On,
	Logger:    core.Logger{Error: func(string, ...any) {}},
	Providers: []core.Provider{core.Credentials{
		Authorize: func(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
			if fields["password"] != "engine" {
				return nil, core.CredentialsSignin("unknown")
			}
			return &core.User{ID: "1", Name: "Ada"}, nil
		},
	}},
}

// A whole app: its pages know who is signed in, one of them is protected, and so is everything
// below /files.
func Example() {
	auth, err := hook.New(config)
	if err != nil {
		log.Fatal(err)
	}
	protect, err := auth.Protect("/files")
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /signin", auth.SignInAction)
	mux.HandleFunc("POST /signout", auth.SignOutAction)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		session, err := hook.Auth(r)
		switch {
		case err != nil:
			http.Error(w, "Try again later.", http.StatusServiceUnavailable)
		case session == nil:
			fmt.Fprint(w, "Hello, stranger")
		default:
			fmt.Fprint(w, "Hello, ", html.EscapeString(session.User.Name))
		}
	})
	mux.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		if session, ok := auth.Require(w, r); ok {
			fmt.Fprint(w, "The account of ", html.EscapeString(session.User.Name))
		}
	})
	mux.HandleFunc("GET /files/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "a file") })

	visitor := newBrowser(auth.Handle(protect(mux)))
	show(visitor.get("/"))
	show(visitor.get("/account"))
	show(visitor.get("/files/a.txt"))
	show(visitor.post("/signin", "providerId", "credentials", "password", "engine", "redirectTo", "/account"))
	show(visitor.get("/account"))
	show(visitor.get("/files/a.txt"))
	show(visitor.post("/signout", "redirectTo", "/"))
	show(visitor.get("/"))
	// Output:
	// 200 Hello, stranger
	// 303 /auth/signin?callbackUrl=%2Faccount
	// 303 /auth/signin?callbackUrl=%2Ffiles%2Fa.txt
	// 302 http://app.example/account
	// 200 The account of Ada
	// 200 a file
	// 302 http://app.example/
	// 200 Hello, stranger
}

// Settings that arrive with each request, as a worker's variables do.
func ExamplePerRequest() {
	auth := hook.PerRequest(func(r *http.Request) (core.Config, error) {
		settings := map[string]string{"AUTH_SECRET": "the secret of " + r.Host + ", 32 characters long", "AUTH_TRUST_HOST": "true"}
		return core.Config{Providers: config.Providers, Getenv: func(name string) string { return settings[name] }}, nil
	})
	visitor := newBrowser(auth.Handle(http.NotFoundHandler()))
	show(visitor.get("/auth/session"))
	// Output: 200 null
}

// An action of the app's own, which shows a refusal on its page.
func ExampleHook_SignIn() {
	auth, err := hook.New(config)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		to, err := auth.SignIn(r, hook.SignInOptions{
			Provider: "credentials", RedirectTo: "/account", Fields: url.Values{"password": {r.FormValue("password")}},
		})
		var refused *core.Error
		switch {
		case errors.As(err, &refused) && refused.Kind == core.ErrCredentialsSignin:
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, "That did not work: ", refused.Code)
		case err != nil:
			http.Error(w, "Try again later.", http.StatusServiceUnavailable)
		default:
			http.Redirect(w, r, to, http.StatusSeeOther)
		}
	})
	visitor := newBrowser(auth.Handle(mux))
	show(visitor.post("/login", "password", "guess"))
	show(visitor.post("/login", "password", "engine"))
	// Output:
	// 422 That did not work: unknown
	// 303 http://app.example/account
}

// The session belongs to the requests that pass Handle.
func ExampleAuth() {
	_, err := hook.Auth(httptest.NewRequest(http.MethodGet, "/", nil))
	fmt.Println(err)
	// Output: hook: the request did not pass Handle
}

// The sign-in page of an app: it hands on where its visitor came from.
func ExampleSignInForm() {
	r := httptest.NewRequest(http.MethodGet, "/login?callbackUrl=%2Faccount", nil)
	fmt.Println(hook.SignInForm{Provider: "github", Label: "Sign in with GitHub", RedirectTo: r.URL.Query().Get("callbackUrl")}.HTML())
	// Output:
	// <form method="POST" action="/signin" class="signInButton"><input type="hidden" name="providerId" value="github"><input type="hidden" name="redirectTo" value="/account"><button type="submit">Sign in with GitHub</button></form>
}

func ExampleSignOutForm() {
	fmt.Println(hook.SignOutForm{RedirectTo: "/"}.HTML())
	// Output:
	// <form method="POST" action="/signout" class="signOutButton"><input type="hidden" name="redirectTo" value="/"><button type="submit">Sign out</button></form>
}

// show prints a status, and where it leads or what it says.
func show(w *httptest.ResponseRecorder) {
	if location := w.Header().Get("Location"); location != "" {
		fmt.Println(w.Code, location)
		return
	}
	fmt.Println(w.Code, w.Body)
}
