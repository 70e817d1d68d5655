package remote_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core/remote"
)

// FuzzAnswer: whatever the edge says, it is a session with an end, signed out, or ErrAnswer; and
// a session says the same when it is said again.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		good, `null`, ` null `, `{}`, `[]`, `"Bad request."`, `{"message":"x"}`, good + good, `{"user":null,"expires":"2999-01-31T12:00:00Z"}`,
		`{"user":{"id":"1","name":null,"email":"","image":1,"role":{"a":[1e400]}},"expires":"2999-01-31T12:00:00+05:30","x":1}`, `{"expires":"2999-01-31T12:00:00Z","expires":1}`,
		`{"expires":"9999-12-31T23:59:59-23:00"}`, `{"Expires":"2999-01-31T12:00:00Z"}`,
	} {
		f.Add(seed)
	}
	ask := func(t *testing.T, body string) (string, error) {
		e := newEdge(t, remote.Config{Transport: &wire{Handler: answering(200, "application/json", body)}})
		session, err := e.Session(withCookie("x"))
		if err != nil || session == nil {
			return "", err
		}
		if session.Expires.IsZero() {
			t.Errorf("%q is a session without an end", body)
		}
		return toJSON(t, session), nil
	}
	f.Fuzz(func(t *testing.T, body string) {
		said, err := ask(t, body)
		if err != nil && !errors.Is(err, remote.ErrAnswer) {
			t.Fatalf("%q: %v", body, err)
		}
		if said == "" {
			if err == nil && strings.TrimSpace(body) != "null" {
				t.Errorf("%q is signed out", body)
			}
			return
		}
		if again, err := ask(t, said); err != nil || again != said {
			t.Errorf("%q is %s and then %s, %v", body, said, again, err)
		}
	})
}

// FuzzCookies: of whatever a browser sends, session cookies and nothing else reach the edge, and
// of what the edge sets, nothing else reaches the browser.
func FuzzCookies(f *testing.F) {
	for _, seed := range []string{
		cookieName + "=1", "a=1; " + cookieName + ".0=x;" + cookieName + ".1=y", cookieName + " = 1 ;\t" + cookieName + ".199=\"a b\"", ";;=; =x; " + cookieName,
		cookieName + ".200=1; " + cookieName + ".00=1", cookieName + "=1; Max-Age=0", "__Host-authjs.session-token=1, " + cookieName + "=2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		edge := &wire{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Set-Cookie"] = []string{text}
			answering(200, "application/json", good).ServeHTTP(w, r)
		})}
		e := newEdge(t, remote.Config{Transport: edge})
		r := httptest.NewRequest("GET", app, nil)
		r.Header["Cookie"] = []string{text, cookieName + ".7=7"}
		w := httptest.NewRecorder()
		e.Handle(page(t, e)).ServeHTTP(w, r)
		if len(edge.asked) != 1 {
			t.Fatalf("%q: %d questions", text, len(edge.asked))
		}
		for part := range strings.SplitSeq(edge.asked[0].Header.Get("Cookie"), "; ") {
			if name, _, _ := strings.Cut(part, "="); !isOurs(name) {
				t.Errorf("%q: %q was forwarded", text, part)
			}
		}
		for _, line := range w.Header()["Set-Cookie"] {
			if name, _, _ := strings.Cut(line, "="); !isOurs(strings.TrimSpace(name)) {
				t.Errorf("%q: %q was handed on", text, line)
			}
		}
	})
}

func isOurs(name string) bool {
	for _, prefix := range []string{"", "__Secure-", "__Host-"} {
		if rest, ok := strings.CutPrefix(name, prefix+"authjs.session-token"); ok {
			if rest == "" {
				return true
			}
			digits := strings.TrimLeft(rest[1:], "0123456789")
			return rest[0] == '.' && digits == "" && len(rest) <= 4
		}
	}
	return false
}
