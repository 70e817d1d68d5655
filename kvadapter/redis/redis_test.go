package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/redis"
	"github.com/edgeauth/edgeauth/kvadapter/storetest"
)

var _ kvadapter.Atomic = (*redis.Store)(nil)

func TestContract(t *testing.T) {
	t.Parallel()
	s := start(t)
	storetest.Run(t, func(t *testing.T) kvadapter.Store {
		t.Parallel()
		return s.open(t)
	}, storetest.Options{})
}

func TestAdapter(t *testing.T) {
	t.Parallel()
	s := start(t)
	adaptertest.Run(t, func(t *testing.T) *core.Adapter {
		return kvadapter.New(s.open(t), kvadapter.Options{})
	}, adaptertest.Options{})
}

func TestOneOfThousandTakes(t *testing.T) {
	t.Parallel()
	rounds := 1000
	if testing.Short() {
		rounds = 10
	}
	if err := storetest.SingleUse(t.Context(), start(t).open(t), 1000, rounds); err != nil {
		t.Error(err)
	}
}

func TestProgramsShareADatabase(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	var stores []*redis.Store
	for _, prefix := range []string{"one:", "two:", "*"} {
		store, err := redis.Open(s.url, redis.Options{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(store.Close)
		if err := store.Put(ctx, "a", []byte(prefix), time.Time{}); err != nil {
			t.Fatal(err)
		}
		stores = append(stores, store)
	}
	for i, prefix := range []string{"one:", "two:", "*"} {
		if got, _, err := stores[i].Get(ctx, "a"); string(got) != prefix || err != nil {
			t.Errorf("Get with the prefix %q = %q, %v", prefix, got, err)
		}
		if keys, _, err := stores[i].List(ctx, "", ""); len(keys) != 1 || keys[0] != "a" || err != nil {
			t.Errorf("List with the prefix %q = %q, %v", prefix, keys, err)
		}
	}
}

// The server forgets scripts when it starts again, and when it is told to.
func TestSwapWithoutItsScript(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	store := s.open(t)
	settings, err := rueidis.ParseURL(s.url)
	if err != nil {
		t.Fatal(err)
	}
	settings.DisableCache = true
	client, err := rueidis.NewClient(settings)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, value := range []string{"0", "1", "2"} {
		if err := client.Do(ctx, client.B().ScriptFlush().Build()).Error(); err != nil {
			t.Fatal(err)
		}
		if err := store.Put(ctx, "a", []byte(value), time.Time{}); err != nil {
			t.Fatal(err)
		}
		if ok, err := store.Swap(ctx, "a", []byte(value), []byte("new"), time.Now().Add(time.Hour)); !ok || err != nil {
			t.Errorf("Swap after SCRIPT FLUSH = %v, %v", ok, err)
		}
	}
}

// Who is told "absent" while the server is down signs everybody out.
func TestADeadServerIsAnError(t *testing.T) {
	t.Parallel()
	s := start(t)
	store := s.open(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := store.Put(ctx, "a", []byte("value"), time.Time{}); err != nil {
		t.Fatal(err)
	}
	s.stop()
	_, _, getErr := store.Get(ctx, "a")
	_, _, takeErr := store.Take(ctx, "a")
	_, insertErr := store.Insert(ctx, "b", nil, time.Time{})
	_, swapErr := store.Swap(ctx, "a", nil, nil, time.Time{})
	_, _, listErr := store.List(ctx, "", "")
	for call, err := range map[string]error{
		"Get": getErr, "Take": takeErr, "Insert": insertErr, "Swap": swapErr, "List": listErr,
		"Put": store.Put(ctx, "a", nil, time.Time{}), "Delete": store.Delete(ctx, "a"),
	} {
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s without a server = %v, want an error before the context ends", call, err)
		}
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

func TestKeysThatNoStoreHolds(t *testing.T) {
	t.Parallel()
	store := start(t).open(t)
	if err := store.Put(t.Context(), "", nil, time.Time{}); !errors.Is(err, redis.ErrKey) {
		t.Errorf("Put of an empty key = %v, want ErrKey", err)
	}
}

// What another program has put under one of our keys is an error of the server, not absence.
func TestAValueOfAnotherType(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	settings, err := rueidis.ParseURL(s.url)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rueidis.NewClient(settings)
	if err != nil {
		t.Fatal(err)
	}
	store, err := redis.New(client, redis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := client.Do(ctx, client.B().Rpush().Key("list").Element("a").Build()).Error(); err != nil {
		t.Fatal(err)
	}
	_, _, getErr := store.Get(ctx, "list")
	_, _, takeErr := store.Take(ctx, "list")
	_, swapErr := store.Swap(ctx, "list", nil, nil, time.Time{})
	for call, err := range map[string]error{"Get": getErr, "Take": takeErr, "Swap": swapErr} {
		var refused *redis.ServerError
		if !errors.As(err, &refused) || !strings.Contains(refused.Message, "WRONGTYPE") {
			t.Errorf("%s = %v, want the server's WRONGTYPE", call, err)
		}
	}
}

func benchmark(b *testing.B, do func(ctx context.Context, s *redis.Store, key string) error) {
	s, ctx := start(b).open(b), b.Context()
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprintf("session:%04d", i)
		if err := s.Put(ctx, keys[i], make([]byte, 300), time.Time{}); err != nil {
			b.Fatal(err)
		}
	}
	for i := 0; b.Loop(); i++ {
		if err := do(ctx, s, keys[i%len(keys)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	benchmark(b, func(ctx context.Context, s *redis.Store, key string) error {
		_, _, err := s.Get(ctx, key)
		return err
	})
}

func BenchmarkPut(b *testing.B) {
	value := make([]byte, 300)
	benchmark(b, func(ctx context.Context, s *redis.Store, key string) error {
		return s.Put(ctx, key, value, time.Time{})
	})
}

func BenchmarkPutAndTake(b *testing.B) {
	value := make([]byte, 300)
	benchmark(b, func(ctx context.Context, s *redis.Store, key string) error {
		_, ok, err := s.Take(ctx, key)
		if err != nil || !ok {
			return fmt.Errorf("Take gave %v, %w", ok, err)
		}
		return s.Put(ctx, key, value, time.Time{})
	})
}
