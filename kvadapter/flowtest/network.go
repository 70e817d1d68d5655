package flowtest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/edgeauth/edgeauth/core"
)

// The providers' IDs.
const (
	hub   = "hub"
	spoke = "spoke"
)

// A person has an address, and the same ID at every provider.
type person struct {
	id, name string
	address  string
}

var (
	ada = person{"subject-of-ada", "Ada", "ada@example.com"}
	bob = person{"subject-of-bob", "Bob", "bob@example.com"}
)

// A network is the providers, in place of the network. They believe everybody: what they check of
// a site, and a site of them, is tested in package core.
type network struct {
	mu     sync.Mutex
	people map[string]person // by code, and by access token
}

func newNetwork() *network { return &network{people: map[string]person{}} }

// provider is one of them in a configuration.
func provider(id string, checks ...core.Check) core.Provider {
	at := issuer(id)
	return core.OAuth{
		ID: id, ClientID: "client", ClientSecret: "client-secret", Checks: checks,
		Authorization: core.Endpoint{URL: at + "/authorize"}, Token: core.Endpoint{URL: at + "/token"}, UserInfo: core.Endpoint{URL: at + "/userinfo"},
	}
}

func issuer(provider string) string { return "https://" + provider + ".example" }

// issue gives a code or a token for a person.
func (n *network) issue(what string, who person) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := what + "-" + rand.Text()
	n.people[text] = who
	return text
}

// take gives whom a code or a token is for.
func (n *network) take(text string) (who person, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	who, known = n.people[text]
	return who, known
}

// approve is what a provider does when a person agrees. It gives the path that the browser is
// sent back to.
func (n *network) approve(authorization string, who person) (path string, err error) {
	asked, err := url.Parse(authorization)
	if err != nil {
		return "", err
	}
	back, err := url.Parse(asked.Query().Get("redirect_uri"))
	if err != nil {
		return "", err
	}
	return back.Path + "?" + url.Values{"code": {n.issue("code", who)}, "state": asked.Query()["state"]}.Encode(), nil
}

// RoundTrip implements http.RoundTripper.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /token":
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		form, err := url.ParseQuery(string(raw))
		if who, known := n.take(form.Get("code")); known && err == nil {
			return respond(http.StatusOK, map[string]any{"access_token": n.issue("access", who), "token_type": "Bearer", "expires_in": 3600})
		}
	case "GET /userinfo":
		if who, known := n.take(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")); known {
			return respond(http.StatusOK, map[string]any{"sub": who.id, "name": who.name, "email": who.address})
		}
	default:
		return nil, fmt.Errorf("flowtest: a request to nobody: %s %s", r.Method, r.URL.Redacted())
	}
	return respond(http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
}

func respond(status int, body any) (*http.Response, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(raw)))}, nil
}
