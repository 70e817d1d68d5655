package wasmtest_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/wasmtest"
)

// journal is a log that tests may read while it is written.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func TestAnEndCostsOneRequest(t *testing.T) {
	t.Parallel()
	for how, c := range map[string]struct {
		status int
		count  string // of the next request: 3 when the instance survived
		log    string
	}{
		"panic":     {500, "3", "edge: panic serving /end: echo: handler"},
		"abort":     {500, "3", ""},
		"exit":      {500, "1", "exited with code 2"},
		"goroutine": {500, "1", "panic: echo: goroutine"},
		"deadlock":  {500, "1", "all goroutines are asleep"},
		"recursion": {500, "1", "the program ended during a request"},
		"memory":    {500, "1", "out of memory"},
		"grow":      {200, "1", "MiB; it is replaced"},
		"loop":      {504, "1", "exceeded its deadline of 1.5s"},
		"sleep":     {504, "1", "exceeded its deadline of 1.5s"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			log := new(journal)
			config := wasmtest.Config{MaxInstances: 1, MaxMemory: 64 << 20, Log: log}
			if c.status == 504 {
				config.Deadline = 1500 * time.Millisecond
			}
			h := wasmtest.New(t, echo, config)
			expect(t, h, "/count", 200, "1")
			expect(t, h, "/count", 200, "2")
			if status, body := get(t, h, "/end?how="+how); status != c.status || status != 200 && strings.Contains(body, "partial") {
				t.Errorf("%d %q, want %d", status, body, c.status)
			}
			expect(t, h, "/count", 200, c.count)
			if got := log.String(); !strings.Contains(got, c.log) || (c.log == "") != (got == "") {
				t.Errorf("the log has no %q:\n%.2000s", c.log, got)
			}
		})
	}
}

func TestReplacedInstancesAreReleased(t *testing.T) { // not parallel: it weighs the whole process
	h := wasmtest.New(t, echo, wasmtest.Config{MaxInstances: 1, Log: new(journal)})
	weigh := func(rounds int) uint64 {
		for range rounds {
			if status, _ := get(t, h, "/end?how=exit"); status != 500 {
				t.Fatal(status)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := weigh(20)
	after := weigh(200)
	if after > before+32<<20 { // an instance has 3 MiB and more
		t.Errorf("200 instances later the heap holds %d MiB, before it held %d", after>>20, before>>20)
	}
}

func TestTheDeadlineEndsAWaitEvenWithoutInterruption(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/end?how=sleep", "/clock?sleep=1h", "/fetch?url=http://world.example/"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				hang := func(*http.Request) (*http.Response, error) { time.Sleep(time.Hour); return nil, errors.New("at last") }
				h := wasmtest.New(t, echo, wasmtest.Config{MaxInstances: 1, Deadline: 5 * time.Second, Uninterruptible: true, Transport: roundTrip(hang)})
				expect(t, h, "/count", 200, "1")
				before := time.Now()
				if status, _ := get(t, h, target); status != 504 || time.Since(before) != 5*time.Second {
					t.Errorf("%d after %v, want 504 after 5s", status, time.Since(before))
				}
				expect(t, h, "/count", 200, "1")
				time.Sleep(2 * time.Hour) // lets every goroutine of the world end
			})
		})
	}
}

func TestAProgramThatDoesNotServeIsReportedWithItsLog(t *testing.T) {
	t.Parallel()
	path := builtEcho(t)
	for how, want := range map[string]string{
		"fatal":  "echo: AUTH_SECRET is missing; set it",
		"panic":  "echo: broken configuration",
		"return": "main returned without calling edge.Serve",
		"hang":   "all goroutines are asleep",
	} {
		m, err := wasmtest.Open(t.Context(), path, wasmtest.Config{Env: map[string]string{"ECHO_START": how}, Log: new(journal)})
		start, ok := errors.AsType[*wasmtest.StartError](err)
		if m != nil || !ok || !strings.Contains(start.Error(), want) {
			t.Errorf("%s: %v, want a StartError with %q", how, err, want)
		}
	}
}

func TestFilesThatAreNoGuests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const magic = "\x00asm\x01\x00\x00\x00"
	// Type section: one func() ; import section: one function of module and name.
	imports := func(module, name string) string {
		field := string(rune(len(module))) + module + string(rune(len(name))) + name + "\x00\x00"
		return magic + "\x01\x04\x01\x60\x00\x00" + "\x02" + string(rune(len(field)+1)) + "\x01" + field
	}
	for name, c := range map[string]struct{ path, want string }{
		"text":                     {write("text.wasm", "hello"), "can't be compiled"},
		"an empty module":          {write("empty.wasm", magic), "does not export"},
		"another version":          {write("version.wasm", imports("edge_abi_9", "take")), "speaks edge_abi_9, this host edge_abi_2"},
		"another platform":         {write("platform.wasm", imports("gojs", "x")), "imports gojs.x, which this host does not offer"},
		"a command, not a reactor": {buildCommand(t), "-buildmode=c-shared"},
	} {
		_, err := wasmtest.Open(t.Context(), c.path, wasmtest.Config{})
		if _, ok := errors.AsType[*wasmtest.NotGuestError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a NotGuestError with %q", name, err, c.want)
		}
	}
	if _, err := wasmtest.Open(t.Context(), filepath.Join(dir, "none.wasm"), wasmtest.Config{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestConfigurationsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]wasmtest.Config{
		"negative pool":     {MaxInstances: -1},
		"negative deadline": {Deadline: -1},
		"too much memory":   {MaxMemory: 5 << 30},
		"bad name":          {Env: map[string]string{"A=B": ""}},
		"NUL in value":      {Env: map[string]string{"A": "\x00"}},
	} {
		if _, err := wasmtest.Open(t.Context(), "unread.wasm", config); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAClosedModuleAnswers503(t *testing.T) {
	t.Parallel()
	m, err := wasmtest.Open(t.Context(), builtEcho(t), wasmtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, m, "/count", 200, "1")
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/count", nil))
	if w.Code != 503 {
		t.Errorf("%d, want 503", w.Code)
	}
}
