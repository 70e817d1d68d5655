package page

// VerifyRequest is the page after an e-mail with a sign-in link or a code was sent.
type VerifyRequest struct {
	Theme
	Origin string // where Host links to
	Host   string

	// CodeAction is the URL that the code is sent to. "": it was a link, and there is nothing to type in.
	CodeAction string
	CSRFToken  string // goes into the form
	IsWrong    bool   // the code that was typed in before was wrong
}

// HTML returns the page, in UTF-8. Its status is 200.
func (v VerifyRequest) HTML() []byte {
	w := v.begin("Verify Request")
	if v.CodeAction == "" {
		w.html(envelope+`<h1>Check your email</h1><p>A sign in link has been sent to your email address.</p>`+site, webURL(v.Origin), v.Host)
		return w.end()
	}
	w.html(envelope + `<h1>Check your email</h1><p>A code of six digits has been sent to your email address.</p>`)
	w.html(`[<div id="error" role="alert"><div class="error"><p>$</p></div></div>]`, when(v.IsWrong, "That is not the code."))
	w.html(formStart+`<div class="field"><label for="code">Code</label><input id="code" name="code" type="text" inputmode="numeric" `+
		`autocomplete="one-time-code" maxlength="20" required autofocus[ aria-describedby="$"]></div>`+
		`<button type="submit" class="primary">Sign in</button></form>`, webURL(v.CodeAction), v.CSRFToken, when(v.IsWrong, "error"))
	w.html(site, webURL(v.Origin), v.Host)
	return w.end()
}

// Confirm is the page behind a sign-in link that is not to be used up by whatever opens it.
type Confirm struct {
	Theme
	Host   string
	Action string // the URL the form is sent to: the link
}

// HTML returns the page, in UTF-8. Its status is 200.
func (c Confirm) HTML() []byte {
	w := c.begin("Sign In")
	w.html(`<h1>Sign in</h1><p>You are about to sign in to $.</p><form method="POST" action="$">`+
		`<button type="submit" class="primary" autofocus>Sign in</button></form>`, c.Host, webURL(c.Action))
	return w.end()
}

const (
	envelope markup = `<svg class="icon" aria-hidden="true" viewBox="0 0 24 24">` +
		`<rect x="3" y="5" width="18" height="14" rx="2.5"/><path d="m3.5 7.5 8.5 6 8.5-6"/></svg>`
	site markup = `<p><a class="site" href="$">$</a></p>`
)
