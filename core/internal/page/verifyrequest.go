package page

// VerifyRequest is the page after an e-mail with a sign-in link was sent.
type VerifyRequest struct {
	Theme
	Origin string // where Host links to
	Host   string
}

// HTML returns the page, in UTF-8. Its status is 200.
func (v VerifyRequest) HTML() []byte {
	w := v.begin("Verify Request")
	w.html(envelope+`<h1>Check your email</h1><p>A sign in link has been sent to your email address.</p>`+site, webURL(v.Origin), v.Host)
	return w.end()
}

const (
	envelope markup = `<svg class="icon" aria-hidden="true" viewBox="0 0 24 24">` +
		`<rect x="3" y="5" width="18" height="14" rx="2.5"/><path d="m3.5 7.5 8.5 6 8.5-6"/></svg>`
	site markup = `<p><a class="site" href="$">$</a></p>`
)
