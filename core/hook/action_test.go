package hook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/hook"
)

// app has the two form actions, and a page.
func app(auth *hook.Hook) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/signin", auth.SignInAction)
	mux.HandleFunc("/signout", auth.SignOutAction)
	mux.HandleFunc("/", greet)
	return auth.Handle(mux)
}

func TestSignInAction(t *testing.T) {
	t.Parallel()
	h := app(newHook(t, core.Config{}))
	for _, c := range []struct {
		name    string
		referer string
		fields  []string
		want    string // the beginning of the location
		user    string
	}{
		{"credentials", "", []string{"providerId", "credentials", "name", "Ada", "redirectTo", "/after"}, site + "/after", "Ada"},
		{"an older name of the field", "", []string{"providerId", "credentials", "name", "Ada", "callbackUrl", "/after"}, site + "/after", "Ada"},
		{"both names", "", []string{"providerId", "credentials", "name", "Ada", "callbackUrl", "/no", "redirectTo", "/after"}, site + "/after", "Ada"},
		{"back to the page", site + "/from?x=y", []string{"providerId", "credentials", "name", "Ada"}, site + "/from?x=y", "Ada"},
		{"from nowhere", "", []string{"providerId", "credentials", "name", "Ada"}, site + "/", "Ada"},
		{"from an app", "android-app://com.example", []string{"providerId", "credentials", "name", "Ada"}, site + "/", "Ada"},
		{"to another site", "", []string{"providerId", "credentials", "name", "Ada", "redirectTo", "https://evil.example/"}, site, "Ada"},
		{"from another site", "https://evil.example/", []string{"providerId", "credentials", "name", "Ada"}, site, "Ada"},
		{"the last of two fields", "", []string{"providerId", "credentials", "name", "Eve", "name", "Ada", "redirectTo", "/after"}, site + "/after", "Ada"},
		{"refused with a code", "", []string{"providerId", "credentials", "name", "Eve"}, site + "/auth/signin?error=CredentialsSignin&code=banned", "nobody"},
		{"refused", "", []string{"providerId", "credentials"}, site + "/auth/signin?error=CredentialsSignin&code=credentials", "nobody"},
		{"a provider", "", []string{"providerId", "hub", "authorizationParams-prompt", "login", "redirectTo", "/after"}, "https://hub.example/authorize?", "nobody"},
		{"no provider", "", []string{"redirectTo", "/after"}, site + "/auth/signin?callbackUrl=" + url.QueryEscape(site+"/after"), "nobody"},
		{"an unknown provider", "", []string{"providerId", "none", "redirectTo", "/after"}, site + "/auth/signin?callbackUrl=" + url.QueryEscape(site+"/after"), "nobody"},
		{"an empty form", "", nil, site + "/auth/signin?callbackUrl=", "nobody"},
		{"no URL", "", []string{"providerId", "credentials", "name", "Ada", "redirectTo", "http://["}, site + "/auth/error?error=Configuration", "nobody"},
	} {
		b := newBrowser(h)
		r := b.form("/signin", c.fields...)
		if c.referer != "" {
			r.Header.Set("Referer", c.referer)
		}
		w := b.do(r)
		location := w.Header().Get("Location")
		exact := !strings.HasSuffix(c.want, "?") && !strings.HasSuffix(c.want, "=")
		if w.Code != http.StatusFound || !strings.HasPrefix(location, c.want) || exact && location != c.want || !strings.Contains(w.Header().Get("Cache-Control"), "no-store") {
			t.Errorf("%s: %d %q, want %q", c.name, w.Code, location, c.want)
		}
		if got := b.get("/").Body.String(); got != c.user {
			t.Errorf("%s: signed in as %s, want %s", c.name, got, c.user)
		}
	}
	b := newBrowser(h)
	u, err := url.Parse(b.post("/signin", "providerId", "hub", "authorizationParams-prompt", "login", "authorizationParams-login_hint", "ada", "other", "x").Header().Get("Location"))
	if err != nil || u.Query().Get("prompt") != "login" || u.Query().Get("login_hint") != "ada" || u.Query().Has("other") || u.Query().Get("redirect_uri") != site+"/auth/callback/hub" {
		t.Errorf("the authorization request: %v, %v", u, err)
	}
	if b.cookie("authjs.pkce.code_verifier") == "" {
		t.Error("the check's cookie was lost")
	}
}

func TestSignOutAction(t *testing.T) {
	t.Parallel()
	config, _ := database(t)
	h := app(newHook(t, config))
	b := newBrowser(h)
	b.set(&http.Cookie{Name: sessionCookie, Value: "ada"})
	w := b.post("/signout", "redirectTo", "/bye")
	if w.Code != http.StatusFound || w.Header().Get("Location") != site+"/bye" || b.cookie(sessionCookie) != "" {
		t.Errorf("%d %q", w.Code, w.Header())
	}
	b.set(&http.Cookie{Name: sessionCookie, Value: "ada"})
	if got := b.get("/").Body.String(); got != "nobody" {
		t.Errorf("the session lives on: %s", got)
	}
}

// A form of another site signs nobody in and nobody out. There is no token in the form: what
// tells is the browser.
func TestActionsAreSameOrigin(t *testing.T) {
	t.Parallel()
	headers := []struct{ name, site, origin string }{
		{"another site", "cross-site", "https://evil.example"}, {"another origin", "", "https://evil.example"}, {"a subdomain", "same-site", ""},
		{"no word", "", ""}, {"a sandboxed frame", "cross-site", "null"}, {"another scheme", "", "https://app.example"}, {"another port", "", site + ":8080"},
	}
	var log journal
	h := app(newHook(t, core.Config{Logger: log.logger()}))
	skipped := app(newHook(t, core.Config{SkipCSRFCheck: true}))
	for _, c := range headers {
		for _, path := range []string{"/signin", "/signout"} {
			b := newBrowser(h)
			if path == "/signout" {
				b.signIn(t, "Ada")
			}
			before := b.cookie(sessionCookie)
			r := b.form(path, "providerId", "credentials", "name", "Eve2")
			r.Header["Sec-Fetch-Site"], r.Header["Origin"] = nil, nil
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			if w := b.do(r); w.Code != http.StatusForbidden || b.cookie(sessionCookie) != before || w.Header().Get("Location") != "" {
				t.Errorf("%s from %s: %d %q", path, c.name, w.Code, w.Header())
			}
			if !log.has("MissingCSRF") {
				t.Errorf("%s from %s: not logged", path, c.name)
			}
			r = newBrowser(skipped).form("/signin", "providerId", "credentials", "name", "Ada")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			if w := newBrowser(skipped).do(r); w.Code != http.StatusFound {
				t.Errorf("with SkipCSRFCheck: %d", w.Code)
			}
		}
	}
}

func TestActionsRefuse(t *testing.T) {
	t.Parallel()
	h := app(newHook(t, core.Config{}))
	for name, c := range map[string]struct {
		method, contentType, body string
		want                      int
	}{
		"GET":             {"GET", "", "", http.StatusMethodNotAllowed},
		"PUT":             {"PUT", "application/x-www-form-urlencoded", "providerId=credentials", http.StatusMethodNotAllowed},
		"too large":       {"POST", "application/x-www-form-urlencoded", "name=" + strings.Repeat("a", core.MaxBodyBytes), http.StatusRequestEntityTooLarge},
		"a broken escape": {"POST", "application/x-www-form-urlencoded", "name=%zz", http.StatusBadRequest},
		"parts":           {"POST", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAda\r\n--x--\r\n", http.StatusUnsupportedMediaType},
		"text":            {"POST", "text/plain", "providerId=credentials&name=Ada", http.StatusUnsupportedMediaType},
		"JSON":            {"POST", "application/json", `{"providerId":"credentials"}`, http.StatusUnsupportedMediaType},
		"a broken type":   {"POST", "application/x-www-form-urlencoded; =", "x", http.StatusBadRequest},
		"no body":         {"POST", "", "", http.StatusFound}, // to the sign-in page
		"a charset":       {"POST", "Application/X-WWW-Form-Urlencoded ; charset=UTF-8", "redirectTo=/", http.StatusFound},
	} {
		for _, path := range []string{"/signin", "/signout"} {
			b := newBrowser(h)
			r := b.request(c.method, path, c.body)
			r.Header.Set("Content-Type", c.contentType)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			if w := b.do(r); w.Code != c.want || b.cookie(sessionCookie) != "" {
				t.Errorf("%s %s: %d, want %d", name, path, w.Code, c.want)
			}
		}
	}
}

// A script that wants to stay on its page asks for the URL in place of the redirect.
func TestActionAnswersJSON(t *testing.T) {
	t.Parallel()
	b := newBrowser(app(newHook(t, core.Config{})))
	for name, r := range map[string]*http.Request{
		"field":  b.form("/signin", "providerId", "credentials", "name", "Ada", "redirectTo", "/after", "redirect", "false"),
		"header": b.form("/signin", "providerId", "credentials", "name", "Ada", "redirectTo", "/after"),
	} {
		if name == "header" {
			r.Header.Set("X-Auth-Return-Redirect", "1")
		}
		w := b.do(r)
		if w.Code != http.StatusOK || w.Body.String() != `{"url":"`+site+`/after"}` || w.Header().Get("Content-Type") != "application/json" || b.cookie(sessionCookie) == "" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := b.post("/signin", "providerId", "credentials", "name", "Ada", "redirect", "true"); w.Code != http.StatusFound {
		t.Errorf("redirect=true: %d", w.Code)
	}
}

// Errors, 2: where form actions are handled on the server, the refusal of Authorize reaches the
// caller as an error with its code, and nobody is redirected.
func TestSignInGivesErrors(t *testing.T) {
	t.Parallel()
	broken := core.Credentials{ID: "broken", Authorize: func(context.Context, map[string]any, *http.Request) (*core.User, error) {
		return nil, errors.New("the directory is down")
	}}
	denied := core.Callbacks{SignIn: func(_ context.Context, p core.SignInParams) (core.Verdict, error) {
		if p.User.Name == "Mallory" {
			return core.Deny, nil
		}
		return core.Allow, nil
	}}
	var log journal
	auth := newHook(t, core.Config{Providers: []core.Provider{anyone, broken}, Callbacks: denied, Logger: log.logger()})
	b := newBrowser(auth.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		options, err := hook.FormOptions(w, r)
		if err != nil {
			t.Error(err)
		}
		to, err := auth.SignIn(r, options)
		var known *core.Error
		switch {
		case errors.As(err, &known):
			fmt.Fprint(w, known.Kind, " ", known.Code)
		case err != nil:
			t.Error(err)
		default:
			fmt.Fprint(w, to)
		}
	})))
	for _, c := range []struct {
		fields []string
		want   string
	}{
		{[]string{"providerId", "credentials", "name", "Eve"}, "core: CredentialsSignin banned"},
		{[]string{"providerId", "credentials"}, "core: CredentialsSignin "},
		{[]string{"providerId", "credentials", "name", "Mallory"}, "core: AccessDenied "},
		{[]string{"providerId", "broken"}, "core: CallbackRouteError "},
		{[]string{"providerId", "none"}, "core: InvalidProvider "},
	} {
		w := b.post("/login", c.fields...)
		if w.Body.String() != c.want || w.Header().Get("Location") != "" || b.cookie(sessionCookie) != "" {
			t.Errorf("%v: %s, %q", c.fields, w.Body, w.Header())
		}
		kind, _, _ := strings.Cut(strings.TrimPrefix(c.want, "core: "), " ")
		if !log.has(kind) {
			t.Errorf("%v: not logged", c.fields)
		}
	}
	if w := b.post("/login", "providerId", "credentials", "name", "Ada", "redirectTo", "/in"); w.Body.String() != site+"/in" || b.cookie(sessionCookie) == "" {
		t.Errorf("signed in: %s, %q", w.Body, w.Header())
	}
	r := b.form("/login", "providerId", "credentials", "name", "Ada")
	r.Header.Set("Origin", "https://evil.example")
	if w := b.do(r); w.Body.String() != "core: MissingCSRF " {
		t.Errorf("from another site: %s", w.Body)
	}
}

// Signing out, or in, outweighs the extension of the session that was read before or after it.
func TestSignOutOutweighsTheSession(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]string{"asked before": "before", "asked after": "after", "asked twice": "before after", "not asked": ""} {
		config, _ := database(t)
		auth := newHook(t, config)
		b := newBrowser(auth.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(when, "before") {
				if session, err := hook.Auth(r); err != nil || session == nil {
					t.Errorf("%s: %v, %v", name, session, err)
				}
			}
			to, err := auth.SignOut(r, "/bye")
			if err != nil || to != site+"/bye" {
				t.Errorf("%s: %q, %v", name, to, err)
			}
			if strings.Contains(when, "after") {
				if session, err := hook.Auth(r); err != nil || session != nil {
					t.Errorf("%s: after signing out: %v, %v", name, session, err)
				}
			}
		})))
		b.set(&http.Cookie{Name: sessionCookie, Value: "ada"})
		w := b.post("/")
		for _, c := range w.Result().Cookies() {
			if c.Name == sessionCookie && c.MaxAge >= 0 {
				t.Errorf("%s: the session's cookie is set again: %v", name, c)
			}
		}
		if b.cookie(sessionCookie) != "" {
			t.Errorf("%s: the session's cookie is still there", name)
		}
	}
	auth := newHook(t, core.Config{})
	b := newBrowser(auth.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := auth.SignIn(r, hook.SignInOptions{Provider: "credentials", Fields: url.Values{"name": {"Grace"}}}); err != nil {
			t.Error(err)
		}
		greet(w, r) // who the request's own cookies say
	})))
	b.signIn(t, "Ada")
	if w := b.post("/"); w.Body.String() != "Ada" {
		t.Errorf("during the request: %s", w.Body)
	}
	b.handler = auth.Handle(http.HandlerFunc(greet))
	if w := b.get("/"); w.Body.String() != "Grace" {
		t.Errorf("after it: %s", w.Body)
	}
}

// An action that can't set its cookies does nothing.
func TestActionsNeedAResponse(t *testing.T) {
	t.Parallel()
	auth, other := newHook(t, core.Config{}), newHook(t, core.Config{})
	r := httptest.NewRequest(http.MethodGet, site, nil)
	if _, err := auth.SignIn(r, hook.SignInOptions{}); !errors.Is(err, hook.ErrOutsideHandle) {
		t.Errorf("SignIn outside of Handle: %v", err)
	}
	if _, err := auth.SignOut(r, ""); !errors.Is(err, hook.ErrOutsideHandle) {
		t.Errorf("SignOut outside of Handle: %v", err)
	}
	w := httptest.NewRecorder()
	auth.SignInAction(w, newBrowser(nil).form("/signin"))
	if w.Code != http.StatusInternalServerError {
		t.Errorf("the action outside of Handle: %d", w.Code)
	}
	config, _ := database(t)
	late := newHook(t, config)
	b := newBrowser(late.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("early"))
		if _, err := late.SignOut(r, ""); !errors.Is(err, hook.ErrHeaderSent) {
			t.Errorf("after the header: %v", err)
		}
		if _, err := other.SignOut(r, ""); !errors.Is(err, hook.ErrOutsideHandle) {
			t.Errorf("another hook's request: %v", err)
		}
	})))
	b.set(&http.Cookie{Name: sessionCookie, Value: "ada"})
	b.post("/")
	if session, _, err := config.Adapter.GetSessionAndUser(t.Context(), "ada"); err != nil || session == nil {
		t.Errorf("the session was ended without its cookie: %v", err)
	}
}
