package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// Limits of one POST, so that a worker can do what it asks for: they are some 15 commits, each with
// a read and a second attempt if it meets what is there, of 50 calls that a request may make on the
// smallest plan of Cloudflare.
const (
	MaxBody  = 1 << 20 // bytes
	MaxLines = 2500    // behind the first one

	minToken = 32
)

// A Rewinder is a store that can go back to an earlier state, such as a Durable Object. Where the
// platform keeps none, its errors are errors.ErrUnsupported to errors.Is.
type Rewinder interface {
	// Bookmark gives a name for the state that the store had at a time; the zero time is now.
	Bookmark(ctx context.Context, at time.Time) (string, error)
	// Restore brings back the state that a bookmark names. What was written since is gone.
	Restore(ctx context.Context, bookmark string) error
}

// ErrToken is the error for a token that could be guessed.
var ErrToken = errors.New("transfer: the token must have at least 32 characters: make one with openssl rand -hex 32")

// Handler lets whoever has a token read and write everything in a store, for one that no other
// program can open. Mount it at a path of its own, over HTTPS alone, and only while it is needed;
// program authstore is its client. A request without "Authorization: Bearer" and the token
// is answered 401, whatever it asks for.
//
//	GET                        a page of an export, in the format of this package
//	GET  ?cursor=…             the page behind the one whose last line has this "next"
//	POST                       imports the body, of at most [MaxBody] bytes and [MaxLines] lines behind
//	                           the first one; answers [Imported] as JSON, and which lines were rejected
//	POST ?existing=skip        as [Existing] says, or overwrite
//	GET  ?bookmark=TIME        {"bookmark":…} of a time as in 2026-01-31T12:00:00Z, or of now without
//	POST ?restore=BOOKMARK     goes back there; {"bookmark":…} is that of the state before, to undo it
//
// ?prefix= is that of kvadapter.Options, for the first four. An error is JSON, {"error":…}: 400 for what can't
// be understood, 409 for a key that is there with another value, 413, 501 where the store has
// no list or no bookmarks, 502 for a store that failed.
func Handler(store kv.Store, token string) (http.Handler, error) {
	if len(token) < minToken {
		return nil, ErrToken
	}
	h := &handler{store: store, token: sha256.Sum256([]byte(token))}
	return h, nil
}

type handler struct {
	store kv.Store
	token [sha256.Size]byte
}

// A statusError is an error with the status of its answer.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

var (
	errNoList      = &statusError{http.StatusNotImplemented, "this store can't list what is in it"}
	errNoBookmarks = &statusError{http.StatusNotImplemented, "this store keeps no earlier state: only Durable Objects on Cloudflare do"}
)

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(sum[:], h.token[:]) != 1 || !strings.EqualFold(scheme, "Bearer") {
		w.Header().Set("WWW-Authenticate", "Bearer")
		answer(w, http.StatusUnauthorized, errorAnswer{Error: "the token is missing or wrong"})
		return
	}
	var err error
	switch q := r.URL.Query(); {
	case r.Method == http.MethodGet && q.Has("bookmark"):
		err = h.bookmark(w, r, q.Get("bookmark"))
	case r.Method == http.MethodGet:
		err = h.export(w, r, q)
	case r.Method == http.MethodPost && q.Has("restore"):
		err = h.restore(w, r, q.Get("restore"))
	case r.Method == http.MethodPost:
		err = h.load(w, r, q)
	default:
		w.Header().Set("Allow", "GET, POST")
		err = &statusError{http.StatusMethodNotAllowed, "want GET or POST"}
	}
	if err == nil {
		return
	}
	status, body := http.StatusBadGateway, errorAnswer{Error: err.Error()}
	if known, ok := errors.AsType[*statusError](err); ok {
		status = known.status
	} else if there, ok := errors.AsType[*ExistsError](err); ok {
		status, body.Line, body.Key = http.StatusConflict, there.Line, there.Key
	} else if errors.Is(err, ErrBusy) {
		status = http.StatusConflict
	} else if _, ok := errors.AsType[*kv.LimitError](err); ok || errors.Is(err, ErrFormat) {
		status = http.StatusBadRequest
	} else if errors.Is(err, errors.ErrUnsupported) {
		status, body.Error = errNoBookmarks.status, errNoBookmarks.text
	}
	answer(w, status, body)
}

// An errorAnswer is the answer to a request that failed.
type errorAnswer struct {
	Error string `json:"error"`
	Line  int    `json:"line,omitempty"` // of a body whose record is there with another value
	Key   string `json:"key,omitempty"`
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // whoever asked is gone
}

// export answers with one page.
func (h *handler) export(w http.ResponseWriter, r *http.Request, q url.Values) error {
	lister, ok := h.store.(kv.Lister)
	if !ok {
		return errNoList
	}
	page, next, err := lister.List(r.Context(), q.Get("prefix"), q.Get("cursor"))
	if err != nil {
		return err
	}
	out := []byte(headerLine)
	for _, record := range page {
		if out, err = appendRecord(out, record, q.Get("prefix")); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	_, _ = w.Write(appendNext(out, next, int64(len(page))))
	return nil
}

// An importAnswer is the answer to a POST.
type importAnswer struct {
	Imported
	Lines []rejectedLine `json:"rejectedLines,omitempty"`
}

type rejectedLine struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// load imports the body of a request.
func (h *handler) load(w http.ResponseWriter, r *http.Request, q url.Values) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || bytes.Count(body, []byte("\n")) > MaxLines+1 {
		return &statusError{http.StatusRequestEntityTooLarge, "a request takes 1 MiB and 2,500 lines"}
	}
	if err != nil {
		return &statusError{http.StatusBadRequest, "the body broke off"}
	}
	existing := Existing(q.Get("existing"))
	if existing != Refuse && existing != Skip && existing != Overwrite {
		return &statusError{http.StatusBadRequest, "existing is skip or overwrite"}
	}
	var result importAnswer
	result.Imported, err = Import(r.Context(), h.store, bytes.NewReader(body), ImportOptions{
		Prefix: q.Get("prefix"), Existing: existing,
		Rejected: func(bad Reject) error {
			result.Lines = append(result.Lines, rejectedLine{bad.Line, bad.Reason})
			return nil
		},
	})
	if err == nil {
		answer(w, http.StatusOK, result)
	}
	return err
}

type bookmarkAnswer struct {
	Bookmark string `json:"bookmark"`
}

func (h *handler) bookmark(w http.ResponseWriter, r *http.Request, text string) error {
	rewinder, ok := h.store.(Rewinder)
	if !ok {
		return errNoBookmarks
	}
	var at time.Time
	if text != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return &statusError{http.StatusBadRequest, "a time is as in 2026-01-31T12:00:00Z"}
		}
	}
	bookmark, err := rewinder.Bookmark(r.Context(), at)
	if err == nil {
		answer(w, http.StatusOK, bookmarkAnswer{bookmark})
	}
	return err
}

func (h *handler) restore(w http.ResponseWriter, r *http.Request, bookmark string) error {
	rewinder, ok := h.store.(Rewinder)
	if !ok {
		return errNoBookmarks
	}
	if bookmark == "" {
		return &statusError{http.StatusBadRequest, "restore is a bookmark"}
	}
	before, err := rewinder.Bookmark(r.Context(), time.Time{})
	if err != nil {
		return err
	}
	if err := rewinder.Restore(r.Context(), bookmark); err != nil {
		return err
	}
	answer(w, http.StatusOK, bookmarkAnswer{before})
	return nil
}
