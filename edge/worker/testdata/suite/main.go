// Suite runs package storetest against the stores of package edge, from inside, and package
// adaptertest against the adapter over them.
//
//	/store?name=NAME              edge.Store(NAME)
//	/adapter?name=NAME&kv=OTHER   the adapter over edge.Store(NAME), and with edge.KV(OTHER) as its cache if it is named
//
// It answers "ok", or what was broken. Each case has an empty store, or an adapter with a
// KeyPrefix of its own. The query skip=NAME:REASON is an entry of the suite's Options.Skip.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/storetest"
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/store", testStore)
	mux.HandleFunc("/adapter", testAdapter)
	edge.Serve(mux)
}

func testStore(w http.ResponseWriter, r *http.Request) {
	store := edge.Store(r.FormValue("name"))
	open := func(ctx context.Context) (kv.Store, error) { return store, clean(ctx, store) }
	answer(w, storetest.Test(r.Context(), open, storetest.Options{Skip: skipped(r)}))
}

func testAdapter(w http.ResponseWriter, r *http.Request) {
	store := edge.Store(r.FormValue("name"))
	var options kvadapter.Options
	if name := r.FormValue("kv"); name != "" {
		options = kvadapter.Options{Cache: edge.KV(name), WaitUntil: edge.WaitUntil}
	}
	open := func(context.Context) (*core.Adapter, error) {
		options.KeyPrefix = rand.Text() // a cache can't be emptied
		return kvadapter.New(store, options), nil
	}
	answer(w, adaptertest.Test(r.Context(), open, adaptertest.Options{Skip: skipped(r), Crowd: 30}))
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

func clean(ctx context.Context, store kv.Store) error {
	for cursor := ""; ; {
		page, next, err := store.(kv.Lister).List(ctx, "", cursor)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(page, kv.MaxKeys) {
			for i := range some {
				some[i] = kv.Write{Key: some[i].Key}
			}
			if _, err := store.Commit(ctx, nil, some); err != nil {
				return err
			}
		}
		if cursor = next; cursor == "" {
			return nil
		}
	}
}
