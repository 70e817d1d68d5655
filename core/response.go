package core

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

// A Response is the answer to one request, before it is written.
type Response struct {
	Status  int
	Header  http.Header // Location and Set-Cookie included
	Body    []byte
	Session *Session // of the session route and of Auth.Session; nil: signed out
	Err     *Error   // why the request failed; nil: it didn't

	inPlace bool // Header is that of the response writer
}

// CopyCookies adds the cookies of the response to another one, so that a session read
// with [Auth.Session] is extended in the browser.
func (resp *Response) CopyCookies(w http.ResponseWriter) {
	for _, line := range resp.Header["Set-Cookie"] {
		w.Header().Add("Set-Cookie", line)
	}
}

func (resp *Response) write(w http.ResponseWriter) {
	if !resp.inPlace {
		header := w.Header()
		for name, values := range resp.Header {
			if before, found := header[name]; found {
				values = append(before, values...)
			}
			header[name] = values
		}
	}
	w.WriteHeader(resp.Status)
	if len(resp.Body) > 0 {
		_, _ = w.Write(resp.Body) // the client has gone; nobody is left to tell
	}
}

const (
	typeJSON = "application/json"
	typeHTML = "text/html"
)

// reply is what an action answers; render makes an HTTP response of it.
type reply struct {
	status   int    // 0: 200, or 302 with a redirect
	redirect string // where to, in UTF-8
	mime     string
	body     []byte
	noStore  bool   // with the headers of the csrf and session routes (facts 24 and 94)
	csp      string // of a page
	session  *Session
}

func jsonReply(value any) (reply, error) {
	body, err := json.Marshal(value)
	return reply{mime: typeJSON, body: body}, err
}

// render makes the response of a request that succeeded, cookies included. It fails before it
// touches the header.
func (x *exchange) render(out reply) (*Response, error) {
	location, ok := headerBytes(out.redirect)
	if !ok {
		return nil, fail(ErrInvalidCallbackURL, "a redirect URL does not fit into a header", nil)
	}
	h := x.header
	if h == nil {
		h = make(http.Header, 8)
	}
	var values [12]string // one allocation for all the header's values
	used := 0
	set := func(name, value string) {
		values[used] = value
		h[name] = values[used : used+1 : used+1]
		used++
	}
	resp := &Response{Status: out.status, Header: h, Body: out.body, Session: out.session, inPlace: x.header != nil}
	if out.mime != "" {
		set("Content-Type", out.mime)
		set("X-Content-Type-Options", "nosniff")
	}
	if out.noStore {
		set("Cache-Control", "private, no-cache, no-store")
		set("Expires", "0")
		set("Pragma", "no-cache")
	}
	if out.csp != "" {
		// A page carries its browser's CSRF token: no cache may give it to another.
		set("Cache-Control", "private, no-cache, no-store")
		set("Content-Security-Policy", out.csp)
		set("X-Frame-Options", "DENY")
		// Not no-referrer: browsers would then send "Origin: null" with the page's own forms.
		set("Referrer-Policy", "same-origin")
	}
	if len(x.set) > 0 {
		lines := make([]string, len(x.set))
		for i, c := range x.set {
			lines[i] = c.String()
		}
		h["Set-Cookie"] = lines
	}
	if out.redirect != "" {
		resp.Status = http.StatusFound
		set("Location", location)
		if isReturnRedirect(x.r) {
			resp.Status = http.StatusOK
			set("Content-Type", typeJSON)
			resp.Body = urlJSON(out.redirect)
		}
	}
	if resp.Status == 0 {
		resp.Status = http.StatusOK
	}
	return resp, nil
}

// urlJSON is the body of an answer to a client that sent X-Auth-Return-Redirect.
func urlJSON(url string) []byte {
	body, _ := json.Marshal(map[string]string{"url": url}) // text always marshals
	return body
}

// headerBytes converts text to a header value as the Fetch standard does: each character
// is one byte. It fails for what that can't express (fact 46).
func headerBytes(text string) (string, bool) {
	ascii := true
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == 0 || c == '\r' || c == '\n':
			return "", false
		case c >= 0x80:
			ascii = false
		}
	}
	if ascii {
		return text, true
	}
	out := make([]byte, 0, len(text))
	for _, c := range text {
		if c > 0xff {
			return "", false
		}
		out = append(out, byte(c))
	}
	return string(out), true
}

// badRequest is the answer to what is no request of this handler, or not well formed.
func badRequest() *Response {
	return bare(http.StatusBadRequest, typeJSON, `"Bad request."`)
}

func bare(status int, mime, body string) *Response {
	return &Response{
		Status: status,
		Header: http.Header{"Content-Type": {mime}, "X-Content-Type-Options": {"nosniff"}},
		Body:   []byte(body),
	}
}

// failure is the answer to a request that failed: a redirect to a page, without cookies.
func (x *exchange) failure(err *Error) *Response {
	if err.Kind == ErrSessionToken {
		// The store can't tell who this is. That is no "signed out", and the cookie stays.
		down := bare(http.StatusServiceUnavailable, typeJSON, "null")
		down.Header.Set("Retry-After", "2") // seconds
		return down
	}
	if x.r.Method == http.MethodPost && x.action == ActionSession {
		return bare(http.StatusBadRequest, typeJSON, "null")
	}
	action, query := err.shown()
	page := x.path + "/" + string(action)
	if action == ActionSignIn && x.config.Pages.SignIn != "" {
		page = x.config.Pages.SignIn
	}
	if action == ActionError && x.config.Pages.Error != "" {
		page = x.config.Pages.Error
	}
	url := x.origin + page + "?" + query
	if isReturnRedirect(x.r) {
		return bare(http.StatusOK, typeJSON, string(urlJSON(url)))
	}
	return redirectResponse(url)
}

func redirectResponse(url string) *Response {
	if u, ok := weburl.Parse(url); ok {
		url = u.String()
	}
	return &Response{Status: http.StatusFound, Header: http.Header{"Location": {url}}}
}

// misconfigured is the answer while the configuration, or the request's callbackUrl, is
// unusable: the error page for pages, a JSON message for everything else (facts 35 and 36).
func (x *exchange) misconfigured() *Response {
	isPage := x.action == ActionSignIn || x.action == ActionSignOut || x.action == ActionError || x.action == ActionVerifyRequest
	if !isPage || x.r.Method != http.MethodGet {
		return bare(http.StatusInternalServerError, typeJSON,
			`{"message":"There was a problem with the server configuration. Check the server logs for more information."}`)
	}
	custom := x.config.Pages.Error
	if custom != "" {
		if !strings.HasPrefix(x.queryText("callbackUrl"), custom) {
			return redirectResponse(x.origin + custom + "?error=Configuration")
		}
		x.log.Error(string(ErrErrorPageLoop), "message", "the error page must not require signing in", "request", x.requestID())
	}
	x.set = nil
	resp, _ := x.render(x.errorReply("Configuration")) // it has no redirect that could fail
	return resp
}
