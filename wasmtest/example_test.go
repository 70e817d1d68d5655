package wasmtest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/edgeauth/edgeauth/wasmtest"
)

// A test would say wasmtest.New(t, "./testdata/echo", config) instead of building and opening.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "echo.wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-o", path, "./testdata/echo")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}

	app, err := wasmtest.Open(context.Background(), path, wasmtest.Config{
		Env:       map[string]string{"GREETING": "hello"},
		Transport: answer(http.StatusTeapot, "short and stout"), // all the world there is
	})
	if err != nil {
		panic(err) // a program that refuses its configuration, with its log
	}
	defer app.Close()

	for _, target := range []string{"/env", "/fetch?url=https://world.example/pot"} {
		w := httptest.NewRecorder()
		app.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 "hello" "hello" ["GREETING=hello"]
	// 418 short and stout
}
