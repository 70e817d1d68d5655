package wasmtest_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/edgeauth/edgeauth/wasmtest"
	"github.com/edgeauth/edgeauth/wasmtest/testdata/hello"
)

// discard is a ResponseWriter that costs next to nothing.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

func benchmarkHello(b *testing.B, h http.Handler) {
	r := httptest.NewRequest("GET", "https://example.com/hello", nil)
	r.Header.Set("Cookie", "name=edge")
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	r.Header.Set("Accept-Language", "en")
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(discard{http.Header{}}, r)
	}
}

// BenchmarkWarmRequest and BenchmarkNativeRequest run one handler on both sides of the border.
func BenchmarkWarmRequest(b *testing.B) {
	benchmarkHello(b, wasmtest.New(b, echo, wasmtest.Config{}))
}

func BenchmarkWarmRequestUninterruptible(b *testing.B) {
	benchmarkHello(b, wasmtest.New(b, echo, wasmtest.Config{Uninterruptible: true}))
}

func BenchmarkNativeRequest(b *testing.B) {
	benchmarkHello(b, http.HandlerFunc(hello.ServeHTTP))
}

// BenchmarkOpenCached is what a second process pays: reading machine code and starting one instance.
func BenchmarkOpenCached(b *testing.B) {
	path := builtEcho(b)
	config := wasmtest.Config{CacheDir: b.TempDir()}
	wasmtest.New(b, path, config)
	for b.Loop() {
		m, err := wasmtest.Open(b.Context(), path, config)
		if err != nil {
			b.Fatal(err)
		}
		_ = m.Close()
	}
}

// BenchmarkOpenCold compiles.
func BenchmarkOpenCold(b *testing.B) {
	path := builtEcho(b)
	for b.Loop() {
		m, err := wasmtest.Open(b.Context(), path, wasmtest.Config{CacheDir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		_ = m.Close()
	}
}

// BenchmarkReplace ends the instance in each request: a request, an instantiation and the program's main.
func BenchmarkReplace(b *testing.B) {
	h := wasmtest.New(b, echo, wasmtest.Config{MaxInstances: 1, Log: new(journal)})
	for b.Loop() {
		get(b, h, "/end?how=exit")
	}
}
