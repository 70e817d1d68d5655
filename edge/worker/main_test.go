package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// complete is an environment with nothing wrong in it.
func complete() map[string]string {
	return map[string]string{
		"AUTH_SECRET": strings.Repeat("not-a-secret-", 3), "AUTH_URL": "https://app.example/auth",
		"AUTH_PROVIDERS":     "my-idp, other",
		"AUTH_MY_IDP_ISSUER": "https://idp.example", "AUTH_MY_IDP_ID": "id", "AUTH_MY_IDP_SECRET": "secret", "AUTH_MY_IDP_NAME": "My IdP",
		"AUTH_OTHER_ISSUER": "https://other.example", "AUTH_OTHER_ID": "id", "AUTH_OTHER_SECRET": "secret",
	}
}

func getenv(env map[string]string) func(string) string {
	return func(name string) string { return env[name] }
}

func TestEverySettingHasItsEffect(t *testing.T) {
	t.Parallel()
	env := complete()
	for name, value := range map[string]string{
		"AUTH_BASE_PATH": "/login", "AUTH_SESSION_STRATEGY": "jwt", "AUTH_SESSION_MAX_AGE": "3600", "AUTH_SESSION_UPDATE_AGE": "0",
		"AUTH_PAGES_SIGN_IN": "/in", "AUTH_PAGES_SIGN_OUT": "/out", "AUTH_PAGES_ERROR": "/err",
		"AUTH_PAGES_VERIFY_REQUEST": "/sent", "AUTH_PAGES_NEW_USER": "/hello",
		"AUTH_THEME_COLOR_SCHEME": "dark", "AUTH_THEME_LOGO": "/logo.svg", "AUTH_THEME_BRAND_COLOR": "#123456", "AUTH_THEME_BUTTON_TEXT": "#fff",
		"AUTH_DEBUG": "true", "AUTH_SERVER_TIMING": "true",
	} {
		env[name] = value
	}
	config, _, err := fromEnvironment(getenv(env))
	if err != nil {
		t.Fatal(err)
	}
	if got := config.Session; config.BasePath != "/login" || got.Strategy != core.StrategyJWT || got.MaxAge != time.Hour || got.UpdateAge >= 0 {
		t.Errorf("base path %q, session %+v", config.BasePath, config.Session)
	}
	if want := (core.Pages{SignIn: "/in", SignOut: "/out", Error: "/err", VerifyRequest: "/sent", NewUser: "/hello"}); config.Pages != want {
		t.Errorf("pages %+v, want %+v", config.Pages, want)
	}
	if want := (core.Theme{ColorScheme: "dark", Logo: "/logo.svg", BrandColor: "#123456", ButtonText: "#fff"}); config.Theme != want {
		t.Errorf("theme %+v, want %+v", config.Theme, want)
	}
	if !config.Debug {
		t.Error("AUTH_DEBUG has no effect")
	}
	if !config.ServerTiming {
		t.Error("AUTH_SERVER_TIMING has no effect")
	}
	delete(env, "AUTH_DEBUG")
	env["AUTH_SERVER_TIMING"] = "false"
	env["AUTH_BASE_PATH"] = ""
	config, _, _ = fromEnvironment(getenv(env))
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if config.ServerTiming || config.Debug {
		t.Error("what is not true is on")
	}
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/auth/providers", nil))
	for _, want := range []string{`"name":"My IdP"`, `"name":"other"`, `"callbackUrl":"https://app.example/auth/callback/my-idp"`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("GET providers answered %s without %s", w.Body, want)
		}
	}
}

func TestBadSettingsAreNamedWithTheirFix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, named string }{
		{"AUTH_PROVIDERS", "", "AUTH_PROVIDERS"},
		{"AUTH_PROVIDERS", "unknown, github", "AUTH_PROVIDERS"},
		{"AUTH_SESSION_MAX_AGE", "soon", "AUTH_SESSION_MAX_AGE"},
		{"AUTH_SESSION_MAX_AGE", "0", "AUTH_SESSION_MAX_AGE"},
		{"AUTH_SESSION_MAX_AGE", "99999999999", "AUTH_SESSION_MAX_AGE"},
		{"AUTH_SESSION_UPDATE_AGE", "-1", "AUTH_SESSION_UPDATE_AGE"},
		{"AUTH_PAGES_ERROR", "https://elsewhere.example/", "AUTH_PAGES_ERROR"},
		{"AUTH_PAGES_SIGN_IN", "//elsewhere.example", "AUTH_PAGES_SIGN_IN"},
		{"AUTH_THEME_COLOR_SCHEME", "pink", "AUTH_THEME_COLOR_SCHEME"},
		{"AUTH_DEBUG", "yes", "AUTH_DEBUG"},
		{"AUTH_SERVER_TIMING", "1", "AUTH_SERVER_TIMING"},
	} {
		env := complete()
		env[c.name] = c.value
		_, _, err := fromEnvironment(getenv(env))
		var setting *SettingError
		if !errors.As(err, &setting) || setting.Name != c.named || setting.Fix == "" {
			t.Errorf("%s=%q: %v, want a SettingError of %s", c.name, c.value, err, c.named)
		}
		if strings.Contains(err.Error(), "not-a-secret-") {
			t.Errorf("%s=%q: the error holds the secret", c.name, c.value)
		}
	}
}

func TestTransferNeedsItsToken(t *testing.T) {
	t.Parallel()
	const token = "a-token-of-thirty-two-characters"
	auth := http.NotFoundHandler()
	for _, c := range []struct {
		setting, sent string
		status        int
	}{
		{"", token, http.StatusNotFound},
		{token, "", http.StatusUnauthorized},
		{token, token[1:], http.StatusUnauthorized},
		{token, token, http.StatusOK},
	} {
		handler, err := withTransfer(getenv(map[string]string{"AUTH_TRANSFER_TOKEN": c.setting}), auth)
		if err != nil {
			t.Fatal(err)
		}
		for path, status := range map[string]int{"/transfer": c.status, "/transfer/": http.StatusNotFound, "/auth/session": http.StatusNotFound} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header.Set("Authorization", "Bearer "+c.sent)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != status {
				t.Errorf("token %q, sent %q, %s: %d, want %d", c.setting, c.sent, path, w.Code, status)
			}
		}
	}
	_, err := withTransfer(getenv(map[string]string{"AUTH_TRANSFER_TOKEN": "short"}), auth)
	if setting, ok := errors.AsType[*SettingError](err); !ok || setting.Name != "AUTH_TRANSFER_TOKEN" {
		t.Errorf("a short token: %v", err)
	}
}

func TestCoreNamesWhatItReadsItself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		missing string
		kind    core.Kind
	}{
		{"AUTH_SECRET", core.ErrMissingSecret},
		{"AUTH_URL", core.ErrUntrustedHost},
	} {
		env := complete()
		delete(env, c.missing)
		config, _, err := fromEnvironment(getenv(env))
		if err != nil {
			t.Errorf("without %s: %v", c.missing, err)
		}
		_, err = core.New(config)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.missing) {
			t.Errorf("without %s: %v, want %s with the variable's name", c.missing, err, c.kind)
		}
		w := httptest.NewRecorder()
		core.Misconfigured(config, err).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/auth/signin", nil))
		if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), c.missing) {
			t.Errorf("without %s: the page is %d and tells the variable", c.missing, w.Code)
		}
	}
}
