package world

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Mailbox plays the mail services of package core/mail, and keeps what it is sent. In Hosts it stands under the service's
// name: api.resend.com, api.sendgrid.com, api.postmarkapp.com, api.mailgun.net, api.eu.mailgun.net, api.forwardemail.net or
// app.loops.so. A request that the service would not take is answered with 400 and not kept.
//
// The zero Mailbox is empty and takes any API key. It is safe for concurrent use; fields are changed between requests only.
type Mailbox struct {
	Key    string // the API key that is asked for, else 401; empty: any
	Refuse int    // the status of every answer, and nothing is kept; 0: none

	mu       sync.Mutex
	messages []Message
}

// A Message is one e-mail as the service was told to send it.
type Message struct {
	Host     string // of the service
	From, To string
	Subject  string
	Text     string
	HTML     string
	Link     string // the link to sign in by: the first one with a token, else the first one; empty: none
	Code     string // the six digits to type in; empty: none
}

// Messages are those to an address, in the order of their arrival; to the empty one, all.
func (m *Mailbox) Messages(to string) []Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.messages), func(one Message) bool { return to != "" && one.To != to })
}

// Last is the newest message to an address, or the zero Message if there is none.
func (m *Mailbox) Last(to string) Message {
	if all := m.Messages(to); len(all) > 0 {
		return all[len(all)-1]
	}
	return Message{}
}

// ServeHTTP is the service.
func (m *Mailbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	service, ok := services[r.Method+" "+r.Host+pathOf(r)]
	body, err := io.ReadAll(r.Body)
	switch {
	case !ok:
		answerJSON(w, http.StatusNotFound, map[string]any{"message": "no such endpoint"})
		return
	case m.Refuse != 0:
		answerJSON(w, m.Refuse, map[string]any{"message": "refused"})
		return
	case m.Key != "" && service.key(r) != m.Key || service.key(r) == "":
		answerJSON(w, http.StatusUnauthorized, map[string]any{"message": "the API key is not valid"})
		return
	}
	message, read := service.read(r, body)
	if err != nil || !read || !strings.Contains(message.To, "@") {
		answerJSON(w, http.StatusBadRequest, map[string]any{"message": "the message is not valid"})
		return
	}
	message.Host = r.Host
	message.find()
	m.mu.Lock()
	m.messages = append(m.messages, message)
	m.mu.Unlock()
	answerJSON(w, service.status, map[string]any{"id": "1", "success": true})
}

// pathOf is the path of a request, without what Mailgun has in it: the sender's domain.
func pathOf(r *http.Request) string {
	if strings.HasSuffix(r.Host, ".mailgun.net") {
		return mailgunPath.ReplaceAllString(r.URL.Path, "/v3/{domain}/messages")
	}
	return r.URL.Path
}

var (
	mailgunPath = regexp.MustCompile(`^/v3/[^/]+/messages$`)
	links       = regexp.MustCompile(`https?://[^\s"'<>]+`)
	code        = regexp.MustCompile(`(?:^|\D)(\d{6})(?:\D|$)`)
)

// find looks for the link and the code.
func (m *Message) find() {
	text := m.Text
	if text == "" {
		text = strings.ReplaceAll(m.HTML, "&amp;", "&")
	}
	found := links.FindAllString(text, -1)
	for _, link := range found {
		u, err := url.Parse(link)
		hasToken := err == nil && u.Query().Has("token")
		if m.Link == "" || hasToken {
			m.Link = link
		}
		if hasToken {
			break
		}
	}
	if match := code.FindStringSubmatch(links.ReplaceAllString(text, "")); match != nil && m.Code == "" && m.Text != "" {
		m.Code = match[1]
	}
}

// A service is how one mail service is spoken to.
type service struct {
	status int // of an answer to a message that is taken
	key    func(r *http.Request) string
	read   func(r *http.Request, body []byte) (m Message, ok bool)
}

var services = map[string]service{
	"POST api.resend.com/emails":                   {200, bearerKey, readPlain},
	"POST api.sendgrid.com/v3/mail/send":           {202, bearerKey, readSendGrid},
	"POST api.postmarkapp.com/email":               {200, postmarkKey, readPlain},
	"POST api.mailgun.net/v3/{domain}/messages":    {200, basicPassword, readMailgun},
	"POST api.eu.mailgun.net/v3/{domain}/messages": {200, basicPassword, readMailgun},
	"POST api.forwardemail.net/v1/emails":          {200, basicUser, readPlain},
	"POST app.loops.so/api/v1/transactional":       {200, bearerKey, readLoops},
}

func bearerKey(r *http.Request) string {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return key
}

func postmarkKey(r *http.Request) string { return r.Header.Get("X-Postmark-Server-Token") }

func basicUser(r *http.Request) string {
	user, _, _ := r.BasicAuth()
	return user
}

func basicPassword(r *http.Request) string {
	_, password, _ := r.BasicAuth()
	return password
}

// readPlain reads an object with a member for each part, as most services have it, in upper or lower case.
func readPlain(_ *http.Request, body []byte) (m Message, ok bool) {
	var in struct{ From, To, Subject, Text, HTML, TextBody, HTMLBody string }
	err := json.Unmarshal(body, &in)
	m = Message{From: in.From, To: in.To, Subject: in.Subject, Text: in.Text + in.TextBody, HTML: in.HTML + in.HTMLBody}
	return m, err == nil && m.isWhole()
}

func (m *Message) isWhole() bool { return m.From != "" && m.Subject != "" && m.Text+m.HTML != "" }

func readSendGrid(_ *http.Request, body []byte) (m Message, ok bool) {
	type address struct{ Name, Email string }
	var in struct {
		Personalizations []struct{ To []address }
		From             address
		Subject          string
		Content          []struct{ Type, Value string }
	}
	if json.Unmarshal(body, &in) != nil || len(in.Personalizations) != 1 || len(in.Personalizations[0].To) != 1 {
		return m, false
	}
	m = Message{From: in.From.Email, To: in.Personalizations[0].To[0].Email, Subject: in.Subject}
	if in.From.Name != "" {
		m.From = in.From.Name + " <" + in.From.Email + ">"
	}
	for _, content := range in.Content {
		switch content.Type {
		case "text/plain":
			m.Text = content.Value
		case "text/html":
			m.HTML = content.Value
		}
	}
	return m, m.isWhole()
}

func readMailgun(_ *http.Request, body []byte) (m Message, ok bool) {
	form, err := url.ParseQuery(string(body))
	m = Message{From: form.Get("from"), To: form.Get("to"), Subject: form.Get("subject"), Text: form.Get("text"), HTML: form.Get("html")}
	return m, err == nil && m.isWhole()
}

// readLoops reads what is filled into a template that is kept at Loops.
func readLoops(_ *http.Request, body []byte) (m Message, ok bool) {
	var in struct {
		TransactionalID, Email string
		DataVariables          struct{ URL, Code string }
	}
	err := json.Unmarshal(body, &in)
	m = Message{To: in.Email, Link: in.DataVariables.URL, Code: in.DataVariables.Code}
	return m, err == nil && in.TransactionalID != "" && m.Link+m.Code != ""
}
