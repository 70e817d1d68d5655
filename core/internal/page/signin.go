package page

import (
	"time"
	"unicode/utf8"
)

// SignIn is the sign-in page: a form for each provider.
type SignIn struct {
	Theme
	// Host is shown under the heading. "": nothing.
	Host string
	// CSRFToken goes into every form. "": a field without a value, as in the reference when the check is off.
	CSRFToken string
	// CallbackURL goes into the forms of OAuth providers. "": no field. It may be any text: nothing here follows it.
	CallbackURL string
	// Error is the code in the query. "": no error; an unknown one gets a general message.
	Error string
	// Email is what the address of an e-mail provider is filled in with.
	Email string
	// Providers are in the order of the page.
	Providers []Provider
	// Script is what the forms of WebAuthn providers need: PasskeyScript. "": none.
	Script Script
}

// A Script is one of this package's.
type Script = markup

// Kind says what form a provider has.
type Kind int

const (
	OAuth       Kind = iota // a button
	Email                   // an address and a button
	Credentials             // Fields and a button; nothing if there are no Fields
	WebAuthn                // Fields and a button, for a script that comes with the page
)

// Provider is one way to sign in.
type Provider struct {
	ID   string
	Name string // on the button
	Kind Kind
	// Action is the URL the form is sent to: signin/<id> for OAuth and Email, callback/<id> for the others.
	Action string
	// Fields are the inputs of Credentials and WebAuthn.
	Fields []Field
	// BrandColor, written as #rgb or #rrggbb, is behind the initial on an OAuth provider's button. Anything else: neutral.
	BrandColor string

	// Options is the URL that WebAuthn asks what to ask the browser for.
	Options string
	// Registers makes the form of WebAuthn one that adds a passkey to whoever is signed in.
	Registers bool
	// Autofill is how long a challenge may wait for WebAuthn's passkeys to be picked in a field. 0: they aren't
	// offered there.
	Autofill time.Duration
}

// Field is a labelled input element.
type Field struct {
	Name         string
	Label        string // "": the name
	Type         string // "": "text"
	Placeholder  string
	Value        string
	Autocomplete string // "": what type and name suggest
	Required     bool
}

// HTML returns the page, in UTF-8. Its status is 200, also with an error.
func (s SignIn) HTML() []byte {
	w := s.begin("Sign In")
	// A heading, but none of h1 to h6, since the reference has none.
	w.html(`<div class="title" role="heading" aria-level="1">Sign in</div>[<div class="host">$</div>]`+
		`[<div id="error" role="alert"><div class="error"><p>$</p></div></div>]`, s.Host, signInMessage(s.Error))
	var previous *Provider
	for i := range s.Providers {
		p := &s.Providers[i]
		switch {
		case p.Kind == Credentials && len(p.Fields) == 0:
			continue
		case previous != nil && (p.Kind != OAuth || previous.Kind != OAuth):
			w.html(`<hr>`)
		}
		switch p.Kind {
		case OAuth:
			s.button(w, p)
		case WebAuthn:
			s.passkey(w, p, previous == nil)
		default:
			s.form(w, p, previous == nil)
		}
		previous = p
	}
	if s.Script != "" {
		w.html(`<script>`)
		w.html(s.Script)
		w.html(`</script>`)
	}
	return w.end()
}

func signInMessage(code string) string {
	switch code {
	case "":
		return ""
	case "Signin", "OAuthSignin", "OAuthCallbackError", "OAuthCreateAccount", "EmailCreateAccount", "Callback":
		return "Try signing in with a different account."
	case "OAuthAccountNotLinked":
		return "To confirm your identity, sign in with the same account you used originally."
	case "EmailSignin":
		return "The e-mail could not be sent."
	case "CredentialsSignin":
		return "Sign in failed. Check the details you provided are correct."
	case "SessionRequired":
		return "Please sign in to access this page."
	}
	return "Unable to sign in."
}

// button writes the form of an OAuth provider. In place of a logo it has the first letter of the name on the provider's colour;
// the style sheet draws the letter, and screen readers pass over it. The colour is an attribute of SVG, since a policy for styles
// forbids style attributes.
func (s *SignIn) button(w *writer, p *Provider) {
	_, letter := utf8.DecodeRuneInString(p.Name)
	fill, class := p.BrandColor, "on-dark"
	switch textOn(fill) {
	case "":
		fill, class = "none", ""
	case "#000":
		class = "on-light"
	}
	w.html(formStart+`[<input type="hidden" name="callbackUrl" value="$">]<button type="submit">`+
		`<span class="initial[ $]" aria-hidden="true" data-letter="$"><svg><rect width="100%" height="100%" fill="$"/></svg></span>`+
		`<span>Sign in with $</span></button></form>`,
		webURL(p.Action), s.CSRFToken, s.CallbackURL, class, p.Name[:letter], fill, p.Name)
}

const formStart markup = `<form method="POST" action="$"><input type="hidden" name="csrfToken"[ value="$"]>`

// form writes the form of any other provider. The focus is on its first field if the page begins with it: behind buttons it would
// hide them from whoever moves with the keyboard. The field is described by the error, since screen readers pass over an alert
// that was there from the start.
func (s *SignIn) form(w *writer, p *Provider, first bool) {
	fields := p.Fields
	if p.Kind == Email {
		fields = []Field{{Name: "email", Label: "Email", Type: "email", Placeholder: "email@example.com", Value: s.Email,
			Autocomplete: "email", Required: true}}
	}
	w.html(formStart, webURL(p.Action), s.CSRFToken)
	for i := range fields {
		focus := first && i == 0
		w.field(&fields[i], p.ID, when(focus, "autofocus"), when(focus && s.Error != "", "error"))
	}
	w.html(`<button type="submit" class="primary">Sign in with $</button></form>`, p.Name)
}

// field writes a label and its input.
func (w *writer) field(f *Field, provider, autofocus, describedBy string) {
	id := "input-" + f.Name + "-for-" + provider + "-provider"
	kind := or(f.Type, "text")
	class := "field"
	if kind == "hidden" {
		class = "hidden"
	}
	w.html(`<div class="$"><label for="$">$</label><input id="$" name="$" type="$" placeholder="$"[ value="$"][ required="$"]`+
		`[ autocomplete="$" autocapitalize="none" spellcheck="false"][ inputmode="$"][ autofocus="$"][ aria-describedby="$"]></div>`,
		class, id, or(f.Label, f.Name), id, f.Name, kind, f.Placeholder, f.Value, when(f.Required, "required"),
		or(f.Autocomplete, f.purpose()), when(kind == "email", "email"), autofocus, describedBy)
}

// purpose guesses a field's autocomplete (WCAG 2.2, 1.3.5). An address is the username too: password managers pair that with the
// password.
func (f *Field) purpose() string {
	switch {
	case f.Type == "password":
		return "current-password"
	case f.Type == "email", f.Name == "email", f.Name == "username":
		return "username"
	}
	return ""
}
