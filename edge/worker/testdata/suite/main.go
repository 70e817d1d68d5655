// Suite runs package storetest against the stores of package edge, from inside.
//
//	/kv?name=NAME      edge.KV(NAME)
//	/atomic?name=NAME  edge.Atomic(NAME)
//
// It answers "ok", or what was broken. Before each case it removes what is in the store. The
// query skip=NAME:REASON is an entry of storetest.Options.Skip.
package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/storetest"
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/kv", func(w http.ResponseWriter, r *http.Request) { test(w, r, edge.KV(r.FormValue("name"))) })
	mux.HandleFunc("/atomic", func(w http.ResponseWriter, r *http.Request) { test(w, r, edge.Atomic(r.FormValue("name"))) })
	edge.Serve(mux)
}

func test(w http.ResponseWriter, r *http.Request, store kvadapter.Store) {
	skip := map[string]string{}
	for _, entry := range r.URL.Query()["skip"] {
		name, reason, _ := strings.Cut(entry, ":")
		skip[name] = reason
	}
	open := func(ctx context.Context) (kvadapter.Store, error) { return store, clean(ctx, store) }
	if err := storetest.Test(r.Context(), open, storetest.Options{Skip: skip}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, "ok")
}

func clean(ctx context.Context, store kvadapter.Store) error {
	for cursor := ""; ; {
		keys, next, err := store.List(ctx, "", cursor)
		if err != nil {
			return err
		}
		errs := make([]error, len(keys))
		var wg sync.WaitGroup
		for i, key := range keys {
			wg.Go(func() { errs[i] = store.Delete(ctx, key) })
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		if cursor = next; cursor == "" {
			return nil
		}
	}
}
