package remote_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/remote"
)

// page greets who is signed in.
func page(t testing.TB, e *remote.Edge) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, err := e.Session(r)
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		case session == nil:
			_, _ = io.WriteString(w, "Hello, stranger")
		default:
			fmt.Fprint(w, "Hello, ", session.User.Name)
		}
	})
}

// The session is found out when it is asked for, once, and only then marks the response.
func TestHandle(t *testing.T) {
	t.Parallel()
	auth := handler(t, core.Config{})
	edge := &wire{Handler: auth}
	e := newEdge(t, remote.Config{Transport: edge, CacheFor: -1})
	mux := http.NewServeMux()
	mux.HandleFunc("/static", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=600")
	})
	mux.HandleFunc("/public", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=600")
		page(t, e).ServeHTTP(w, r)
	})
	mux.HandleFunc("/thrice", func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			if session, err := e.Session(r); err != nil || session == nil {
				t.Errorf("%v, %v", session, err)
			}
		}
	})
	mux.HandleFunc("/private", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, max-age=60")
		page(t, e).ServeHTTP(w, r)
	})
	for _, c := range []struct {
		path, vary, control string
		asked               int32
		cookies             int
	}{
		{"/static", "", "public, max-age=600", 0, 0},
		{"/public", "Cookie", "private, no-cache, no-store", 1, 1},
		{"/thrice", "Cookie", "private, no-cache, no-store", 1, 1},
		{"/private", "Cookie", "private, max-age=60", 1, 1},
	} {
		b := signedIn(t, auth, "Ada", "")
		csrf := b.jar["__Host-authjs.csrf-token"]
		b.handler = e.Handle(e.Handle(mux))
		before := edge.count.Load()
		w := b.load(c.path)
		if w.Header().Get("Vary") != c.vary || w.Header().Get("Cache-Control") != c.control || edge.count.Load()-before != c.asked || len(w.Header()["Set-Cookie"]) != c.cookies {
			t.Errorf("%s: %v after %d questions", c.path, w.Header(), edge.count.Load()-before)
		}
		if b.jar["__Host-authjs.csrf-token"] != csrf {
			t.Errorf("%s: the browser's CSRF token was replaced", c.path)
		}
	}
	stranger := &browser{handler: e.Handle(mux), jar: map[string]string{}}
	w := stranger.load("/public")
	if w.Header().Get("Vary") != "Cookie" || w.Header().Get("Cache-Control") != "public, max-age=600" || w.Body.String() != "Hello, stranger" {
		t.Errorf("a stranger: %v", w.Header())
	}
}

// A cookie that the edge has given up is taken from the browser, with all its chunks, and a
// page that could not know its visitor is in no cache.
func TestHandleClears(t *testing.T) {
	t.Parallel()
	auth := handler(t, core.Config{})
	e := newEdge(t, remote.Config{Transport: &wire{Handler: auth}})
	b := &browser{handler: e.Handle(page(t, e)), jar: map[string]string{cookieName + ".0": "x", cookieName + ".1": "y", "theme": "dark"}}
	if w := b.load("/"); w.Body.String() != "Hello, stranger" || len(b.jar) != 1 || w.Header().Get("Cache-Control") == "" {
		t.Errorf("%q, and the browser keeps %v", w.Body, b.jar)
	}
	broken := newEdge(t, remote.Config{Transport: &wire{Handler: answering(503, "application/json", "null")}})
	b = &browser{handler: broken.Handle(page(t, broken)), jar: map[string]string{cookieName: "x"}}
	if w := b.load("/"); w.Code != 503 || w.Header().Get("Cache-Control") != "private, no-cache, no-store" || len(b.jar) != 1 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// Whatever the edge sets besides the session does not reach the browser.
func TestForeignCookiesAreNotHandedOn(t *testing.T) {
	t.Parallel()
	e := newEdge(t, remote.Config{Transport: &wire{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, line := range []string{"tracking=1", cookieName + "=new; Path=/; HttpOnly", cookieName + ".0=; Max-Age=0", cookieName + "s=1", "=" + cookieName, cookieName} {
			w.Header().Add("Set-Cookie", line)
		}
		answering(200, "application/json", good).ServeHTTP(w, r)
	})}})
	w := httptest.NewRecorder()
	e.Handle(page(t, e)).ServeHTTP(w, withCookie("x"))
	want := []string{cookieName + "=new; Path=/; HttpOnly", cookieName + ".0=; Max-Age=0"}
	if got := w.Header()["Set-Cookie"]; !slices.Equal(got, want) {
		t.Errorf("%q were handed on, want %q", got, want)
	}
}

// Two Edges in one chain each know their own, and Session works without any.
func TestTwoEdges(t *testing.T) {
	t.Parallel()
	ada := newEdge(t, remote.Config{Transport: &wire{Handler: answering(200, "application/json", good)}})
	bob := newEdge(t, remote.Config{Transport: &wire{Handler: answering(200, "application/json", strings.ReplaceAll(good, "Ada", "Bob"))}})
	for _, h := range []http.Handler{ada.Handle(bob.Handle(page(t, ada))), page(t, ada)} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, withCookie("x"))
		if w.Body.String() != "Hello, Ada" {
			t.Errorf("%q", w.Body)
		}
	}
}

// A response that comes before the response (RFC 9110, 15.2) leaves time for cookies.
func TestEarlyHints(t *testing.T) {
	t.Parallel()
	auth := handler(t, core.Config{})
	e := newEdge(t, remote.Config{Transport: &wire{Handler: auth}})
	b := signedIn(t, auth, "Ada", "")
	b.handler = e.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		page(t, e).ServeHTTP(w, r)
	}))
	if w := b.load("/"); len(w.Header()["Set-Cookie"]) != 1 {
		t.Errorf("%v", w.Header())
	}
}

// Asking after the response has begun gives the same answer, and a warning.
func TestTooLate(t *testing.T) {
	t.Parallel()
	auth := handler(t, core.Config{})
	var warned []string
	log := quiet()
	log.Warn = func(msg string, _ ...any) { warned = append(warned, msg) }
	e := newEdge(t, remote.Config{Transport: &wire{Handler: auth}, Logger: log})
	b := signedIn(t, auth, "Ada", "")
	b.handler = e.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.(http.Flusher).Flush()
		page(t, e).ServeHTTP(w, r)
	}))
	if w := b.load("/"); w.Body.String() != "Hello, Ada" || len(w.Header()["Set-Cookie"]) != 0 || !slices.Equal(warned, []string{"session-not-extended"}) {
		t.Errorf("%q %v, warned of %q", w.Body, w.Header(), warned)
	}
}
