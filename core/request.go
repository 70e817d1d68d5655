package core

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/cookie"
	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

// An Action is the first path segment under the base path.
type Action string

const (
	ActionProviders     Action = "providers"
	ActionSession       Action = "session"
	ActionCSRF          Action = "csrf"
	ActionSignIn        Action = "signin"
	ActionSignOut       Action = "signout"
	ActionCallback      Action = "callback"
	ActionVerifyRequest Action = "verify-request"
	ActionError         Action = "error"
	ActionWebAuthn      Action = "webauthn-options"
	ActionClient        Action = "client.mjs"  // the browser's module, see core/client
	ActionClientTypes   Action = "client.d.ts" // its declarations
)

var actions = [...]Action{
	ActionProviders, ActionSession, ActionCSRF, ActionSignIn, ActionSignOut,
	ActionCallback, ActionVerifyRequest, ActionError, ActionWebAuthn,
	ActionClient, ActionClientTypes,
}

// IsAction reports whether a path segment is an action of this package.
func IsAction(segment string) bool {
	for _, a := range actions {
		if string(a) == segment {
			return true
		}
	}
	return false
}

// takesProvider reports whether a provider's id may follow the action in the path.
func (a Action) takesProvider() bool {
	return a == ActionSignIn || a == ActionCallback || a == ActionWebAuthn
}

// exchange is one request and what has been found out about it.
type exchange struct {
	*Auth
	ctx    context.Context
	r      *http.Request
	now    time.Time
	action Action

	origin   string // the site's public origin
	path     string // the base path the request came by
	base     string // origin and base path
	pathname string // with dot segments resolved
	query    weburl.Query
	body     map[string]any // the fields of a POST; numbers are json.Number
	jar      cookie.Jar
	cookies  *cookieSet

	provider     *provider // nil without one in the path
	csrfToken    string
	csrfVerified bool
	callbackURL  string
	set          []cookie.Cookie // to send with the response
	header       http.Header     // the response writer's, empty, for render to fill; nil: render makes one

	id    string // in the log; empty: nothing has been logged yet
	meter *meter // nil: nothing is measured
}

// errBadRequest is answered 400 "Bad request.", before any other check.
var errBadRequest = fail(ErrUnknownAction, "not a request of this handler", nil)

// accept reads a request: its method, path, query, body and cookies.
func (a *Auth) accept(r *http.Request) (*exchange, string, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		return nil, "", errBadRequest
	}
	origin, ok := a.origin(r)
	if !ok {
		return nil, "", errBadRequest
	}
	x := &exchange{Auth: a, ctx: r.Context(), r: r, now: time.Now(), origin: origin}
	x.pathname = pathnameOf(origin, r)
	var providerID string
	for _, x.path = range a.paths {
		if x.action, providerID, ok = route(x.path, x.pathname); ok {
			break
		}
	}
	if !ok {
		return nil, "", errBadRequest
	}
	x.base = origin + x.path
	if hasTooManyFields(r.URL.RawQuery) {
		return nil, "", errBadRequest
	}
	x.query = weburl.ParseQuery(r.URL.RawQuery)
	if err := x.readBody(); err != nil {
		return nil, "", err
	}
	x.jar = cookie.Parse(strings.Join(r.Header["Cookie"], "; "))
	x.cookies = a.cookiesFor(origin)
	x.measure()
	return x, providerID, nil
}

// pathnameOf gives the path as a URL parser does: not decoded, dot segments resolved.
func pathnameOf(origin string, r *http.Request) string {
	path := r.URL.EscapedPath()
	if !strings.ContainsAny(path, `.\%`) {
		return path
	}
	u, ok := weburl.Parse(origin + path)
	if !ok {
		return path
	}
	return u.Path
}

// route splits a path under the base path into action and provider id. Any number of
// slashes separates and ends segments, and none is needed after the base path (facts 3 to 6).
func route(basePath, pathname string) (Action, string, bool) {
	rest, ok := strings.CutPrefix(pathname, basePath)
	if !ok {
		return "", "", false
	}
	action, rest := cutSegment(rest)
	providerID, rest := cutSegment(rest)
	isTooLong := rest != "" || providerID != "" && !Action(action).takesProvider()
	if isTooLong || !IsAction(action) {
		return "", "", false
	}
	if providerID == "undefined" {
		providerID = ""
	}
	return Action(action), providerID, true
}

// cutSegment cuts the first segment off a path, and the slashes around it.
func cutSegment(path string) (segment, rest string) {
	segment, rest, _ = strings.Cut(strings.TrimLeft(path, "/"), "/")
	return segment, strings.TrimLeft(rest, "/")
}

// isReturnRedirect reports whether the client wants redirects as JSON. The header's
// presence counts, whatever its value.
func isReturnRedirect(r *http.Request) bool {
	_, ok := r.Header["X-Auth-Return-Redirect"]
	return ok
}

// readBody reads the fields of a POST. Anything but JSON and forms is no body at all.
func (x *exchange) readBody() error {
	if x.r.Method != http.MethodPost || !hasBody(x.r) {
		return nil
	}
	contentType := x.r.Header.Get("Content-Type")
	isJSON := strings.Contains(contentType, "application/json")
	if !isJSON && !strings.Contains(contentType, "application/x-www-form-urlencoded") {
		return nil
	}
	raw, err := readLimited(x.r.Body, MaxBodyBytes)
	if err != nil {
		return err
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if isJSON {
		x.body, err = jsonFields(raw)
		return err
	}
	if hasTooManyFields(string(raw)) {
		return fail(ErrRequestTooLarge, "the body has too many fields", nil)
	}
	x.body = map[string]any{}
	for _, p := range weburl.ParseQuery(string(raw)) {
		x.body[p.Name] = p.Value
	}
	return nil
}

// maxFields is how many parameters a query or a form may have. Each costs some hundred times what
// it is long.
const maxFields = 10_000

func hasTooManyFields(encoded string) bool { return strings.Count(encoded, "&") >= maxFields }

func hasBody(r *http.Request) bool {
	if r.Body == nil {
		return false
	}
	return r.ContentLength != 0 || len(r.TransferEncoding) > 0 || r.Header.Get("Content-Length") != ""
}

// readLimited reads all of a body, or ErrRequestTooLarge past the limit, in bytes.
func readLimited(body io.Reader, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(body, limit+1))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) || int64(len(raw)) > limit {
		return nil, fail(ErrRequestTooLarge, "the body is too large", nil)
	}
	return raw, err
}

// jsonFields gives the members of a JSON object; any other JSON value has none.
func jsonFields(raw []byte) (map[string]any, error) {
	var value any
	if err := decodeJSON(raw, &value); err != nil {
		return nil, errBadRequest
	}
	fields, _ := value.(map[string]any)
	return fields, nil
}

// decodeJSON decodes exactly one JSON value and keeps numbers as they are written.
func decodeJSON(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return nil
}

// queryText is a query parameter, of several the last one; "" without one.
func (x *exchange) queryText(name string) string {
	value, _ := x.query.Last(name)
	return value
}

// bodyText is a field of the body that is text, else "".
func (x *exchange) bodyText(name string) string {
	text, _ := x.body[name].(string)
	return text
}
