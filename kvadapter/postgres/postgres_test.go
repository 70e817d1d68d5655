package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edgeauth/edgeauth/kvadapter/internal/crashtest"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/postgres"
	"github.com/edgeauth/edgeauth/kvadapter/storetest"
)

var _ interface {
	kv.Store
	kv.Lister
} = (*postgres.Store)(nil)

func TestContract(t *testing.T) {
	t.Parallel()
	s := start(t)
	storetest.Run(t, func(t *testing.T) kv.Store { return s.open(t) }, storetest.Options{})
}

func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	s := start(t)
	crashtest.Run(t, s.open(t), func() {
		s.kill()
		s.run(t)
	})
}

// put writes one value, which has to succeed.
func put(t testing.TB, store kv.Store, key, value string, expires time.Time) {
	t.Helper()
	ok, err := store.Commit(t.Context(), nil, []kv.Write{{Key: key, Value: []byte(value), Expires: expires}})
	if !ok || err != nil {
		t.Fatalf("Commit = %v, %v", ok, err)
	}
}

// count gives the number that a query gives.
func (s *server) count(t testing.TB, query string, arguments ...any) (n int) {
	t.Helper()
	connection := s.connect(t)
	if err := connection.QueryRow(t.Context(), query, arguments...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	connection.Close(t.Context())
	return n
}

// Statements that were planned when the table was empty, and whatever the server knows about it,
// read no more rows of 400,000 than they are about.
func TestNoStatementReadsTheTable(t *testing.T) {
	t.Parallel()
	for _, analyze := range []bool{false, true} {
		t.Run(fmt.Sprintf("analyze=%v", analyze), func(t *testing.T) {
			t.Parallel()
			s := start(t)
			store, err := postgres.Open(t.Context(), s.url+"&pool_max_conns=1", postgres.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			for i := range 50 {
				visit(t, store, i)
			}
			load := `INSERT INTO edgeauth SELECT convert_to('session:x' || i, 'UTF8'), '\x0102', 'v', convert_to('user:0', 'UTF8'),
				CASE WHEN i % 2 = 0 THEN 1 ELSE 9000000000000 END FROM generate_series(1, 400000) AS i`
			if analyze {
				load += "; ANALYZE edgeauth"
			}
			if _, err := s.connect(t).Exec(t.Context(), load, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Fatal(err)
			}
			for i := range 50 {
				visit(t, store, 1000+i)
			}
			store.Close() // the process of a connection reports what it has read when it ends
			waitFor(t, func() bool {
				return s.count(t, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'") == 2
			})
			rows := s.count(t, "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'edgeauth'")
			gone := 400_000 - s.count(t, "SELECT count(*) FROM edgeauth WHERE version = 'v'")
			t.Logf("100 visits have read %d rows, and removed %d that had expired", rows, gone)
			if rows > 100*5*20 {
				t.Errorf("100 visits have read %d rows", rows)
			}
			if written := 50 * 5; gone < written {
				t.Errorf("who has written %d rows has removed %d that had expired", written, gone)
			}
		})
	}
}

// visit is what somebody does who signs in, and out again.
func visit(t *testing.T, store kv.Store, i int) {
	t.Helper()
	writes := signIn(i)
	session := writes[3].Key
	ok, err := store.Commit(t.Context(), []kv.Check{{Key: writes[1].Key}, {Key: writes[2].Key}}, writes)
	if !ok || err != nil {
		t.Fatalf("Commit = %v, %v", ok, err)
	}
	got, err := store.Get(t.Context(), session)
	if err != nil || len(got) != 2 {
		t.Fatalf("Get = %v, %v, want a session and its user", got, err)
	}
	ok, err = store.Commit(t.Context(), []kv.Check{{Key: session, Version: got[0].Version}}, []kv.Write{{Key: session}})
	if !ok || err != nil {
		t.Fatalf("Commit of a deletion = %v, %v", ok, err)
	}
	if _, _, err := store.(kv.Lister).List(t.Context(), "none:", ""); err != nil {
		t.Fatal(err)
	}
}

// What is deleted, and what was checked to be absent, leaves no row.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	s := start(t)
	store, err := postgres.Open(t.Context(), s.url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	put(t, store, "a", "value", time.Time{})
	for _, ok := range []bool{true, false} {
		got, err := store.Commit(t.Context(), []kv.Check{{Key: "b"}, {Key: "c"}}, []kv.Write{{Key: "a"}, {Key: "d"}, {Key: "e", Value: []byte("value")}, {Key: "b", Value: []byte("value")}})
		if got != ok || err != nil {
			t.Errorf("Commit = %v, %v, want %v", got, err, ok)
		}
	}
	if n := s.count(t, "SELECT count(*) FROM edgeauth"); n != 2 {
		t.Errorf("%d rows are left of 2 values", n)
	}
}

// Commits of the same keys in any order, which are there or not, are never in a circle, out of
// which the server would help them after a second.
func TestNoDeadlocks(t *testing.T) {
	t.Parallel()
	s := start(t)
	store, err := postgres.Open(t.Context(), s.url+"&pool_max_conns=16", postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	var group sync.WaitGroup
	for client := range 16 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(client)))
			for range 50 {
				var checks []kv.Check
				var writes []kv.Write
				for _, key := range random.Perm(6) {
					name := fmt.Sprint(key)
					switch random.IntN(4) {
					case 0:
						checks = append(checks, kv.Check{Key: name})
					case 1:
						writes = append(writes, kv.Write{Key: name})
					case 2:
						writes = append(writes, kv.Write{Key: name, Value: []byte("value")})
					}
				}
				if _, err := store.Commit(t.Context(), checks, writes); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if n := s.count(t, "SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'"); n > 0 {
		t.Errorf("%d deadlocks", n)
	}
}

func TestProgramsOpenATableAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			store, err := postgres.Open(t.Context(), s.url, postgres.Options{Table: `a "table"; --`})
			if err != nil {
				t.Error(err)
				return
			}
			store.Close()
		})
	}
	group.Wait()
}

// A program may have a user of the database who can read and write the table, and no more.
func TestUserWhoMayNotCreateTables(t *testing.T) {
	t.Parallel()
	s := start(t)
	direct := s.connect(t)
	exec := func(sql string) {
		t.Helper()
		if _, err := direct.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE ROLE program LOGIN PASSWORD 'secret-2'; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	program := strings.Replace(s.url, "postgres:secret-1", "program:secret-2", 1)
	_, err := postgres.Open(t.Context(), program, postgres.Options{})
	var refused *postgres.ServerError
	if !errors.As(err, &refused) || refused.Code != "42501" {
		t.Errorf("Open without a table = %v, want insufficient_privilege", err)
	}
	exec(postgres.Schema("") + "GRANT SELECT, INSERT, UPDATE, DELETE ON edgeauth TO program")
	store, err := postgres.Open(t.Context(), program, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	visit(t, store, 1)
}

// calls are the calls of a store.
var calls = map[string]func(ctx context.Context, store *postgres.Store) error{
	"Get": func(ctx context.Context, store *postgres.Store) error {
		_, err := store.Get(ctx, "a")
		return err
	},
	"Commit": func(ctx context.Context, store *postgres.Store) error {
		_, err := store.Commit(ctx, []kv.Check{{Key: "a"}}, []kv.Write{{Key: "a", Value: []byte("b")}})
		return err
	},
	"List": func(ctx context.Context, store *postgres.Store) error {
		_, _, err := store.List(ctx, "", "")
		return err
	},
}

// Who is told "absent" while the server is down signs everybody out.
func TestDeadServerIsAnError(t *testing.T) {
	t.Parallel()
	s := start(t)
	store := s.open(t)
	put(t, store, "a", "value", time.Time{})
	s.kill()
	for name, call := range calls {
		err := call(t.Context(), store)
		if err == nil || errors.As(err, new(*kv.TimeoutError)) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s without a server = %v, want an error before the time is over", name, err)
		}
	}
	s.run(t)
	if got, err := store.Get(t.Context(), "a"); err != nil || string(got[0].Value) != "value" {
		t.Errorf("Get when the server is back = %q, %v", got, err)
	}
}

// Reads don't fail because the server was started again since the last one.
func TestRestartIsNotSeenByReaders(t *testing.T) {
	t.Parallel()
	s := start(t)
	store := s.open(t)
	var group sync.WaitGroup
	for i := range 8 { // as many connections as may be
		group.Go(func() { put(t, store, fmt.Sprint(i), "value", time.Time{}) })
	}
	group.Wait()
	s.kill()
	s.run(t)
	for i := range 8 {
		if got, err := store.Get(t.Context(), fmt.Sprint(i)); err != nil || string(got[0].Value) != "value" {
			t.Errorf("Get after a restart = %q, %v", got, err)
		}
	}
}

func TestSilentServerIsATimeout(t *testing.T) {
	t.Parallel()
	s := start(t)
	patient, err := postgres.Open(t.Context(), s.url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(patient.Close)
	impatient, err := postgres.Open(t.Context(), s.url, postgres.Options{Timeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(impatient.Close)
	locker, err := s.connect(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = locker.Rollback(context.Background()) }()
	if _, err := locker.Exec(t.Context(), "LOCK TABLE edgeauth"); err != nil {
		t.Fatal(err)
	}
	for name, call := range calls {
		var late *kv.TimeoutError
		if err := call(t.Context(), impatient); !errors.As(err, &late) || late.After != 300*time.Millisecond {
			t.Errorf("%s without an answer = %v, want a *kv.TimeoutError", name, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := call(ctx, patient); err != context.DeadlineExceeded {
			t.Errorf("%s without an answer until the context ends = %v, want its error", name, err)
		}
		cancel()
	}
}

func TestErrorsDoNotHoldThePassword(t *testing.T) {
	t.Parallel()
	const password = "hunter2-secret"
	s := start(t)
	_, host, _ := strings.Cut(s.url, "@")
	address, _, _ := strings.Cut(host, "/")
	isURL := func(err error) bool { return errors.Is(err, postgres.ErrURL) }
	isOther := func(err error) bool { return !errors.Is(err, postgres.ErrURL) }
	isRefused := func(err error) bool { return errors.As(err, new(*postgres.ServerError)) }
	for name, test := range map[string]struct {
		url  string
		want func(error) bool
	}{
		"wrong password":        {"postgres://postgres:" + password + "@" + host, isRefused},
		"wrong user":            {"postgres://somebody:" + password + "@" + host, isRefused},
		"wrong database":        {strings.Replace(s.url, "/postgres?", "/nothing?", 1), isRefused},
		"nobody listens":        {"postgres://postgres:" + password + "@127.0.0.1:1/postgres", isOther},
		"no TLS there":          {"postgres://postgres:" + password + "@" + address + "/postgres?sslmode=require", isOther},
		"no such socket":        {"postgres://postgres:" + password + "@/postgres?host=/no/such/folder", isOther},
		"a slash in it":         {"postgres://postgres:12/" + password + "@" + host, isURL},
		"a question mark in it": {"postgres://postgres:12?" + password + "@" + host, isURL},
		"a number sign in it":   {"postgres://postgres:12#" + password + "@" + host, isURL},
		"a percent sign in it":  {"postgres://postgres:%" + password + "@" + host, isURL},
		"a wrong parameter":     {"postgres://postgres:x@" + address + "/postgres?sslmode=" + password, isURL},
		"a wrong pool size":     {"postgres://postgres:x@" + address + "/postgres?pool_max_conns=" + password, isURL},
		"a wrong scheme":        {password + "://" + host, isURL},
		"words":                 {"host=" + address + " password=" + password, isURL},
		"no URL":                {password, isURL},
		"a control character":   {"postgres://postgres:" + password + "\x7f@" + host, isURL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, err := postgres.Open(t.Context(), test.url, postgres.Options{})
			if err == nil {
				store.Close()
				t.Fatal("Open succeeded")
			}
			if !test.want(err) {
				t.Errorf("Open = %v, another kind of error", err)
			}
			if !strings.HasPrefix(err.Error(), "postgres: ") || strings.Contains(err.Error(), "secret") {
				t.Errorf("Open = %v", err)
			}
		})
	}
}

// A sign-in, as far as the store sees it.
func signIn(i int) []kv.Write {
	user := fmt.Sprintf("user:%d", i)
	value := make([]byte, 300)
	return []kv.Write{
		{Key: user, Value: value},
		{Key: fmt.Sprintf("address:%d", i), Value: value[:50], Ref: user},
		{Key: fmt.Sprintf("account:%d", i), Value: value, Ref: user},
		{Key: fmt.Sprintf("session:%d", i), Value: value, Ref: user, Expires: time.Now().Add(time.Hour)},
	}
}

// benchmark measures calls one after another, and 64 at once on 16 connections.
func benchmark(b *testing.B, do func(ctx context.Context, store kv.Store, i int) error) {
	for name, clients := range map[string]int{"alone": 1, "64": 64} {
		b.Run(name, func(b *testing.B) {
			store, err := postgres.Open(b.Context(), start(b).url+"&pool_max_conns=16", postgres.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
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
