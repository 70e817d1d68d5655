package core

// signIn answers POST signin: it sends the browser to the provider, or a link to an address.
func (x *exchange) signIn() (reply, error) {
	switch {
	case x.provider == nil || x.provider.login != nil || x.provider.webauthn != nil:
		return reply{redirect: x.base + "/" + string(ActionSignIn)}, nil
	case x.provider.email != nil:
		return x.sendLink()
	}
	url, err := x.authorizationURL()
	if err != nil {
		return reply{}, fail(ErrOAuthSignIn, "", err)
	}
	return reply{redirect: url}, nil
}

// authorize asks the SignIn callback. It gives where to redirect instead of signing in, or
// ErrAccessDenied.
func (x *exchange) authorize(p SignInParams) (redirect string, err error) {
	if x.config.Callbacks.SignIn == nil {
		return "", nil
	}
	verdict, err := x.config.Callbacks.SignIn(x.ctx, p)
	switch {
	case err != nil:
		return "", asError(err, ErrAccessDenied)
	case verdict.redirect != "":
		return x.redirectTo(verdict.redirect)
	case !verdict.allowed:
		return "", fail(ErrAccessDenied, "the signIn callback refused", nil)
	}
	return "", nil
}
