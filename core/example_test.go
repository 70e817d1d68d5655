package core_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// The users of the examples, and what they have for passwords.
var passwords = map[string]string{"ada": "engine"}

func checkPassword(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
	name, _ := fields["name"].(string)
	if password, ok := passwords[name]; !ok || fields["password"] != password {
		return nil, nil // nobody: the sign-in page says so
	}
	return &core.User{ID: name, Name: strings.ToUpper(name)}, nil
}

// A whole app: a handler for the routes under /auth, and a page that knows who is signed in.
func ExampleNew() {
	auth, err := core.New(core.Config{
		Secret:    []string{"at least 32 random characters, from AUTH_SECRET"},
		TrustHost: core.On,
		Providers: []core.Provider{core.Credentials{
			Fields:    []core.Field{{Name: "name"}, {Name: "password", Type: "password"}},
			Authorize: checkPassword,
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		now, err := auth.Session(r)
		if err != nil || now.Session == nil {
			http.Redirect(w, r, "/auth/signin", http.StatusFound)
			return
		}
		now.CopyCookies(w)
		fmt.Fprintf(w, "Hello, %s", now.Session.User.Name)
	})

	browser := client{handler: mux}
	fmt.Println(browser.get("/"))
	token := browser.get("/auth/csrf")
	token = strings.TrimSuffix(strings.TrimPrefix(token, `200 {"csrfToken":"`), `"}`)
	form := url.Values{"csrfToken": {token}, "name": {"ada"}, "password": {"engine"}, "callbackUrl": {"/"}}
	fmt.Println(browser.post("/auth/callback/credentials", form))
	fmt.Println(browser.get("/"))
	// Output:
	// 302 /auth/signin
	// 302 http://example.com/
	// 200 Hello, ADA
}

func ExampleAuth_Session() {
	auth, err := core.New(core.Config{
		Secret:    []string{"at least 32 random characters, from AUTH_SECRET"},
		TrustHost: core.On,
		Providers: []core.Provider{core.Credentials{Authorize: checkPassword}},
	})
	if err != nil {
		log.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/any/page", nil)
	resp, err := auth.Session(r)
	if err != nil {
		log.Fatal(err) // the request could not be read; who is signed in is unknown
	}
	if resp.Session == nil {
		fmt.Println("nobody is signed in")
	}
	// Output: nobody is signed in
}

// The JWT callback puts a role into the token, the Session callback shows it to clients, and
// the SignIn callback keeps some people out.
func ExampleCallbacks() {
	auth, err := core.New(core.Config{
		Secret:        []string{"at least 32 random characters, from AUTH_SECRET"},
		TrustHost:     core.On,
		SkipCSRFCheck: true, // to keep the example short
		Providers:     []core.Provider{core.Credentials{Authorize: checkPassword}},
		Logger:        core.Logger{Error: func(string, ...any) {}, Warn: func(string, ...any) {}},
		Callbacks: core.Callbacks{
			SignIn: func(_ context.Context, p core.SignInParams) (core.Verdict, error) {
				if p.User.Name == "EVE" {
					return core.Deny, nil
				}
				return core.Allow, nil
			},
			JWT: func(_ context.Context, p core.JWTParams) (core.JWT, error) {
				if p.Trigger == core.TriggerSignIn {
					p.Token["role"] = "editor"
				}
				return p.Token, nil
			},
			Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
				return &core.Session{User: &core.User{Name: p.Session.User.Name}, Extra: map[string]any{"role": p.Token["role"]}}, nil
			},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	browser := client{handler: auth}
	browser.post("/auth/callback/credentials", url.Values{"name": {"ada"}, "password": {"engine"}})
	fmt.Println(browser.get("/auth/session"))
	// Output: 200 {"user":{"name":"ADA"},"role":"editor"}
}

// With ServerTiming the network panel of a browser shows what an answer waited for.
func ExampleConfig_serverTiming() {
	store := adaptertest.Memory()
	auth, err := core.New(core.Config{
		Secret:       []string{"at least 32 random characters, from AUTH_SECRET"},
		TrustHost:    core.On,
		Providers:    []core.Provider{core.Credentials{Authorize: checkPassword}, core.OAuth{ID: "idp", Issuer: "https://idp.example", OIDC: true, ClientID: "id", ClientSecret: "secret"}},
		Adapter:      store,
		ServerTiming: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	user, err := store.CreateUser(ctx, core.User{ID: "1", Name: "Ada"})
	if err != nil {
		log.Fatal(err)
	}
	session, err := store.CreateSession(ctx, core.AdapterSession{SessionToken: "a-token", UserID: user.ID, Expires: time.Now().Add(30 * 24 * time.Hour)})
	if err != nil {
		log.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/auth/session", nil)
	r.AddCookie(&http.Cookie{Name: "authjs.session-token", Value: session.SessionToken})
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, r)

	for metric := range strings.SplitSeq(w.Header().Get("Server-Timing"), ", ") {
		name, parameters, _ := strings.Cut(metric, ";")
		_, calls, _ := strings.Cut(parameters, ";") // after dur=, which is another one each time
		fmt.Println(strings.TrimSpace(name + " " + calls))
	}
	// Output:
	// total
	// store desc="1 call"
	// provider desc="0 calls"
}

// client is a browser in 20 lines.
type client struct {
	handler http.Handler
	cookies []*http.Cookie
}

func (c *client) get(path string) string {
	return c.do(httptest.NewRequest(http.MethodGet, path, nil))
}

func (c *client) post(path string, form url.Values) string {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return c.do(r)
}

func (c *client) do(r *http.Request) string {
	for _, cookie := range c.cookies {
		r.AddCookie(cookie)
	}
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	c.cookies = append(w.Result().Cookies(), c.cookies...) // of two with one name the first counts
	if location := w.Header().Get("Location"); location != "" {
		return fmt.Sprint(w.Code, " ", location)
	}
	return fmt.Sprint(w.Code, " ", w.Body)
}
