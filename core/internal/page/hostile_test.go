package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core/internal/page"
)

// everywhere returns pages with s wherever a value comes from outside.
func everywhere(s string) [][]byte {
	theme := page.Theme{ColorScheme: s, Logo: "/logo" + s, BrandColor: s, ButtonText: s}
	field := page.Field{Name: s, Label: s, Type: s, Placeholder: s, Value: s, Autocomplete: s, Required: true}
	provider := func(kind page.Kind) page.Provider {
		return page.Provider{ID: s, Name: s, Kind: kind, Action: s, Fields: []page.Field{field, {Name: s}}, BrandColor: s}
	}
	return [][]byte{
		page.SignIn{Theme: theme, Host: s, CSRFToken: s, CallbackURL: s, Error: s, Email: s, Providers: []page.Provider{
			provider(page.Credentials), provider(page.OAuth), provider(page.Email), provider(page.WebAuthn),
		}}.HTML(),
		page.SignOut{Theme: theme, Action: s, CSRFToken: s}.HTML(),
		page.VerifyRequest{Theme: theme, Origin: s, Host: s}.HTML(),
		page.VerifyRequest{Theme: theme, Origin: s, Host: s, CodeAction: s, CSRFToken: s, IsWrong: true}.HTML(),
		page.Confirm{Theme: theme, Host: s, Action: s}.HTML(),
		page.Mail{Theme: theme, Host: s, URL: s}.HTML(),
		page.Mail{Theme: theme, Host: s, Code: s}.HTML(),
		page.Error{Theme: theme, Code: s, Origin: s, Host: s}.HTML(),
		page.Error{Theme: theme, Code: "AccessDenied", SignInURL: s}.HTML(),
		page.Error{Theme: theme, Code: "Verification", SignInURL: s}.HTML(),
	}
}

// shape is a page without its values: its elements, each with those around it and its attributes.
func shape(t *testing.T, html []byte) []string {
	t.Helper()
	var out []string
	for _, e := range elements(t, html) {
		tag := strings.Join(e.path, " ") + " " + e.Name.Local
		for _, a := range e.Attr {
			tag += " " + a.Name.Local
		}
		out = append(out, tag)
	}
	return out
}

// FuzzHostile puts one text everywhere. Whatever it is, no page gets an element or an attribute more or less.
func FuzzHostile(f *testing.F) {
	for _, s := range []string{"x", `"><script>alert(1)</script>`, "' onload='alert(1)", "</style>", "</title><b>", "&#34;&lt;&amp", "]]>", "<!--", "-->",
		"\x00", "a\rb", "\xff\xfe", "$", "$$$", "javascript:alert(1)", "#fff}*{display:none", "url(x)", "${x}", "{{.}}"} {
		f.Add(s)
	}
	plain := everywhere("x!")
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsFunc(s, func(r rune) bool {
			return r < ' ' && !strings.ContainsRune("\x00\t\r\n", r) || r == 0xFFFE || r == 0xFFFF
		}) {
			t.Skip("HTML can have these characters, the XML parser of this test can't")
		}
		// The mark keeps s from being a word or a colour of ours.
		for i, html := range everywhere(strings.ToValidUTF8(s, "\uFFFD") + "!") {
			if got, want := shape(t, html), shape(t, plain[i]); !slices.Equal(got, want) {
				t.Errorf("page %d with %q everywhere:\n%q\nwithout:\n%q", i, s, got, want)
			}
		}
	})
}

func TestFollowedURLs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://app.example/auth": "https://app.example/auth",
		"HTTP://app.example":       "HTTP://app.example",
		"/auth?x=javascript:1":     "/auth?x=javascript:1",
		"auth/signin":              "auth/signin",
		"javascript:alert(1)":      "#",
		"JavaScript:alert(1)":      "#",
		" javascript:alert(1)":     "#",
		"java\tscript:alert(1)":    "#",
		"\x01javascript:alert(1)":  "#",
		"data:text/html,x":         "#",
		"vbscript:x":               "#",
		"blob:https://app.example": "#",
	} {
		for name, html := range map[string][]byte{
			"action": page.SignOut{Action: url}.HTML(),
			"href":   page.Error{Code: "AccessDenied", SignInURL: url}.HTML(),
		} {
			for _, e := range elements(t, html) {
				if got := e.attr(name); got != nil && *got != want {
					t.Errorf("%s of %q is %q, want %q", name, url, *got, want)
				}
			}
		}
	}
}
