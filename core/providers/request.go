package providers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// maxAnswerBytes is how much of an answer is read.
const maxAnswerBytes = 1 << 20

// A query is one request for a profile.
type query struct {
	method string // "": GET
	url    string
	public bool        // the access token is no header of it
	header http.Header // beside Authorization, Accept and User-Agent
	body   string
}

// send makes a request for a profile and gives the answer's status and body. The address may have
// a token in it, so an error that repeats it is not passed on.
func send(ctx context.Context, r core.UserInfoRequest, q query) (int, []byte, error) {
	if q.method == "" {
		q.method = http.MethodGet
	}
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	req, err := http.NewRequestWithContext(ctx, q.method, q.url, body)
	if err != nil {
		return 0, nil, errors.New("providers: the userinfo endpoint is no URL")
	}
	if q.header != nil {
		req.Header = q.header
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "edgeauth") // GitHub refuses requests without one
	if !q.public {
		req.Header.Set("Authorization", "Bearer "+r.Tokens.AccessToken)
	}
	resp, err := r.Transport.RoundTrip(req)
	if err != nil {
		if q.public || strings.Contains(err.Error(), r.Tokens.AccessToken) {
			err = errors.New("providers: the userinfo endpoint can't be reached")
		}
		return 0, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if err == nil && len(raw) > maxAnswerBytes {
		err = errors.New("providers: the userinfo endpoint's answer is too large")
	}
	return resp.StatusCode, raw, err
}

// ask makes a request for a profile and gives the object that is the answer.
func ask(ctx context.Context, r core.UserInfoRequest, q query) (core.Profile, error) {
	status, raw, err := send(ctx, r, q)
	if err != nil {
		return nil, err
	}
	if !isOK(status) {
		return nil, errors.New("providers: the userinfo endpoint answered " + strconv.Itoa(status))
	}
	var profile core.Profile
	if decode(raw, &profile) != nil || profile == nil {
		return nil, errors.New("providers: the userinfo endpoint's answer is not a JSON object")
	}
	return profile, nil
}

func isOK(status int) bool { return status >= 200 && status <= 299 }

// decode reads JSON with its numbers as they are: an id may have more digits than a float.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// inner gives the object at a path of a profile.
func inner(profile core.Profile, path string) (core.Profile, error) {
	value, _, err := member(profile, path)
	if err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("providers: the profile has no " + path)
	}
	return object, nil
}
