package core

// signOut answers POST signout: it ends the session and sends the browser to the callback URL.
func (x *exchange) signOut() (reply, error) {
	out := reply{redirect: x.callbackURL}
	token := x.sessionCookie()
	if token == "" {
		return out, nil
	}
	if err := x.endSession(token); err != nil {
		x.logError(fail(ErrSignOut, "the session was dropped from the browser only", err))
	}
	x.clearSession()
	return out, nil
}

func (x *exchange) endSession(token string) error {
	event := SignOutEvent{}
	var err error
	if x.strategy == StrategyJWT {
		event.Token, err = x.decodeSession(token)
	} else {
		event.Session, err = x.config.Adapter.DeleteSession(x.ctx, token)
	}
	if err != nil {
		return err
	}
	x.emit("signOut", x.config.Events.SignOut != nil, func() error { return x.config.Events.SignOut(x.ctx, event) })
	return nil
}
