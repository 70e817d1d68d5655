package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/transfer/internal/lines"
)

// ErrURL is the error for a URL that a token must not be sent to.
var ErrURL = errors.New("transfer: want the HTTPS URL at which the app has its transfer.Handler; plain HTTP only on this machine")

// A ServerError is what a [Handler], or what is before it, answered in place of doing what it was asked.
type ServerError struct {
	Status int
	Text   string // empty: it didn't say
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("transfer: the server answered %d %s: %s", e.Status, http.StatusText(e.Status), e.Text)
}

// A Client reaches a store through its [Handler]. It is a [kv.Lister], for [Export].
type Client struct {
	url   *url.URL
	token string
	http  *http.Client
}

// NewClient gives a client of the handler at a URL. It fails with ErrURL or ErrToken.
func NewClient(rawURL, token string) (*Client, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" || u.User != nil {
		return nil, ErrURL
	}
	ip := net.ParseIP(u.Hostname())
	isHere := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && isHere) {
		return nil, ErrURL
	}
	if len(token) < minToken {
		return nil, ErrToken
	}
	// A redirect is an error: the token is for this URL.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{u, token, &http.Client{Timeout: time.Minute, CheckRedirect: stay}}, nil
}

// do sends a request, and gives the body of an answer that has status 200.
func (c *Client) do(ctx context.Context, method string, query url.Values, body []byte) ([]byte, error) {
	u := *c.url
	u.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	response, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return text, nil
	}
	var failed errorAnswer
	_ = json.Unmarshal(text, &failed) // else it is somebody else's page
	if failed.Line > 0 {
		return nil, &ExistsError{failed.Line, failed.Key}
	}
	return nil, &ServerError{response.StatusCode, failed.Error}
}

// List is that of [kv.Lister].
func (c *Client) List(ctx context.Context, prefix, cursor string) (page []kv.Write, next string, err error) {
	body, err := c.do(ctx, http.MethodGet, url.Values{"prefix": {prefix}, "cursor": {cursor}}, nil)
	if err != nil {
		return nil, "", err
	}
	in := lines.NewReader(bytes.NewReader(body))
	if first, _, err := in.Next(); err != nil || !isHeader(first) {
		return nil, "", ErrFormat
	}
	for {
		text, _, err := in.Next()
		if err != nil { // a page ends with its "next"
			return nil, "", io.ErrUnexpectedEOF
		}
		w, end, reason := parseLine(text, prefix)
		switch {
		case reason != "":
			return nil, "", &RejectError{Reject{Line: in.Number, Reason: reason, Text: text}}
		case end != nil:
			return page, *end, nil
		}
		page = append(page, w)
	}
}

// Import is [Import] into the store behind the handler, some 1,000 records in each request.
func (c *Client) Import(ctx context.Context, r io.Reader, o ImportOptions) (done Imported, err error) {
	in := lines.NewReader(r)
	if first, _, err := in.Next(); err != nil && err != io.EOF || !isHeader(first) {
		return done, errors.Join(ErrFormat, err)
	}
	query := url.Values{"prefix": {o.Prefix}, "existing": {string(o.Existing)}}
	body, texts, before := []byte(headerLine), [][]byte(nil), 1 // lines of the file before texts
	send := func() error {
		if len(texts) == 0 {
			return nil
		}
		text, err := c.do(ctx, http.MethodPost, query, body)
		if there, ok := errors.AsType[*ExistsError](err); ok {
			there.Line += before - 1
		}
		if err != nil {
			return err
		}
		var answer importAnswer
		if err := json.Unmarshal(text, &answer); err != nil || answer.Imported.Lines != len(texts) {
			return &ServerError{http.StatusOK, "it is not a transfer.Handler"}
		}
		for _, bad := range answer.Lines {
			at := min(max(bad.Line-2, 0), len(texts)-1)
			if err := o.reject(before+at+1, bad.Reason, texts[at]); err != nil {
				return err
			}
		}
		done.add(answer.Imported)
		body, texts, before = body[:len(headerLine)], nil, before+len(texts)
		if o.Progress != nil {
			o.Progress(done)
		}
		return nil
	}
	for {
		text, tooLong, err := in.Next()
		if err == io.EOF {
			return done, send()
		}
		if err != nil {
			return done, errors.Join(err, send())
		}
		if in.Number-1 <= o.SkipLines {
			done.Lines, before = done.Lines+1, before+1
			continue
		}
		sent := text
		if tooLong || len(headerLine)+len(text)+1 > MaxBody {
			sent = nil // the server rejects an empty line as it would this one
		}
		if len(texts) == MaxLines || len(body)+len(sent)+1 > MaxBody {
			if err := send(); err != nil {
				return done, err
			}
		}
		body, texts = append(append(body, sent...), '\n'), append(texts, text)
	}
}

// Bookmark gives a name for the state that the store had at a time; the zero time is now.
func (c *Client) Bookmark(ctx context.Context, at time.Time) (string, error) {
	query := url.Values{"bookmark": {""}}
	if !at.IsZero() {
		query.Set("bookmark", at.UTC().Format(time.RFC3339))
	}
	return c.bookmark(ctx, http.MethodGet, query)
}

// Restore brings back the state that a bookmark names, and gives the bookmark of the one before.
func (c *Client) Restore(ctx context.Context, bookmark string) (before string, err error) {
	return c.bookmark(ctx, http.MethodPost, url.Values{"restore": {bookmark}})
}

func (c *Client) bookmark(ctx context.Context, method string, query url.Values) (string, error) {
	text, err := c.do(ctx, method, query, nil)
	if err != nil {
		return "", err
	}
	var answer bookmarkAnswer
	if err := json.Unmarshal(text, &answer); err != nil || answer.Bookmark == "" {
		return "", &ServerError{http.StatusOK, "it is not a transfer.Handler"}
	}
	return answer.Bookmark, nil
}
