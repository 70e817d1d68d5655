package route_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/route"
	"github.com/go-chi/chi/v5"
)

// The configuration of the examples: whoever knows the password gets in.
var config = route.Config{Config: core.Config{
	Secret:        []string{"at least 32 random characters, from AUTH_SECRET"},
	TrustHost:     core.On,
	SkipCSRFCheck: true, // to keep the examples short
	Logger:        core.Logger{Warn: func(string, ...any) {}},
	Providers: []core.Provider{core.Credentials{
		Authorize: func(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
			if fields["password"] != "engine" {
				return nil, nil
			}
			return &core.User{ID: "1", Name: "Ada"}, nil
		},
	}},
}}

// With the standard library's router: the two handlers, a page that protects itself, and a
// middleware for everything below a path.
func Example() {
	auth, err := route.New(config)
	if err != nil {
		log.Fatal(err)
	}
	protect, err := auth.Protect("/files")
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/auth/", auth.GET)
	mux.HandleFunc("POST /api/auth/", auth.POST)
	mux.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		session, ok := auth.Require(w, r)
		if !ok {
			return // it has been answered
		}
		fmt.Fprint(w, "Hello, ", session.User.Name)
	})
	mux.HandleFunc("GET /files/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "a file") })

	visit(protect(mux), "/account", "/files/a.txt")
	// Output:
	// /account: 302 /
	// /files/a.txt: 302 /
	// signed in: 302 http://example.com/
	// /account: 200 Hello, Ada
	// /files/a.txt: 200 a file
}

// With chi, where a group of routes has the middleware.
func Example_chi() {
	auth, err := route.New(config)
	if err != nil {
		log.Fatal(err)
	}
	protect, err := auth.Protect("/admin")
	if err != nil {
		log.Fatal(err)
	}
	router := chi.NewRouter()
	router.Get("/api/auth/*", auth.GET)
	router.Post("/api/auth/*", auth.POST)
	router.Group(func(admin chi.Router) {
		admin.Use(protect)
		admin.Get("/admin", func(w http.ResponseWriter, r *http.Request) {
			session, err := auth.GetSession(r)
			if err != nil {
				http.Error(w, "Try again later.", http.StatusServiceUnavailable)
				return
			}
			fmt.Fprint(w, "Hello, ", session.User.Name)
		})
	})

	visit(router, "/admin")
	// Output:
	// /admin: 302 /
	// signed in: 302 http://example.com/
	// /admin: 200 Hello, Ada
}

// GetSession tells three things apart.
func ExampleRoutes_GetSession() {
	auth, err := route.New(config)
	if err != nil {
		log.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/any/page", nil)
	switch session, err := auth.GetSession(r); {
	case err != nil:
		fmt.Println("who is signed in is not known:", err)
	case session == nil:
		fmt.Println("nobody is signed in")
	default:
		fmt.Println("signed in:", session.User.Name)
	}
	// Output: nobody is signed in
}

// A middleware of the app's own that goes by paths.
func ExamplePaths_Match() {
	members, err := route.NewPaths("/members", "!/members/join")
	if err != nil {
		log.Fatal(err)
	}
	for _, path := range []string{"/members/list", "/x/..%2Fmembers", "/members/join", "/membership"} {
		fmt.Println(path, members.Match(httptest.NewRequest(http.MethodGet, path, nil)))
	}
	// Output:
	// /members/list true
	// /x/..%2Fmembers true
	// /members/join false
	// /membership false
}

// visit gets the pages, signs in, and gets them again.
func visit(app http.Handler, pages ...string) {
	b := newBrowser(app)
	show := func(title string, w *httptest.ResponseRecorder) {
		if location := w.Header().Get("Location"); location != "" {
			fmt.Printf("%s: %d %s\n", title, w.Code, location)
			return
		}
		fmt.Printf("%s: %d %s\n", title, w.Code, w.Body)
	}
	b.origin = "http://example.com"
	for _, page := range pages {
		show(page, b.get(page))
	}
	show("signed in", b.post("/api/auth/callback/credentials", url.Values{"password": {"engine"}, "callbackUrl": {"/"}}))
	for _, page := range pages {
		show(page, b.get(page))
	}
}
