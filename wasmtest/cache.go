package wasmtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tetratelabs/wazero"
)

const (
	cacheName     = "edgeauth-wasmtest"
	cachedModules = 16 // compiled modules that are kept, some 25 MB each
	builtModules  = 64 // modules that were built, some 10 MB each

	// wazeroVersion keeps machine code of different versions apart. wazero does that itself, but finds its version only in
	// the build information of a program, which that of a test doesn't have.
	wazeroVersion = "v1.12.0"
)

// compilationCache returns the cache and its folder, which is "" for one in memory.
func compilationCache(dir string) (wazero.CompilationCache, string, error) {
	dir, err := cacheDir(dir, "compiled-"+wazeroVersion)
	if err != nil {
		return nil, "", err
	}
	if dir == "" {
		return wazero.NewCompilationCache(), "", nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, "", fmt.Errorf("wasmtest: the compilation cache: %w", err)
	}
	return cache, dir, nil
}

// cacheDir makes and returns a folder for what can be made again, or "" when there is no place for one.
func cacheDir(dir, sub string) (string, error) {
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", nil
		}
		dir = filepath.Join(user, cacheName)
		if os.MkdirAll(dir, 0o700) != nil { // a home that can't be written to, as build users have
			return "", nil
		}
	}
	dir = filepath.Join(dir, sub)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("wasmtest: the cache: %w", err)
	}
	return dir, nil
}

// prune keeps the newest files in dir: every build of a program leaves one. A process that has lost a file it was about to
// read compiles again, so failures don't matter.
func prune(dir string, keep int) {
	if dir == "" {
		return
	}
	type file struct {
		path string
		time time.Time
	}
	var files []file
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			files = append(files, file{path, info.ModTime()})
		}
		return nil
	})
	slices.SortFunc(files, func(a, b file) int { return b.time.Compare(a.time) })
	for _, old := range files[min(keep, len(files)):] {
		_ = os.Remove(old.path)
	}
}
