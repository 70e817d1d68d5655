package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/bolt"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/storetest"
)

var _ kv.Lister = (*bolt.Store)(nil)

func open(t testing.TB, path string) *bolt.Store {
	t.Helper()
	store, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// fast gives a store without fsync, for tests of what it does and not of what is left of it.
func fast(t testing.TB, path string) *bolt.Store {
	t.Helper()
	store := open(t, path)
	bolt.SkipSync(store)
	return store
}

func TestContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) kv.Store {
		t.Parallel()
		return fast(t, filepath.Join(t.TempDir(), "store"))
	}, storetest.Options{})
}

// In a bubble the clock stands still while the store works, so ends are met exactly.
func TestContractInABubble(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		stores := 0
		err := storetest.Test(t.Context(), func(context.Context) (kv.Store, error) {
			stores++
			return fast(t, filepath.Join(dir, fmt.Sprint(stores))), nil
		}, storetest.Options{Now: time.Now, Advance: time.Sleep})
		if err != nil {
			t.Error(err)
		}
	})
}

// set commits one write, which must succeed.
func set(t testing.TB, s *bolt.Store, w kv.Write, checks ...kv.Check) {
	t.Helper()
	if ok, err := s.Commit(t.Context(), checks, []kv.Write{w}); !ok || err != nil {
		t.Fatalf("Commit of %q = %v, %v", w.Key, ok, err)
	}
}

func get(t testing.TB, s *bolt.Store, key string) kv.Entry {
	t.Helper()
	entries, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return entries[0]
}

func TestRecordsSurviveReopening(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	synctest.Test(t, func(t *testing.T) {
		first := open(t, path)
		end := time.Now().Add(time.Hour)
		set(t, first, kv.Write{Key: "session", Value: []byte("value"), Ref: "user", Expires: end})
		set(t, first, kv.Write{Key: "user", Value: []byte("name")})
		set(t, first, kv.Write{Key: "deleted", Value: []byte("value")})
		seen := map[string]bool{get(t, first, "deleted").Version: true, get(t, first, "user").Version: true}
		set(t, first, kv.Write{Key: "deleted"})
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}

		second := open(t, path)
		entries, err := second.Get(t.Context(), "session", "deleted")
		if err != nil || len(entries) != 3 || string(entries[0].Value) != "value" || entries[1].Version != "" || string(entries[2].Value) != "name" {
			t.Errorf("Get after reopening = %q, %v", entries, err)
		}
		if user := get(t, second, "user"); !seen[user.Version] {
			t.Errorf("reopening changed the version of the user to %q", user.Version)
		}
		set(t, second, kv.Write{Key: "deleted", Value: []byte("value")}, kv.Check{Key: "deleted"})
		if again := get(t, second, "deleted"); seen[again.Version] {
			t.Errorf("after reopening the version %q has come back", again.Version)
		}
		time.Sleep(time.Until(end))
		if session := get(t, second, "session"); session.Version != "" {
			t.Errorf("Get at the end = %q, want absent", session)
		}
	})
}

// A copy of the file as it is when a call has returned is what is left after a crash.
func TestCommitsAreInTheFileWhenTheyReturn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := open(t, filepath.Join(dir, "store"))
	crashed := func(name string) *bolt.Store {
		content, err := os.ReadFile(filepath.Join(dir, "store"))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return open(t, filepath.Join(dir, name))
	}
	set(t, store, kv.Write{Key: "session", Value: []byte("value")})
	if e := get(t, crashed("after a write"), "session"); e.Version == "" {
		t.Error("a crash after a Commit lost the session")
	}
	set(t, store, kv.Write{Key: "session"})
	if e := get(t, crashed("after a deletion"), "session"); e.Version != "" {
		t.Error("a crash after a deletion brought the session back")
	}
}

func TestOpenTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "store")
	first := open(t, path)
	if _, err := bolt.Open(path, bolt.Options{Wait: time.Millisecond}); !errors.Is(err, bolt.ErrLocked) {
		t.Errorf("Open of a file that is in use = %v, want ErrLocked", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v, want that only its owner reads it", info.Mode(), err)
	}
	open(t, path)

	other := filepath.Join(dir, "text")
	if err := os.WriteFile(other, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	var format *bolt.FormatError
	if _, err := bolt.Open(other, bolt.Options{}); !errors.As(err, &format) || format.Path != other {
		t.Errorf("Open of another file = %v, want a *FormatError", err)
	}
	if _, err := bolt.Open(filepath.Join(dir, "absent", "store"), bolt.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open in a folder that is not there = %v, want fs.ErrNotExist", err)
	}
}

func TestAClosedStoreFails(t *testing.T) {
	t.Parallel()
	store, ctx := open(t, filepath.Join(t.TempDir(), "store")), t.Context()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	_, getErr := store.Get(ctx, "a")
	_, commitErr := store.Commit(ctx, nil, []kv.Write{{Key: "a", Value: []byte("value")}})
	_, _, listErr := store.List(ctx, "", "")
	for call, err := range map[string]error{"Get": getErr, "Commit": commitErr, "List": listErr} {
		if !errors.Is(err, bolt.ErrClosed) {
			t.Errorf("%s = %v, want ErrClosed", call, err)
		}
	}
}

func TestAdapter(t *testing.T) {
	t.Parallel()
	adaptertest.Run(t, func(t *testing.T) *core.Adapter {
		return kvadapter.New(fast(t, filepath.Join(t.TempDir(), "store")), kvadapter.Options{})
	}, adaptertest.Options{})
}

func BenchmarkGet(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "store"))
	set(b, s, kv.Write{Key: "session", Value: make([]byte, 100), Ref: "user"})
	set(b, s, kv.Write{Key: "user", Value: make([]byte, 300)})
	for b.Loop() {
		if _, err := s.Get(b.Context(), "session"); err != nil {
			b.Fatal(err)
		}
	}
}

// Commits are of three keys, as a sign-in's are.
func BenchmarkCommit(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "store"))
			var n atomic.Int64
			b.SetParallelism(callers) // for each processor: run with -cpu 1
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := n.Add(1)
					var writes []kv.Write
					for _, kind := range []string{"user", "account", "session"} {
						writes = append(writes, kv.Write{Key: fmt.Sprintf("%s:%d", kind, i), Value: make([]byte, 300)})
					}
					if ok, err := s.Commit(context.Background(), nil, writes); !ok || err != nil {
						b.Error(ok, err)
						return
					}
				}
			})
		})
	}
}
