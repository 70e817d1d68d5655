package main

import (
	"strings"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/mail"
	"github.com/edgeauth/edgeauth/core/passkey"
	"github.com/edgeauth/edgeauth/core/providers"
	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// An IncompleteError is why a provider is not offered.
type IncompleteError struct {
	Provider string // its id
	Err      error  // names the variables
}

func (e *IncompleteError) Error() string {
	return "worker: the provider " + e.Provider + " is left out: " + e.Err.Error()
}

func (e *IncompleteError) Unwrap() error { return e.Err }

// providers are those that AUTH_PROVIDERS names and whose settings are complete.
func (s *settings) providers() (list []core.Provider, leftOut []error) {
	isNamed := false
	for id := range strings.SplitSeq(s.getenv("AUTH_PROVIDERS"), ",") {
		id = strings.TrimSpace(id)
		if id == "" {
			continue
		}
		isNamed = true
		p, err := s.provider(id)
		if err == nil {
			err = s.check(p)
		}
		if err != nil {
			leftOut = append(leftOut, &IncompleteError{id, err})
			continue
		}
		switch p.(type) {
		case core.Email:
			s.needsRecords = true
		case core.WebAuthn:
			s.needsRecords, s.hasPasskeys = true, true
		}
		list = append(list, p)
	}
	switch {
	case !isNamed:
		s.bad("AUTH_PROVIDERS", "name at least one provider, and set its AUTH_<ID>_ID and _SECRET")
	case list == nil:
		s.bad("AUTH_PROVIDERS", "none of its providers has all of its settings; see above")
	}
	return list, leftOut
}

func (s *settings) provider(id string) (core.Provider, error) {
	name := s.of(id, "NAME")
	switch id {
	case "passkey":
		p := passkey.New()
		if name != "" {
			p.Name = name
		}
		return p, nil
	case "resend", "sendgrid", "postmark", "mailgun", "forwardemail", "loops":
		p := s.mail(id)
		if name != "" {
			p.Name = name
		}
		switch region := s.of(id, "REGION"); {
		case id == "loops":
			if s.of(id, "TRANSACTIONAL_ID") == "" {
				return nil, &SettingError{variable(id, "TRANSACTIONAL_ID"), "set it to the ID of the template"}
			}
		case id == "mailgun" && region != "" && region != "US" && region != "EU":
			return nil, &SettingError{variable(id, "REGION"), "must be US or EU"}
		case p.From == "":
			return nil, &SettingError{variable(id, "FROM"), `set it to the sender: an address, or "Name <address>"`}
		}
		return p, nil
	}
	p, isListed := providers.ByID(id, providers.Client{})
	if !isListed {
		p = core.OAuth{ID: id, OIDC: true}
		if s.of(id, "ISSUER") == "" {
			return nil, &SettingError{variable(id, "ISSUER"), "the catalogue has no such provider: set it to the issuer URL of an OpenID provider"}
		}
	}
	switch id {
	case "bungie":
		key := s.of(id, "KEY")
		if key == "" {
			return nil, &SettingError{variable(id, "KEY"), "set it to the app's API key"}
		}
		p.RequestUserInfo = providers.BungieUserInfo(key)
	case "netsuite":
		p.UserInfo.URL = s.of(id, "USERINFO")
		if p.UserInfo.URL == "" {
			return nil, &SettingError{variable(id, "USERINFO"), "set it to the URL of the RESTlet that answers with runtime.getCurrentUser()"}
		}
	}
	if name != "" {
		p.Name = name
	}
	return p, nil
}

func (s *settings) mail(id string) core.Email {
	o := mail.Options{From: s.of(id, "FROM")} // core.New reads the key
	var p core.Email
	switch id {
	case "resend":
		p = mail.Resend(o)
	case "sendgrid":
		p = mail.SendGrid(o)
	case "postmark":
		p = mail.Postmark(o)
	case "mailgun":
		p = mail.Mailgun(mail.MailgunOptions{Options: o, Region: s.of(id, "REGION")})
	case "forwardemail":
		p = mail.ForwardEmail(o)
	case "loops":
		p = mail.Loops(mail.LoopsOptions{Options: o, TransactionalID: s.of(id, "TRANSACTIONAL_ID")})
	}
	p.Confirm = s.oneOf(variable(id, "CONFIRM"), "true", "false") == "true"
	p.Code = s.oneOf(variable(id, "CODE"), "true", "false") == "true"
	return p
}

// check has core.New look at a provider alone. The rest of that configuration is right.
func (s *settings) check(p core.Provider) error {
	_, err := core.New(core.Config{
		Providers:    []core.Provider{p},
		Secret:       []string{strings.Repeat("unused", 6)},
		TrustHost:    core.On,
		Session:      core.SessionOptions{Strategy: core.StrategyJWT},
		Experimental: core.Experimental{EnableWebAuthn: true},
		Adapter:      kvadapter.New(memory.New(nil), kvadapter.Options{}),
		Transport:    edge.Transport,
		Getenv:       s.getenv,
		Logger:       core.Logger{Warn: func(string, ...any) {}},
	})
	return err
}

// of is a variable of a provider.
func (s *settings) of(id, suffix string) string { return s.getenv(variable(id, suffix)) }

func variable(id, suffix string) string {
	return "AUTH_" + strings.ToUpper(strings.ReplaceAll(id, "-", "_")) + "_" + suffix
}
