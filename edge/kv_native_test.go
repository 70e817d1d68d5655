//go:build !js && !wasip1

package edge

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/bolt"
	"github.com/edgeauth/edgeauth/kvadapter/storetest"
)

// forget drops a store in memory, so that a test run twice finds none.
func forget(kind, binding string) { stores.Delete(kind + "-" + binding + ".db") }

func TestAtomicIsNotKV(t *testing.T) {
	t.Parallel()
	name := t.Name()
	defer forget("kv", name)
	defer forget("atomic", name)
	testSeparate(t, KV(name), Atomic(name))
}

// testSeparate checks that two stores share nothing.
func testSeparate(t *testing.T, kv Store, atomic AtomicStore) {
	t.Helper()
	ctx, key := t.Context(), "key"
	if err := kv.Put(ctx, key, []byte("kv"), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if ok, err := atomic.Insert(ctx, key, []byte("atomic"), time.Time{}); !ok || err != nil {
		t.Errorf("Insert where KV has a value: %v, %v", ok, err)
	}
	if value, ok, err := atomic.Take(ctx, key); string(value) != "atomic" || !ok || err != nil {
		t.Errorf("Take: %q, %v, %v", value, ok, err)
	}
	if value, ok, err := kv.Get(ctx, key); string(value) != "kv" || !ok || err != nil {
		t.Errorf("Get: %q, %v, %v", value, ok, err)
	}
}

func TestStoresKeepTheContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) kvadapter.Store {
		t.Parallel()
		return new(store)
	}, storetest.Options{})
}

func TestStoresInFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	t.Setenv("AUTH_STORE", folder)
	kv, atomic := KV("A/B"), Atomic("A/B")
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("naming a store has touched the disk: %v", err)
	}
	if err := Check(kv, atomic); err != nil {
		t.Fatal(err)
	}
	testSeparate(t, kv, atomic)
	if KV("A/B") != kv {
		t.Error("the same name is another store")
	}
	for _, name := range []string{"kv-A%2FB.db", "atomic-A%2FB.db"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	t.Setenv("AUTH_STORE", filepath.Join(folder, "kv-A%2FB.db"))
	if err := Check(KV("C")); err == nil || !strings.Contains(err.Error(), "AUTH_STORE is no folder") {
		t.Errorf("AUTH_STORE names a file: %v", err)
	}
}

func TestOneProcessHasTheFile(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	file := filepath.Join(t.TempDir(), "kv-A.db")
	one, other := &store{file: file}, &store{file: file} // a lock is the file's, also within a process
	if err := one.Put(ctx, "key", []byte("value"), time.Time{}); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"Check": Check(one, other), "Put": other.Put(ctx, "key", nil, time.Time{})} {
		if !errors.Is(err, bolt.ErrLocked) || !strings.Contains(err.Error(), "AUTH_STORE") || !strings.Contains(err.Error(), file) {
			t.Errorf("%s on a file that is in use: %v", name, err)
		}
	}
	if err := one.opened.(*bolt.Store).Close(); err != nil {
		t.Fatal(err)
	}
	value, ok, err := other.Get(ctx, "key")
	if string(value) != "value" || !ok || err != nil {
		t.Errorf("when it is free again: %q, %v, %v", value, ok, err)
	}
	if err := other.opened.(*bolt.Store).Close(); err != nil {
		t.Error(err)
	}
}

func TestKeysAreChecked(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	longest := strings.Repeat("~", 512)
	s := new(store)
	for _, key := range []string{" ", longest, "...", "/"} {
		if err := s.Put(ctx, key, nil, time.Time{}); err != nil {
			t.Errorf("key %.5q: %v", key, err)
		}
		if _, _, err := s.List(ctx, key, ""); err != nil {
			t.Errorf("prefix %.5q: %v", key, err)
		}
	}
	for _, prefix := range []string{"", ".", ".."} {
		if _, _, err := s.List(ctx, prefix, ""); err != nil {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
	for _, key := range []string{"", ".", "..", longest + "~", "\x1f", "a\x7f", "a\nb", "a\x00", "gr\u00fcn", "\xff"} {
		calls := map[string]error{
			"Put": s.Put(ctx, key, nil, time.Time{}), "Delete": s.Delete(ctx, key),
		}
		_, _, calls["Get"] = s.Get(ctx, key)
		_, calls["Insert"] = s.Insert(ctx, key, nil, time.Time{})
		_, _, calls["Take"] = s.Take(ctx, key)
		_, calls["Swap"] = s.Swap(ctx, key, nil, nil, time.Time{})
		if key != "" && strings.Trim(key, ".") != "" {
			_, _, calls["List"] = s.List(ctx, key, "")
		}
		for call, err := range calls {
			if !errors.Is(err, ErrKey) {
				t.Errorf("%s of %.5q: %v", call, key, err)
			}
		}
	}
}

// TestOnlyNativeProgramsLinkTheFile holds the file store out of the wasm builds.
func TestOnlyNativeProgramsLinkTheFile(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"js", "wasip1"} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
		cmd.Env = append(os.Environ(), "GOOS="+target, "GOARCH=wasm")
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), "net/http") {
			t.Fatalf("go list: %v\n%s", err, out)
		}
		for _, path := range []string{"go.etcd.io/bbolt", "/kvadapter/memory"} {
			if strings.Contains(string(out), path) {
				t.Errorf("%s: edge links %s", target, path)
			}
		}
	}
}

func TestMemoryStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		store := KV(t.Name())
		defer forget("kv", t.Name())
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		want := func(key, value string, ok bool) {
			t.Helper()
			v, found, err := store.Get(ctx, key)
			if string(v) != value || found != ok || err != nil {
				t.Errorf("%s: got %q, %v, %v; want %q, %v", key, v, found, err, value, ok)
			}
		}
		want("a", "", false)
		check(store.Delete(ctx, "a"))
		value := []byte("1")
		check(store.Put(ctx, "a", value, time.Time{}))
		value[0] = 'x'
		want("a", "1", true)
		if v, _, _ := store.Get(ctx, "a"); v != nil {
			v[0] = 'x'
		}
		want("a", "1", true)
		if other, ok, _ := KV(t.Name()).Get(ctx, "a"); !ok || string(other) != "1" {
			t.Error("the same name is another store")
		}
		if _, ok, _ := KV(t.Name()+"2").Get(ctx, "a"); ok {
			t.Error("another name is the same store")
		}

		check(store.Put(ctx, "soon", nil, time.Now().Add(time.Second)))
		want("soon", "", true)
		time.Sleep(time.Second) // the bubble's time
		want("soon", "", false)
		check(store.Put(ctx, "over", nil, time.Now().Add(-time.Second)))
		want("over", "", false)

		for i := range 1005 {
			check(store.Put(ctx, fmt.Sprintf("p:%04d", i), nil, time.Time{}))
		}
		keys, next, err := store.List(ctx, "p:", "")
		check(err)
		if len(keys) != 1000 || keys[0] != "p:0000" || next == "" {
			t.Errorf("first page: %d keys, cursor %q", len(keys), next)
		}
		keys, next, err = store.List(ctx, "p:", next)
		check(err)
		if len(keys) != 5 || keys[4] != "p:1004" || next != "" {
			t.Errorf("second page: %q, cursor %q", keys, next)
		}
	})
}
