//go:build !js && !wasip1

package edge_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkWorkerd compares a trivial handler behind the bridge with the same
// answer from JavaScript alone, a request at a time: the difference is what the
// bridge costs. Requests have eight header fields, responses six and 300 bytes.
func BenchmarkWorkerd(b *testing.B) {
	workerd := workerdPath(b)
	dir := b.TempDir()
	source, err := os.ReadFile(filepath.Join("worker", "testdata", "bench", "plain.mjs"))
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain.mjs"), source, 0o600); err != nil {
		b.Fatal(err)
	}
	workers := map[string]*worker{
		"go":         start(b, "bench", nil),
		"javascript": startWorkerd(b, workerd, dir, setup{modules: []string{"plain.mjs"}}),
	}
	for _, name := range []string{"javascript", "go"} {
		b.Run(name, func(b *testing.B) {
			conn, err := net.Dial("tcp", workers[name].addr)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			responses := bufio.NewReader(conn)
			exchange := func() {
				io.WriteString(conn, benchRequest)
				resp, err := http.ReadResponse(responses, nil)
				if err != nil || resp.StatusCode != 200 || len(resp.Header) != 6 { // with Content-Length
					b.Fatal(resp, err)
				}
				io.Copy(io.Discard, resp.Body)
			}
			for range 5000 { // V8 compiles what is used often
				exchange()
			}
			var times []time.Duration
			for b.Loop() {
				begin := time.Now()
				exchange()
				times = append(times, time.Since(begin))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-µs")
			b.ReportMetric(float64(len(times))/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// BenchmarkStore is a call to a Durable Object in the same workerd, a request at a time; "none"
// is a request without one, and "take" two calls.
func BenchmarkStore(b *testing.B) {
	w := start(b, "app", nil)
	c := client(b)
	query := "&name=AUTH_DO&seconds=3600&value=" + strings.Repeat("x", 300)
	for _, one := range []struct{ name, path string }{
		{"none", "/work?id=1"},
		{"get", "/store?op=get&key=a" + query},
		{"put", "/store?op=put&key=a" + query},
		{"take", "/store?op=take&key=b" + query},
		{"list", "/store?op=list&key=a" + query},
	} {
		b.Run(one.name, func(b *testing.B) {
			w.store("put", "a", "value", strings.Repeat("x", 300))
			var times []time.Duration
			for b.Loop() {
				begin := time.Now()
				resp, err := c.Get("http://" + w.addr + one.path)
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				times = append(times, time.Since(begin))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-µs")
		})
	}
}

const benchRequest = "GET /api/auth/session HTTP/1.1\r\n" +
	"Host: app.example\r\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140\r\n" +
	"Accept: */*\r\n" +
	"Accept-Language: en-US,en;q=0.9\r\n" +
	"Accept-Encoding: gzip, br\r\n" +
	"Cookie: authjs.session-token=eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIn0..aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n" +
	"Referer: https://app.example/\r\n" +
	"Sec-Fetch-Mode: cors\r\n\r\n"
