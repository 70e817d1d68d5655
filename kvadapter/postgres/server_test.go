package postgres_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edgeauth/edgeauth/kvadapter/postgres"
)

// A server is a PostgreSQL server that the test started, with a database in a folder of its own.
// It ends with the test.
type server struct {
	url       string
	folder    string
	port      int
	arguments []string
	process   *exec.Cmd
}

// start makes a database, whose superuser has the password "secret-1", and starts a server
// for it on a free port of this machine.
func start(t testing.TB, arguments ...string) *server {
	t.Helper()
	folder, err := os.MkdirTemp("", "postgres-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{folder: folder, port: listener.Addr().(*net.TCPAddr).Port, arguments: arguments}
	listener.Close()
	s.url = fmt.Sprintf("postgres://postgres:secret-1@127.0.0.1:%d/postgres?sslmode=disable", s.port)
	secret := filepath.Join(folder, "secret")
	if err := os.WriteFile(secret, []byte("secret-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		for _, path := range []string{folder, secret} {
			if err := os.Chown(path, int(unprivileged(t).Uid), int(unprivileged(t).Gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
	command := s.command(t, "initdb", "--pgdata", filepath.Join(folder, "data"), "--username", "postgres",
		"--pwfile", secret, "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, output)
	}
	t.Cleanup(s.kill)
	s.run(t)
	return s
}

// command is a program of PostgreSQL, which refuses to run as root.
func (s *server) command(t testing.TB, program string, arguments ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath(program)
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program); err != nil && len(found) > 0 { // Debian
		path, err = found[len(found)-1], nil
	}
	if err != nil {
		if os.Getenv("CI_STRICT") == "1" {
			t.Fatal("PostgreSQL is not installed, and CI_STRICT=1 demands it")
		}
		t.Skip("PostgreSQL is not installed")
	}
	command := exec.Command(path, arguments...)
	command.Dir = s.folder
	if os.Getuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: unprivileged(t)}
	}
	return command
}

func unprivileged(t testing.TB) *syscall.Credential {
	t.Helper()
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	if uidErr != nil || gidErr != nil {
		t.Fatalf("the numbers of the user %s: %v, %v", account.Username, uidErr, gidErr)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// run starts the process, again if one that was killed still holds its memory, and waits until
// it answers.
func (s *server) run(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	log := filepath.Join(s.folder, "data", "log.txt")
	for ctx.Err() == nil {
		output, err := os.Create(log)
		if err != nil {
			t.Fatal(err)
		}
		process := s.command(t, "postgres", slices.Concat([]string{
			"-D", filepath.Join(s.folder, "data"), "-h", "127.0.0.1", "-p", fmt.Sprint(s.port), "-k", s.folder,
		}, s.arguments)...)
		process.Stdout, process.Stderr = output, output
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		s.process = process
		output.Close()
		ended := make(chan struct{})
		go func() {
			_ = process.Wait()
			close(ended)
		}()
		for running := true; running; {
			if connection, err := pgx.Connect(ctx, s.url); err == nil {
				connection.Close(ctx)
				return
			}
			select {
			case <-ended:
				running = false
			case <-ctx.Done():
				running = false
			case <-tick.C:
			}
		}
	}
	output, _ := os.ReadFile(log)
	t.Fatalf("PostgreSQL does not answer after a minute:\n%s", output)
}

// kill ends the server with SIGKILL, and the processes that it has started.
func (s *server) kill() {
	if s.process == nil {
		return
	}
	main := s.process.Process.Pid
	processes := append(children(main), main)
	_ = syscall.Kill(main, syscall.SIGSTOP) // so that it starts none meanwhile
	processes = append(processes, children(main)...)
	for _, process := range processes {
		_ = syscall.Kill(process, syscall.SIGKILL)
	}
	for slices.ContainsFunc(processes, isAlive) {
		time.Sleep(time.Millisecond)
	}
	s.process = nil
}

// children are the processes that a process has started.
func children(parent int) (found []int) {
	list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	for _, text := range strings.Fields(string(list)) {
		if process, err := strconv.Atoi(text); err == nil {
			found = append(found, process)
		}
	}
	return found
}

// isAlive is false for who has ended, whether or not anybody has taken notice.
func isAlive(process int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	_, state, _ := strings.Cut(string(status), ") ")
	return err == nil && !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

func waitFor(t testing.TB, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("not after 30 seconds")
		}
	}
}

var tables atomic.Int64

// open gives a store in a table that nothing else uses.
func (s *server) open(t testing.TB) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), s.url, postgres.Options{Table: fmt.Sprintf("public.a table %d", tables.Add(1))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

// connect gives a connection past the store.
func (s *server) connect(t testing.TB) *pgx.Conn {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close(context.Background()) })
	return connection
}
