//go:build !js && !wasip1

package edge_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestPanicHarmsNoOtherRequest(t *testing.T) {
	t.Parallel()
	w := start(t, "app", nil)
	up := upstream(t, slow)
	goroutines, _ := w.state()
	how := []string{"map", "abort", "goexit"}
	c := client(t)
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			path, status := fmt.Sprintf("/work?id=%d", i), 200
			if i%10 == 0 {
				path, status = path+"&panic="+how[i/10%len(how)], 500
			}
			if i%4 < 2 {
				path += "&url=" + url.QueryEscape(up)
			}
			resp, err := c.Get("http://" + w.addr + path)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != status || status == 200 && string(body) != fmt.Sprintf("id %d", i) {
				t.Errorf("%s: got %d %q, want %d", path, resp.StatusCode, body, status)
			}
		})
	}
	wg.Wait()
	w.settles(goroutines)
	w.logs("edge: panic in handler: assignment to entry in nil map", 34)
	w.logs("main.work(", 67) // in the stacks of those and of the 33 that called Goexit
	w.logs("abort Handler", 0)
	w.logs("program has ended", 0)
}

func TestProgramEndAnswersEverybody(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"fatal", "exit", "goroutine", "overflow"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := start(t, "app", nil)
			var waiting sync.WaitGroup
			waiting.Add(20)
			release := make(chan struct{})
			up := upstream(t, func(_ http.ResponseWriter, r *http.Request) {
				waiting.Done()
				select {
				case <-release:
				case <-r.Context().Done():
				}
			})
			defer close(release)
			c := client(t)
			statuses := make(chan int, 20)
			for range 20 {
				go func() {
					resp, err := c.Get("http://" + w.addr + "/work?url=" + url.QueryEscape(up))
					if err != nil {
						t.Error(err)
						statuses <- 0
						return
					}
					defer resp.Body.Close()
					if body, _ := io.ReadAll(resp.Body); string(body) != "Internal Server Error\n" {
						t.Errorf("a pending request got %q", body)
					}
					statuses <- resp.StatusCode
				}()
			}
			waiting.Wait()
			begin := time.Now()
			if status, body := w.get("/die?how=" + how); status != 500 || body != "Internal Server Error\n" {
				t.Errorf("the request that ended the program got %d %q", status, body)
			}
			for range 20 {
				if status := <-statuses; status != 500 {
					t.Errorf("a pending request got %d, want 500", status)
				}
			}
			t.Logf("everybody answered after %v", time.Since(begin))
			if status, body := w.get("/work?id=next"); status != 200 || body != "id next" {
				t.Errorf("the next request got %d %q", status, body)
			}
			w.logs("edge: the program has ended", 1)
		})
	}
}

func TestProgramThatDoesNotStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ binding, log string }{
		"refuses": {"REFUSE", "app: refusing to start: no reason"},
		"blocks":  {"BLOCK", "it did not get as far as edge.Serve"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, "app", map[string]string{c.binding: "no reason"})
			for range 3 {
				if status, body := w.get("/work"); status != 500 || body != "Internal Server Error\n" {
					t.Errorf("got %d %q", status, body)
				}
			}
			w.logs(c.log, 3)
		})
	}
}

func TestExclusiveInstancesMayUseTimers(t *testing.T) {
	t.Parallel()
	w := start(t, "app", map[string]string{"EDGE_EXCLUSIVE": "5"})
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			resp, err := http.Get("http://" + w.addr + "/sleep")
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			if resp.StatusCode != 200 {
				t.Errorf("got status %d", resp.StatusCode)
			}
		})
	}
	wg.Wait()
}

// The same worker on Node: see testdata/node.mjs.
func TestWorkerOnNode(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "node is missing: install Node 20.3 or newer")
	}
	out, err := exec.Command(node, "worker/testdata/node.mjs", build(t, "app")).CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "ok\n") {
		t.Errorf("%v\n%s", err, out)
	}
}
