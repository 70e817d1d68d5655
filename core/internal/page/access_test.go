package page_test

import (
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core/internal/page"
)

var (
	oauth       = page.Provider{ID: "hub", Name: "Hub", BrandColor: "#fe0"}
	email       = page.Provider{ID: "email", Name: "Email", Kind: page.Email}
	credentials = page.Provider{ID: "ldap", Name: "LDAP", Kind: page.Credentials, Fields: []page.Field{
		{Name: "username"}, {Name: "password", Type: "password"}, {Name: "code", Autocomplete: "one-time-code"}, {Name: "plain"},
	}}
)

// TestFocus: the page begins with a field, or nothing has the focus.
func TestFocus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		in        page.SignIn
		focus     string // the id of the element
		described string // by the error
	}{
		{"buttons first", page.SignIn{Providers: []page.Provider{oauth, email}}, "", ""},
		{"a field first", page.SignIn{Providers: []page.Provider{credentials, email}}, "input-username-for-ldap-provider", ""},
		{"an address first", page.SignIn{Providers: []page.Provider{email, oauth}}, "input-email-for-email-provider", ""},
		{"after an error", page.SignIn{Error: "CredentialsSignin", Providers: []page.Provider{credentials}}, "input-username-for-ldap-provider", "error"},
		{"buttons after an error", page.SignIn{Error: "Callback", Providers: []page.Provider{oauth, credentials}}, "", ""},
	} {
		var focus []string
		described := ""
		for _, e := range elements(t, c.in.HTML()) {
			if e.attr("autofocus") != nil {
				focus = append(focus, e.value("id"))
				described = e.value("aria-describedby")
			}
		}
		if got := strings.Join(focus, " "); got != c.focus || described != c.described {
			t.Errorf("%s: the focus is on %q described by %q, want %q and %q", c.name, got, described, c.focus, c.described)
		}
	}
}

func TestPurposeOfInputs(t *testing.T) {
	t.Parallel()
	want := map[string]string{"username": "username", "password": "current-password", "code": "one-time-code", "plain": "", "email": "email"}
	for _, e := range elements(t, page.SignIn{Providers: []page.Provider{credentials, email}}.HTML()) {
		if purpose, known := want[e.value("name")]; known && e.Name.Local == "input" {
			if got := e.value("autocomplete"); got != purpose {
				t.Errorf("%s has autocomplete %q, want %q", e.value("name"), got, purpose)
			}
			delete(want, e.value("name"))
		}
	}
	if len(want) > 0 {
		t.Errorf("no inputs %v", want)
	}
}

// TestStructure: one main, one heading, a label for each input, no id twice, an alert around the error and nothing else.
func TestStructure(t *testing.T) {
	t.Parallel()
	providers := []page.Provider{oauth, email, credentials}
	for name, c := range map[string]struct {
		html   []byte
		alerts int
	}{
		"sign-in":            {page.SignIn{Providers: providers}.HTML(), 0},
		"sign-in with error": {page.SignIn{Error: "x", Providers: providers}.HTML(), 1},
		"sign-out":           {page.SignOut{}.HTML(), 0},
		"verify-request":     {page.VerifyRequest{}.HTML(), 0},
		"error":              {page.Error{}.HTML(), 0},
	} {
		count := map[string]int{}
		labels, ids := map[string]bool{}, map[string]bool{}
		for _, e := range elements(t, c.html) {
			switch e.Name.Local {
			case "main":
				count["main"]++
			case "h1":
				count["heading"]++
			case "label":
				labels[e.value("for")] = true
			case "input":
				if e.value("type") != "hidden" && !labels[e.value("id")] {
					t.Errorf("%s: no label for %s", name, e.value("name"))
				}
			case "svg":
				if e.value("aria-hidden") != "true" && !strings.Contains(strings.Join(e.path, " "), "span.initial") {
					t.Errorf("%s: a drawing that is read out", name)
				}
			}
			switch e.value("role") {
			case "heading":
				count["heading"]++
			case "alert":
				count["alert"]++
			}
			if id := e.value("id"); id != "" && ids[id] {
				t.Errorf("%s: id %s twice", name, id)
			} else {
				ids[id] = true
			}
		}
		if count["main"] != 1 || count["heading"] != 1 || count["alert"] != c.alerts {
			t.Errorf("%s: %v", name, count)
		}
	}
}

// TestInitial: the letter on a provider's button, on its colour only if it can be read there.
func TestInitial(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, color, letter, class, fill string }{
		{"Hub", "#fe0", "H", "initial on-light", "#fe0"},
		{"hub", "#000080", "h", "initial on-dark", "#000080"},
		{"Éclair", "", "É", "initial", "none"},
		{"", "navy", "", "initial", "none"},
	} {
		for _, e := range elements(t, page.SignIn{Providers: []page.Provider{{Name: c.name, BrandColor: c.color}}}.HTML()) {
			switch {
			case e.Name.Local == "rect" && e.value("fill") != c.fill:
				t.Errorf("%s is on %s, want %s", c.name, e.value("fill"), c.fill)
			case e.attr("data-letter") != nil && (e.value("data-letter") != c.letter || e.value("class") != c.class || e.value("aria-hidden") != "true"):
				t.Errorf("%s has %v, want %s in %q", c.name, e.Attr, c.letter, c.class)
			}
		}
	}
}
