package mail_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/mail"
)

// A service is the mail service that a provider calls.
type service struct {
	status int
	answer string
	err    error
	calls  []*http.Request
	bodies []string
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Context().Err(), s.err); err != nil {
		return nil, err
	}
	s.calls, s.bodies = append(s.calls, r), append(s.bodies, string(body))
	return &http.Response{StatusCode: s.status, Body: io.NopCloser(strings.NewReader(s.answer)), Request: r}, nil
}

const link = "https://app.example/auth/callback/resend?callbackUrl=https%3A%2F%2Fapp.example&token=t0k3n&email=ada%40example.com"

func request(p core.Email, s *service) core.VerificationRequest {
	return core.VerificationRequest{
		Identifier: "ada@example.com", Site: "https://app.example", URL: link, Token: "t0k3n", Expires: time.Now().Add(30 * time.Minute),
		Provider: p.ID, From: p.From, APIKey: p.APIKey, Transport: s,
	}
}

func message(core.VerificationRequest) mail.Message {
	return mail.Message{Subject: "S", Text: "T", HTML: "H"}
}

// Each service is sent what its documentation asks for.
func TestServices(t *testing.T) {
	t.Parallel()
	o := mail.Options{APIKey: "k3y", From: "Login <login@example.com>", Compose: message}
	for _, c := range []struct {
		provider core.Email
		id, name string
		url      string
		header   http.Header
		body     string // JSON or a form
	}{
		{mail.Resend(o), "resend", "Resend", "https://api.resend.com/emails", http.Header{"Authorization": {"Bearer k3y"}},
			`{"from":"Login <login@example.com>","to":"ada@example.com","subject":"S","html":"H","text":"T"}`},
		{mail.SendGrid(o), "sendgrid", "SendGrid", "https://api.sendgrid.com/v3/mail/send", http.Header{"Authorization": {"Bearer k3y"}},
			`{"personalizations":[{"to":[{"email":"ada@example.com"}]}],"from":{"email":"login@example.com","name":"Login"},"subject":"S",
			  "content":[{"type":"text/plain","value":"T"},{"type":"text/html","value":"H"}],"tracking_settings":{"click_tracking":{"enable":false}}}`},
		{mail.Postmark(o), "postmark", "Postmark", "https://api.postmarkapp.com/email", http.Header{"X-Postmark-Server-Token": {"k3y"}, "Authorization": nil},
			`{"From":"Login <login@example.com>","To":"ada@example.com","Subject":"S","TextBody":"T","HtmlBody":"H","MessageStream":"outbound","TrackLinks":"None"}`},
		{mail.Mailgun(mail.MailgunOptions{Options: o}), "mailgun", "Mailgun", "https://api.mailgun.net/v3/example.com/messages",
			http.Header{"Authorization": {"Basic YXBpOmszeQ=="}, "Content-Type": {"application/x-www-form-urlencoded"}},
			`from=Login+%3Clogin%40example.com%3E&html=H&o%3Atracking=no&subject=S&text=T&to=ada%40example.com`},
		{mail.Mailgun(mail.MailgunOptions{Options: o, Region: "EU"}), "mailgun", "Mailgun", "https://api.eu.mailgun.net/v3/example.com/messages",
			http.Header{"Authorization": {"Basic YXBpOmszeQ=="}},
			`from=Login+%3Clogin%40example.com%3E&html=H&o%3Atracking=no&subject=S&text=T&to=ada%40example.com`},
		{mail.ForwardEmail(o), "forwardemail", "Forward Email", "https://api.forwardemail.net/v1/emails", http.Header{"Authorization": {"Basic azN5Og=="}},
			`{"from":"Login <login@example.com>","to":"ada@example.com","subject":"S","html":"H","text":"T"}`},
		{mail.Loops(mail.LoopsOptions{Options: o, TransactionalID: "tr1"}), "loops", "Loops", "https://app.loops.so/api/v1/transactional",
			http.Header{"Authorization": {"Bearer k3y"}},
			`{"transactionalId":"tr1","email":"ada@example.com","dataVariables":{"url":"` + link + `","code":""}}`},
	} {
		s := &service{status: 202}
		p := c.provider
		if p.ID != c.id || p.Name != c.name || p.MaxAge != mail.DefaultMaxAge {
			t.Errorf("%s: %+v", c.id, p)
		}
		if err := p.Check(p); err != nil {
			t.Errorf("%s: %v", c.id, err)
		}
		if err := p.Send(t.Context(), request(p, s)); err != nil {
			t.Fatalf("%s: %v", c.id, err)
		}
		got := s.calls[0]
		if got.Method != http.MethodPost || got.URL.String() != c.url {
			t.Errorf("%s: %s %s", c.id, got.Method, got.URL)
		}
		for name, want := range c.header {
			if !reflect.DeepEqual(got.Header[name], want) {
				t.Errorf("%s: %s is %q, want %q", c.id, name, got.Header[name], want)
			}
		}
		if strings.HasPrefix(c.body, "{") {
			var body, want any
			if err := errors.Join(json.Unmarshal([]byte(s.bodies[0]), &body), json.Unmarshal([]byte(c.body), &want)); err != nil || !reflect.DeepEqual(body, want) {
				t.Errorf("%s: body %s\nwant %s (%v)", c.id, s.bodies[0], c.body, err)
			}
		} else if s.bodies[0] != c.body {
			t.Errorf("%s: body %s\nwant %s", c.id, s.bodies[0], c.body)
		}
	}
}

func TestARefusalTellsWhyButNoSecret(t *testing.T) {
	t.Parallel()
	p := mail.Resend(mail.Options{APIKey: "k3y", From: "login@example.com"})
	s := &service{status: 403, answer: `{"message":"the domain is not verified","to":"ada@example.com","html":"…token=t0k3n…","key":"k3y"}` + strings.Repeat("x", 1000)}
	err := p.Send(t.Context(), request(p, s))
	var refused *mail.ServiceError
	if !errors.As(err, &refused) || refused.Status != 403 || refused.Service != "resend" || !strings.Contains(err.Error(), "not verified") {
		t.Fatalf("%v", err)
	}
	for _, secret := range []string{"t0k3n", "k3y", "ada@"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s is in %v", secret, err)
		}
	}
	if len(err.Error()) > 400 {
		t.Errorf("%d bytes of error", len(err.Error()))
	}
	down := errors.New("no route")
	if err := p.Send(t.Context(), request(p, &service{err: down})); !errors.Is(err, down) {
		t.Errorf("the service is down: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Send(ctx, request(p, &service{status: 200})); !errors.Is(err, context.Canceled) {
		t.Errorf("a sign-in that is over: %v", err)
	}
}

// What a service would refuse at the first sign-in is found by core.New, which also takes the
// key from the environment.
func TestSettingsAreCheckedByNew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		provider core.Email
		env      map[string]string
		want     string // in the error; empty: none
	}{
		"all there":             {mail.Resend(mail.Options{APIKey: "k", From: "a@example.com"}), nil, ""},
		"key from environment":  {mail.SendGrid(mail.Options{From: "a@example.com"}), map[string]string{"AUTH_SENDGRID_KEY": "k"}, ""},
		"no key":                {mail.Postmark(mail.Options{From: "a@example.com"}), nil, "AUTH_POSTMARK_KEY"},
		"no sender":             {mail.ForwardEmail(mail.Options{APIKey: "k"}), nil, "From"},
		"a sender that is none": {mail.Resend(mail.Options{APIKey: "k", From: "Login"}), nil, "From"},
		"two lines":             {mail.Resend(mail.Options{APIKey: "k", From: "L\r\nBcc: x <a@example.com>"}), nil, "From"},
		"Mailgun, no region":    {mail.Mailgun(mail.MailgunOptions{Options: mail.Options{APIKey: "k", From: "a@b.c"}, Region: "Mars"}), nil, "Region"},
		"Loops, no template":    {mail.Loops(mail.LoopsOptions{Options: mail.Options{APIKey: "k"}}), nil, "TransactionalID"},
		"Loops":                 {mail.Loops(mail.LoopsOptions{Options: mail.Options{APIKey: "k"}, TransactionalID: "1"}), nil, ""},
	} {
		err := c.provider.Check(withKey(c.provider, c.env))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func withKey(p core.Email, env map[string]string) core.Email {
	for _, value := range env {
		p.APIKey = value
	}
	return p
}

func TestTheDefaultMessage(t *testing.T) {
	t.Parallel()
	m := request(core.Email{ID: "resend"}, nil)
	m.URL = `https://app.example/auth?a=1&b="><script>alert(1)</script>`
	m.Theme = core.Theme{BrandColor: "#c2410c", ButtonText: "#fff"}
	got := mail.Compose(m)
	if got.Subject != "Sign in to app.example" {
		t.Errorf("subject %q", got.Subject)
	}
	if !strings.Contains(got.Text, m.URL+"\n") || !strings.Contains(got.Text, "30 minutes") {
		t.Errorf("text %s", got.Text)
	}
	if strings.Contains(got.HTML, "<script") || !strings.Contains(got.HTML, "30 minutes") || !strings.Contains(got.HTML, "background:#c2410c;color:#fff") {
		t.Errorf("html %s", got.HTML)
	}
	for _, request := range []string{"<img", "<link", "@import", "url(", "src="} {
		if strings.Contains(got.HTML, request) {
			t.Errorf("the mail asks somebody for something: %s", request)
		}
	}
	for life, want := range map[time.Duration]string{time.Minute: "1 minute.", 90 * time.Minute: "90 minutes", 24 * time.Hour: "24 hours"} {
		m.Expires = time.Now().Add(life)
		if text := mail.Compose(m).Text; !strings.Contains(text, "for "+want) {
			t.Errorf("%v: %s", life, text)
		}
	}
	m.URL, m.Code = "", "012345"
	for _, text := range []string{mail.Compose(m).Text, mail.Compose(m).HTML} {
		if !strings.Contains(text, "012345") || !strings.Contains(text, "works once") || strings.Contains(text, "href") {
			t.Errorf("a code: %s", text)
		}
	}
}
