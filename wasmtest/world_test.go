package wasmtest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/wasmtest"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer is a world that says one thing.
func answer(status int, body string) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Location": {"/elsewhere"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

func cancelled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestFetchCarriesEverything(t *testing.T) {
	t.Parallel()
	h := wasmtest.New(t, echo, wasmtest.Config{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if got := r.Method + " " + r.URL.String() + " " + string(body); err != nil || got != "POST https://idp.example/token?a=%20b code=1" {
			t.Errorf("%q, %v", got, err)
		}
		if got := r.Header["X-Bytes"]; !slices.Equal(got, []string{"\xff", "two"}) {
			t.Errorf("X-Bytes %q", got)
		}
		return &http.Response{
			StatusCode: 201,
			Header:     http.Header{"Set-Cookie": {"a=1", "b=2"}, "X-Bytes": {"\xfe"}},
			Body:       io.NopCloser(strings.NewReader("token")),
		}, nil
	})})
	r := httptest.NewRequest("POST", "/fetch?url=https://idp.example/token?a=%2520b", strings.NewReader("code=1"))
	r.Header["X-Bytes"] = []string{"\xff", "two"}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 201 || w.Body.String() != "token" || w.Header().Get("X-Bytes") != "\xfe" || !slices.Equal(w.Header()["Set-Cookie"], []string{"a=1", "b=2"}) {
		t.Errorf("%d %q %q", w.Code, w.Body, w.Header())
	}
}

func TestFetchLimitsHoldWhateverTheTransportDoes(t *testing.T) {
	t.Parallel()
	never := func(r *http.Request) (*http.Response, error) {
		time.Sleep(time.Hour)
		return nil, errors.New("at last")
	}
	patient := func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }
	for name, c := range map[string]struct {
		world  http.RoundTripper
		query  string
		status int
		body   string
		took   time.Duration
	}{
		"a redirect is handed over":         {answer(302, "moved"), "", 302, "moved", 0},
		"one mebibyte passes":               {answer(200, strings.Repeat("x", 1<<20)), "", 200, strings.Repeat("x", 1<<20), 0},
		"one byte more does not":            {answer(200, strings.Repeat("x", 1<<20+1)), "", 502, "too large: ", 0},
		"an error has its text":             {roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }), "", 502, "other: edge: fetch: connection refused", 0},
		"no transport says so":              {nil, "", 502, "other: edge: fetch: this host allows no outbound request", 0},
		"one that hangs ends after 10 s":    {roundTrip(never), "", 502, "timeout: ", 10 * time.Second},
		"one that obeys ends after 10 s":    {roundTrip(patient), "", 502, "timeout: ", 10 * time.Second},
		"the program's deadline is sooner":  {roundTrip(never), "&timeout=3s", 502, "deadline: ", 3 * time.Second},
		"a body that hangs ends after 10 s": {roundTrip(hangingBody), "", 502, "timeout: ", 10 * time.Second},
		"not an http URL":                   {answer(200, ""), "&url=file:///etc/passwd", 502, "other: edge: an outbound request needs", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // in which the clock jumps when everybody waits
				h := wasmtest.New(t, echo, wasmtest.Config{Transport: c.world})
				before := time.Now()
				target := "/fetch?url=http://world.example/"
				if strings.Contains(c.query, "url=") {
					target = "/fetch?"
				}
				status, body := get(t, h, target+c.query)
				if status != c.status || !strings.HasPrefix(body, c.body) {
					t.Errorf("%d %.200q, want %d %.200q", status, body, c.status, c.body)
				}
				if took := time.Since(before); took < c.took || took > c.took+time.Second {
					t.Errorf("took %v, want %v", took, c.took)
				}
				time.Sleep(2 * time.Hour) // lets every goroutine of the world end
			})
		})
	}
}

func hangingBody(r *http.Request) (*http.Response, error) {
	body, _ := io.Pipe()
	return &http.Response{StatusCode: 200, Body: body}, nil
}

func TestWaitUntilRunsAfterTheResponse(t *testing.T) {
	t.Parallel()
	world := make(chan struct{})
	h := wasmtest.New(t, echo, wasmtest.Config{MaxInstances: 1, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		<-world
		return answer(207, "")(r)
	})})
	expect(t, h, "/later", 200, "answered") // while the work waits for the world
	close(world)
	// The only instance is free when the work is done: request over, its own context not.
	expect(t, h, "/kv?binding=LATER&key=done", 200, `"207 true false"`+"\n")
}

func TestTheClockIsTheMachines(t *testing.T) {
	t.Parallel()
	h := wasmtest.New(t, echo, wasmtest.Config{})
	before := time.Now()
	_, body := get(t, h, "/clock?sleep=30ms")
	fields := strings.Fields(body)
	at, _ := strconv.ParseInt(fields[0], 10, 64)
	slept, _ := strconv.ParseInt(fields[1], 10, 64)
	if now := time.Unix(0, at); now.Before(before.Add(-time.Second)) || now.After(time.Now().Add(time.Second)) {
		t.Errorf("the program's clock shows %v, this one %v", now, before)
	}
	if slept < int64(30*time.Millisecond) || time.Since(before) < 30*time.Millisecond {
		t.Errorf("a sleep of 30 ms took %v", time.Duration(slept))
	}
}

func TestAPinnedClock(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Date(2040, 1, 2, 3, 4, 5, 6, time.UTC)
	h := wasmtest.New(t, echo, wasmtest.Config{MaxInstances: 1, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}})
	for _, step := range []time.Duration{0, time.Hour, -2 * time.Hour, 24 * time.Hour} {
		mu.Lock()
		now = now.Add(step)
		want := strconv.FormatInt(now.UnixNano(), 10)
		mu.Unlock()
		_, body := get(t, h, "/clock?sleep=1h")
		fields := strings.Fields(body)
		slept, _ := strconv.ParseInt(fields[1], 10, 64)
		if fields[0] != want || fields[2] != "true" || time.Duration(slept) < time.Hour || time.Duration(slept) > time.Hour+time.Second {
			t.Errorf("after %v: %s, want %s, an hour and true", step, body, want)
		}
	}
}

func TestRandomness(t *testing.T) {
	t.Parallel()
	drawn := func(config wasmtest.Config) string {
		_, body := get(t, wasmtest.New(t, echo, config), "/random")
		return body
	}
	seeded := func(seed int64) wasmtest.Config {
		return wasmtest.Config{Random: rand.New(rand.NewSource(seed))}
	}
	if a, b := drawn(wasmtest.Config{}), drawn(wasmtest.Config{}); a == b || strings.Fields(a)[0] == strings.Fields(b)[0] {
		t.Errorf("two modules drew %s", a)
	}
	if a, b := drawn(seeded(1)), drawn(seeded(1)); a != b {
		t.Errorf("one seed drew %s and %s", a, b)
	}
	if a, b := drawn(seeded(1)), drawn(seeded(2)); a == b {
		t.Errorf("two seeds drew %s", a)
	}
}

func TestLogsComeInLines(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := wasmtest.New(t, echo, wasmtest.Config{Log: &log, MaxInstances: 1})
	get(t, h, "/log?line=one%0Atwo")
	get(t, h, "/log?line="+strings.Repeat("x", 10000))
	get(t, h, "/count") // the line before is written when this one has the instance
	if got, want := log.String(), "one\ntwo\n"+strings.Repeat("x", 8192)+"\n"+strings.Repeat("x", 10000-8192)+"\n"; got != want {
		t.Errorf("%.60q", got)
	}
}
