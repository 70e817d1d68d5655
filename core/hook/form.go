package hook

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// HTML is markup that is sent as it is. Never convert what somebody else has written.
type HTML string

// SignInForm is the sign-in component: a form that posts to [Hook.SignInAction]. Its zero value
// leads to the sign-in page. It needs no configuration and no request, so that a page with it
// can be made ahead of time, and it loads nothing from anywhere.
type SignInForm struct {
	Provider            string     // the provider's id; empty: all of them, on the sign-in page
	SignInPage          string     // the path of the form action on this site; empty: "signin"
	RedirectTo          string     // where to go afterwards; empty: back to the page
	Options             url.Values // further fields, sent without being shown
	AuthorizationParams url.Values // for the authorization request of an OAuth provider

	// Fields are inputs above the button, for credentials. Nil: the address, if the id is that
	// of a provider that sends e-mail; else none.
	Fields []core.Field

	Label        string // of the button, as text; empty: "Sign in with <provider>"
	SubmitButton HTML   // in place of the text on the button; what is no text, such as an icon, needs a Label, too
	Class        string // added to the form's class, signInButton
}

// The ids under which providers of the email type are known.
var emailProviders = [...]string{"email", "forwardemail", "loops", "mailgun", "nodemailer", "postmark", "resend", "sendgrid"}

// HTML gives the component, for the body of a page.
func (f SignInForm) HTML() HTML {
	var w writer
	w.html(`<form method="POST" action="$" class="signInButton[ $]"><input type="hidden" name="providerId" value="$">`,
		localPath(f.SignInPage, "signin"), f.Class, f.Provider)
	w.hidden("redirectTo", f.RedirectTo)
	w.hiddenAll("", f.Options)
	w.hiddenAll(paramPrefix, f.AuthorizationParams)
	fields := f.Fields
	if fields == nil && slices.Contains(emailProviders[:], f.Provider) {
		fields = []core.Field{{Name: "email", Label: "Email", Type: "email", Placeholder: "email@example.com", Autocomplete: "email", Required: true}}
	}
	for i := range fields {
		w.field(&fields[i], f.Provider)
	}
	text := "Sign in"
	if f.Provider != "" {
		text += " with " + f.Provider
	}
	w.button(text, f.Label, f.SubmitButton)
	return w.end()
}

// SignOutForm is the sign-out component: a form that posts to [Hook.SignOutAction]. It is as
// self-contained as [SignInForm].
type SignOutForm struct {
	SignOutPage  string     // the path of the form action on this site; empty: "signout"
	RedirectTo   string     // where to go afterwards; empty: back to the page
	Options      url.Values // further fields, sent without being shown
	Label        string     // of the button, as text; empty: "Sign out"
	SubmitButton HTML       // in place of the text on the button; what is no text, such as an icon, needs a Label, too
	Class        string     // added to the form's class, signOutButton
}

// HTML gives the component, for the body of a page.
func (f SignOutForm) HTML() HTML {
	var w writer
	w.html(`<form method="POST" action="$" class="signOutButton[ $]">`, localPath(f.SignOutPage, "signout"), f.Class)
	w.hidden("redirectTo", f.RedirectTo)
	w.hiddenAll("", f.Options)
	w.button("Sign out", f.Label, f.SubmitButton)
	return w.end()
}

// localPath gives the path of a page of this site. What a browser would skip, or take for the
// slashes before a host, is left out (URL standard, 4.4).
func localPath(page, fallback string) string {
	page = strings.Map(func(c rune) rune {
		if c < ' ' {
			return -1
		}
		return c
	}, page)
	if page = strings.TrimLeft(page, `/\ `); page == "" {
		page = fallback
	}
	return "/" + page
}

// markup is HTML of this file. As in core's pages, only constants become markup.
type markup string

// writer puts a component together. It stands in for html/template, which would add a
// megabyte to a worker.
type writer struct{ b strings.Builder }

func (w *writer) end() HTML {
	w.b.WriteString(`</form>`)
	return HTML(w.b.String())
}

// html writes m with each "$" replaced by the next of the values, escaped so that it is text
// between tags or inside a quoted attribute. A part in brackets holds one "$" and is left out
// if its value is "".
func (w *writer) html(m markup, values ...string) {
	rest := string(m)
	for _, value := range values {
		before, after, _ := strings.Cut(rest, "$")
		rest = after
		before, part, isOptional := strings.Cut(before, "[")
		end := ""
		if isOptional {
			end, rest, _ = strings.Cut(rest, "]")
		}
		w.b.WriteString(before)
		if isOptional && value == "" {
			continue
		}
		w.b.WriteString(part)
		_, _ = escapes.WriteString(&w.b, value) // a Builder takes everything
		w.b.WriteString(end)
	}
	w.b.WriteString(rest)
}

// A carriage return would be read as a line feed, and a zero byte as U+FFFD (HTML standard,
// 13.2.3.5 and 13.2.5).
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\r", "&#13;", "\x00", "\uFFFD")

func (w *writer) hidden(name, value string) {
	if value != "" {
		w.html(`<input type="hidden" name="$" value="$">`, name, value)
	}
}

func (w *writer) hiddenAll(prefix string, values url.Values) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			w.html(`<input type="hidden" name="$" value="$">`, prefix+name, value)
		}
	}
}

// field writes a label and its input. The id holds the provider's, since a page may have
// several forms.
func (w *writer) field(f *core.Field, provider string) {
	id := "input-" + f.Name + "-for-" + provider + "-provider"
	label, kind, required := f.Label, f.Type, ""
	if label == "" {
		label = f.Name
	}
	if kind == "" {
		kind = "text"
	}
	if f.Required {
		required = "required"
	}
	if kind == "hidden" {
		w.hidden(f.Name, f.Value)
		return
	}
	w.html(`<label for="$">$</label><input id="$" name="$" type="$"[ placeholder="$"][ value="$"][ autocomplete="$"][ required="$"]>`,
		id, label, id, f.Name, kind, f.Placeholder, f.Value, f.Autocomplete, required)
}

// button writes the button. Next to markup of the app's own the label is its accessible name
// (WCAG 2.2, 4.1.2).
func (w *writer) button(text, label string, content HTML) {
	if content == "" {
		if label != "" {
			text = label
		}
		w.html(`<button type="submit">$</button>`, text)
		return
	}
	w.html(`<button type="submit"[ aria-label="$"]>`, label)
	w.b.WriteString(string(content))
	w.b.WriteString(`</button>`)
}
