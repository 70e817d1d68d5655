package passkey_test

import (
	"context"
	"html"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/core/passkey"
)

// tools is where playwright-core and axe-core are installed: TOOLS, else edge/worker.
func tools() string {
	if path := os.Getenv("TOOLS"); path != "" {
		return path
	}
	return filepath.Join("..", "..", "edge", "worker")
}

func chromium() string {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	return "/usr/bin/chromium"
}

// need skips the test if something is missing, or fails it where nothing may be left out.
func need(t *testing.T, err error, what, how string) {
	t.Helper()
	if err == nil {
		return
	}
	if os.Getenv("CI_STRICT") == "1" {
		t.Fatalf("%s is missing: %s", what, how)
	}
	t.Skipf("%s is missing: %s", what, how)
}

// newSite serves a page that tells who is signed in, and the routes for signing in. Browsers know it
// as localhost: an IP address is no relying party.
func newSite(t *testing.T, taken *recording, providers ...core.Provider) string {
	t.Helper()
	auth, err := core.New(core.Config{
		Providers:    providers,
		Secret:       []string{"a secret of at least thirty-two characters"},
		Adapter:      adaptertest.Memory(),
		TrustHost:    core.On,
		Experimental: core.Experimental{EnableWebAuthn: true},
		Logger:       core.Logger{Error: func(string, ...any) {}, Warn: func(string, ...any) {}},
		Getenv:       func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.HandleFunc("POST /auth/callback/passkey", func(w http.ResponseWriter, r *http.Request) {
		taken.take(t, r)
		auth.ServeHTTP(w, r)
	})
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		now, err := auth.Session(r)
		if err != nil {
			http.Error(w, "no session", http.StatusServiceUnavailable)
			return
		}
		text := "You are signed out."
		if now.Session != nil {
			text = "Signed in as " + now.Session.User.Email
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!DOCTYPE html><title>App</title><link rel="icon" href="data:,"><p>`+html.EscapeString(text))
	})
	server := httptest.NewUnstartedServer(mux)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// TestBrowser: Chromium with virtual authenticators, on the built-in pages.
func TestBrowser(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	need(t, err, "node", "install Node 20 or later")
	_, err = os.Stat(filepath.Join(tools(), "node_modules", "playwright-core"))
	need(t, err, "playwright-core", "npm ci in edge/worker, or set TOOLS to where it is installed")
	_, err = os.Stat(chromium())
	need(t, err, "chromium", "apt-get install chromium, or set CHROMIUM to its path")

	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	hub := core.Endpoint{URL: "https://hub.example"}
	var taken recording
	mixed := newSite(t, &taken,
		core.OAuth{ID: "hub", Name: "Hub", ClientID: "x", ClientSecret: "x", Authorization: hub, Token: hub, UserInfo: hub, BrandColor: "#0ea5e9"},
		passkey.New(),
		core.Email{Send: func(context.Context, core.VerificationRequest) error { return nil }},
	)
	cmd := exec.CommandContext(ctx, node, filepath.Join("testdata", "browser.mjs"), newSite(t, &taken, passkey.New()), mixed, tools())
	cmd.Env = append(os.Environ(), "CHROMIUM="+chromium())
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	if *record {
		taken.write(t)
	}
}
