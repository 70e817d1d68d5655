package core_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// onStandardError gives what f writes to standard error. A test that calls it is not parallel.
func onStandardError(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stderr
	os.Stderr = w
	text := make(chan string)
	go func() {
		raw, _ := io.ReadAll(r)
		text <- string(raw)
	}()
	func() {
		defer func() { os.Stderr = before }()
		f()
	}()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return <-text
}

// named is a handler behind a proxy that gives every request this ID.
func named(id string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Request-Id", id)
		h.ServeHTTP(w, r)
	})
}

// An event is one line, whatever is in it: [auth][level] msg and the rest as key=value.
func TestDefaultLogger(t *testing.T) {
	config := inTest(core.Config{Providers: []core.Provider{anyone}, SkipCSRFCheck: true, Secret: []string{"short"}})
	config.Logger = core.Logger{}
	got := onStandardError(t, func() {
		auth, err := core.New(config)
		if err != nil {
			t.Error(err)
			return
		}
		b := newBrowser(t, named("r-1", auth))
		b.post("/auth/callback/credentials")
		b.get("/auth/nowhere")
	})
	want := `[auth][warn] short-secret secret=0 characters=5 fix="use at least 32 random characters (openssl rand -hex 32)"` + "\n" +
		`[auth][warn] csrf-disabled` + "\n" +
		`[auth][error] CredentialsSignin message="core: CredentialsSignin: authorize found no user" action=callback provider=credentials request=r-1` + "\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}

	// What a provider or a callback says can't make a second line, end a value, or hide behind
	// what a terminal does with it.
	for said, written := range map[string]string{
		"a\n[auth][error] Forged": `message="core: CallbackRouteError: a\n[auth][error] Forged"`,
		`a" action=forged`:        `message="core: CallbackRouteError: a\" action=forged"`,
		"a\x1b[2Jb":               `message="core: CallbackRouteError: a\x1b[2Jb"`,
		"a\u2028b\u202ec":         `message="core: CallbackRouteError: a\u2028b\u202ec"`,
		"é 日本":                    `message="core: CallbackRouteError: é 日本"`,
		"\xff":                    `message="core: CallbackRouteError: \xff"`,
	} {
		config.Secret = []string{secret}
		config.Providers = []core.Provider{core.Credentials{Authorize: func(context.Context, map[string]any, *http.Request) (*core.User, error) {
			return nil, errors.New(said)
		}}}
		got := onStandardError(t, func() {
			auth, err := core.New(config)
			if err != nil {
				t.Error(err)
				return
			}
			newBrowser(t, named("r-1", auth)).post("/auth/callback/credentials")
		})
		if strings.Count(got, "\n") != 2 || !strings.Contains(got, "[auth][error] CallbackRouteError "+written+" action=callback provider=credentials request=r-1\n") {
			t.Errorf("%q is written as\n%s", said, got)
		}
	}
}

// Debug lines are written if Debug is set, and only then.
func TestDefaultLoggerDebug(t *testing.T) {
	for _, debug := range []bool{false, true} {
		config := inTest(core.Config{Providers: []core.Provider{anyone}, Debug: debug})
		config.Logger = core.Logger{}
		got := onStandardError(t, func() {
			auth, err := core.New(config)
			if err != nil {
				t.Error(err)
				return
			}
			newBrowser(t, auth).get("/auth/nowhere")
		})
		if strings.Contains(got, "[auth][debug] ") != debug || strings.Contains(got, "[auth][warn] debug-enabled\n") != debug {
			t.Errorf("Debug %v: %s", debug, got)
		}
	}
}

// The functions of log/slog fit, and what is nil is the default's.
func TestLoggerOfSlog(t *testing.T) {
	var out bytes.Buffer
	l := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	config := inTest(core.Config{Providers: []core.Provider{anyone}, Secret: []string{"short"}, Debug: true})
	config.Logger = core.Logger{Error: l.Error, Debug: l.Debug}
	stderr := onStandardError(t, func() {
		auth, err := core.New(config)
		if err != nil {
			t.Error(err)
			return
		}
		b := newBrowser(t, named("r-1", auth))
		b.post("/auth/callback/credentials")
		b.get("/auth/nowhere")
	})
	if !strings.Contains(out.String(), `level=ERROR msg=CredentialsSignin message="core: CredentialsSignin: authorize found no user" action=callback provider=credentials request=r-1`) ||
		!strings.Contains(out.String(), "level=DEBUG ") || strings.Contains(out.String(), "BADKEY") {
		t.Errorf("slog wrote %s", out.String())
	}
	if !strings.Contains(stderr, "[auth][warn] short-secret ") || strings.Contains(stderr, "[error]") || strings.Contains(stderr, "[debug]") {
		t.Errorf("standard error has %s", stderr)
	}
	// slog's own functions have these types, too.
	_ = core.Logger{Error: slog.Error, Warn: slog.Warn, Debug: slog.Debug}
}
