package page

// SignOut is the page that asks before signing out.
type SignOut struct {
	Theme
	// Action is the URL the form is sent to: the request's, query included.
	Action string
	// CSRFToken goes into the form. "": a field without a value.
	CSRFToken string
}

// HTML returns the page, in UTF-8. Its status is 200.
func (s SignOut) HTML() []byte {
	w := s.begin("Sign Out")
	w.html(`<h1>Signout</h1><p>Are you sure you want to sign out?</p>`+formStart+
		`<button type="submit" class="primary">Sign out</button></form>`, webURL(s.Action), s.CSRFToken)
	return w.end()
}
