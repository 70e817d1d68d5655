package redis_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/redis"
)

// A server is a redis-server that the test started. stop stops it; so does the end of the test.
type server struct {
	url  string
	stop func()
}

// start starts a redis-server on a free port of this machine, which keeps nothing on disk.
func start(t testing.TB, arguments ...string) *server {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI_STRICT") == "1" {
			t.Fatal("redis-server is not installed, and CI_STRICT=1 demands it")
		}
		t.Skip("redis-server is not installed")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	listener.Close()
	command := exec.Command(path, append([]string{
		"--bind", "127.0.0.1", "--port", port, "--dir", t.TempDir(), "--save", "", "--appendonly", "no",
	}, arguments...)...)
	command.Stdout, command.Stderr = io.Discard, io.Discard
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{url: "redis://127.0.0.1:" + port}
	stopped := false
	s.stop = func() {
		if !stopped {
			stopped = true
			_ = command.Process.Signal(syscall.SIGTERM)
			_ = command.Wait()
		}
	}
	t.Cleanup(s.stop)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if connection, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			connection.Close()
			return s
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("redis-server does not listen after 10 seconds")
		}
	}
}

var databases atomic.Int64

// open gives a store in a part of the server that nothing else uses.
func (s *server) open(t testing.TB) *redis.Store {
	t.Helper()
	store, err := redis.Open(s.url, redis.Options{Prefix: fmt.Sprintf("[test] *%d:", databases.Add(1))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}
