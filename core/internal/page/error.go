package page

// Error is the page for what ended a sign-in.
type Error struct {
	Theme
	// Code is the code in the query: Configuration, AccessDenied or Verification. Anything else: a general message.
	Code      string
	Origin    string // where Host links to, with a general message
	Host      string
	SignInURL string // where "Sign in" links to, with AccessDenied and Verification
}

// Status is the status the page is sent with. An unknown code gets 200, as in the reference: it is the visitor's, not ours.
func (e Error) Status() int {
	switch e.Code {
	case "Configuration":
		return 500
	case "AccessDenied", "Verification":
		return 403
	}
	return 200
}

// HTML returns the page, in UTF-8.
func (e Error) HTML() []byte {
	w := e.begin("Error")
	w.html(warning)
	switch e.Code {
	case "Configuration":
		w.html(`<h1>Server error</h1><p>There is a problem with the server configuration.</p>` +
			`<p>Check the server logs for more information.</p>`)
	case "AccessDenied":
		w.html(`<h1>Access Denied</h1><p>You do not have permission to sign in.</p><p>`+signInLink+`</p>`, webURL(e.SignInURL))
	case "Verification":
		w.html(`<h1>Unable to sign in</h1><p>The sign in link is no longer valid.</p>`+
			`<p>It may have been used already or it may have expired.</p>`+signInLink, webURL(e.SignInURL))
	default:
		// The sentence is no paragraph, since the reference has none.
		w.html(`<h1>Error</h1><div>Something went wrong. Please go back and try again.</div>`+site, webURL(e.Origin), e.Host)
	}
	return w.end()
}

const (
	signInLink markup = `<a class="button" href="$">Sign in</a>`
	warning           = `<svg class="icon" aria-hidden="true" viewBox="0 0 24 24"><circle cx="12" cy="12" r="9"/><path d="M12 7.5v5.5m0 3v.5"/></svg>`
)
