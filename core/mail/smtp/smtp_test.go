//go:build !wasm

package smtp_test

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/edgeauth/edgeauth/core"
	mailsmtp "github.com/edgeauth/edgeauth/core/mail/smtp"
)

// A mailServer is a real SMTP server that keeps what it is given.
type mailServer struct {
	address string
	mails   chan received
}

type received struct{ from, to, content string }

func newMailServer(t *testing.T) *mailServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{address: listener.Addr().String(), mails: make(chan received, 1)}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &delivery{server: s}, nil }))
	server.Domain = "localhost"
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return s
}

type delivery struct {
	server *mailServer
	mail   received
}

func (d *delivery) Mail(from string, _ *smtp.MailOptions) error { d.mail.from = from; return nil }
func (d *delivery) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasPrefix(to, "nobody@") {
		return &smtp.SMTPError{Code: 550, Message: "no such mailbox"}
	}
	d.mail.to = to
	return nil
}
func (d *delivery) Data(r io.Reader) error {
	content, err := io.ReadAll(r)
	d.mail.content = string(content)
	d.server.mails <- d.mail
	return err
}
func (d *delivery) Reset()        {}
func (d *delivery) Logout() error { return nil }

func request(to string) core.VerificationRequest {
	return core.VerificationRequest{
		Identifier: to, Site: "https://app.example", From: "Login <login@example.com>", Token: "t0k3n",
		URL:     "https://app.example/auth/callback/nodemailer?callbackUrl=https%3A%2F%2Fapp.example&token=t0k3n&email=ada%40example.com",
		Expires: time.Now().Add(30 * time.Minute),
	}
}

func TestAMailArrives(t *testing.T) {
	t.Parallel()
	server := newMailServer(t)
	p := mailsmtp.Provider(mailsmtp.Options{Server: "smtp://" + server.address, AllowPlaintext: true, From: "Login <login@example.com>"})
	if err := p.Check(p); err != nil {
		t.Fatal(err)
	}
	m := request("ada@example.com")
	if err := p.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := <-server.mails
	if got.from != "login@example.com" || got.to != "ada@example.com" {
		t.Errorf("from %s to %s", got.from, got.to)
	}
	message, err := netmail.ReadMessage(strings.NewReader(got.content))
	if err != nil {
		t.Fatal(err)
	}
	if subject := message.Header.Get("Subject"); subject != "Sign in to app.example" {
		t.Errorf("subject %q", subject)
	}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s, %v", kind, err)
	}
	parts := multipart.NewReader(message.Body, params["boundary"])
	for _, want := range []struct{ kind, link string }{
		{"text/plain", m.URL}, {"text/html", strings.ReplaceAll(m.URL, "&", "&amp;")},
	} {
		part, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		var body io.Reader = part
		if part.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
			body = quotedprintable.NewReader(part)
		}
		text, err := io.ReadAll(body)
		if err != nil || !strings.HasPrefix(part.Header.Get("Content-Type"), want.kind) || !strings.Contains(string(text), want.link) || !strings.Contains(string(text), "30 minutes") {
			t.Errorf("%s: %s, %v", part.Header.Get("Content-Type"), text, err)
		}
	}
}

func TestWhatTheServerRefusesIsAnError(t *testing.T) {
	t.Parallel()
	server := newMailServer(t)
	plain := mailsmtp.Options{Server: "smtp://" + server.address, AllowPlaintext: true, From: "login@example.com"}
	encrypted := plain
	encrypted.AllowPlaintext = false
	gone := plain
	gone.Server = "smtp://127.0.0.1:1"
	for name, c := range map[string]struct {
		options mailsmtp.Options
		to      string
	}{
		"no such mailbox":       {plain, "nobody@example.com"},
		"offers no STARTTLS":    {encrypted, "ada@example.com"},
		"nobody listens":        {gone, "ada@example.com"},
		"two recipients in one": {plain, "ada@example.com, eve@example.com"},
		"a header in it":        {plain, "ada@example.com\r\nBcc: eve@example.com"},
	} {
		p := mailsmtp.Provider(c.options)
		err := p.Send(t.Context(), request(c.to))
		if err == nil || strings.Contains(err.Error(), "t0k3n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p := mailsmtp.Provider(plain); !errors.Is(p.Send(ctx, request("ada@example.com")), context.Canceled) {
		t.Error("a sign-in that is over still sends")
	}
	select {
	case m := <-server.mails:
		t.Errorf("it was sent: %+v", m)
	default:
	}
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for server, ok := range map[string]bool{
		"smtp://mail.example":               true,
		"smtps://user:pass@mail.example":    true,
		"smtp://user:p%40ss@localhost:2525": true,
		"":                                  false,
		"mail.example:25":                   false,
		"https://mail.example":              false,
		"smtp://mail.example:99999":         false,
		"smtp://user:secret%zz@mail":        false,
	} {
		p := mailsmtp.Provider(mailsmtp.Options{Server: server, From: "login@example.com"})
		if err := p.Check(p); (err == nil) != ok || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", server, err)
		}
	}
	p := mailsmtp.Provider(mailsmtp.Options{Server: "smtp://mail.example", From: "nobody"})
	if p.Check(p) == nil {
		t.Error("From is no address")
	}
	p = mailsmtp.Provider(mailsmtp.Options{Server: "smtp://user:secret@mail.example", AllowPlaintext: true, From: "login@example.com"})
	if err := p.Check(p); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a password in the clear: %v", err)
	}
}
