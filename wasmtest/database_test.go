package wasmtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestALinkWorksOnce has 200 clients follow one sign-in link at once (K-11), where sessions are
// in KV and everything else is in the Atomic store.
func TestALinkWorksOnce(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"native", "wazero", "workerd"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			if target == "workerd" {
				needNode(t)
			}
			sink, addr := newSink(t), freeAddr(t)
			run(t, "./conformance", target, addr, []string{
				"CONF_ADAPTER=kv", "CONF_SINK=" + sink.url, "AUTH_STORE=" + filepath.Join(t.TempDir(), "store"),
			})
			c := newClient(t, addr)
			for _, address := range []string{"ada@example.com", "bea@example.com", "cleo@example.com"} {
				linkWorksOnce(t, c, sink, address)
			}
		})
	}
}

const linkClients = 200

func linkWorksOnce(t *testing.T, c client, sink *sink, address string) {
	t.Helper()
	link := c.askForLink(sink, address)
	var mu sync.Mutex
	var sessions []string
	ends := map[string]int{}
	ready := make(chan struct{})
	var all, open sync.WaitGroup
	open.Add(linkClients)
	for range linkClients {
		all.Go(func() {
			c.send(http.MethodGet, c.site+"/auth/csrf", "", nil) // opens a connection
			open.Done()
			<-ready
			resp, _ := c.send(http.MethodGet, link, "", nil)
			mu.Lock()
			defer mu.Unlock()
			ends[resp.Header.Get("Location")]++
			for _, cookie := range resp.Cookies() {
				if strings.Contains(cookie.Name, "session-token") && cookie.Value != "" {
					sessions = append(sessions, cookie.Name+"="+cookie.Value)
				}
			}
		})
	}
	open.Wait()
	begun := time.Now()
	close(ready)
	all.Wait()
	failed := ends[c.site+"/auth/error?error=Verification"]
	t.Logf("%d clients at once with one link: %d sessions, %d Verification errors, %v", linkClients, len(sessions), failed, time.Since(begun).Round(time.Millisecond))
	if len(sessions) != 1 || failed != linkClients-1 {
		t.Fatalf("%d sessions; where the clients were sent: %v", len(sessions), ends)
	}

	// The next link signs in the same user, and nobody else was created.
	first := c.session(sessions[0])
	resp, _ := c.send(http.MethodGet, c.askForLink(sink, address), "", nil)
	again := c.session(cookies(resp))
	if first.User.Email != address || again.User.Email != address || first.UID == "" || first.UID != again.UID {
		t.Errorf("the two sessions are %+v and %+v", first, again)
	}
	created := sink.count(func(m message) bool { return m.Name == "createUser" && m.User == address })
	signedIn := sink.count(func(m message) bool { return m.Name == "signIn" && m.User == address })
	if created != 1 || signedIn != 2 {
		t.Errorf("%d users were created in %d sign-ins", created, signedIn)
	}
}

// TestTheDemoSurvivesARestart has a native program with its stores in files.
func TestTheDemoSurvivesARestart(t *testing.T) {
	t.Parallel()
	addr, dir := freeAddr(t), t.TempDir()
	program := build(t, dir, "demo", "./demo")
	env := []string{
		"ADDR=" + addr, "AUTH_SECRET=" + strings.Repeat("not-a-secret-", 3),
		"AUTH_SESSION_STRATEGY=database", "AUTH_STORE=" + filepath.Join(dir, "store"),
	}
	p := start(t, env, program)
	c := newClient(t, addr)
	c.form("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
	var link string
	for deadline := time.Now().Add(5 * time.Second); link == ""; runtime.Gosched() { // the log takes its time
		if time.Now().After(deadline) {
			t.Fatal("the log has no link")
		}
		if _, rest, ok := strings.Cut(p.said(), "the link for ada@example.com: "); ok && strings.Contains(rest, "\n") {
			link, _, _ = strings.Cut(rest, "\n")
		}
	}
	resp, _ := c.send(http.MethodGet, link, "", nil)
	session := cookies(resp)
	if got := c.session(session); got.User.Email != "ada@example.com" {
		t.Fatalf("the session is %+v", got)
	}

	p.kill()
	p = start(t, env, program)
	if got := c.session(session); got.User.Email != "ada@example.com" {
		t.Errorf("after a restart the session is %+v", got)
	}
	if resp, body := c.send(http.MethodGet, c.site, session, nil); resp.StatusCode != http.StatusOK || !strings.Contains(body, "Signed in as <strong>ada@example.com") {
		t.Errorf("after a restart the page is %d %s", resp.StatusCode, body)
	}

	// Another process with the same files says why it can't start.
	second := exec.Command(program)
	second.Env = append(os.Environ(), append(env, "ADDR=127.0.0.1:0")...)
	out, err := second.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "edge: AUTH_STORE: bolt: the file is in use: "+filepath.Join(dir, "store")) {
		t.Errorf("a second process: %v, %s", err, out)
	}
}

// A client keeps no cookies and follows no redirect.
type client struct {
	t    *testing.T
	site string
	http http.RoundTripper
}

func newClient(t *testing.T, addr string) client {
	transport := &http.Transport{MaxIdleConnsPerHost: linkClients}
	t.Cleanup(transport.CloseIdleConnections)
	return client{t, "http://" + addr, transport}
}

func (c client) send(method, target, cookie string, form url.Values) (*http.Response, string) {
	c.t.Helper()
	r, err := http.NewRequest(method, target, strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Error(err)
		return &http.Response{}, ""
	}
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := c.http.RoundTrip(r)
	if err != nil {
		c.t.Error(err)
		return &http.Response{}, ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Error(err)
	}
	return resp, string(body)
}

// cookies are those that a response sets, as a request has them.
func cookies(resp *http.Response) string {
	var all []string
	for _, cookie := range resp.Cookies() {
		if cookie.MaxAge >= 0 && cookie.Value != "" {
			all = append(all, cookie.Name+"="+cookie.Value)
		}
	}
	return strings.Join(all, "; ")
}

// form posts a form of the site, with its CSRF token.
func (c client) form(path string, form url.Values) *http.Response {
	c.t.Helper()
	resp, body := c.send(http.MethodGet, c.site+"/auth/csrf", "", nil)
	var csrf struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(body), &csrf); err != nil {
		c.t.Fatalf("%s: %v", body, err)
	}
	form.Set("csrfToken", csrf.CSRFToken)
	resp, _ = c.send(http.MethodPost, c.site+path, cookies(resp), form)
	return resp
}

// askForLink gives the link that the conformance app sends to an address.
func (c client) askForLink(sink *sink, address string) string {
	c.t.Helper()
	sent := sink.count(func(m message) bool { return m.Kind == "email" })
	resp := c.form("/auth/signin/email", url.Values{"email": {address}})
	links := sink.links(address)
	if sink.count(func(m message) bool { return m.Kind == "email" }) != sent+1 || len(links) == 0 {
		c.t.Fatalf("no link was sent; the form answered %d %s", resp.StatusCode, resp.Header.Get("Location"))
	}
	return links[len(links)-1]
}

type session struct {
	User struct{ Email string }
	UID  string
}

func (c client) session(cookie string) (s session) {
	c.t.Helper()
	_, body := c.send(http.MethodGet, c.site+"/auth/session", cookie, nil)
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		c.t.Fatalf("%s: %v", body, err)
	}
	return s
}

// A message is what the conformance app tells its sink.
type message struct {
	Kind, Identifier, URL string
	Name, User            string
}

// A sink collects messages.
type sink struct {
	url string

	mu       sync.Mutex
	messages []message
}

func newSink(t *testing.T) *sink {
	t.Helper()
	s := new(sink)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m message
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.messages = append(s.messages, m)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *sink) count(counts func(message) bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if counts(m) {
			n++
		}
	}
	return n
}

func (s *sink) links(address string) (links []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for m := range slices.Values(s.messages) {
		if m.Kind == "email" && m.Identifier == address {
			links = append(links, m.URL)
		}
	}
	return links
}
