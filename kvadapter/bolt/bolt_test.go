package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/bolt"
	"github.com/edgeauth/edgeauth/kvadapter/storetest"
)

var _ kvadapter.Atomic = (*bolt.Store)(nil)

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
	storetest.Run(t, func(t *testing.T) kvadapter.Store {
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
		err := storetest.Test(t.Context(), func(context.Context) (kvadapter.Store, error) {
			stores++
			return fast(t, filepath.Join(dir, fmt.Sprint(stores))), nil
		}, storetest.Options{})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestAdapter(t *testing.T) {
	t.Parallel()
	adaptertest.Run(t, func(t *testing.T) *core.Adapter {
		return kvadapter.New(fast(t, filepath.Join(t.TempDir(), "store")), kvadapter.Options{})
	}, adaptertest.Options{})
}

func TestOneOfThousandTakes(t *testing.T) {
	t.Parallel()
	rounds := 1000
	if testing.Short() {
		rounds = 10
	}
	if err := storetest.SingleUse(t.Context(), fast(t, filepath.Join(t.TempDir(), "store")), 1000, rounds); err != nil {
		t.Error(err)
	}
}

func TestRecordsSurviveReopening(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	synctest.Test(t, func(t *testing.T) {
		first, ctx := open(t, path), t.Context()
		end := time.Now().Add(time.Hour)
		for key, expires := range map[string]time.Time{"stays": {}, "ends": end, "swapped": {}, "deleted": {}, "taken": {}} {
			if err := first.Put(ctx, key, []byte("value"), expires); err != nil {
				t.Fatal(err)
			}
		}
		if ok, err := first.Swap(ctx, "swapped", []byte("value"), []byte("new"), end.Add(time.Hour)); !ok || err != nil {
			t.Fatalf("Swap = %v, %v", ok, err)
		}
		if err := first.Delete(ctx, "deleted"); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := first.Take(ctx, "taken"); !ok || err != nil {
			t.Fatalf("Take = %v, %v", ok, err)
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}

		second := open(t, path)
		for key, want := range map[string]string{"stays": "value", "ends": "value", "swapped": "new", "deleted": "", "taken": ""} {
			if got, ok, err := second.Get(ctx, key); string(got) != want || ok != (want != "") || err != nil {
				t.Errorf("Get(%q) after reopening = %q, %v, %v, want %q", key, got, ok, err, want)
			}
		}
		time.Sleep(time.Until(end))
		if _, ok, err := second.Get(ctx, "ends"); ok || err != nil {
			t.Errorf("Get at the end = %v, %v, want absent", ok, err)
		}
		if got, _, _ := second.Get(ctx, "swapped"); string(got) != "new" {
			t.Errorf("Get of what ends later = %q", got)
		}
	})
}

// A copy of the file as it is when a call has returned is what is left after a crash.
func TestWritesAreInTheFileWhenTheyReturn(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
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
	if err := store.Put(ctx, "session", []byte("value"), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := crashed("after Put").Get(ctx, "session"); !ok || err != nil {
		t.Errorf("Get after a crash after Put = %v, %v, want the session", ok, err)
	}
	if err := store.Delete(ctx, "session"); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := crashed("after Delete").Get(ctx, "session"); ok || err != nil {
		t.Errorf("Get after a crash after Delete = %v, %v, want absent", ok, err)
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
	_, _, getErr := store.Get(ctx, "a")
	_, _, takeErr := store.Take(ctx, "a")
	for call, err := range map[string]error{"Get": getErr, "Take": takeErr, "Put": store.Put(ctx, "a", nil, time.Time{}), "Delete": store.Delete(ctx, "a")} {
		if !errors.Is(err, bolt.ErrClosed) {
			t.Errorf("%s = %v, want ErrClosed", call, err)
		}
	}
	if err := store.Put(ctx, "", nil, time.Time{}); !errors.Is(err, bolt.ErrKey) {
		t.Errorf("Put of an empty key = %v, want ErrKey", err)
	}
}

func benchmark(b *testing.B, do func(ctx context.Context, s *bolt.Store, key string) error) {
	s, ctx := open(b, filepath.Join(b.TempDir(), "store")), b.Context()
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
	benchmark(b, func(ctx context.Context, s *bolt.Store, key string) error {
		_, _, err := s.Get(ctx, key)
		return err
	})
}

func BenchmarkPut(b *testing.B) {
	value := make([]byte, 300)
	benchmark(b, func(ctx context.Context, s *bolt.Store, key string) error {
		return s.Put(ctx, key, value, time.Time{})
	})
}

func BenchmarkPutAndTake(b *testing.B) {
	value := make([]byte, 300)
	benchmark(b, func(ctx context.Context, s *bolt.Store, key string) error {
		_, ok, err := s.Take(ctx, key)
		if err != nil || !ok {
			return fmt.Errorf("Take gave %v, %w", ok, err)
		}
		return s.Put(ctx, key, value, time.Time{})
	})
}
