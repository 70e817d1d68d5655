package wasmtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/wasmtest/world"
)

// TestConcurrentCallbacks has one workerd isolate serve 1,000 requests at once, two thirds of
// them waiting 300 ms for the token endpoint, the others reading a session. It has the machine
// to itself: with others, the slowest would pass the ten seconds that an exchange may take.
func TestConcurrentCallbacks(t *testing.T) {
	needNode(t)
	const requests, callbacks = 1000, 667
	provider := &world.Provider{ClientID: "demo", ClientSecret: "demo-secret", Delay: map[world.Endpoint]time.Duration{world.TokenEndpoint: 300 * time.Millisecond}}
	socket := httptest.NewServer(provider)
	t.Cleanup(socket.Close)
	idp := socket.URL
	addr := freeAddr(t)
	pid := demo(t, "workerd", addr, []string{"AUTH_IDP_ISSUER=" + idp, "AUTH_IDP_ID=demo", "AUTH_IDP_SECRET=demo-secret"})
	site := "http://" + addr
	client := &http.Client{
		Timeout:       time.Minute,
		Transport:     &http.Transport{MaxIdleConnsPerHost: requests},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	send := func(method, path, cookie string, form url.Values) (*http.Response, string) {
		r, err := http.NewRequest(method, site+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Cookie", cookie)
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Error(err)
			return &http.Response{}, ""
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp, string(body)
	}
	cookies := func(resp *http.Response) string {
		var all []string
		for _, c := range resp.Cookies() {
			all = append(all, c.Name+"="+c.Value)
		}
		return strings.Join(all, "; ")
	}

	resp, body := send(http.MethodGet, "/auth/csrf", "", nil)
	var csrf struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(body), &csrf); err != nil {
		t.Fatal(err)
	}
	jar := cookies(resp)
	resp, _ = send(http.MethodPost, "/auth/callback/credentials", jar, url.Values{
		"csrfToken": {csrf.CSRFToken}, "username": {"kim"}, "password": {"demo"},
	})
	session := cookies(resp)
	type flow struct{ callback, cookies string }
	flows := make([]flow, callbacks) // the sign-ins that were begun
	for i := range flows {
		resp, _ := send(http.MethodPost, "/auth/signin/idp", jar, url.Values{"csrfToken": {csrf.CSRFToken}})
		name := fmt.Sprintf("user%d", i)
		provider.Person = world.Person{ID: name, Name: name}
		agreed, err := client.Get(resp.Header.Get("Location"))
		if err != nil || !strings.HasPrefix(agreed.Header.Get("Location"), site+"/auth/callback/idp?") {
			t.Fatalf("signing in: %d %s, %v", resp.StatusCode, resp.Header.Get("Location"), err)
		}
		agreed.Body.Close()
		flows[i] = flow{strings.TrimPrefix(agreed.Header.Get("Location"), site), jar + "; " + cookies(resp)}
	}

	begun := time.Now()
	var all sync.WaitGroup
	for i := range requests {
		all.Go(func() {
			if i >= callbacks {
				if _, body := send(http.MethodGet, "/auth/session", session, nil); !strings.Contains(body, `"name":"kim"`) {
					t.Errorf("session: %s", body)
				}
				return
			}
			name := fmt.Sprintf("user%d", i)
			resp, _ := send(http.MethodGet, flows[i].callback, flows[i].cookies, nil)
			if resp.StatusCode != http.StatusFound || resp.Header.Get("Location") != site {
				t.Errorf("callback %d: %d %s", i, resp.StatusCode, resp.Header.Get("Location"))
				return
			}
			if _, body := send(http.MethodGet, "/auth/session", cookies(resp), nil); !strings.Contains(body, `"name":"`+name+`"`) {
				t.Errorf("%s has the session %s", name, body)
			}
		})
	}
	all.Wait()
	t.Logf("%d requests at once and %d sessions after them in %v; workerd's resident memory afterwards: %s",
		requests, callbacks, time.Since(begun).Round(time.Millisecond), residentMemory(pid))
}

// residentMemory reads VmRSS of the first child of a process, where /proc has it.
func residentMemory(pid int) string {
	child, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil || len(strings.Fields(string(child))) == 0 {
		return "unknown"
	}
	status, err := os.ReadFile(filepath.Join("/proc", strings.Fields(string(child))[0], "status"))
	if err != nil {
		return "unknown"
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
