//go:build !js && !wasip1

package edge

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/bolt"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/storetest"
)

// forget drops what is in memory under a name, so that a test run twice finds nothing.
func forget(binding string) {
	stores.Delete("kv-" + binding + ".db")
	stores.Delete("store-" + binding + ".db")
}

func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) kv.Store {
		t.Parallel()
		return new(store)
	}, storetest.Options{})
}

func TestNamesInMemory(t *testing.T) {
	t.Parallel()
	name := t.Name()
	defer forget(name)
	testSeparate(t, KV(name), Store(name))
	if entries, err := Store(name).Get(t.Context(), "key"); err != nil || string(entries[0].Value) != "store" {
		t.Errorf("the same name is another store: %v, %v", entries, err)
	}
	if entries, err := Store(name+"2").Get(t.Context(), "key"); err != nil || entries[0].Version != "" {
		t.Errorf("another name is the same store: %v, %v", entries, err)
	}
}

// testSeparate checks that a cache and a store share nothing.
func testSeparate(t *testing.T, cache kv.Cache, store kv.Store) {
	t.Helper()
	ctx, key := t.Context(), "key"
	if err := cache.Put(ctx, key, []byte("cache"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if ok, err := store.Commit(ctx, []kv.Check{{Key: key}}, []kv.Write{{Key: key, Value: []byte("store")}}); !ok || err != nil {
		t.Errorf("Commit where KV has a value: %v, %v", ok, err)
	}
	if value, ok, err := cache.Get(ctx, key); string(value) != "cache" || !ok || err != nil {
		t.Errorf("Get: %q, %v, %v", value, ok, err)
	}
	if err := cache.Put(ctx, "ended", []byte("v"), time.Now().Add(-time.Second)); err != nil {
		t.Error(err)
	}
	for _, key := range []string{"ended", "never there"} {
		if value, ok, err := cache.Get(ctx, key); value != nil || ok || err != nil {
			t.Errorf("Get of %s: %q, %v, %v", key, value, ok, err)
		}
	}
	if err := cache.Delete(ctx, key); err != nil {
		t.Error(err)
	}
	if _, ok, err := cache.Get(ctx, key); ok || err != nil {
		t.Errorf("deleted: %v, %v", ok, err)
	}
	if _, isLister := store.(kv.Lister); !isLister {
		t.Error("Store is no Lister")
	}
}

func TestStoresInFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	t.Setenv("AUTH_STORE", folder)
	cache, store := KV("A/B"), Store("A/B")
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("naming a store has touched the disk: %v", err)
	}
	if err := Check(cache, store); err != nil {
		t.Fatal(err)
	}
	testSeparate(t, cache, store)
	for _, name := range []string{"kv-A%2FB.db", "store-A%2FB.db"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	t.Setenv("AUTH_STORE", filepath.Join(folder, "kv-A%2FB.db"))
	for _, named := range []any{KV("C"), Store("C")} {
		if err := Check(named); err == nil || !strings.Contains(err.Error(), "AUTH_STORE is no folder") {
			t.Errorf("AUTH_STORE names a file: %v", err)
		}
	}
}

func TestOneProcessHasTheFile(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	file := filepath.Join(t.TempDir(), "store-A.db")
	one, other := &store{file: file}, &store{file: file} // a lock is the file's, also within a process
	writes := []kv.Write{{Key: "key", Value: []byte("value")}}
	if ok, err := one.Commit(ctx, nil, writes); !ok || err != nil {
		t.Fatal(ok, err)
	}
	_, err := other.Commit(ctx, nil, writes)
	for name, err := range map[string]error{"Check": Check(one, other), "Commit": err} {
		if !errors.Is(err, bolt.ErrLocked) || !strings.Contains(err.Error(), "AUTH_STORE") || !strings.Contains(err.Error(), file) {
			t.Errorf("%s on a file that is in use: %v", name, err)
		}
	}
	if err := one.opened.(*bolt.Store).Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := other.Get(ctx, "key")
	if err != nil || string(entries[0].Value) != "value" {
		t.Errorf("when it is free again: %v, %v", entries, err)
	}
	if err := other.opened.(*bolt.Store).Close(); err != nil {
		t.Error(err)
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
