//go:build !wasm

package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
	"github.com/edgeauth/edgeauth/kvadapter/transfer"
)

const token = "0123456789abcdef0123456789abcdef"

func serve(t *testing.T, store kv.Store) (url string, client *transfer.Client) {
	t.Helper()
	handler, err := transfer.Handler(store, token)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err = transfer.NewClient(server.URL+"/transfer", token)
	if err != nil {
		t.Fatal(err)
	}
	return server.URL, client
}

func send(t *testing.T, method, url, authorization, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.Header.Get("Cache-Control") != "no-store" {
		t.Fatal(err, response.Header)
	}
	return response.StatusCode, string(text)
}

func TestOnlyWhoHasTheTokenIsAnswered(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	put(t, store, kv.Write{Key: "a", Value: []byte("1")})
	url, _ := serve(t, store)
	for _, authorization := range []string{"", "Bearer", "Bearer " + token[1:], "Bearer " + token + "0", "Basic " + token, token, "Bearer  " + token} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			if status, answer := send(t, method, url, authorization, header+`{"key":"b","value":1}`); status != http.StatusUnauthorized || strings.Contains(answer, `"key"`) {
				t.Errorf("%s with %q: %d %s", method, authorization, status, answer)
			}
		}
	}
	if len(dump(t, store, "")) != 1 {
		t.Error("somebody without the token wrote to the store")
	}
	if status, answer := send(t, "GET", url, "bearer "+token, ""); status != http.StatusOK || answer != header+"{\"key\":\"a\",\"value\":1}\n{\"next\":\"\",\"records\":1}\n" {
		t.Errorf("with the token: %d %s", status, answer)
	}
	for _, short := range []string{"", token[1:]} {
		if _, err := transfer.Handler(store, short); !errors.Is(err, transfer.ErrToken) {
			t.Errorf("a handler with the token %q: %v", short, err)
		}
		if _, err := transfer.NewClient("https://example.com/transfer", short); !errors.Is(err, transfer.ErrToken) {
			t.Errorf("a client with the token %q: %v", short, err)
		}
	}
}

// silent is a store without List.
type silent struct{ kv.Store }

// failing is a store that fails.
type failing struct{ kv.Store }

func (failing) List(context.Context, string, string) ([]kv.Write, string, error) {
	return nil, "", &kv.TimeoutError{Store: "Durable Object", After: kv.Timeout}
}

func TestStatusesOfErrors(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	put(t, store, kv.Write{Key: "a", Value: []byte("1")})
	whole, _ := serve(t, store)
	poor, _ := serve(t, silent{store})
	broken, _ := serve(t, failing{store})
	tests := []struct {
		name, method, url, body string
		status                  int
	}{
		{"another method", "PUT", whole, "", 405},
		{"another file", "POST", whole, "id,name", 400},
		{"another existing", "POST", whole + "?existing=maybe", header, 400},
		{"a record that is there", "POST", whole, header + `{"key":"a","value":2}`, 409},
		{"too many bytes", "POST", whole, header + strings.Repeat(" ", transfer.MaxBody), 413},
		{"too many lines", "POST", whole, header + strings.Repeat("{}\n", transfer.MaxLines+1), 413},
		{"as many lines as may be", "POST", whole, header + strings.Repeat("{}\n", transfer.MaxLines), 200},
		{"a prefix that no key has", "GET", whole + "?prefix=%00", "", 400},
		{"a store without List", "GET", poor, "", 501},
		{"a store without bookmarks", "GET", whole + "?bookmark", "", 501},
		{"a store that can't go back", "POST", whole + "?restore=1", "", 501},
		{"a store that fails", "GET", broken, "", 502},
	}
	for _, test := range tests {
		if status, answer := send(t, test.method, test.url, "Bearer "+token, test.body); status != test.status {
			t.Errorf("%s: %d %.200s, want %d", test.name, status, answer, test.status)
		}
	}
}

func TestAStoreMovesThroughItsHandler(t *testing.T) {
	t.Parallel()
	from, to := memory.New(nil), memory.New(nil)
	fill(t, from, "old.", 1500)
	_, source := serve(t, from)
	url, target := serve(t, to)
	file := export(t, source, "old.")
	if file != export(t, from, "old.") {
		t.Error("an export through the handler is another one")
	}
	calls := 0
	options := transfer.ImportOptions{Prefix: "new.", Progress: func(transfer.Imported) { calls++ }}
	done, err := target.Import(t.Context(), strings.NewReader(file), options)
	want := dump(t, from, "old.")
	if err != nil || done.Written != len(want) || !done.Complete || calls < 3 {
		t.Fatalf("Import = %+v, %v in %d requests, want %d records", done, err, calls, len(want))
	}
	wantSame(t, dump(t, to, "new."), want)
	options.SkipLines = done.Lines - 10
	if done, err = target.Import(t.Context(), strings.NewReader(file), options); err != nil || done.Same < 8 || done.Written != 0 || !done.Complete {
		t.Errorf("the last lines once more = %+v, %v", done, err)
	}
	if status, answer := send(t, "POST", url+"?prefix=new.", "Bearer "+token, header+strings.Split(file, "\n")[1]); status != 200 || !strings.Contains(answer, `"same":1`) {
		t.Errorf("a request by hand: %d %s", status, answer)
	}
}

func TestAClientNamesLinesOfTheFile(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	file.WriteString(header)
	for i := 2; i <= 7000; i++ {
		switch i {
		case 3, 5000:
			file.WriteString("hunter2\n")
		case 6000:
			fmt.Fprintf(&file, "{\"key\":\"long\",\"value\":%q}\n", strings.Repeat("hunter2", transfer.MaxLine/7))
		default:
			fmt.Fprintf(&file, "{\"key\":\"k.%d\",\"value\":%d}\n", i, i)
		}
	}
	store := memory.New(nil)
	_, client := serve(t, store)
	got := map[int]string{}
	options := transfer.ImportOptions{Rejected: func(r transfer.Reject) error { got[r.Line] = string(r.Text); return nil }}
	done, err := client.Import(t.Context(), strings.NewReader(file.String()), options)
	if err != nil || done.Rejected != 3 || len(got) != 3 || got[3] != "hunter2" || got[5000] != "hunter2" || len(got[6000]) != transfer.MaxLine {
		t.Errorf("Import = %+v, %v; rejected %d lines", done, err, len(got))
	}
	put(t, store, kv.Write{Key: "k.6500", Value: []byte("other")})
	_, err = client.Import(t.Context(), strings.NewReader(file.String()), options)
	if there, ok := errors.AsType[*transfer.ExistsError](err); !ok || there.Line != 6500 || there.Key != "k.6500" {
		t.Errorf("a record that is there: %v", err)
	}
	if _, err := client.Import(t.Context(), strings.NewReader("id,name\n"), options); !errors.Is(err, transfer.ErrFormat) {
		t.Errorf("another file: %v", err)
	}
}

// travelling is a store that goes back.
type travelling struct {
	*memory.Store
	now string
}

func (s *travelling) Bookmark(_ context.Context, at time.Time) (string, error) {
	if at.IsZero() {
		return s.now, nil
	}
	return "at " + at.UTC().Format(time.RFC3339), nil
}

func (s *travelling) Restore(_ context.Context, bookmark string) error {
	s.now = bookmark
	return nil
}

func TestBookmarks(t *testing.T) {
	t.Parallel()
	store := &travelling{memory.New(nil), "today"}
	url, client := serve(t, store)
	now, err := client.Bookmark(t.Context(), time.Time{})
	if now != "today" || err != nil {
		t.Errorf("Bookmark of now = %q, %v", now, err)
	}
	then, err := client.Bookmark(t.Context(), time.Date(2026, 1, 31, 13, 0, 0, 0, time.FixedZone("", 3600)))
	if then != "at 2026-01-31T12:00:00Z" || err != nil {
		t.Errorf("Bookmark = %q, %v", then, err)
	}
	before, err := client.Restore(t.Context(), then)
	if before != "today" || err != nil || store.now != then {
		t.Errorf("Restore = %q, %v, and the state is that of %s", before, err, store.now)
	}
	for _, query := range []string{"GET ?bookmark=yesterday", "POST ?restore="} {
		method, query, _ := strings.Cut(query, " ")
		if status, answer := send(t, method, url+query, "Bearer "+token, ""); status != http.StatusBadRequest {
			t.Errorf("%s %s: %d %s", method, query, status, answer)
		}
	}
}

func TestAClientKeepsItsToken(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{
		"https://example.com/transfer": true, "http://127.0.0.1:8787/transfer": true, "http://[::1]/": true, "http://localhost/": true,
		"http://example.com/transfer": false, "http://localhost.example.com/": false, "https://user:pass@example.com/": false, "example.com": false, "ftp://localhost/": false,
	} {
		if _, err := transfer.NewClient(url, token); (err == nil) != ok || err != nil && !errors.Is(err, transfer.ErrURL) {
			t.Errorf("%s: %v", url, err)
		}
	}
	var asked []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r.Header.Get("Authorization")) }))
	t.Cleanup(elsewhere.Close)
	front := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(front.Close)
	client, err := transfer.NewClient(front.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = client.List(t.Context(), "", "")
	if refused, ok := errors.AsType[*transfer.ServerError](err); !ok || refused.Status != http.StatusTemporaryRedirect || len(asked) > 0 {
		t.Errorf("redirected: %v, and %d requests elsewhere", err, len(asked))
	}
}

func TestAClientDoubtsItsServer(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"", "<html>", header, header + `{"key":"a","value":1}` + "\n", header + "what?\n"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, page) }))
		t.Cleanup(server.Close)
		client, err := transfer.NewClient(server.URL, token)
		if err != nil {
			t.Fatal(err)
		}
		if records, _, err := client.List(t.Context(), "", ""); err == nil {
			t.Errorf("%q: List gave %d records", page, len(records))
		}
		if done, err := client.Import(t.Context(), strings.NewReader(header+`{"key":"a","value":1}`), transfer.ImportOptions{}); err == nil {
			t.Errorf("%q: Import = %+v", page, done)
		}
		if b, err := client.Bookmark(t.Context(), time.Time{}); err == nil {
			t.Errorf("%q: Bookmark = %q", page, b)
		}
	}
}

func ExampleHandler() {
	store := memory.New(nil)
	handler, err := transfer.Handler(store, "make this with openssl rand -hex 32") // from a secret of the platform
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/transfer", handler)

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/transfer", nil))
	fmt.Println(w.Code, w.Body)
	// Output:
	// 401 {"error":"the token is missing or wrong"}
}
