package mail

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// Resend sends through resend.com.
//
// https://resend.com/docs/api-reference/emails/send-email
func Resend(o Options) core.Email {
	return o.provider("resend", "Resend", func(m core.VerificationRequest, h http.Header, what Message) (string, string, error) {
		bearer(h, m.APIKey)
		return jsonCall("https://api.resend.com/emails", map[string]any{
			"from": m.From, "to": m.Identifier, "subject": what.Subject, "html": what.HTML, "text": what.Text,
		})
	})
}

// SendGrid sends through sendgrid.com.
//
// https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
func SendGrid(o Options) core.Email {
	return o.provider("sendgrid", "SendGrid", func(m core.VerificationRequest, h http.Header, what Message) (string, string, error) {
		bearer(h, m.APIKey)
		name, address, _ := sender(m.From)
		from := map[string]any{"email": address}
		if name != "" {
			from["name"] = name
		}
		return jsonCall("https://api.sendgrid.com/v3/mail/send", map[string]any{
			"personalizations": []any{map[string]any{"to": []any{map[string]any{"email": m.Identifier}}}},
			"from":             from,
			"subject":          what.Subject,
			"content": []any{
				map[string]any{"type": "text/plain", "value": what.Text},
				map[string]any{"type": "text/html", "value": what.HTML},
			},
			// A link that counts clicks goes through somebody else's hands.
			"tracking_settings": map[string]any{"click_tracking": map[string]any{"enable": false}},
		})
	})
}

// Postmark sends through postmarkapp.com, by its stream "outbound".
//
// https://postmarkapp.com/developer/api/email-api
func Postmark(o Options) core.Email {
	return o.provider("postmark", "Postmark", func(m core.VerificationRequest, h http.Header, what Message) (string, string, error) {
		h.Set("X-Postmark-Server-Token", m.APIKey)
		return jsonCall("https://api.postmarkapp.com/email", map[string]any{
			"From": m.From, "To": m.Identifier, "Subject": what.Subject, "TextBody": what.Text, "HtmlBody": what.HTML,
			"MessageStream": "outbound", "TrackLinks": "None",
		})
	})
}

// MailgunOptions are those of Mailgun.
type MailgunOptions struct {
	Options
	Region string // "US" or "EU"; empty: "US"
}

// Mailgun sends through mailgun.com, by the domain of the sender's address.
//
// https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages
func Mailgun(o MailgunOptions) core.Email {
	server := map[string]string{"": "api.mailgun.net", "US": "api.mailgun.net", "EU": "api.eu.mailgun.net"}[o.Region]
	p := o.provider("mailgun", "Mailgun", func(m core.VerificationRequest, h http.Header, what Message) (string, string, error) {
		basic(h, "api", m.APIKey)
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		_, address, _ := sender(m.From)
		_, domain, _ := strings.Cut(address, "@")
		form := url.Values{
			"from": {m.From}, "to": {m.Identifier}, "subject": {what.Subject}, "html": {what.HTML}, "text": {what.Text},
			"o:tracking": {"no"},
		}
		return "https://" + server + "/v3/" + url.PathEscape(domain) + "/messages", form.Encode(), nil
	})
	p.Check = func(p core.Email) error {
		if server == "" {
			return errors.New(`mail: Region must be "US" or "EU"`)
		}
		return check(p)
	}
	return p
}

// ForwardEmail sends through forwardemail.net.
//
// https://forwardemail.net/en/email-api#create-outbound-smtp-email
func ForwardEmail(o Options) core.Email {
	return o.provider("forwardemail", "Forward Email", func(m core.VerificationRequest, h http.Header, what Message) (string, string, error) {
		basic(h, m.APIKey, "")
		return jsonCall("https://api.forwardemail.net/v1/emails", map[string]any{
			"from": m.From, "to": m.Identifier, "subject": what.Subject, "html": what.HTML, "text": what.Text,
		})
	})
}

// LoopsOptions are those of Loops. Its messages are written there: the template has the
// data variables url and code, of which one is empty, and Compose and From are not used.
type LoopsOptions struct {
	Options
	TransactionalID string // of the template. Required
}

// Loops sends through loops.so.
//
// https://loops.so/docs/api-reference/send-transactional-email
func Loops(o LoopsOptions) core.Email {
	p := o.provider("loops", "Loops", func(m core.VerificationRequest, h http.Header, _ Message) (string, string, error) {
		bearer(h, m.APIKey)
		return jsonCall("https://app.loops.so/api/v1/transactional", map[string]any{
			"transactionalId": o.TransactionalID, "email": m.Identifier, "dataVariables": map[string]any{"url": m.URL, "code": m.Code},
		})
	})
	p.Check = func(p core.Email) error {
		if o.TransactionalID == "" {
			return errors.New("mail: no TransactionalID: set it to that of the template at Loops")
		}
		p.From = "unused@loops.so"
		return check(p)
	}
	return p
}

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

func basic(h http.Header, user, password string) {
	h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

func jsonCall(url string, body map[string]any) (string, string, error) {
	text, err := json.Marshal(body)
	return url, string(text), err
}
