//go:build !wasm

package smtp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/mail"
)

// Options say which server, and what it is to send.
type Options struct {
	// Server is smtp://user:password@host:587, whose connection begins in the clear and must
	// be encrypted by STARTTLS before anything is said, or smtps:// with TLS from the start.
	// Characters of the password that mean something in a URL are escaped: %40 for @. Ports
	// are 587 and 465 unless it says otherwise. Required.
	Server string

	// AllowPlaintext sends to a server that offers no encryption, as one on this machine may.
	AllowPlaintext bool

	From    string        // the sender: an address, or "Name <address>". Required
	MaxAge  time.Duration // how long a link works. Zero: mail.DefaultMaxAge
	Timeout time.Duration // for the whole exchange with the server. Zero: 10 seconds

	// Compose writes the message. Nil: mail.Compose.
	Compose func(m core.VerificationRequest) mail.Message
}

// Provider makes the provider. Its ID is "nodemailer", by which clients of the reference know
// the provider that sends through a mail server; the copy that it gives may have another.
func Provider(o Options) core.Email {
	client, err := o.client()
	compose := o.Compose
	if compose == nil {
		compose = mail.Compose
	}
	return core.Email{
		ID: "nodemailer", Name: "Email", From: o.From, MaxAge: cmp.Or(o.MaxAge, mail.DefaultMaxAge),
		Check: func(p core.Email) error {
			if err != nil {
				return err
			}
			return gomail.NewMsg().From(p.From)
		},
		Send: func(ctx context.Context, m core.VerificationRequest) error {
			what, message := compose(m), gomail.NewMsg()
			if err := errors.Join(message.From(m.From), message.To(m.Identifier)); err != nil {
				return errors.New("smtp: the sender or the recipient is no address")
			}
			message.Subject(what.Subject)
			message.SetBodyString(gomail.TypeTextPlain, what.Text)
			message.AddAlternativeString(gomail.TypeTextHTML, what.HTML)
			ctx, cancel := context.WithTimeout(ctx, cmp.Or(o.Timeout, 10*time.Second))
			defer cancel()
			if err := client.DialAndSendWithContext(ctx, message); err != nil {
				return fmt.Errorf("smtp: %w", err)
			}
			return nil
		},
	}
}

func (o Options) client() (*gomail.Client, error) {
	u, err := url.Parse(o.Server)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		// Not the reason: it may have the password in it.
		return nil, errors.New("smtp: Server must be smtp://user:password@host:port or smtps://…, its password escaped as in a URL")
	}
	port := 587
	options := []gomail.Option{gomail.WithTLSPolicy(gomail.TLSMandatory), gomail.WithTimeout(cmp.Or(o.Timeout, 10*time.Second))}
	if o.AllowPlaintext {
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	}
	if u.Scheme == "smtps" {
		port = 465
		options = append(options, gomail.WithSSL())
	}
	if text := u.Port(); text != "" {
		if port, err = strconv.Atoi(text); err != nil || port < 1 || port > 65535 {
			return nil, errors.New("smtp: Server has a port that is none")
		}
	}
	options = append(options, gomail.WithPort(port))
	if u.User != nil {
		password, _ := u.User.Password()
		options = append(options, gomail.WithUsername(u.User.Username()), gomail.WithPassword(password),
			gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover))
		if o.AllowPlaintext && !isThisMachine(u.Hostname()) {
			return nil, errors.New("smtp: AllowPlaintext would send the password to " + u.Hostname() + " in the clear")
		}
	}
	return gomail.NewClient(u.Hostname(), options...)
}

func isThisMachine(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
