package wasmtest_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/wasmtest"
)

// verdict is a test that remembers what is wrong and goes on.
type verdict struct {
	testing.TB
	errors []string
}

func (v *verdict) Helper() {}

func (v *verdict) Errorf(format string, args ...any) {
	v.errors = append(v.errors, fmt.Sprintf(format, args...))
}

func TestLeaksAreFound(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/hello":               "",
		"/":                    "",
		"/leak?what=once":      "",
		"/leak?what=ended":     "",
		"/leak?what=goroutine": "the program has 100 goroutines more after 100 calls",
		"/leak?what=memory":    "bytes more after 100 calls",
		"/end?how=exit":        "100 instances ended during the check",
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			m := wasmtest.New(t, echo, wasmtest.Config{Log: new(journal), MaxInstances: 1})
			v := &verdict{TB: t}
			m.CheckLeaks(v, func() { get(t, m, target) })
			if got := strings.Join(v.errors, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("the check says %q, want %q", got, want)
			}
		})
	}
}

func TestNothingStaysAfterClose(t *testing.T) {
	t.Parallel()
	path := builtEcho(t)
	// A bubble ends when all of its goroutines have, and fails if one of them never will.
	synctest.Test(t, func(t *testing.T) {
		world := roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/hang" {
				<-r.Context().Done()
				return nil, errors.New("at last")
			}
			return answer(200, "ok")(r)
		})
		m, err := wasmtest.Open(t.Context(), path, wasmtest.Config{Transport: world, Log: new(journal), Deadline: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for _, target := range []string{
			"/hello", "/later", "/kv?binding=A&key=b", "/fetch?url=http://world.example/", "/fetch?url=http://world.example/hang",
			"/end?how=exit", "/end?how=panic", "/end?how=sleep", "/leak?what=goroutine",
		} {
			for range 3 {
				all.Go(func() { m.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", target, nil)) })
			}
		}
		all.Wait()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}
