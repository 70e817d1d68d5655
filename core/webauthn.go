package core

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/page"
	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

const (
	defaultCeremonyTimeout = 5 * time.Minute
	required               = "required"
)

// webAuthnRoutes are what the handler does for a WebAuthn provider.
type webAuthnRoutes struct {
	verifyRegistration   func(answer []byte, c Ceremony) (*Authenticator, error)
	verifyAuthentication func(answer []byte, c Ceremony, known Authenticator) (*Assertion, error)
	options, callback    func(*exchange) (reply, error)
	form                 func(*exchange, *provider) page.Provider
	script               page.Script
	check                func(p *WebAuthn, quoted string) []error
}

// NewWebAuthn makes a provider of functions that verify the answers of browsers, as JSON. It is for
// package passkey. The handler reaches everything of passkeys through what is made here, so that a
// program without them doesn't link it.
func NewWebAuthn(
	verifyRegistration func(answer []byte, c Ceremony) (*Authenticator, error),
	verifyAuthentication func(answer []byte, c Ceremony, known Authenticator) (*Assertion, error),
) WebAuthn {
	return WebAuthn{routes: &webAuthnRoutes{
		verifyRegistration, verifyAuthentication, (*exchange).webAuthnOptions, (*exchange).webAuthnCallback,
		(*exchange).passkeyForm, page.PasskeyScript, (*WebAuthn).check,
	}}
}

// withDefaults fills in what is left out.
func (p WebAuthn) withDefaults() *WebAuthn {
	p.UserVerification, p.ResidentKey = or(p.UserVerification, required), or(p.ResidentKey, required)
	if p.Timeout == 0 {
		p.Timeout = defaultCeremonyTimeout
	}
	if p.Fields == nil {
		p.Fields = []Field{{Name: "email", Label: "Email", Type: "email", Autocomplete: "username webauthn"}}
	}
	return &p
}

func (p *WebAuthn) check(quoted string) []error {
	all := mistakes{about: "provider " + quoted}
	if len(p.Algorithms) == 0 {
		all.add(ErrInvalidProvider, " has no Algorithms: name one at least")
	}
	for _, value := range [...]string{p.UserVerification, p.ResidentKey} {
		if value != required && value != "preferred" && value != "discouraged" {
			all.add(ErrInvalidProvider, `: UserVerification and ResidentKey are "required", "preferred" or "discouraged"`)
			break
		}
	}
	if p.Attachment != "" && p.Attachment != "platform" && p.Attachment != "cross-platform" {
		all.add(ErrInvalidProvider, `: Attachment is "platform" or "cross-platform", or empty for either`)
	}
	if p.RelyingParty.ID != strings.ToLower(p.RelyingParty.ID) || strings.ContainsAny(p.RelyingParty.ID, ":/") {
		all.add(ErrInvalidProvider, ": RelyingParty.ID is no domain: it has no scheme and no port, and is in lower case")
	}
	for _, origin := range p.RelyingParty.Origins {
		if u, ok := weburl.Parse(origin); ok && (u.Scheme == "https" || u.Scheme == "http") && u.Origin() != origin {
			all.add(ErrInvalidProvider, ": an entry of RelyingParty.Origins is not an origin: write "+u.Origin())
		}
	}
	autofills := slices.ContainsFunc(p.Fields, func(f Field) bool { return strings.Contains(f.Autocomplete, "webauthn") })
	if p.ConditionalUI != Off && !autofills && len(p.Fields) > 0 {
		all.add(ErrMissingAutocomplete, `: ConditionalUI needs a field whose Autocomplete has "webauthn" in it`)
	}
	return all.found
}

// checkWebAuthn finds what is wrong with passkeys as a whole.
func (a *Auth) checkWebAuthn() (errs []error) {
	count, conditional := 0, 0
	for _, p := range a.providers {
		if p.webauthn != nil {
			count++
			if p.webauthn.ConditionalUI != Off {
				conditional++
			}
		}
	}
	if count > 0 && !a.config.Experimental.EnableWebAuthn {
		errs = append(errs, fail(ErrExperimentalFeature, "signing in with passkeys is an experimental feature: set Config.Experimental.EnableWebAuthn", nil))
	}
	if conditional > 1 {
		errs = append(errs, fail(ErrDuplicateConditionalUI, "only one provider can have ConditionalUI: set it to Off for the others", nil))
	}
	return errs
}

// A descriptor names a credential (Web Authentication, level 3, section 5.8.3).
type descriptor struct {
	ID         string   `json:"id"` // base64url
	Type       string   `json:"type"`
	Transports []string `json:"transports,omitempty"`
}

// creationOptions are PublicKeyCredentialCreationOptionsJSON (section 5.1).
type creationOptions struct {
	Challenge string `json:"challenge"`
	RP        struct {
		Name string `json:"name"`
		ID   string `json:"id"`
	} `json:"rp"`
	User struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		DisplayName string `json:"displayName"`
	} `json:"user"`
	PubKeyCredParams       []keyParameter    `json:"pubKeyCredParams"`
	Timeout                int64             `json:"timeout"` // milliseconds
	Attestation            string            `json:"attestation"`
	ExcludeCredentials     []descriptor      `json:"excludeCredentials"`
	AuthenticatorSelection selectionCriteria `json:"authenticatorSelection"`
	Extensions             struct {
		CredProps bool `json:"credProps"`
	} `json:"extensions"`
}

type keyParameter struct {
	Alg  int64  `json:"alg"`
	Type string `json:"type"`
}

type selectionCriteria struct {
	AuthenticatorAttachment string `json:"authenticatorAttachment,omitempty"`
	ResidentKey             string `json:"residentKey"`
	RequireResidentKey      bool   `json:"requireResidentKey"`
	UserVerification        string `json:"userVerification"`
}

// requestOptions are PublicKeyCredentialRequestOptionsJSON (section 5.1).
type requestOptions struct {
	Challenge        string       `json:"challenge"`
	AllowCredentials []descriptor `json:"allowCredentials,omitempty"`
	Timeout          int64        `json:"timeout"` // milliseconds
	UserVerification string       `json:"userVerification"`
	RPID             string       `json:"rpId"`
}

const publicKeyType = "public-key"

// webAuthnOptions answers GET webauthn-options: what to ask the browser's authenticators for.
func (x *exchange) webAuthnOptions() (reply, error) {
	action, explicit := x.query.Last("action")
	if explicit && action != actionRegister && action != actionAuthenticate {
		return optionsRefused("Invalid action"), nil
	}
	if action == actionAuthenticate && x.provider.webauthn.ResidentKey == required {
		return x.authenticationOptions(nil, false) // who it is for makes no difference
	}
	user, err := x.current()
	if err != nil {
		return reply{}, err
	}
	isSignedIn, exists := user != nil, user != nil
	if !isSignedIn {
		if user, exists, err = x.webAuthnUser(); err != nil {
			return reply{}, err
		}
	}
	// Whoever is signed in adds a passkey to themselves; whoever is not may make a user, but add
	// nothing to one there is already.
	mayRegister := user != nil && or(user.Email, user.Name) != "" && isSignedIn == exists
	switch {
	case action == actionAuthenticate, !explicit && !isSignedIn && (user == nil || exists):
		return x.authenticationOptions(user, exists)
	case mayRegister && (explicit || !isSignedIn):
		return x.registrationOptions(user, !exists)
	}
	return optionsRefused("Invalid request"), nil
}

func optionsRefused(why string) reply {
	out, _ := jsonReply(map[string]string{"error": why}) // text always marshals
	out.status = http.StatusBadRequest
	return out
}

// webAuthnUser is who somebody who is not signed in says to be, or wants to become.
func (x *exchange) webAuthnUser() (user *User, exists bool, err error) {
	if ask := x.provider.webauthn.UserInfo; ask != nil {
		if user, exists, err = ask(x.ctx, x.r); err != nil {
			return nil, false, asError(err, ErrCallbackRoute)
		}
		return user, exists, nil
	}
	address, err := NormalizeEmail(x.queryText("email"))
	if err != nil || len(address) > maxAddress {
		return nil, false, nil
	}
	if user, err = x.config.Adapter.GetUserByEmail(x.ctx, address); err != nil {
		return nil, false, fail(ErrAdapter, "getUserByEmail", err)
	}
	if user != nil {
		return user, true, nil
	}
	return &User{Email: address}, false, nil
}

// maxAddress is how long an address can be that mail is delivered to, in bytes (RFC 5321,
// section 4.5.3.1.3).
const maxAddress = 254

func (x *exchange) registrationOptions(user *User, isNew bool) (reply, error) {
	p, rp := x.provider.webauthn, x.relyingParty()
	known := User{ID: user.ID} // the rest is read again when the answer comes
	if isNew {
		known = *user
		known.ID = or(user.ID, randomUUID()) // now, since the user handle is derived from it
	}
	challenge, err := x.startCeremony(openCeremony{Action: actionRegister, User: known.members(), IsNew: isNew})
	if err != nil {
		return reply{}, err
	}
	var o creationOptions
	o.Challenge = challenge
	o.RP.Name, o.RP.ID = rp.Name, rp.ID
	o.User.ID = base64.RawURLEncoding.EncodeToString([]byte(userHandle(known.ID)))
	o.User.Name, o.User.DisplayName = or(user.Email, user.Name), or(user.Name, user.Email)
	for _, alg := range p.Algorithms {
		o.PubKeyCredParams = append(o.PubKeyCredParams, keyParameter{alg, publicKeyType})
	}
	o.Timeout = p.Timeout.Milliseconds()
	o.Attestation = "none"
	o.AuthenticatorSelection = selectionCriteria{p.Attachment, p.ResidentKey, p.ResidentKey == required, p.UserVerification}
	o.Extensions.CredProps = true
	o.ExcludeCredentials = []descriptor{}
	if !isNew {
		if o.ExcludeCredentials, err = x.descriptors(user.ID); err != nil {
			return reply{}, err
		}
	}
	return optionsReply(actionRegister, o)
}

// authenticationOptions names no credential where passkeys are found without: whether an address is
// known, and which credentials its user has, is nobody's business.
func (x *exchange) authenticationOptions(user *User, exists bool) (reply, error) {
	p := x.provider.webauthn
	o := requestOptions{Timeout: p.Timeout.Milliseconds(), UserVerification: p.UserVerification, RPID: x.relyingParty().ID}
	c := openCeremony{Action: actionAuthenticate}
	var err error
	if user != nil && exists && p.ResidentKey != required {
		if o.AllowCredentials, err = x.descriptors(user.ID); err != nil {
			return reply{}, err
		}
		if len(o.AllowCredentials) > 0 {
			c.Named = user.ID
		}
	}
	if o.Challenge, err = x.startCeremony(c); err != nil {
		return reply{}, err
	}
	return optionsReply(actionAuthenticate, o)
}

func optionsReply(action string, options any) (reply, error) {
	out, err := jsonReply(map[string]any{"action": action, "options": options})
	out.noStore = true // a challenge is for one browser
	return out, err
}

func (x *exchange) descriptors(userID string) ([]descriptor, error) {
	stored, err := x.config.Adapter.ListAuthenticatorsByUserID(x.ctx, userID)
	if err != nil {
		return nil, fail(ErrAdapter, "listAuthenticatorsByUserId", err)
	}
	out := []descriptor{}
	for _, a := range stored {
		id, err := base64.StdEncoding.DecodeString(a.CredentialID)
		if err != nil {
			continue // no authenticator has such an ID
		}
		d := descriptor{ID: base64.RawURLEncoding.EncodeToString(id), Type: publicKeyType}
		if a.Transports != "" {
			d.Transports = strings.Split(a.Transports, ",")
		}
		out = append(out, d)
	}
	return out, nil
}

// handlePrefix marks the user handles that are made here.
const handlePrefix = "ea."

// userHandle is what authenticators know a user by (section 5.4.3): it tells nothing about them, and
// is the same for all of a user's passkeys, so that an authenticator keeps one of them. It is ASCII:
// clients differ in whether they decode the base64url it is sent in.
func userHandle(userID string) string {
	sum := sha256.Sum256([]byte("edgeauth user handle " + userID))
	return handlePrefix + base64.RawURLEncoding.EncodeToString(sum[:])
}

// isHandleOf reports whether a handle, as any of the clients sends it, is this user's. Handles that
// were not made here are: Auth.js makes random ones and keeps none.
func isHandleOf(handle, userID string) bool {
	for range 3 { // as it is, encoded, and encoded twice
		if strings.HasPrefix(handle, handlePrefix) {
			return handle == userHandle(userID)
		}
		decoded, err := base64.RawURLEncoding.DecodeString(handle)
		if err != nil {
			break
		}
		handle = string(decoded)
	}
	return true
}

// passkeyForm is the form of a WebAuthn provider. Whoever is signed in can add a passkey with it.
func (x *exchange) passkeyForm(p *provider) page.Provider {
	out := page.Provider{
		ID: p.id, Name: p.name, Kind: page.WebAuthn,
		Action:  x.base + "/" + string(ActionCallback) + "/" + p.id,
		Options: x.base + "/" + string(ActionWebAuthn) + "/" + p.id,
	}
	now, err := x.current()
	if err != nil {
		x.logError(asError(err, ErrAdapter)) // the page can do without
	}
	if out.Registers = now != nil; out.Registers {
		return out
	}
	for _, f := range p.webauthn.Fields {
		out.Fields = append(out.Fields, page.Field(f))
	}
	if p.webauthn.ConditionalUI != Off {
		out.Autofill = x.cookies.challenge.lifetime * 2 / 3
	}
	return out
}
