package wasmtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/edgeauth/edgeauth/edge/abi"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

const (
	startLimit = 30 * time.Second // for an instance to reach edge.Serve
	fetchLimit = 10 * time.Second // for one outbound request
	pageBytes  = 64 << 10         // of WebAssembly memory
)

// Module is a compiled program and its instances. It is an http.Handler, safe for concurrent use.
type Module struct {
	config   Config
	log      *logger
	runtime  wazero.Runtime
	cache    wazero.CompilationCache
	compiled wazero.CompiledModule
	random   io.Reader
	pool     pool
	closing  sync.Once
	closed   error
	lost     atomic.Int64 // instances that ended, or were replaced

	mu     sync.Mutex
	stores map[abi.Store]*memory.Store // for what Config has no Store or Cache for
}

// A NotGuestError says why a module can't be run here.
type NotGuestError struct {
	Path   string
	Reason string
}

func (e *NotGuestError) Error() string {
	return "wasmtest: " + e.Path + " " + e.Reason
}

// A StartError is a program that did not get to edge.Serve.
type StartError struct {
	Reason string // what ended it: an exit with its code, a trap, main's return, the time limit
	Log    string // the end of what it wrote, at most 4 KiB: log.Fatal's text, or a panic with its stack
}

func (e *StartError) Error() string {
	if e.Log == "" {
		return "wasmtest: the program does not serve: " + e.Reason
	}
	return "wasmtest: the program does not serve: " + e.Reason + ":\n" + e.Log
}

// Open compiles the module in the file path and starts one instance of it, so that a program which refuses its
// configuration is reported here, as a *StartError. A file that is no guest of this host is a *NotGuestError. ctx ends
// with Open: the module lives until Close.
func Open(ctx context.Context, path string, config Config) (*Module, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("wasmtest: %w", err)
	}
	m := &Module{config: config, log: &logger{w: config.Log}, random: config.Random, stores: map[abi.Store]*memory.Store{}}
	if m.random == nil {
		m.random = rand.Reader
	} else {
		m.random = &lockedReader{r: config.Random}
	}
	m.pool.init(config.MaxInstances)
	if err := m.compile(context.WithoutCancel(ctx), path, binary); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	in, err := m.pool.take(ctx)
	if err == nil {
		in, err = m.instantiate(ctx)
		m.pool.put(in)
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// check refuses what can't be meant and fills in what zero means.
func (c *Config) check() error {
	if c.MaxInstances < 0 || c.Deadline < 0 || c.MaxMemory < 0 || c.MaxMemory > 4<<30 {
		return errors.New("wasmtest: Config has a negative limit, or more memory than the 4 GiB a module can have")
	}
	for name, value := range c.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return fmt.Errorf("wasmtest: Config.Env has the name %q, or a value for it, that an environment can't hold", name)
		}
	}
	if c.MaxInstances == 0 {
		c.MaxInstances = 8
	}
	if c.Deadline == 0 {
		c.Deadline = 30 * time.Second
	}
	if c.MaxMemory == 0 {
		c.MaxMemory = 128 << 20
	}
	if c.Log == nil {
		c.Log = os.Stderr
	}
	return nil
}

// compiling lets the second of two parallel tests find what the first has put in the cache: compiling takes seconds.
var compiling sync.Mutex

// compile makes machine code of binary, or takes it from the cache.
func (m *Module) compile(ctx context.Context, path string, binary []byte) error {
	cache, dir, err := compilationCache(m.config.CacheDir)
	if err != nil {
		return err
	}
	m.cache = cache
	m.runtime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithCompilationCache(cache).
		WithCloseOnContextDone(!m.config.Uninterruptible).
		WithDebugInfoEnabled(false).
		WithMemoryLimitPages(uint32((m.config.MaxMemory+pageBytes-1)/pageBytes)))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, m.runtime); err != nil {
		return fmt.Errorf("wasmtest: %w", err)
	}
	if err := m.offer(ctx); err != nil {
		return fmt.Errorf("wasmtest: %w", err)
	}
	compiling.Lock()
	m.compiled, err = m.runtime.CompileModule(ctx, joinData(binary))
	prune(dir, cachedModules)
	compiling.Unlock()
	if err != nil {
		return &NotGuestError{path, "can't be compiled: " + err.Error()}
	}
	if reason := foreign(m.compiled); reason != "" {
		return &NotGuestError{path, reason}
	}
	return nil
}

// foreign says why a module is not a guest of this version, or returns the empty string.
func foreign(compiled wazero.CompiledModule) string {
	for _, f := range compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		switch {
		case module == wasi_snapshot_preview1.ModuleName || module == abi.Module:
		case strings.HasPrefix(module, "edge_abi_"):
			return "speaks " + module + ", this host " + abi.Module + ": build both from the same version"
		default:
			return "imports " + module + "." + name + ", which this host does not offer"
		}
	}
	for name, parameters := range map[string]int{"_initialize": 0, abi.ExportStart: 0, abi.ExportHandle: 2} {
		f, ok := compiled.ExportedFunctions()[name]
		if !ok {
			return "does not export " + name + ": it must import package edge and be built with GOOS=wasip1 GOARCH=wasm -buildmode=c-shared"
		}
		if name != "_initialize" && (len(f.ParamTypes()) != parameters || len(f.ResultTypes()) != 1 || f.ResultTypes()[0] != api.ValueTypeI32) {
			return "exports " + name + " with a signature that " + abi.Module + " does not have"
		}
	}
	return ""
}

// Close waits for the requests being handled, and their work after the response, then releases everything. It
// takes Config.Deadline at most, and 30 seconds more while an instance starts. Later requests get 503. It may be called again.
func (m *Module) Close() error {
	m.closing.Do(func() {
		m.pool.close()
		ctx := context.Background()
		if m.runtime != nil {
			m.closed = m.runtime.Close(ctx)
		}
		if m.cache != nil {
			m.closed = errors.Join(m.closed, m.cache.Close(ctx))
		}
	})
	return m.closed
}

// lockedReader lets instances share a reader.
type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *lockedReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return io.ReadFull(l.r, p)
}

var _ http.Handler = (*Module)(nil)
