// Package mail sends sign-in links by e-mail: through the HTTP API of a mail service, which
// works on every platform, or, with package smtp below it, through a mail server.
//
//	auth, err := core.New(core.Config{
//		Providers: []core.Provider{mail.Resend(mail.Options{From: "My app <login@example.com>"})},
//		Adapter:   kvadapter.New(store, kvadapter.Options{}),
//	})
//
// The service's key is [Options.APIKey] or the variable AUTH_<ID>_KEY: here AUTH_RESEND_KEY.
// A service that is not here takes a function of your own as [core.Email]'s Send; [Compose]
// writes the message for it.
package mail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/internal/page"
)

// DefaultMaxAge is how long a link works that is sent by this package, unless Options say
// otherwise. The reference gives it a day, for which it can be found in a mailbox.
const DefaultMaxAge = 30 * time.Minute

// Options are what every service takes.
type Options struct {
	APIKey string // empty: the variable AUTH_<ID>_KEY
	From   string // the sender: an address, or "Name <address>". Required

	// MaxAge is how long a link works. Zero: DefaultMaxAge.
	MaxAge time.Duration

	// Compose writes the message. Nil: Compose of this package.
	Compose func(m core.VerificationRequest) Message
}

// A Message is what the recipient sees.
type Message struct {
	Subject string
	Text    string // for mail programs that show no HTML
	HTML    string
}

// Compose writes the default message: in the theme's colours, with how long the link or the
// code works, and with everything escaped that comes from elsewhere.
func Compose(m core.VerificationRequest) Message {
	_, host, _ := strings.Cut(m.Site, "://")
	mail := page.Mail{Theme: page.Theme(m.Theme), Host: host, URL: m.URL, Code: m.Code, Life: time.Until(m.Expires).Round(time.Minute)}
	return Message{Subject: mail.Subject(), Text: mail.Text(), HTML: string(mail.HTML())}
}

// A ServiceError is a mail service's refusal.
type ServiceError struct {
	Service string // its ID
	Status  int    // of the answer
	Answer  string // the beginning of its body, without the link, the recipient and the key
}

func (e *ServiceError) Error() string {
	return fmt.Sprintf("mail: %s answered with status %d: %s", e.Service, e.Status, e.Answer)
}

// mostAnswered is how much of an answer is read, mostTold how much of it an error tells; in bytes.
const (
	mostAnswered = 16 << 10
	mostTold     = 300
)

// provider makes the provider of a service. request gives the address and the body of a
// call, and may set headers. It is not inlined: each service would get a copy of Send, 30 KB of a worker in all.
//
//go:noinline
func (o Options) provider(id, name string, request func(m core.VerificationRequest, h http.Header, what Message) (url, body string, err error)) core.Email {
	compose := o.Compose
	if compose == nil {
		compose = Compose
	}
	return core.Email{
		ID: id, Name: name, From: o.From, APIKey: o.APIKey, MaxAge: cmp.Or(o.MaxAge, DefaultMaxAge),
		Check: check,
		Send: func(ctx context.Context, m core.VerificationRequest) error {
			header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "User-Agent": {"edgeauth"}}
			url, body, err := request(m, header, compose(m))
			if err != nil {
				return err
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
			if err != nil {
				return errors.New("mail: " + id + ": the service's address is no URL")
			}
			req.Header = header
			resp, err := m.Transport.RoundTrip(req)
			if err != nil {
				return fmt.Errorf("mail: %s: %w", id, err)
			}
			defer resp.Body.Close()
			if resp.StatusCode/100 == 2 {
				return nil
			}
			answer, _ := io.ReadAll(io.LimitReader(resp.Body, mostAnswered))
			return &ServiceError{Service: id, Status: resp.StatusCode, Answer: told(string(answer), m)}
		},
	}
}

// told is what of an answer can be repeated in an error. Services like to repeat what they
// were sent.
func told(answer string, m core.VerificationRequest) string {
	for _, secret := range []string{m.Token, m.APIKey, m.Identifier} {
		if secret != "" {
			answer = strings.ReplaceAll(answer, secret, "…")
		}
	}
	if len(answer) > mostTold {
		answer = strings.ToValidUTF8(answer[:mostTold], "") + "…"
	}
	return answer
}

// check finds what a service would refuse at the first sign-in.
func check(p core.Email) error {
	switch _, _, ok := sender(p.From); {
	case p.APIKey == "":
		return fmt.Errorf("mail: no API key: set APIKey or AUTH_%s_KEY", strings.ToUpper(p.ID))
	case !ok:
		return errors.New(`mail: From must be the sender, an address or "Name <address>"`)
	}
	return nil
}

// sender splits From into the name, which may be empty, and the address.
func sender(from string) (name, address string, ok bool) {
	address = from
	if before, rest, found := strings.Cut(from, "<"); found {
		name, address = strings.TrimSpace(before), strings.TrimSuffix(strings.TrimSpace(rest), ">")
	}
	address, err := core.NormalizeEmail(address)
	return name, address, err == nil && !strings.ContainsAny(from, "\r\n")
}
