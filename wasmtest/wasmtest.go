package wasmtest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// Config is what a program gets from its host. The zero value is a program that is alone in the world.
type Config struct {
	// Transport carries the program's outbound requests. The host allows each 10 seconds and a response body of 1 MiB, and
	// hands redirects to the program. It must be safe for concurrent use. Nil: every outbound request fails.
	Transport http.RoundTripper

	// Store gives what stands behind edge.Store(binding). Keys are as the program wrote them, so two bindings that get one
	// store share them. It is asked for every call, which may take 10 seconds. Nil: each binding has its own store in memory,
	// which ends with the module.
	Store func(binding string) kv.Store

	// Cache gives what stands behind edge.KV(binding), as Store does.
	Cache func(binding string) kv.Cache

	// Env is the whole environment of the program. Nil: empty.
	Env map[string]string

	// Now is the program's clock. It is called concurrently. With it set, a sleep of the program takes no time: it
	// moves the instance's monotonic clock instead, which otherwise follows Now and never runs backwards.
	// Nil: the machine's clocks.
	Now func() time.Time

	// Random is the program's source of randomness; reads of several instances take turns. It must not end: the Go
	// runtime of an instance stops when it does. Nil: crypto/rand.
	Random io.Reader

	// Log gets what the program writes to standard output and error, in whole lines, and the host's own remarks.
	// Nil: the log of the test; with Open, standard error.
	Log io.Writer

	// MaxInstances is how many instances live at once, busy and idle. 0: 8.
	MaxInstances int

	// Deadline is the time one request may take inside the program, work left to edge.WaitUntil included; a request
	// waits as long for an instance. 0: 30 seconds.
	Deadline time.Duration

	// Uninterruptible leaves out the checks that let Deadline end a program which computes without end. Warm requests take a
	// third to a half of the time. The price is that one endless loop stops the whole process for ever, no later than the next
	// garbage collection, which waits for it: nothing runs then, not the time limit of "go test" either. Deadline
	// still ends a program that waits, sleeps or looks at the clock. False is right for tests.
	Uninterruptible bool

	// MaxMemory limits the memory of one instance, in bytes, rounded up to 64 KiB. An instance that holds more than
	// half of it after a request is not used again. 0: 128 MiB, what a worker of Cloudflare has.
	MaxMemory int64

	// CacheDir is where compiled modules and New's builds are kept. Machine code is loaded from it, so nobody else
	// should be able to write there. Empty: the folder edgeauth-wasmtest in os.UserCacheDir, or no cache when the
	// user has none.
	CacheDir string
}

// New opens a module for the duration of a test, and closes it at the end. module is the path of a .wasm file, or else a Go package, as "go build"
// takes it, that is built for wasip1. Whatever goes wrong ends the test; a program that ends before it serves is
// reported with its log. A package is built once in a process, however many tests ask for it at the same time.
//
// "go test" caches the test's result under the sources of a package built so, as if the test had imported it.
func New(tb testing.TB, module string, config Config) *Module {
	tb.Helper()
	if !strings.HasSuffix(module, ".wasm") {
		path, err := build(tb.Context(), module, config.CacheDir, tb.TempDir)
		if err != nil {
			tb.Fatal(err)
		}
		module = path
	}
	if config.Log == nil {
		config.Log = tbWriter{tb}
	}
	m, err := Open(tb.Context(), module, config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	return m
}

// tbWriter logs each line it is given, as lineLog writes them. The module is closed, and silent, before the test ends.
type tbWriter struct{ tb testing.TB }

func (w tbWriter) Write(line []byte) (int, error) {
	w.tb.Log(strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}
