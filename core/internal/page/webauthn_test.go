package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/page"
)

var passkey = page.Provider{
	ID: "passkey", Name: "Passkey", Kind: page.WebAuthn, Action: "https://app.example/auth/callback/passkey",
	Options: "https://app.example/auth/webauthn-options/passkey", Autofill: 10 * time.Minute,
	Fields: []page.Field{{Name: "email", Type: "email", Autocomplete: "username webauthn"}},
}

// TestPasskeyForm: what the script goes by, and that nobody sees the form before the script has run.
func TestPasskeyForm(t *testing.T) {
	t.Parallel()
	adding := passkey
	adding.Registers, adding.Autofill, adding.Fields = true, 0, nil
	for _, c := range []struct {
		provider         page.Provider
		action, autofill *string
		button           string
	}{
		{passkey, nil, new("600000"), "Sign in with Passkey"},
		{adding, new("register"), nil, "Add a passkey"},
	} {
		seen := map[string]bool{}
		for _, e := range elements(t, page.SignIn{Providers: []page.Provider{c.provider}}.HTML()) {
			switch e.Name.Local {
			case "form":
				if e.attr("hidden") == nil || e.value("id") != "passkey-form" || e.value("data-options") != passkey.Options {
					t.Errorf("the form has %v", e.Attr)
				}
				for name, want := range map[string]*string{"data-action": c.action, "data-autofill": c.autofill} {
					if got := e.attr(name); (got == nil) != (want == nil) || got != nil && *got != *want {
						t.Errorf("the form has %v", e.Attr)
					}
				}
			case "button":
				if e.text != c.button || e.value("type") != "submit" {
					t.Errorf("the button reads %q", e.text)
				}
			case "div":
				if e.value("role") == "alert" && e.attr("hidden") == nil {
					t.Error("the message is there from the start")
				}
			}
			seen[e.Name.Local] = true
		}
		if !seen["form"] || !seen["button"] || !seen["noscript"] || seen["script"] {
			t.Errorf("the page has %v", seen)
		}
	}
}

// TestPasskeyScript: the policy allows the page's script and no other, and the script can't be left early.
func TestPasskeyScript(t *testing.T) {
	t.Parallel()
	if strings.ContainsAny(string(page.PasskeyScript), "<&") {
		t.Error(`the script has a "<" or a "&"`)
	}
	for _, host := range []string{"https://", "http://"} {
		if strings.Contains(string(page.PasskeyScript), host) {
			t.Errorf("the script names %s", host)
		}
	}
	p := page.SignIn{Providers: []page.Provider{passkey}, Script: page.PasskeyScript}
	_, script, _ := strings.Cut(string(p.HTML()), "<script>")
	script, _, _ = strings.Cut(script, "</script>")
	sum := sha256.Sum256([]byte(script))
	if got, want := directive(p.ContentSecurityPolicy(), "script-src"), "script-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'"; got != want || script == "" {
		t.Errorf("%s, want %s", got, want)
	}
	if got := directive(p.ContentSecurityPolicy(), "connect-src"); got != "connect-src 'self'" {
		t.Error(got)
	}
	p.Script = ""
	if got, want := p.ContentSecurityPolicy(), p.Theme.ContentSecurityPolicy(); got != want {
		t.Errorf("without a script %s, want %s", got, want)
	}
}

// TestPasskeyShape: as with the other forms, no value adds an element or an attribute.
func TestPasskeyShape(t *testing.T) {
	t.Parallel()
	with := func(s string) []byte {
		p := page.Provider{ID: s, Name: s, Kind: page.WebAuthn, Action: s, Options: s, Autofill: time.Minute, Fields: []page.Field{{Name: s, Label: s, Autocomplete: s}}}
		return page.SignIn{CSRFToken: s, Providers: []page.Provider{p}, Script: page.PasskeyScript}.HTML()
	}
	plain := shape(t, with("x"))
	for _, s := range []string{`"><script>alert(1)</script>`, "' onload='alert(1)", "</script>", "<!--", "$", "[x]", "javascript:alert(1)"} {
		if got := shape(t, with(s)); !slices.Equal(got, plain) {
			t.Errorf("with %q:\n%q\nwithout:\n%q", s, got, plain)
		}
	}
	for _, e := range elements(t, with("javascript:alert(1)")) {
		if e.Name.Local == "form" && (e.value("action") != "#" || e.value("data-options") != "#") {
			t.Errorf("the form leads to %v", e.Attr)
		}
	}
}
