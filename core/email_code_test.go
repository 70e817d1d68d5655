package core_test

import (
	"context"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// Whatever opens a link with Confirm sees a button, and uses nothing up.
func TestALinkThatScannersMayOpen(t *testing.T) {
	t.Parallel()
	var mails mailbox
	p := mails.provider()
	p.Confirm = true
	store := watch(adaptertest.Memory())
	auth := newAuth(t, core.Config{Providers: []core.Provider{p}, Adapter: &store.Adapter})
	newBrowser(t, auth).post("/auth/signin/email", "email", "ada@example.com", "callbackUrl", "/deep").wantRedirect(t, sentPage)
	link := mails.last(t)
	store.since()

	scanner := newBrowser(t, auth)
	for range 3 {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			a := scanner.send(method, link, nil, "")
			if method == http.MethodGet && (a.status != http.StatusOK || scanner.hasSession()) {
				t.Fatalf("%s: %d %s", method, a.status, a.body)
			}
		}
	}
	if calls := store.since(); len(calls) > 0 {
		t.Errorf("opening the link asked the store: %v", calls)
	}
	page := scanner.get(link)
	action := regexp.MustCompile(`<form method="POST" action="([^"]*)">`).FindStringSubmatch(page.body)
	if action == nil || strings.ReplaceAll(action[1], "&amp;", "&") != site+link {
		t.Fatalf("the form leads to %q: %s", action, page.body)
	}
	if got := page.header.Get("Referrer-Policy"); got != "no-referrer" && got != "same-origin" {
		t.Errorf("the page's URL, which has the token, may be told to others: %q", got)
	}

	b := newBrowser(t, auth)
	b.send(http.MethodPost, link, formType(), "").wantRedirect(t, site+"/deep")
	if !b.hasSession() {
		t.Error("the button signs nobody in")
	}
	newBrowser(t, auth).send(http.MethodPost, link, formType(), "").wantError(t, "error?error=Verification")
}

// codeSite is a handler that sends codes.
func codeSite(t *testing.T) (*mailbox, *watched, *core.Auth) {
	t.Helper()
	mails := new(mailbox)
	p := mails.provider()
	p.Code = true
	store := watch(adaptertest.Memory())
	adapter := store.Adapter
	adapter.UseVerificationToken = func(ctx context.Context, identifier, token string) (*core.VerificationToken, error) {
		return store.UseVerificationToken(ctx, identifier, token) // which a test may replace
	}
	return mails, store, newAuth(t, core.Config{Providers: []core.Provider{p}, Adapter: &adapter})
}

func (m *mailbox) lastCode(t testing.TB) string {
	t.Helper()
	if m.last(t) != "" {
		t.Error("there is a link beside the code")
	}
	return m.mails[len(m.mails)-1].Code
}

// wrongCode is any but the right one.
func wrongCode(code string) string {
	last := (code[5]-'0'+1)%10 + '0'
	return code[:5] + string(last)
}

func TestSignInByCode(t *testing.T) {
	t.Parallel()
	mails, _, auth := codeSite(t)
	b := newBrowser(t, auth)
	b.post("/auth/signin/email", "email", "Ada@Example.com", "callbackUrl", "/deep").wantRedirect(t, sentPage)
	code := mails.lastCode(t)
	if !regexp.MustCompile(`^\d{6}$`).MatchString(code) {
		t.Fatalf("the code is %q", code)
	}
	page := b.get("/auth/verify-request?provider=email&type=email")
	if !strings.Contains(page.body, `action="`+site+`/auth/callback/email"`) || !strings.Contains(page.body, `autocomplete="one-time-code"`) || strings.Contains(page.body, "not the code") {
		t.Errorf("the page has no form: %s", page.body)
	}
	if body := newBrowser(t, auth).get("/auth/verify-request?provider=email&type=email").body; strings.Contains(body, "<form") {
		t.Error("a browser that asked for no code is asked for one")
	}

	b.post("/auth/callback/email", "code", wrongCode(code)).wantRedirect(t, sentPage+"&error=Verification")
	if body := b.get("/auth/verify-request?provider=email&type=email&error=Verification").body; !strings.Contains(body, "not the code") {
		t.Errorf("the page does not say that the code was wrong: %s", body)
	}
	stranger := newBrowser(t, auth)
	stranger.post("/auth/callback/email", "code", code).wantError(t, "error?error=Verification")

	b.post("/auth/callback/email", "code", " "+code[:3]+" "+code[3:]+" ").wantRedirect(t, site+"/deep")
	if email := b.session()["user"].(map[string]any)["email"]; email != "ada@example.com" {
		t.Errorf("signed in as %v", email)
	}
	b.post("/auth/callback/email", "code", code).wantError(t, "error?error=Verification")
}

// Five codes can be tried for each that is sent, whatever cookies are sent again and however
// many try at once.
func TestCodesCannotBeGuessed(t *testing.T) {
	t.Parallel()
	mails, store, auth := codeSite(t)
	b := newBrowser(t, auth)
	b.post("/auth/signin/email", "email", "ada@example.com").wantRedirect(t, sentPage)
	code := mails.lastCode(t)
	jar := b.jar
	var mu sync.Mutex
	lookups := map[string]int{} // by token
	use := store.UseVerificationToken
	store.UseVerificationToken = func(ctx context.Context, identifier, token string) (*core.VerificationToken, error) {
		mu.Lock()
		lookups[token]++
		mu.Unlock()
		return use(ctx, identifier, token)
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			b := newBrowser(t, auth)
			b.jar = append(b.jar, jar...) // the same cookies, each time
			if a := b.post("/auth/callback/email", "code", wrongCode(code)); a.status != http.StatusFound || b.hasSession() {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	all.Wait()
	if tried := tries(lookups); tried != 5 {
		t.Errorf("a wrong code was looked up %d times", tried)
	}
	again := newBrowser(t, auth)
	again.jar = append(again.jar, jar...)
	again.post("/auth/callback/email", "code", code).wantError(t, "error?error=Verification")
	if again.hasSession() {
		t.Error("the right code was taken after five wrong ones")
	}

	// A new code has attempts of its own, and of many who enter it one gets in.
	b = newBrowser(t, auth)
	b.post("/auth/signin/email", "email", "ada@example.com").wantRedirect(t, sentPage)
	code, jar = mails.lastCode(t), b.jar
	won := make(chan bool, 50)
	for range 50 {
		all.Go(func() {
			b := newBrowser(t, auth)
			b.jar = append(b.jar, jar...)
			b.post("/auth/callback/email", "code", code)
			won <- b.hasSession()
		})
	}
	all.Wait()
	close(won)
	winners := 0
	for has := range won {
		if has {
			winners++
		}
	}
	if winners != 1 {
		t.Errorf("%d sessions for one code", winners)
	}
}

// tries is how often the token was asked for that isn't one of the attempts: the attempts are
// asked for in order, so that the first of them is asked for each time.
func tries(lookups map[string]int) int {
	least := 1 << 30
	for n := range maps.Values(lookups) {
		least = min(least, n)
	}
	return least
}

func TestCodesEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, wait := range []time.Duration{15*time.Minute - time.Second, 15*time.Minute + time.Second} {
			mails, _, auth := codeSite(t)
			b := newBrowser(t, auth)
			b.post("/auth/signin/email", "email", "ada@example.com").wantRedirect(t, sentPage)
			jar := b.jar
			time.Sleep(wait)
			b.jar = jar // whatever the browser thinks of it
			b.post("/auth/callback/email", "code", mails.lastCode(t))
			if isLate := wait > 15*time.Minute; b.hasSession() == isLate {
				t.Errorf("after %v: session %v", wait, b.hasSession())
			}
		}
	})
}

func TestACodeNeedsTheCSRFToken(t *testing.T) {
	t.Parallel()
	mails, store, auth := codeSite(t)
	b := newBrowser(t, auth)
	b.post("/auth/signin/email", "email", "ada@example.com").wantRedirect(t, sentPage)
	store.since()
	b.send(http.MethodPost, "/auth/callback/email", formType(), "code="+mails.lastCode(t))
	b.get("/auth/callback/email?token=" + mails.lastCode(t) + "&email=ada%40example.com")
	if calls := store.since(); b.hasSession() || calls["UseVerificationToken"] > 0 {
		t.Errorf("session %v, calls %v", b.hasSession(), calls)
	}
}
