package remote

import (
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// maxAnswer is how long the JSON of a session may be, in bytes.
const maxAnswer = 128 << 10

// questionHeader marks what this package asks, so that a question which comes back to an app of
// its own is not asked again, and again.
const questionHeader = "Edgeauth-Question"

// An answer is what the edge said, or what the token did.
type answer struct {
	session *core.Session // nil: signed out
	body    []byte        // the session's JSON, of the edge
	lines   []string      // Set-Cookie lines for the browser
}

// ask asks the edge whose session these cookies are.
func (e *Edge) ask(ctx context.Context, pairs []string) (answer, error) {
	ctx, cancel := limit(ctx, e.config.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, e.question, nil)
	if err != nil {
		return answer{}, fail(ErrConfig, "Config.URL", err)
	}
	maps.Copy(r.Header, e.forwarded)
	r.Header["Accept"] = []string{"application/json"}
	r.Header["Cookie"] = []string{strings.Join(pairs, "; ")}
	r.Header[questionHeader] = []string{"1"}
	resp, err := e.config.Transport.RoundTrip(r)
	if err != nil {
		return answer{}, unanswered(err)
	}
	defer resp.Body.Close()
	if err := checkHead(resp); err != nil {
		return answer{}, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return answer{}, unanswered(err)
	}
	if len(body) > maxAnswer {
		return answer{}, fail(ErrAnswer, "the answer is longer than 128 KiB", nil)
	}
	session, err := parseSession(body)
	if err != nil {
		return answer{}, err
	}
	return answer{session, body, e.sessionLines(resp.Header["Set-Cookie"])}, nil
}

// unanswered sorts what kept an answer from coming.
func unanswered(err error) error {
	var timer interface{ Timeout() bool } // context.DeadlineExceeded and every transport's own
	if errors.As(err, &timer) && timer.Timeout() {
		return fail(ErrSlow, "the edge did not answer in time", err)
	}
	return fail(ErrDown, "the edge can't be reached", err)
}

// checkHead refuses what can't be the answer of the session route before its body is looked at:
// a body that says {"message": …} has once been taken for a session, and everybody for signed in.
func checkHead(resp *http.Response) error {
	status := "status " + strconv.Itoa(resp.StatusCode)
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case resp.StatusCode >= 500, resp.StatusCode == http.StatusTooManyRequests:
		return fail(ErrDown, "the edge answers with "+status, nil)
	case resp.StatusCode != http.StatusOK:
		return fail(ErrAnswer, status+": is the handler at Config.URL, and does it know the host?", nil)
	case kind != "application/json":
		return fail(ErrAnswer, "the answer is no JSON: is the handler at Config.URL, or a page of the app?", nil)
	}
	return nil
}
