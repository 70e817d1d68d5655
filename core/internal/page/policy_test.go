package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core/internal/page"
)

var styleElement = regexp.MustCompile(`(?s)<style>(.*?)</style>`)

// TestPolicyAllowsItsStyles: the hashes are those of the style elements in the page, no more and no fewer.
func TestPolicyAllowsItsStyles(t *testing.T) {
	t.Parallel()
	for _, theme := range []page.Theme{
		{},
		{ColorScheme: "dark", Logo: "/logo.svg"},
		{BrandColor: "#0ea5e9"},
		{ButtonText: "black"},
		{BrandColor: "tomato", ButtonText: "black"},
		{BrandColor: "red}", ButtonText: "</style>"},
	} {
		policy := theme.ContentSecurityPolicy()
		for _, html := range [][]byte{
			page.SignIn{Theme: theme, Providers: []page.Provider{{Name: "X", BrandColor: "#123"}}}.HTML(),
			page.SignOut{Theme: theme}.HTML(),
			page.VerifyRequest{Theme: theme}.HTML(),
			page.Error{Theme: theme}.HTML(),
		} {
			want := "style-src"
			for _, style := range styleElement.FindAllSubmatch(html, -1) {
				sum := sha256.Sum256(style[1])
				want += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			}
			if got := directive(policy, "style-src"); got != want {
				t.Errorf("%+v: %s, want %s", theme, got, want)
			}
			if regexp.MustCompile(`\sstyle=|\son[a-z]+=`).Match(styleElement.ReplaceAll(html, nil)) {
				t.Errorf("%+v: the page has an attribute its policy forbids", theme)
			}
		}
		for name, want := range map[string]string{
			"default-src": "default-src 'none'", "base-uri": "base-uri 'none'", "frame-ancestors": "frame-ancestors 'none'",
			"form-action": "", "script-src": "",
		} {
			if got := directive(policy, name); got != want {
				t.Errorf("%+v: %q, want %q", theme, got, want)
			}
		}
	}
}

func TestPolicyAllowsTheLogo(t *testing.T) {
	t.Parallel()
	for logo, want := range map[string]string{
		"":                                "",
		"/logo.svg":                       "img-src 'self'",
		"logo.svg?a:b":                    "img-src 'self'",
		"https://cdn.example/a/logo.png":  "img-src https://cdn.example/a/logo.png",
		"https://cdn.example:8443/l?v=1":  "img-src https://cdn.example:8443/l",
		"http://cdn.example/l#x":          "img-src http://cdn.example/l",
		"https://cdn.example/;script-src": "img-src http: https:",
		"https://cdn.example/a b":         "img-src http: https:",
		"https://cdn.example,x/":          "img-src http: https:",
		"https://[::1]/l.png":             "img-src http: https:",
		"https://bücher.example/l.png":    "img-src http: https:",
		"data:image/svg+xml,<svg/>":       "img-src data:",
		"javascript:alert(1)":             "",
		"blob:https://app.example/x":      "",
		"//cdn.example/l.png":             "",
	} {
		theme := page.Theme{Logo: logo}
		if got := directive(theme.ContentSecurityPolicy(), "img-src"); got != want {
			t.Errorf("%q: %q, want %q", logo, got, want)
		}
		shown := strings.Contains(string(page.SignOut{Theme: theme}.HTML()), "<img")
		if shown != (want != "") {
			t.Errorf("%q: shown is %v", logo, shown)
		}
	}
}

func directive(policy, name string) string {
	for d := range strings.SplitSeq(policy, "; ") {
		if d == name || strings.HasPrefix(d, name+" ") {
			return d
		}
	}
	return ""
}
