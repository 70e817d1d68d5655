package world_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/mail"
	"github.com/edgeauth/edgeauth/wasmtest/world"
)

func TestTheMailboxPlaysEveryService(t *testing.T) {
	t.Parallel()
	o := mail.Options{From: "My app <login@example.com>"}
	link := "https://app.example/auth/callback/x?callbackUrl=https%3A%2F%2Fapp.example&token=" + strings.Repeat("0a", 32) + "&email=ada%40example.com"
	for host, p := range map[string]core.Email{
		"api.resend.com":       mail.Resend(o),
		"api.sendgrid.com":     mail.SendGrid(o),
		"api.postmarkapp.com":  mail.Postmark(o),
		"api.mailgun.net":      mail.Mailgun(mail.MailgunOptions{Options: o}),
		"api.eu.mailgun.net":   mail.Mailgun(mail.MailgunOptions{Options: o, Region: "EU"}),
		"api.forwardemail.net": mail.ForwardEmail(o),
		"app.loops.so":         mail.Loops(mail.LoopsOptions{Options: o, TransactionalID: "t"}),
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			box := &world.Mailbox{Key: "key"}
			send := func(m core.VerificationRequest) error {
				m.Identifier, m.Site, m.From = "ada@example.com", "https://app.example", o.From
				m.Expires, m.Transport = time.Now().Add(time.Hour), world.Hosts{host: box}
				return p.Send(t.Context(), m)
			}
			if err := send(core.VerificationRequest{URL: link, APIKey: "wrong"}); err == nil || len(box.Messages("")) != 0 {
				t.Errorf("a wrong key: %v", err)
			}
			if err := send(core.VerificationRequest{URL: link, APIKey: "key"}); err != nil {
				t.Fatal(err)
			}
			if err := send(core.VerificationRequest{Code: "012345", APIKey: "key"}); err != nil {
				t.Fatal(err)
			}
			got := box.Messages("ada@example.com")
			if len(got) != 2 || got[0].Link != link || got[0].Code != "" || got[1].Link != "" || got[1].Code != "012345" || got[1] != box.Last("ada@example.com") {
				t.Fatalf("the messages are %+v", got)
			}
			if host != "app.loops.so" && (got[0].From != o.From || got[0].Subject != "Sign in to app.example" || got[0].Text == "" || got[0].HTML == "") {
				t.Errorf("the message is %+v", got[0])
			}
			if got := box.Messages("bob@example.com"); len(got) != 0 || box.Last("bob@example.com") != (world.Message{}) {
				t.Errorf("somebody else's messages are %+v", got)
			}
		})
	}
}

func TestTheMailboxRefuses(t *testing.T) {
	t.Parallel()
	box := new(world.Mailbox)
	const whole = `{"from":"a@b","to":"c@d","subject":"s","text":"t"}`
	for name, c := range map[string]struct {
		method, url, key, body string
		want                   int
	}{
		"a whole message":  {"POST", "https://api.resend.com/emails", "Bearer k", whole, 200},
		"no key":           {"POST", "https://api.resend.com/emails", "", whole, 401},
		"another path":     {"POST", "https://api.resend.com/mails", "Bearer k", whole, 404},
		"another host":     {"POST", "https://mail.example/emails", "Bearer k", whole, 404},
		"another method":   {"GET", "https://api.resend.com/emails", "Bearer k", "", 404},
		"no JSON":          {"POST", "https://api.resend.com/emails", "Bearer k", "x", 400},
		"no subject":       {"POST", "https://api.resend.com/emails", "Bearer k", `{"from":"a@b","to":"c@d","text":"t"}`, 400},
		"no recipient":     {"POST", "https://api.resend.com/emails", "Bearer k", `{"from":"a@b","subject":"s","text":"t"}`, 400},
		"nobody, SendGrid": {"POST", "https://api.sendgrid.com/v3/mail/send", "Bearer k", `{"personalizations":[]}`, 400},
	} {
		r := httptest.NewRequest(c.method, c.url, strings.NewReader(c.body))
		if c.key != "" {
			r.Header.Set("Authorization", c.key)
		}
		w := httptest.NewRecorder()
		box.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: %d, want %d", name, w.Code, c.want)
		}
	}
	if n := len(box.Messages("")); n != 1 {
		t.Errorf("%d messages are kept, want 1", n)
	}
}

func TestALinkIsFoundInAnyMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, html, link, code string }{
		"alone":              {"https://a.example/x", "", "https://a.example/x", ""},
		"the one with token": {"See https://a.example/help\nor https://a.example/in?token=1&email=x, then https://a.example/?token=2", "", "https://a.example/in?token=1&email=x,", ""},
		"in HTML":            {"", `<img src="https://a.example/logo"><a href="https://a.example/in?a=1&amp;token=1">in</a>`, "https://a.example/in?a=1&token=1", ""},
		"a code":             {"Your code: 123456. Not 1234567 or 12345.", "", "", "123456"},
		"digits of a link":   {"https://a.example/?token=123456", "", "https://a.example/?token=123456", ""},
		"nothing":            {"hello", "", "", ""},
	} {
		box := new(world.Mailbox)
		form := strings.NewReader(`{"from":"a@b","to":"c@d","subject":"s","text":` + quote(c.text) + `,"html":` + quote(c.html) + `}`)
		r := httptest.NewRequest("POST", "https://api.resend.com/emails", form)
		r.Header.Set("Authorization", "Bearer k")
		box.ServeHTTP(httptest.NewRecorder(), r)
		if got := box.Last("c@d"); got.Link != c.link || got.Code != c.code {
			t.Errorf("%s: %q and %q, want %q and %q", name, got.Link, got.Code, c.link, c.code)
		}
	}
}
