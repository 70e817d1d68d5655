package hook_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/hook"
)

func TestForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want hook.HTML }{
		{hook.SignInForm{}.HTML(), `<form method="POST" action="/signin" class="signInButton"><input type="hidden" name="providerId" value=""><button type="submit">Sign in</button></form>`},
		{hook.SignOutForm{}.HTML(), `<form method="POST" action="/signout" class="signOutButton"><button type="submit">Sign out</button></form>`},
		{hook.SignInForm{
			Provider: "github", SignInPage: "account/in", RedirectTo: "/me?a=b&c=d", Options: url.Values{"b": {"2"}, "a": {"1", "<"}},
			AuthorizationParams: url.Values{"prompt": {"login"}}, SubmitButton: "<b>Go</b>", Label: "Sign in with GitHub", Class: "wide",
		}.HTML(), `<form method="POST" action="/account/in" class="signInButton wide"><input type="hidden" name="providerId" value="github">` +
			`<input type="hidden" name="redirectTo" value="/me?a=b&amp;c=d"><input type="hidden" name="a" value="1"><input type="hidden" name="a" value="&lt;">` +
			`<input type="hidden" name="b" value="2"><input type="hidden" name="authorizationParams-prompt" value="login">` +
			`<button type="submit" aria-label="Sign in with GitHub"><b>Go</b></button></form>`},
		{hook.SignOutForm{SignOutPage: "/account/out", RedirectTo: "/", Options: url.Values{"redirect": {"false"}}, Label: "Bye & thanks", Class: "wide"}.HTML(),
			`<form method="POST" action="/account/out" class="signOutButton wide"><input type="hidden" name="redirectTo" value="/">` +
				`<input type="hidden" name="redirect" value="false"><button type="submit">Bye &amp; thanks</button></form>`},
		{hook.SignInForm{Provider: "resend"}.HTML(), `<form method="POST" action="/signin" class="signInButton"><input type="hidden" name="providerId" value="resend">` +
			`<label for="input-email-for-resend-provider">Email</label><input id="input-email-for-resend-provider" name="email" type="email" placeholder="email@example.com" autocomplete="email" required="required">` +
			`<button type="submit">Sign in with resend</button></form>`},
		{hook.SignInForm{Provider: "ldap", Fields: []core.Field{{Name: "user", Label: "User", Autocomplete: "username", Required: true}, {Name: "realm", Type: "hidden", Value: "x"}, {Name: "code", Value: "1"}}}.HTML(),
			`<form method="POST" action="/signin" class="signInButton"><input type="hidden" name="providerId" value="ldap">` +
				`<label for="input-user-for-ldap-provider">User</label><input id="input-user-for-ldap-provider" name="user" type="text" autocomplete="username" required="required">` +
				`<input type="hidden" name="realm" value="x">` +
				`<label for="input-code-for-ldap-provider">code</label><input id="input-code-for-ldap-provider" name="code" type="text" value="1">` +
				`<button type="submit">Sign in with ldap</button></form>`},
		{hook.SignInForm{Provider: "email", Fields: []core.Field{}}.HTML(), `<form method="POST" action="/signin" class="signInButton"><input type="hidden" name="providerId" value="email"><button type="submit">Sign in with email</button></form>`},
	} {
		if c.got != c.want {
			t.Errorf("got\n%s\nwant\n%s", c.got, c.want)
		}
	}
}

// A form's action is a path of this site, whatever it is made of.
func TestFormActions(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"login": "/login", "/login": "/login", "//evil.example/x": "/evil.example/x", `\\evil.example`: "/evil.example", "/\t/evil.example": "/evil.example", "\n//evil": "/evil",
		"https://evil.example": "/https://evil.example", "javascript:alert(1)": "/javascript:alert(1)", "/": "/signin", " //evil": "/evil",
	} {
		if got := string(hook.SignInForm{SignInPage: page}.HTML()); !strings.Contains(got, `action="`+want+`"`) {
			t.Errorf("%q: %s", page, got)
		}
	}
}

// What a form sends, the action reads.
func TestFormsFitTheActions(t *testing.T) {
	t.Parallel()
	var seen map[string]any
	curious := core.Credentials{ID: "curious", Authorize: func(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
		seen = fields
		return &core.User{ID: "1", Name: "Ada"}, nil
	}}
	b := newBrowser(app(newHook(t, core.Config{Providers: []core.Provider{curious, hub}})))
	w := b.post("/signin", submitted(t, hook.SignInForm{
		Provider: "curious", RedirectTo: "/a?b=\"c\"&d='<é>", Options: url.Values{"realm": {"x & y"}}, Fields: []core.Field{{Name: "name", Value: "Ada"}},
	}.HTML())...)
	if w.Header().Get("Location") != site+"/a?b=\"c\"&d='<\xe9>" || seen["realm"] != "x & y" || seen["name"] != "Ada" || seen["providerId"] != nil {
		t.Errorf("%d %q, fields %v", w.Code, w.Header().Get("Location"), seen)
	}
	w = b.post("/signin", submitted(t, hook.SignInForm{Provider: "hub", AuthorizationParams: url.Values{"login_hint": {"ada+x@example.com"}}}.HTML())...)
	if u, err := url.Parse(w.Header().Get("Location")); err != nil || u.Host != "hub.example" || u.Query().Get("login_hint") != "ada+x@example.com" {
		t.Errorf("%d %q", w.Code, w.Header().Get("Location"))
	}
	w = b.post("/signout", submitted(t, hook.SignOutForm{RedirectTo: "/bye"}.HTML())...)
	if w.Header().Get("Location") != site+"/bye" || b.cookie(sessionCookie) != "" {
		t.Errorf("%d %q", w.Code, w.Header())
	}
}

// submitted gives the names and values that a form would send.
func submitted(t *testing.T, form hook.HTML) (fields []string) {
	t.Helper()
	for _, e := range elements(t, form) {
		if e.Name.Local == "input" {
			fields = append(fields, attr(e, "name"), attr(e, "value"))
		}
	}
	return fields
}

// elements parses a component, as HTML with the strictness of XML.
func elements(t testing.TB, form hook.HTML) (out []xml.StartElement) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(form)))
	d.AutoClose = []string{"input"}
	d.Strict = false
	for {
		token, err := d.Token()
		if token == nil {
			if err != nil && err.Error() != "EOF" {
				t.Fatalf("%s: %v", form, err)
			}
			return out
		}
		if e, ok := token.(xml.StartElement); ok {
			out = append(out, e.Copy())
		}
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// Every input has a label, no id is there twice, and a button has a name (WCAG 2.2, 1.3.1, 3.3.2
// and 4.1.2), also with several forms on a page. Nothing is asked of another site.
func TestFormsAreAccessible(t *testing.T) {
	t.Parallel()
	fields := []core.Field{{Name: "name"}, {Name: "password", Type: "password"}}
	page := hook.SignInForm{Provider: "one", Fields: fields}.HTML() + hook.SignInForm{Provider: "two", Fields: fields, SubmitButton: "<svg></svg>", Label: "Sign in"}.HTML() +
		hook.SignInForm{Provider: "email"}.HTML() + hook.SignInForm{}.HTML() + hook.SignOutForm{SubmitButton: "<svg></svg>", Label: "Sign out"}.HTML()
	ids, labels := map[string]bool{}, map[string]bool{}
	for _, e := range elements(t, page) {
		switch e.Name.Local {
		case "label":
			labels[attr(e, "for")] = true
		case "input":
			if id := attr(e, "id"); attr(e, "type") != "hidden" && (!labels[id] || ids[id]) {
				t.Errorf("input %s: label %t, twice %t", id, labels[id], ids[id])
			} else {
				ids[id] = id != ""
			}
		case "button":
			if attr(e, "type") != "submit" {
				t.Errorf("a button of the type %q", attr(e, "type"))
			}
		}
		for _, a := range e.Attr {
			if slices.Contains([]string{"src", "href", "style", "srcset", "formaction"}, a.Name.Local) || strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "//") {
				t.Errorf("<%s> has %s=%q", e.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	if strings.Count(string(page), "aria-label=") != 2 || len(ids) < 5 {
		t.Errorf("%d ids, %s", len(ids), page)
	}
}

// Whatever a form is made of, it stays inside of the quotes that it was put into.
func FuzzForms(f *testing.F) {
	for _, seed := range []string{`"><script>alert(1)</script>`, "'", "&#34;", "\x00", "\r\n", "</form>", "$[]", "é\xff", "//x"} {
		f.Add(seed)
	}
	shape := func(t *testing.T, s string) string {
		forms := hook.SignInForm{
			Provider: s, SignInPage: s, RedirectTo: s, Options: url.Values{s: {s}}, AuthorizationParams: url.Values{s: {s}}, Label: s, Class: s,
			Fields: []core.Field{{Name: s, Label: s, Type: "t" + s, Placeholder: s, Value: s, Autocomplete: s, Required: true}},
		}.HTML() + hook.SignOutForm{SignOutPage: s, RedirectTo: s, Options: url.Values{s: {s}}, Label: s, Class: s}.HTML()
		var out strings.Builder
		for _, e := range elements(t, forms) {
			fmt.Fprint(&out, e.Name.Local, " ")
			for _, a := range e.Attr {
				fmt.Fprint(&out, a.Name.Local, " ")
			}
		}
		return out.String()
	}
	f.Fuzz(func(t *testing.T, s string) {
		// What XML has no way to write is left to the count of raw characters below.
		readable := strings.Map(func(c rune) rune {
			if c < ' ' && c != 0 && c != '\t' && c != '\n' && c != '\r' || c == 0xfffe || c == 0xffff {
				return '?'
			}
			return c
		}, strings.ToValidUTF8(s, "?"))
		if s == "" {
			return // what is empty is left out
		}
		if got, want := shape(t, readable), shape(t, "x"); got != want {
			t.Errorf("%q changes the form to\n%s\nfrom\n%s", s, got, want)
		}
		for _, raw := range []string{"<", ">", `"`} {
			forms := string(hook.SignInForm{Provider: s, RedirectTo: s, Label: s}.HTML())
			if strings.Count(forms, raw) != strings.Count(string(hook.SignInForm{Provider: "x", RedirectTo: "x", Label: "x"}.HTML()), raw) {
				t.Errorf("%q leaves a raw %s in %s", s, raw, forms)
			}
		}
	})
}
