package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/internal/crashtest"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/redis"
	"github.com/edgeauth/edgeauth/kvadapter/storetest"
)

var _ interface {
	kv.Store
	kv.Lister
} = (*redis.Store)(nil)

func TestContract(t *testing.T) {
	t.Parallel()
	s := start(t)
	storetest.Run(t, func(t *testing.T) kv.Store { return s.open(t) }, storetest.Options{})
}

func TestContractInACluster(t *testing.T) {
	t.Parallel()
	nodes := startCluster(t)
	storetest.Run(t, func(t *testing.T) kv.Store { return nodes[0].open(t) }, storetest.Options{})
	for i, node := range nodes {
		if node.command(t, "RANDOMKEY") == "" {
			t.Errorf("node %d has nothing of any store", i)
		}
	}
}

func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	s := start(t)
	crashtest.Run(t, s.open(t), func() {
		s.end(syscall.SIGKILL)
		s.run(t)
	})
}

// put writes one value, which has to succeed.
func put(t testing.TB, store kv.Store, key, value string) {
	t.Helper()
	if ok, err := store.Commit(t.Context(), nil, []kv.Write{{Key: key, Value: []byte(value)}}); !ok || err != nil {
		t.Fatalf("Commit = %v, %v", ok, err)
	}
}

func TestProgramsShareADatabase(t *testing.T) {
	t.Parallel()
	s, prefixes := start(t), []string{"one", "on", "*", ""}
	var stores []*redis.Store
	for _, prefix := range prefixes {
		store, err := redis.Open(s.url, redis.Options{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(store.Close)
		put(t, store, "a", "of "+prefix)
		stores = append(stores, store)
	}
	for i, prefix := range prefixes {
		if got, err := stores[i].Get(t.Context(), "a"); err != nil || string(got[0].Value) != "of "+prefix {
			t.Errorf("Get with the prefix %q = %q, %v", prefix, got, err)
		}
		if page, _, err := stores[i].List(t.Context(), "", ""); err != nil || len(page) != 1 || string(page[0].Value) != "of "+prefix {
			t.Errorf("List with the prefix %q = %q, %v", prefix, page, err)
		}
	}
	if _, err := redis.Open(s.url, redis.Options{Prefix: "{a"}); err != redis.ErrPrefix {
		t.Errorf("Open with a brace in the prefix = %v, want ErrPrefix", err)
	}
}

// The server forgets scripts when it starts again, and when it is told to.
func TestServerForgetsTheScripts(t *testing.T) {
	t.Parallel()
	s := start(t)
	store := s.open(t)
	for _, value := range []string{"0", "1", "2"} {
		s.command(t, "SCRIPT", "FLUSH")
		put(t, store, "a", value)
		s.command(t, "SCRIPT", "FLUSH")
		if got, err := store.Get(t.Context(), "a"); err != nil || string(got[0].Value) != value {
			t.Errorf("Get after SCRIPT FLUSH = %q, %v", got, err)
		}
		s.command(t, "SCRIPT", "FLUSH")
		if page, _, err := store.List(t.Context(), "", ""); err != nil || len(page) != 1 {
			t.Errorf("List after SCRIPT FLUSH = %q, %v", page, err)
		}
	}
}

// calls are the calls of a store.
var calls = map[string]func(ctx context.Context, store *redis.Store) error{
	"Get": func(ctx context.Context, store *redis.Store) error {
		_, err := store.Get(ctx, "a")
		return err
	},
	"Commit": func(ctx context.Context, store *redis.Store) error {
		_, err := store.Commit(ctx, []kv.Check{{Key: "a"}}, []kv.Write{{Key: "a", Value: []byte("b")}})
		return err
	},
	"List": func(ctx context.Context, store *redis.Store) error {
		_, _, err := store.List(ctx, "", "")
		return err
	},
}

// Who is told "absent" while the server is down signs everybody out.
func TestDeadServerIsAnError(t *testing.T) {
	t.Parallel()
	s := start(t)
	store := s.open(t)
	put(t, store, "a", "value")
	s.end(syscall.SIGTERM)
	for name, call := range calls {
		if err := call(t.Context(), store); err == nil || errors.As(err, new(*kv.TimeoutError)) {
			t.Errorf("%s without a server = %v, want an error before the time is over", name, err)
		}
	}
	s.run(t)
	if got, err := store.Get(t.Context(), "a"); err != nil || string(got[0].Value) != "value" {
		t.Errorf("Get when the server is back = %q, %v", got, err)
	}
}

func TestSilentServerIsATimeout(t *testing.T) {
	t.Parallel()
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			impatient, err := redis.Open(s.url, redis.Options{Timeout: 20 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(impatient.Close)
			patient := s.open(t)
			if err := s.process.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			var late *kv.TimeoutError
			if err := call(t.Context(), impatient); !errors.As(err, &late) || late.After != 20*time.Millisecond {
				t.Errorf("without an answer = %v, want a *kv.TimeoutError", err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if err := call(ctx, patient); err != context.DeadlineExceeded {
				t.Errorf("without an answer until the context ends = %v, want its error", err)
			}
			if err := s.process.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A commit that the server has no memory for changes nothing, not even what needs none.
func TestServerIsFull(t *testing.T) {
	t.Parallel()
	s := start(t, "--maxmemory-policy", "noeviction")
	store := s.open(t)
	put(t, store, "a", "old")
	put(t, store, "b", "old")
	s.command(t, "CONFIG", "SET", "maxmemory", "1")
	_, err := store.Commit(t.Context(), nil, []kv.Write{{Key: "a", Value: []byte("new")}, {Key: "b"}})
	var refused *redis.ServerError
	if !errors.As(err, &refused) || !strings.HasPrefix(refused.Message, "OOM") {
		t.Errorf("Commit = %v, want the server's OOM", err)
	}
	got, err := store.Get(t.Context(), "a", "b")
	if err != nil || string(got[0].Value) != "old" || string(got[1].Value) != "old" {
		t.Errorf("Get = %q, %v, want what was there", got, err)
	}
	ok, err := store.Commit(t.Context(), nil, []kv.Write{{Key: "b"}, {Key: "a", Value: []byte("new")}})
	want := []string{"old", "old"}
	if ok {
		want = []string{"new", ""}
	}
	got, getErr := store.Get(t.Context(), "a", "b")
	if getErr != nil || string(got[0].Value) != want[0] || string(got[1].Value) != want[1] {
		t.Errorf("Get after Commit = %v, %v: %q, %v, want %q", ok, err, got, getErr, want)
	}
}

func TestErrorsDoNotHoldThePassword(t *testing.T) {
	t.Parallel()
	const password = "hunter2-secret"
	s := start(t, "--requirepass", "another-secret")
	host := strings.TrimPrefix(s.url, "redis://")
	refused := func(err error) bool { return errors.As(err, new(*redis.ServerError)) }
	for name, test := range map[string]struct {
		url  string
		want func(error) bool
	}{
		"wrong password":        {"redis://:" + password + "@" + host, refused},
		"wrong user":            {"redis://somebody:" + password + "@" + host, refused},
		"no password":           {"redis://" + host, refused},
		"nobody listens":        {"redis://:" + password + "@127.0.0.1:1", func(err error) bool { return !errors.Is(err, redis.ErrURL) }},
		"no TLS there":          {"rediss://:" + password + "@" + host, func(err error) bool { return !errors.Is(err, redis.ErrURL) }},
		"no such socket":        {"unix://:" + password + "@/no/such/socket", func(err error) bool { return err != nil }},
		"a slash in it":         {"redis://:12/" + password + "@" + host, func(err error) bool { return errors.Is(err, redis.ErrURL) }},
		"a question mark in it": {"redis://:12?" + password + "@" + host, func(err error) bool { return errors.Is(err, redis.ErrURL) }},
		"a number sign in it":   {"redis://:12#" + password + "@" + host, func(err error) bool { return errors.Is(err, redis.ErrURL) }},
		"a percent sign in it":  {"redis://:%" + password + "@" + host, func(err error) bool { return errors.Is(err, redis.ErrURL) }},
		"a wrong database":      {"redis://:x@" + host + "/" + password, func(err error) bool { return errors.Is(err, redis.ErrURL) }},
		"a wrong scheme":        {password + "://" + host, func(err error) bool { return errors.Is(err, redis.ErrURL) }},
		"no URL":                {password, func(err error) bool { return errors.Is(err, redis.ErrURL) }},
		"a control character":   {"redis://:" + password + "\x7f@" + host, func(err error) bool { return errors.Is(err, redis.ErrURL) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, err := redis.Open(test.url, redis.Options{})
			if err == nil {
				store.Close()
				t.Fatal("Open succeeded")
			}
			if !test.want(err) {
				t.Errorf("Open = %v, another kind of error", err)
			}
			if !strings.HasPrefix(err.Error(), "redis: ") || strings.Contains(err.Error(), password) {
				t.Errorf("Open = %v", err)
			}
		})
	}
}

// What another program has put under one of our keys is an error, not absence.
func TestForeignValue(t *testing.T) {
	t.Parallel()
	s := start(t)
	store, err := redis.Open(s.url, redis.Options{Prefix: "auth"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	for name, test := range map[string]struct {
		words []string
		want  func(error) bool
	}{
		"a list":         {[]string{"RPUSH", "{auth}a", "value"}, func(err error) bool { return errors.As(err, new(*redis.ServerError)) }},
		"a short string": {[]string{"SET", "{auth}a", "value"}, func(err error) bool { return err == redis.ErrRecord }},
		"a long string":  {[]string{"SET", "{auth}a", strings.Repeat("value", 20)}, func(err error) bool { return err == redis.ErrRecord }},
	} {
		s.command(t, "DEL", "{auth}a")
		s.command(t, test.words...)
		if got, err := store.Get(t.Context(), "a"); !test.want(err) {
			t.Errorf("Get of %s = %q, %v", name, got, err)
		}
		if ok, err := store.Commit(t.Context(), []kv.Check{{Key: "a"}}, []kv.Write{{Key: "a", Value: []byte("mine")}}); ok {
			t.Errorf("Commit that wants %s to be absent = %v, %v", name, ok, err)
		}
	}
}

// A sign-in, as far as the store sees it.
func signIn(i int) []kv.Write {
	user := fmt.Sprintf("user:%d", i)
	value := make([]byte, 300)
	value[0] = 1
	return []kv.Write{
		{Key: user, Value: value},
		{Key: fmt.Sprintf("address:%d", i), Value: value[:50], Ref: user},
		{Key: fmt.Sprintf("account:%d", i), Value: value, Ref: user},
		{Key: fmt.Sprintf("session:%d", i), Value: value, Ref: user, Expires: time.Now().Add(time.Hour)},
	}
}

// benchmark measures calls one after another, and 64 at once.
func benchmark(b *testing.B, do func(ctx context.Context, store kv.Store, i int) error) {
	for name, clients := range map[string]int{"alone": 1, "64": 64} {
		b.Run(name, func(b *testing.B) {
			store := start(b).open(b)
			for i := range 1000 {
				if _, err := store.Commit(b.Context(), nil, signIn(i)); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			var group sync.WaitGroup
			var next atomic.Int64
			for range clients {
				group.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if err := do(b.Context(), store, int(i)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
		})
	}
}

func BenchmarkGet(b *testing.B) {
	benchmark(b, func(ctx context.Context, store kv.Store, i int) error {
		_, err := store.Get(ctx, fmt.Sprintf("session:%d", i%1000))
		return err
	})
}

func BenchmarkCommit(b *testing.B) {
	benchmark(b, func(ctx context.Context, store kv.Store, i int) error {
		writes := signIn(1000 + i)
		_, err := store.Commit(ctx, []kv.Check{{Key: writes[1].Key}, {Key: writes[2].Key}}, writes)
		return err
	})
}
