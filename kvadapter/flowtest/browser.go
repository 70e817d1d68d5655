package flowtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"
)

// A browser keeps cookies, as long as they live.
type browser struct {
	*world
	handler http.Handler
	jar     map[string]*http.Cookie
	tokens  []string // every session token it was given
	answers []answer // to all requests
}

// browser gives a new one, for the site of the world.
func (w *world) browser() *browser { return w.browserOf(w.auth) }

func (w *world) browserOf(handler http.Handler) *browser {
	return &browser{world: w, handler: handler, jar: map[string]*http.Cookie{}}
}

// An answer is a response as a browser got it.
type answer struct {
	request  string // method and path, without the query
	status   int    // 0: the process has died
	header   http.Header
	body     string
	session  string // the session cookie that was set, if any
	clears   bool   // the session cookie was cleared
	location string // without the origin
}

// send makes a request. fields is the form of a POST, nil for a GET.
func (b *browser) send(path string, fields url.Values) answer {
	method := http.MethodGet
	if fields != nil {
		method = http.MethodPost
	}
	r := httptest.NewRequestWithContext(newRequestContext(b.ctx), method, origin+path, strings.NewReader(fields.Encode()))
	if fields != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, c := range b.jar {
		if c.Expires.IsZero() || time.Now().Before(c.Expires) {
			r.Header.Add("Cookie", name+"="+c.Value)
		}
	}
	route, _, _ := strings.Cut(path, "?")
	out := httptest.NewRecorder()
	if b.dies(func() { b.handler.ServeHTTP(out, r) }) {
		b.answers = append(b.answers, answer{request: method + " " + route})
		return b.answers[len(b.answers)-1]
	}
	a := answer{request: method + " " + route, status: out.Code, header: out.Header(), body: out.Body.String()}
	a.location = strings.TrimPrefix(out.Header().Get("Location"), origin)
	for _, c := range out.Result().Cookies() {
		b.keep(c, &a)
	}
	b.answers = append(b.answers, a)
	return a
}

// dies does something that the process may not survive.
func (b *browser) dies(do func()) (died bool) {
	over := make(chan struct{})
	died = true
	go func() {
		defer close(over)
		do()
		died = false
	}()
	<-over
	return died
}

func (b *browser) keep(c *http.Cookie, a *answer) {
	if c.MaxAge > 0 {
		c.Expires = time.Now().Add(time.Duration(c.MaxAge) * time.Second)
	}
	isOver := c.MaxAge < 0 || c.Value == ""
	if isOver {
		delete(b.jar, c.Name)
	} else {
		b.jar[c.Name] = c
	}
	if c.Name == sessionCookie {
		a.clears = isOver
		if !isOver {
			a.session = c.Value
			b.tokens = append(b.tokens, c.Value)
		}
	}
}

func (b *browser) get(path string) answer { return b.send(path, nil) }

// post sends a form with a CSRF token.
func (b *browser) post(path string, fields url.Values) answer {
	var csrf struct{ CSRFToken string }
	if a := b.get(base + "/csrf"); json.Unmarshal([]byte(a.body), &csrf) != nil {
		b.failf("GET csrf: %d %s", a.status, a.body)
	}
	form := url.Values{"csrfToken": {csrf.CSRFToken}}
	for name, values := range fields {
		form[name] = values
	}
	return b.send(path, form)
}

// A state is what GET session tells.
type state struct {
	User    struct{ ID, Name, Email string }
	Expires time.Time
}

// read gives an answer of the session route, nil for one that is null or no answer.
func (a *answer) read() *state {
	var s *state
	if a.status != http.StatusOK || json.Unmarshal([]byte(a.body), &s) != nil {
		return nil
	}
	return s
}

// session asks who is signed in; nil is nobody. The site must be able to tell.
func (b *browser) session() *state {
	a := b.get(base + "/session")
	if a.status != http.StatusOK {
		b.failf("GET session: %d %s\n%s", a.status, a.body, b.journal())
	}
	return a.read()
}

// is reports whether a session is a person's.
func (s *state) is(who person) bool {
	return s != nil && s.User.Email == who.address
}

// with is another browser that has only got a session cookie.
func (b *browser) with(token string) *browser {
	out := b.browserOf(b.handler)
	out.jar[sessionCookie] = &http.Cookie{Name: sessionCookie, Value: token}
	return out
}

// has reports whether the browser has a session cookie.
func (b *browser) has() bool { return b.jar[sessionCookie] != nil }

// askLink has a link sent, and gives its path; "" if none was sent.
func (b *browser) askLink(who person) string {
	before := len(b.inbox(who.address))
	b.post(base+"/signin/email", url.Values{"email": {who.address}})
	if mails := b.inbox(who.address); len(mails) > before {
		return strings.TrimPrefix(mails[len(mails)-1].URL, origin)
	}
	return ""
}

// start begins to sign in at a provider, who agrees. It gives the path that the browser is
// sent back to; "" if the site failed.
func (b *browser) start(provider string, who person) string {
	a := b.post(base+"/signin/"+provider, nil)
	if !strings.HasPrefix(a.location, issuer(provider)+"/authorize?") {
		return ""
	}
	back, err := b.network.approve(a.location, who)
	if err != nil {
		b.failf("%w", err)
	}
	return back
}

// begin is askLink or start: what ends with a path to open.
func (b *browser) begin(provider string, who person) string {
	if provider == mail {
		return b.askLink(who)
	}
	return b.start(provider, who)
}

// enter signs in all the way, by a link or at a provider. done is whether the browser
// was given a session.
func (b *browser) enter(provider string, who person) (last answer, done bool) {
	path := b.begin(provider, who)
	if path == "" {
		return b.answers[len(b.answers)-1], false
	}
	a := b.get(path)
	return a, a.status == http.StatusFound && a.session != ""
}

// mail is the ID of the e-mail provider.
const mail = "email"

// mustEnter demands that a person signs in, and gives what the session tells.
func (b *browser) mustEnter(provider string, who person, when string) *state {
	a, done := b.enter(provider, who)
	if !done {
		b.failf("%s: %s can't sign in by %s: %s: %d %s\n%s", when, who.name, provider, a.request, a.status, a.location, b.journal())
	}
	s := b.session()
	if !s.is(who) {
		b.failf("%s: %s has signed in by %s, and the session is %+v", when, who.name, provider, s)
	}
	return s
}

const (
	toVerification = base + "/error?error=Verification"
	toNotLinked    = base + "/signin?error=OAuthAccountNotLinked"
	toFailure      = base + "/error?error=Configuration"
)
