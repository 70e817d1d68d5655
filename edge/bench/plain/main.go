//go:build js

// Command plain is about the template that a new project of github.com/syumai/workers begins with.
package main

import (
	"net/http"

	"github.com/syumai/workers"
)

func main() {
	http.HandleFunc("/hello", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("Hello!")) })
	workers.Serve(nil)
}
