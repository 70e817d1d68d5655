package core_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// padded is an app whose JWT callback puts as many characters into the token as an update asks
// for, or, once it is set, as *pad says.
func padded(t *testing.T, log *journal, options core.SessionOptions, pad *int) *core.Auth {
	return newAuth(t, core.Config{
		Providers: []core.Provider{anyone}, Session: options, Logger: log.logger(),
		Callbacks: core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (core.JWT, error) {
			if text, ok := p.Session.(string); ok {
				n, err := strconv.Atoi(text)
				if err != nil {
					return nil, err
				}
				p.Token["pad"] = strings.Repeat("x", n)
			}
			if pad != nil && *pad > 0 {
				p.Token["pad"] = strings.Repeat("x", *pad)
			}
			return p.Token, nil
		}},
	})
}

// grow asks for a token with so many characters more.
func (b *browser) grow(n int) *answer {
	b.t.Helper()
	return b.post("/auth/session", "data", strconv.Itoa(n))
}

// sessionSize is how many bytes of token the session cookies hold.
func (b *browser) sessionSize() (size, cookies int) {
	for _, c := range b.jar {
		if strings.Contains(c.Name, sessionCookie) {
			size, cookies = size+len(c.Value), cookies+1
		}
	}
	return size, cookies
}

// Before other servers refuse the site's cookies, one line tells how to make them smaller.
func TestLargeSessionWarning(t *testing.T) {
	t.Parallel()
	var log journal
	b := newBrowser(t, padded(t, &log, core.SessionOptions{}, nil))
	b.signInAs("Ada")
	for n := 3000; ; n += 50 {
		before := log.text()
		b.grow(n)
		size, _ := b.sessionSize()
		if log.text() == before && size <= 6144 {
			continue
		}
		added := log.text()[len(before):]
		if size <= 6144 || size > 6144+100 || !strings.HasPrefix(strings.TrimSpace(added), "warn session-cookie-large") ||
			!strings.Contains(added, "bytes"+strconv.Itoa(size)) || !strings.Contains(added, "Callbacks.JWT") || !strings.Contains(added, "database") {
			t.Errorf("with %d bytes: logged %q", size, added)
		}
		break
	}
	for range 10 {
		b.grow(8000)
		b.get("/auth/session")
	}
	if n := strings.Count(log.text(), "session-cookie-large"); n != 1 || b.user() != "Ada" {
		t.Errorf("%d warnings:\n%s", n, log.text())
	}
}

// E-11: a session that servers could not take from the browser is not given to it. Whoever asked
// is told, the log says why, and the session that was there goes on.
func TestSessionTooLarge(t *testing.T) {
	t.Parallel()
	var log journal
	pad := 0
	auth := padded(t, &log, core.SessionOptions{MaxCookieBytes: 15_744}, &pad)
	b := newBrowser(t, auth)
	b.signInAs("Ada")
	b.grow(1000)
	before := b.cookieHeader()

	for _, n := range []int{12_000, 48_000, 200_000} {
		if a := b.grow(n); a.status != http.StatusBadRequest || a.body != "null" || a.setsCookie("") {
			t.Errorf("an update by %d: %d %s %.200q", n, a.status, a.body, a.header["Set-Cookie"])
		}
	}
	if b.cookieHeader() != before || b.user() != "Ada" {
		t.Errorf("after the updates %q is signed in", b.user())
	}
	if !log.has(core.ErrSessionTooLarge) || !strings.Contains(log.text(), "15744") || !strings.Contains(log.text(), "Callbacks.JWT") {
		t.Errorf("logged %s", log.text())
	}

	pad = 48_000
	before = b.cookieHeader()
	resp := auth.SignIn(withCookies(b), core.SignInRequest{Provider: "credentials", Fields: map[string][]string{"name": {"Eve"}}})
	if !errors.Is(resp.Err, core.ErrSessionTooLarge) || len(resp.Header["Set-Cookie"]) > 0 {
		t.Errorf("Auth.SignIn: %v %.200q", resp.Err, resp.Header["Set-Cookie"])
	}
	b.post("/auth/callback/credentials", "name", "Eve").wantError(t, configurationError)
	if pad = 0; b.user() != "Ada" {
		t.Errorf("after the sign-in %q is signed in", b.user())
	}
}

func withCookies(b *browser) *http.Request {
	r := httptest.NewRequest(http.MethodPost, b.origin+"/page", nil)
	r.Header.Set("Cookie", b.cookieHeader())
	return r
}

// A session that only grows as it is read is told, with the end that the old token has.
func TestSessionTooLargeToExtend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		pad := 0
		auth := padded(t, &log, core.SessionOptions{MaxAge: time.Hour, MaxCookieBytes: 15_744}, &pad)
		b := newBrowser(t, auth)
		b.signInAs("Ada")
		b.csrf()
		ends := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
		before := b.cookieHeader()
		pad = 48_000
		for range 3 {
			time.Sleep(15 * time.Minute)
			a := b.get("/auth/session")
			if want := `{"expires":"` + ends + `","user":{"email":"Ada@example.com","name":"Ada"}}`; a.status != http.StatusOK || a.body != want || a.setsCookie(sessionCookie) || b.cookieHeader() != before {
				t.Fatalf("%d %s, want %s, sets %.200q", a.status, a.body, want, a.header["Set-Cookie"])
			}
			resp, err := auth.Session(withCookies(b))
			if err != nil || resp.Session == nil || resp.Session.User.Name != "Ada" || len(resp.Header["Set-Cookie"]) > 0 {
				t.Fatalf("Auth.Session: %+v %v", resp, err)
			}
		}
		if strings.Count(log.text(), "error SessionTooLarge ") != 6 {
			t.Errorf("logged %s", log.text())
		}
		pad = 0
		shrunk := b.copy()
		if a := shrunk.get("/auth/session"); !a.setsCookie(sessionCookie) {
			t.Error("a session that fits again is not extended")
		}
		pad = 48_000
		time.Sleep(16 * time.Minute)
		if b.user() != "" || shrunk.user() != "Ada" {
			t.Errorf("after an hour %q and %q are signed in", b.user(), shrunk.user())
		}
	})
}

// The limit is Session.MaxCookieBytes, or else what a token may have at all.
func TestMaxCookieBytes(t *testing.T) {
	t.Parallel()
	for limit, c := range map[int]struct{ most, cookies int }{15_744: {15_744, 4}, 3_000: {3_000, 1}, 20_000: {20_000, 6}} {
		var log journal
		b := newBrowser(t, padded(t, &log, core.SessionOptions{MaxCookieBytes: limit}, nil))
		b.signInAs("Ada")
		largest, cookies := 0, 0
		for n := c.most*3/4 - 900; ; n++ {
			if a := b.grow(n); a.status != http.StatusOK {
				break
			}
			largest, cookies = b.sessionSize()
		}
		if largest > c.most || largest < c.most-22 || cookies != c.cookies || b.user() != "Ada" {
			t.Errorf("MaxCookieBytes %d: up to %d bytes in %d cookies", limit, largest, cookies)
		}
	}
	var log journal
	wide := newBrowser(t, padded(t, &log, core.SessionOptions{}, nil))
	wide.signInAs("Ada")
	if wide.grow(48_000); wide.user() != "Ada" {
		t.Error("16 cookies are refused")
	}
	if size, cookies := wide.sessionSize(); size < 64_000 || cookies < 16 {
		t.Errorf("%d bytes in %d cookies", size, cookies)
	}
	before := wide.cookieHeader()
	if a := wide.grow(60_000); a.status != http.StatusBadRequest || wide.cookieHeader() != before || wide.user() != "Ada" || !log.has(core.ErrSessionTooLarge) {
		t.Errorf("beyond 64 KiB: %d %s", a.status, a.body)
	}
	// A large session of a handler without the limit is read all the same.
	narrow := wide.copy()
	narrow.handler = padded(t, &log, core.SessionOptions{MaxCookieBytes: 15_744}, nil)
	if before := narrow.cookieHeader(); narrow.user() != "Ada" || narrow.cookieHeader() != before {
		t.Error("a large session of another handler is not read, or is touched")
	}
	if narrow.grow(10); narrow.user() != "Ada" {
		t.Error("it does not become small again")
	}
	if size, cookies := narrow.sessionSize(); size > 1000 || cookies != 1 {
		t.Errorf("%d bytes in %d cookies", size, cookies)
	}
}
