// Package routers_test runs the routes under routers that core does not depend on, as they are.
// It is a module of its own, so that only these tests need them:
//
//	cd core/route/routers && go test ./...
package routers_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/hook"
	"github.com/edgeauth/edgeauth/core/route"
	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"
)

func config() core.Config {
	quiet := func(string, ...any) {}
	return core.Config{
		Secret: []string{"a secret of at least thirty-two characters"}, TrustHost: core.On, CSRF: core.CSRFOrigin,
		Getenv: func(string) string { return "" }, Logger: core.Logger{Error: quiet, Warn: quiet},
		Providers: []core.Provider{core.Credentials{
			Authorize: func(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
				name, _ := fields["name"].(string)
				return &core.User{ID: name, Name: name}, nil
			},
		}},
	}
}

// account is the page that the apps protect.
func account(auth *route.Routes) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if session, ok := auth.Require(w, r); ok {
			_, _ = io.WriteString(w, "Hello, "+session.User.Name)
		}
	}
}

func withEcho(auth *route.Routes, protect func(http.Handler) http.Handler) http.Handler {
	e := echo.New()
	e.Use(echo.WrapMiddleware(protect))
	e.GET("/api/auth/*", echo.WrapHandler(http.HandlerFunc(auth.GET)))
	e.POST("/api/auth/*", echo.WrapHandler(http.HandlerFunc(auth.POST)))
	e.GET("/account", echo.WrapHandler(account(auth)))
	e.Any("/admin", func(c echo.Context) error { return c.String(http.StatusOK, "admin") })
	e.Any("/admin/*", func(c echo.Context) error { return c.String(http.StatusOK, "admin") })
	return e
}

func withGin(auth *route.Routes, protect func(http.Handler) http.Handler) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.UseRawPath, g.RemoveExtraSlash, g.RedirectFixedPath = true, true, true
	g.GET("/api/auth/*action", gin.WrapF(auth.GET))
	g.POST("/api/auth/*action", gin.WrapF(auth.POST))
	g.GET("/account", gin.WrapF(account(auth)))
	g.Any("/admin", func(c *gin.Context) { c.String(http.StatusOK, "admin") })
	g.Any("/admin/*rest", func(c *gin.Context) { c.String(http.StatusOK, "admin") })
	return protect(g) // gin's own middleware can't wrap a handler
}

func TestRouters(t *testing.T) {
	t.Parallel()
	for name, app := range map[string]func(*route.Routes, func(http.Handler) http.Handler) http.Handler{"echo": withEcho, "gin": withGin} {
		t.Run(name, func(t *testing.T) {
			auth, err := route.New(route.Config{Config: config()})
			if err != nil {
				t.Fatal(err)
			}
			protect, err := auth.Protect("/admin")
			if err != nil {
				t.Fatal(err)
			}
			h := app(auth, protect)
			cookies := map[string]string{}
			for _, path := range []string{"/account", "/admin", "/admin/users"} {
				if w := send(h, cookies, http.MethodGet, path, nil); w.Code != http.StatusFound || w.Header().Get("Location") != "/" {
					t.Errorf("signed out, %s: %d %q", path, w.Code, w.Header().Get("Location"))
				}
			}
			// However the router reads these, none leads to the page.
			for _, path := range []string{"//admin", "/ADMIN", "/%61dmin", "/x/../admin", "/x/%2e%2e/admin", "/x%2f..%2fadmin", "/admin%2f", "/admin/", "/./admin", "/admin;x/y", "/%2561dmin"} {
				if w := send(h, cookies, http.MethodGet, path, nil); w.Code == http.StatusOK {
					t.Errorf("signed out, %s: %s", path, w.Body)
				}
			}
			w := send(h, cookies, http.MethodPost, "/api/auth/callback/credentials", url.Values{"name": {"Ada"}})
			if w.Code != http.StatusFound || cookies["authjs.session-token"] == "" {
				t.Fatalf("signing in: %d %q", w.Code, w.Header())
			}
			if w := send(h, cookies, http.MethodGet, "/api/auth/session", nil); !strings.Contains(w.Body.String(), `"Ada"`) {
				t.Errorf("the session route: %d %s", w.Code, w.Body)
			}
			if w := send(h, cookies, http.MethodGet, "/account", nil); w.Body.String() != "Hello, Ada" {
				t.Errorf("signed in, the page: %d %s", w.Code, w.Body)
			}
			if w := send(h, cookies, http.MethodGet, "/admin/users", nil); w.Body.String() != "admin" {
				t.Errorf("signed in, the protected path: %d %s", w.Code, w.Body)
			}
			if w := send(h, cookies, http.MethodGet, "/api/auth/unknown", nil); w.Code != http.StatusNotFound {
				t.Errorf("an unknown action: %d", w.Code)
			}
		})
	}
}

// The hook stands before a whole router, whose handlers ask it through the request.
func TestHook(t *testing.T) {
	t.Parallel()
	auth, err := hook.New(config())
	if err != nil {
		t.Fatal(err)
	}
	page := func(w http.ResponseWriter, r *http.Request) {
		if session, ok := auth.Require(w, r); ok {
			_, _ = io.WriteString(w, "Hello, "+session.User.Name)
		}
	}
	e := echo.New()
	e.GET("/account", echo.WrapHandler(http.HandlerFunc(page)))
	e.POST("/signin", echo.WrapHandler(http.HandlerFunc(auth.SignInAction)))
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.GET("/account", gin.WrapF(page))
	g.POST("/signin", gin.WrapF(auth.SignInAction))
	for name, router := range map[string]http.Handler{"echo": e, "gin": g} {
		h, cookies := auth.Handle(router), map[string]string{}
		if w := send(h, cookies, http.MethodGet, "/account", nil); w.Code != http.StatusSeeOther {
			t.Errorf("%s: signed out: %d", name, w.Code)
		}
		if w := send(h, cookies, http.MethodPost, "/signin", url.Values{"providerId": {"credentials"}, "name": {"Ada"}}); w.Code != http.StatusFound {
			t.Errorf("%s: signing in: %d %s", name, w.Code, w.Body)
		}
		if w := send(h, cookies, http.MethodGet, "/account", nil); w.Body.String() != "Hello, Ada" || len(w.Result().Cookies()) != 1 {
			t.Errorf("%s: signed in: %d %s, cookies %v", name, w.Code, w.Body, w.Result().Cookies())
		}
	}
}

// send makes a request as a browser on the site does.
func send(h http.Handler, cookies map[string]string, method, path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://app.example"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for name, value := range cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		cookies[c.Name] = c.Value
	}
	return w
}
