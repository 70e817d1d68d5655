package redis_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/edgeauth/edgeauth/kvadapter/redis"
)

// A server is a redis-server that the test started, which keeps every write on disk. It ends
// with the test.
type server struct {
	url       string
	port      int
	arguments []string
	process   *exec.Cmd // nil: not running
}

// start starts a redis-server on a free port of this machine.
func start(t testing.TB, arguments ...string) *server {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI_STRICT") == "1" {
			t.Fatal("redis-server is not installed, and CI_STRICT=1 demands it")
		}
		t.Skip("redis-server is not installed")
	}
	s := &server{port: freePort(t)}
	s.url = fmt.Sprintf("redis://127.0.0.1:%d", s.port)
	s.arguments = slices.Concat([]string{
		path, "--bind", "127.0.0.1", "--port", fmt.Sprint(s.port), "--dir", t.TempDir(),
		"--save", "", "--appendonly", "yes", "--appendfsync", "always",
	}, arguments)
	t.Cleanup(func() { s.end(syscall.SIGKILL) })
	s.run(t)
	return s
}

func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// run starts the process, and waits until it listens.
func (s *server) run(t testing.TB) {
	t.Helper()
	s.process = exec.Command(s.arguments[0], s.arguments[1:]...)
	s.process.Stdout, s.process.Stderr = io.Discard, io.Discard
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "redis-server listens", func() bool {
		connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
		if err == nil {
			connection.Close()
		}
		return err == nil
	})
}

// end ends the process with a signal.
func (s *server) end(signal syscall.Signal) {
	if s.process != nil {
		_ = s.process.Process.Signal(signal)
		_ = s.process.Wait()
		s.process = nil
	}
}

func waitFor(t testing.TB, what string, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not after 30 seconds: %s", what)
		}
	}
}

// command has the server execute a command.
func (s *server) command(t testing.TB, words ...string) string {
	t.Helper()
	settings, err := rueidis.ParseURL(s.url)
	if err != nil {
		t.Fatal(err)
	}
	settings.DisableCache, settings.ForceSingleClient = true, true
	client, err := rueidis.NewClient(settings)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	result := client.Do(t.Context(), client.B().Arbitrary(words...).Build())
	if err := result.Error(); err != nil && !rueidis.IsRedisNil(err) {
		t.Fatalf("%s: %v", words, err)
	}
	answer, _ := result.ToString()
	return answer
}

// startCluster starts three nodes with a third of the slots each.
func startCluster(t testing.TB) []*server {
	t.Helper()
	var nodes []*server
	var buses []int
	for i := range 3 {
		bus := freePort(t)
		node := start(t, "--cluster-enabled", "yes", "--cluster-port", fmt.Sprint(bus))
		node.command(t, "CLUSTER", "SET-CONFIG-EPOCH", fmt.Sprint(i+1))
		node.command(t, "CLUSTER", "ADDSLOTSRANGE", fmt.Sprint(16384*i/3), fmt.Sprint(16384*(i+1)/3-1))
		if i > 0 {
			node.command(t, "CLUSTER", "MEET", "127.0.0.1", fmt.Sprint(nodes[0].port), fmt.Sprint(buses[0]))
		}
		nodes, buses = append(nodes, node), append(buses, bus)
	}
	waitFor(t, "the cluster is ready", func() bool {
		return !slices.ContainsFunc(nodes, func(node *server) bool {
			info := node.command(t, "CLUSTER", "INFO")
			return !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_known_nodes:3")
		})
	})
	return nodes
}

var stores atomic.Int64

// open gives a store in a part of the server that nothing else uses.
func (s *server) open(t testing.TB) *redis.Store {
	t.Helper()
	store, err := redis.Open(s.url, redis.Options{Prefix: fmt.Sprintf("[test] *%d:", stores.Add(1))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}
