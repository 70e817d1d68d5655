package core

import (
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
	"golang.org/x/text/unicode/norm"
)

const defaultLinkMaxAge = 24 * time.Hour

// mostRaces is how often somebody may be quicker to take the address of a first sign-in, and then
// not be there. The link is used up by then, so giving up costs a new one.
const mostRaces = 10

// sendLink answers POST signin/email: it stores a verification token and sends the link.
func (x *exchange) sendLink() (reply, error) {
	p := x.provider.email
	normalize := p.NormalizeIdentifier
	if normalize == nil {
		normalize = NormalizeEmail
	}
	address, err := normalize(x.bodyText("email"))
	if err != nil {
		return reply{}, fail(ErrEmailSignIn, "the e-mail address can't be used", err)
	}
	if x.config.Callbacks.SignIn != nil { // nobody else wants to know whose address it is
		found, err := x.findUser(UserQuery{Email: address})
		if err != nil {
			return reply{}, err
		}
		user, account := x.emailUser(found, address)
		redirect, err := x.authorize(SignInParams{User: user, Account: account, VerificationRequest: true})
		if err != nil || redirect != "" {
			return reply{redirect: redirect}, err
		}
	}
	m := VerificationRequest{
		Identifier: address, Site: x.origin, Provider: x.provider.id, From: p.From, APIKey: p.APIKey,
		Theme: x.config.Theme, Request: x.r, Transport: x.transport,
	}
	if p.Code {
		err = x.startCode(&m)
	} else {
		err = x.startLink(&m)
	}
	if err != nil {
		return reply{}, err
	}
	if err := p.Send(x.ctx, m); err != nil {
		return reply{}, fail(ErrEmailSignIn, "the message could not be sent", err)
	}
	return reply{redirect: x.verifyRequestURL()}, nil
}

func (x *exchange) verifyRequestURL() string {
	sent := weburl.Query{{Name: "provider", Value: x.provider.id}, {Name: "type", Value: string(TypeEmail)}}
	return x.base + "/" + string(ActionVerifyRequest) + "?" + sent.Encode()
}

// startLink stores a token before its link is sent: one that arrives must work.
func (x *exchange) startLink(m *VerificationRequest) (err error) {
	p := x.provider.email
	if p.GenerateToken == nil {
		m.Token = randomHex(32)
	} else if m.Token, err = p.GenerateToken(x.ctx); err != nil {
		return fail(ErrEmailSignIn, "GenerateToken failed", err)
	}
	m.Expires = x.now.Add(p.maxAge())
	link := weburl.Query{{Name: "callbackUrl", Value: x.callbackURL}, {Name: "token", Value: m.Token}, {Name: "email", Value: m.Identifier}}
	m.URL = x.ownRedirectURI() + "?" + link.Encode()
	return x.storeToken(m.Identifier, hashHex(m.Token+x.secretText), m.Expires)
}

func (p *Email) maxAge() time.Duration {
	if p.MaxAge == 0 {
		return defaultLinkMaxAge
	}
	return p.MaxAge
}

func (x *exchange) storeToken(identifier, token string, expires time.Time) error {
	t := VerificationToken{Identifier: identifier, Token: token, Expires: expires}
	if err := x.config.Adapter.CreateVerificationToken(x.ctx, t); err != nil {
		return fail(ErrAdapter, "createVerificationToken", err)
	}
	return nil
}

// emailCallback signs in whoever followed a link, or typed a code.
func (x *exchange) emailCallback() (reply, error) {
	if x.provider.email.Code {
		return x.codeCallback()
	}
	token, address := x.queryText("token"), x.queryText("email")
	if token == "" {
		return reply{}, fail(ErrCallbackRoute, "the link has no token: it was opened by hand, or damaged on its way", nil)
	}
	if x.provider.email.Confirm && x.r.Method != http.MethodPost {
		return x.confirmPage(), nil
	}
	invite, err := x.config.Adapter.UseVerificationToken(x.ctx, address, hashHex(token+x.secretText))
	switch {
	case err != nil:
		return reply{}, fail(ErrAdapter, "useVerificationToken", err)
	case invite == nil:
		return reply{}, fail(ErrVerification, "the link is unknown or was used before", nil)
	case invite.Expires.Before(x.now):
		return reply{}, fail(ErrVerification, "the link has expired", nil)
	case address != "" && invite.Identifier != address:
		return reply{}, fail(ErrVerification, "the link is another address's", nil)
	}
	return x.enterByEmail(invite.Identifier)
}

// enterByEmail signs in whoever has shown that an address is theirs.
func (x *exchange) enterByEmail(address string) (reply, error) {
	found, err := x.findUser(UserQuery{Email: address})
	if err != nil {
		return reply{}, err
	}
	user, account := x.emailUser(found, address)
	redirect, err := x.authorize(SignInParams{User: user, Account: account})
	if err != nil || redirect != "" {
		return reply{redirect: redirect}, err
	}
	entered, err := x.emailLogin(user, account, found)
	if err != nil {
		return reply{}, err
	}
	return x.finish(nil, entered)
}

// emailUser is who an address belongs to, or a user that could be made of it.
func (x *exchange) emailUser(found *FoundUser, address string) (*User, *Account) {
	user := found.User
	if user == nil {
		user = &User{ID: randomUUID(), Email: address}
	}
	return user, &Account{Provider: x.provider.id, ProviderAccountID: address, Type: TypeEmail, UserID: user.ID}
}

// emailLogin creates the user or marks the address as verified, and starts a session.
func (x *exchange) emailLogin(user *User, account *Account, found *FoundUser) (*login, error) {
	if x.config.Callbacks.SignIn != nil && !x.config.Adapter.isComposed() {
		// The callback may have changed who has the address.
		var err error
		if found, err = x.findUser(UserQuery{Email: user.Email}); err != nil {
			return nil, err
		}
	}
	for try := 0; ; try++ {
		entered, err := x.emailEnter(user, account, found)
		switch {
		case !isTaken(err):
			return entered, err
		case try == mostRaces:
			return nil, fail(ErrAdapter, "who has an address keeps changing", err)
		}
		// Another link of the address was quicker, or its user has just got another one.
		if found, err = x.findUser(UserQuery{Email: user.Email}); err != nil {
			return nil, err
		}
	}
}

// emailEnter signs in who was found to have the address of user, else a new user.
func (x *exchange) emailEnter(user *User, account *Account, found *FoundUser) (*login, error) {
	if found.User == nil {
		fresh := *user
		fresh.EmailVerified = x.now
		return x.register(account, SignUp{User: fresh}, nil)
	}
	s := SignIn{User: User{EmailVerified: x.now}, By: UserQuery{Email: user.Email}, Revision: found.Revision}
	return x.enter(found.User, account, s, nil)
}

// NormalizeEmail gives the form of an address under which it is stored, sent to and compared:
// NFKC, lower case, trimmed. It refuses what could reach several mailboxes or another one
// than it shows: quotes, control characters, and anything but one @ with text on both sides.
// The domain ends at its first comma (fact 103).
func NormalizeEmail(address string) (string, error) {
	if address == "" {
		return "", errors.New("core: the e-mail address is missing")
	}
	// Lower case can make letters combine that didn't before: hence NFKC twice, or what comes
	// back in a link would be another address.
	address = strings.TrimFunc(norm.NFKC.String(lowerCase(norm.NFKC.String(address))), isScriptSpace)
	local, domain, _ := strings.Cut(address, "@")
	domain, _, _ = strings.Cut(domain, ",")
	domain = strings.TrimRightFunc(domain, isScriptSpace)
	if local == "" || domain == "" || strings.Count(address, "@") != 1 || strings.ContainsFunc(address, isForbidden) {
		return "", errors.New("core: the e-mail address is not of the form name@domain")
	}
	return local + "@" + domain, nil
}

func isForbidden(c rune) bool { return c == '"' || unicode.IsControl(c) }

// isScriptSpace is what JavaScript's trim removes.
func isScriptSpace(c rune) bool { return c == 0xfeff || unicode.IsSpace(c) && c != 0x85 }

// lowerCase is JavaScript's toLowerCase, which has two special casings more than Go.
func lowerCase(text string) string {
	letters := []rune(text)
	var out strings.Builder
	for i, c := range letters {
		switch {
		case c == 'İ':
			out.WriteString("i\u0307")
		case c == 'Σ' && isFinal(letters, i):
			out.WriteRune('ς')
		default:
			out.WriteRune(unicode.ToLower(c))
		}
	}
	return out.String()
}

// isFinal is the Unicode Standard's Final_Sigma condition (section 3.13).
func isFinal(letters []rune, i int) bool {
	ignorable := func(c rune) bool {
		return unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || c == '\'' || c == '.' || c == ':' || c == '\u00b7' || c == '\u2019'
	}
	cased := func(c rune) bool { return unicode.IsUpper(c) || unicode.IsLower(c) || unicode.IsTitle(c) }
	before := i - 1
	for before >= 0 && ignorable(letters[before]) {
		before--
	}
	after := i + 1
	for after < len(letters) && ignorable(letters[after]) {
		after++
	}
	return before >= 0 && cased(letters[before]) && (after == len(letters) || !cased(letters[after]))
}
