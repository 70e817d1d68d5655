//go:build js && webauthn

package main

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/gorilla/sessions"
	"github.com/syumai/workers/cloudflare/kv"
)

func init() {
	http.HandleFunc("GET /auth/passkey/register", passkeys(func(w http.ResponseWriter, r *http.Request, s *sessions.Session, a *webauthn.WebAuthn) error {
		u, err := load(subject(s))
		if err != nil {
			return err
		}
		options, data, err := a.BeginRegistration(u,
			webauthn.WithResidentKeyRequirement(protocol.ResidentKeyRequirementRequired),
			webauthn.WithExclusions(webauthn.Credentials(u.Credentials).CredentialDescriptors()))
		return begun(w, r, s, options, data, err)
	}))
	http.HandleFunc("POST /auth/passkey/register", passkeys(func(w http.ResponseWriter, r *http.Request, s *sessions.Session, a *webauthn.WebAuthn) error {
		u, err := load(subject(s))
		if err != nil {
			return err
		}
		credential, err := a.FinishRegistration(u, ceremony(s), r)
		if err != nil {
			return err
		}
		u.Credentials = append(u.Credentials, *credential)
		if err := u.save(); err != nil {
			return err
		}
		answer(w, r, s, true)
		return nil
	}))
	http.HandleFunc("GET /auth/passkey/login", passkeys(func(w http.ResponseWriter, r *http.Request, s *sessions.Session, a *webauthn.WebAuthn) error {
		options, data, err := a.BeginDiscoverableLogin()
		return begun(w, r, s, options, data, err)
	}))
	http.HandleFunc("POST /auth/passkey/login", passkeys(func(w http.ResponseWriter, r *http.Request, s *sessions.Session, a *webauthn.WebAuthn) error {
		found, credential, err := a.FinishPasskeyLogin(func(_, handle []byte) (webauthn.User, error) { return load(string(handle)) }, ceremony(s), r)
		if err != nil {
			return err
		}
		u := found.(*user)
		for i, c := range u.Credentials {
			if string(c.ID) == string(credential.ID) {
				u.Credentials[i] = *credential // with the new counter
			}
		}
		if err := u.save(); err != nil {
			return err
		}
		clear(s.Values)
		s.Values["sub"], s.Values["name"] = u.Sub, u.Sub
		answer(w, r, s, true)
		return nil
	}))
}

func passkeys(handle func(http.ResponseWriter, *http.Request, *sessions.Session, *webauthn.WebAuthn) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s, _ := store.Get(r, "session")
		a, err := webauthn.New(&webauthn.Config{
			RPID:          r.URL.Hostname(),
			RPDisplayName: "The app",
			RPOrigins:     []string{r.URL.Scheme + "://" + r.URL.Host},
		})
		if err == nil {
			err = handle(w, r, s, a)
		}
		if err != nil {
			fail(w, err, http.StatusForbidden)
		}
	}
}

// begun keeps what Finish needs in the session.
func begun(w http.ResponseWriter, r *http.Request, s *sessions.Session, options any, data *webauthn.SessionData, err error) error {
	if err != nil {
		return err
	}
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	s.Values["ceremony"] = string(text)
	answer(w, r, s, options)
	return nil
}

// ceremony is what begun kept, once. Finish refuses an empty one.
func ceremony(s *sessions.Session) (data webauthn.SessionData) {
	text, _ := s.Values["ceremony"].(string)
	delete(s.Values, "ceremony")
	json.Unmarshal([]byte(text), &data)
	return data
}

func subject(s *sessions.Session) string {
	sub, _ := s.Values["sub"].(string)
	return sub
}

// A user is in Workers KV under the subject.
type user struct {
	Sub         string
	Credentials []webauthn.Credential
}

func (u *user) WebAuthnID() []byte                         { return []byte(u.Sub) }
func (u *user) WebAuthnName() string                       { return u.Sub }
func (u *user) WebAuthnDisplayName() string                { return u.Sub }
func (u *user) WebAuthnCredentials() []webauthn.Credential { return u.Credentials }

func load(sub string) (*user, error) {
	if sub == "" {
		return nil, errors.New("nobody is signed in")
	}
	users, err := kv.NewNamespace("AUTH_KV")
	if err != nil {
		return nil, err
	}
	u := &user{Sub: sub}
	text, err := users.GetString("user:"+sub, nil)
	if err != nil || text == "<null>" { // what syscall/js makes of null
		return u, err
	}
	return u, json.Unmarshal([]byte(text), u)
}

func (u *user) save() error {
	users, err := kv.NewNamespace("AUTH_KV")
	if err != nil {
		return err
	}
	text, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return users.PutString("user:"+u.Sub, string(text), nil)
}
