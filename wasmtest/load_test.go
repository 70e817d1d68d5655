package wasmtest_test

import (
	"crypto/rand"
	"crypto/rsa"
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

	"github.com/go-jose/go-jose/v4"
)

// TestConcurrentCallbacks has one workerd isolate serve 1,000 requests at once, two thirds of
// them waiting 300 ms for the token endpoint, the others reading a session. It has the machine
// to itself: with others, the slowest would pass the ten seconds that an exchange may take.
func TestConcurrentCallbacks(t *testing.T) {
	needNode(t)
	const requests, callbacks = 1000, 667
	idp := slowProvider(t, 300*time.Millisecond)
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
	flows := make([]string, callbacks) // the cookies of each sign-in that was begun
	for i := range flows {
		resp, _ := send(http.MethodPost, "/auth/signin/idp", jar, url.Values{"csrfToken": {csrf.CSRFToken}})
		if !strings.HasPrefix(resp.Header.Get("Location"), idp+"/auth?") {
			t.Fatalf("signing in: %d %s", resp.StatusCode, resp.Header.Get("Location"))
		}
		flows[i] = jar + "; " + cookies(resp)
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
			resp, _ := send(http.MethodGet, "/auth/callback/idp?code="+name, flows[i], nil)
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

// slowProvider is an OpenID provider whose token endpoint takes its time; the code names the user.
func slowProvider(t *testing.T, delay time.Duration) (issuer string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "k"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, value any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value)
	}
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": issuer, "authorization_endpoint": issuer + "/auth", "token_endpoint": issuer + "/token",
			"userinfo_endpoint": issuer + "/me", "jwks_uri": issuer + "/jwks",
		})
	})
	mux.HandleFunc("/jwks", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		name := r.PostFormValue("code")
		now := time.Now().Unix()
		claims, _ := json.Marshal(map[string]any{"iss": issuer, "aud": "demo", "sub": name, "name": name, "iat": now, "exp": now + 600})
		signed, err := signer.Sign(claims)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		token, _ := signed.CompactSerialize()
		select { // a slow provider, not a test that waits
		case <-time.After(delay):
		case <-r.Context().Done():
		}
		answer(w, map[string]any{"access_token": "a", "token_type": "bearer", "id_token": token})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	issuer = server.URL
	return issuer
}
