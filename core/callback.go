package core

import (
	"net/http"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

// callback answers the callback route: the second half of every sign-in.
func (x *exchange) callback() (reply, error) {
	switch {
	case x.provider == nil:
		return reply{}, fail(ErrInvalidProvider, "the callback route was called without a provider", nil)
	case x.provider.oauth != nil:
		return x.oauthCallback()
	case x.provider.email != nil:
		return x.emailCallback()
	case x.provider.login != nil && x.r.Method == http.MethodPost:
		return x.credentialsCallback()
	case x.provider.webauthn != nil && x.r.Method == http.MethodPost:
		return x.provider.webauthn.routes.callback(x)
	}
	return reply{}, fail(ErrInvalidProvider, "this provider's callback is a POST", nil)
}

// credentialsCallback signs in with what the form submitted. The session is a JWT whatever
// the strategy (fact 93).
func (x *exchange) credentialsCallback() (reply, error) {
	fields := x.body
	if fields == nil {
		fields = map[string]any{}
	}
	user, err := x.provider.login.Authorize(x.ctx, fields, x.r)
	if err != nil {
		return reply{}, asError(err, ErrCallbackRoute)
	}
	if user == nil {
		return reply{}, fail(ErrCredentialsSignin, "authorize found no user", nil)
	}
	if user.ID == "" {
		user.ID = randomUUID()
	}
	account := &Account{Provider: x.provider.id, ProviderAccountID: user.ID, Type: TypeCredentials}
	redirect, err := x.authorize(SignInParams{User: user, Account: account, Credentials: fields})
	if err != nil || redirect != "" {
		return reply{redirect: redirect}, err
	}
	claims, err := x.customJWT(JWTParams{Token: newJWT(user), User: user, Account: account, Trigger: TriggerSignIn})
	if err != nil {
		return reply{}, err
	}
	if err := x.issue(claims); err != nil {
		return reply{}, err
	}
	return x.signedIn(SignInEvent{User: user, Account: account})
}

// finish signs a confirmed user in under the configured strategy.
func (x *exchange) finish(profile Profile, found *login) (reply, error) {
	if x.strategy == StrategyDatabase {
		x.keepToken(found.session.SessionToken, found.session.Expires)
	} else {
		trigger := TriggerSignIn
		if found.isNewUser {
			trigger = TriggerSignUp
		}
		claims, err := x.customJWT(JWTParams{
			Token: newJWT(found.user), User: found.user, Account: found.account, Profile: profile, Trigger: trigger,
		})
		if err != nil {
			return reply{}, err
		}
		if err := x.issue(claims); err != nil {
			return reply{}, err
		}
	}
	event := SignInEvent{User: found.user, Account: found.account, Profile: profile}
	if x.config.Adapter != nil {
		event.IsNewUser = &found.isNewUser
	}
	return x.signedIn(event)
}

// signedIn tells the signIn event and sends the browser on, new users to their own page.
func (x *exchange) signedIn(event SignInEvent) (reply, error) {
	// The response must be certain before anybody is told that it was sent.
	if _, ok := headerBytes(x.callbackURL); !ok {
		return reply{}, fail(ErrInvalidCallbackURL, "the callback URL does not fit into a header", nil)
	}
	x.emit("signIn", x.config.Events.SignIn != nil, func() error { return x.config.Events.SignIn(x.ctx, event) })
	if event.IsNewUser != nil && *event.IsNewUser && x.config.Pages.NewUser != "" {
		return reply{redirect: withQuery(x.config.Pages.NewUser, weburl.Query{{Name: "callbackUrl", Value: x.callbackURL}})}, nil
	}
	return reply{redirect: x.callbackURL}, nil
}
