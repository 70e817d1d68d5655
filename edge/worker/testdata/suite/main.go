// Suite runs package storetest against the stores of package edge, from inside, and package
// adaptertest against the adapter over them.
//
//	/kv?name=NAME                 edge.KV(NAME)
//	/atomic?name=NAME             edge.Atomic(NAME)
//	/adapter?name=NAME&kv=OTHER   the adapter: sessions in edge.KV(OTHER), if it is named, the rest in edge.Atomic(NAME)
//
// It answers "ok", or what was broken. Before each case it removes what is in the stores. The
// query skip=NAME:REASON is an entry of the suite's Options.Skip.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/storetest"
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/kv", func(w http.ResponseWriter, r *http.Request) { test(w, r, edge.KV(r.FormValue("name"))) })
	mux.HandleFunc("/atomic", func(w http.ResponseWriter, r *http.Request) { test(w, r, edge.Atomic(r.FormValue("name"))) })
	mux.HandleFunc("/adapter", testAdapter)
	edge.Serve(mux)
}

func test(w http.ResponseWriter, r *http.Request, store kvadapter.Store) {
	open := func(ctx context.Context) (kvadapter.Store, error) { return store, clean(ctx, store) }
	answer(w, storetest.Test(r.Context(), open, storetest.Options{Skip: skipped(r)}))
}

func testAdapter(w http.ResponseWriter, r *http.Request) {
	atomic := edge.Atomic(r.FormValue("name"))
	sessions := kvadapter.Store(atomic)
	if name := r.FormValue("kv"); name != "" {
		sessions = edge.KV(name)
	}
	open := func(ctx context.Context) (*core.Adapter, error) {
		err := errors.Join(clean(ctx, atomic), clean(ctx, sessions))
		return kvadapter.New(sessions, kvadapter.Options{Atomic: atomic}), err
	}
	answer(w, adaptertest.Test(r.Context(), open, adaptertest.Options{Skip: skipped(r)}))
}

func skipped(r *http.Request) map[string]string {
	skip := map[string]string{}
	for _, entry := range r.URL.Query()["skip"] {
		name, reason, _ := strings.Cut(entry, ":")
		skip[name] = reason
	}
	return skip
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
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
