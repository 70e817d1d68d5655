// Site is an auth endpoint in which things go wrong on demand, for the tests of package faults.
//
// A request's header X-Fault names a place and a kind, "store panic": the kind happens when the
// request first comes to the place. The places are handler, callback, store and provider.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/kvadapter"
)

var (
	// later makes a later version of the program: it writes into records, tokens and cookies
	// what this one doesn't know.
	later = edge.Getenv("CONF_LATER")

	booted  = rand.Text()
	pending atomic.Int64 // requests
	kept    [][]byte     // by the kind grow
)

func main() {
	config := core.Config{
		Providers: []core.Provider{core.OAuth{ID: "idp", OIDC: true, Profile: profile}},
		TrustHost: core.On,
		Transport: transport{},
		Getenv:    edge.Getenv,
		Callbacks: core.Callbacks{JWT: jwt, Session: session},
	}
	if edge.Getenv("AUTH_SESSION_STRATEGY") == "database" {
		config.Adapter = kvadapter.New(records{edge.Store("AUTH_DO")}, kvadapter.Options{})
		if edge.Getenv("CONF_REFRESH") != "" {
			config.Session.UpdateAge = -1
		}
	} else {
		config.Providers = append(config.Providers, core.Credentials{Authorize: authorize})
	}
	auth, err := core.New(config)
	if err != nil {
		log.Fatal(err)
	}
	edge.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pending.Add(1)
		defer pending.Add(-1)
		if r.URL.Path == "/state" {
			state(w)
			return
		}
		f := &fault{}
		f.place, f.kind, _ = strings.Cut(r.Header.Get("X-Fault"), " ")
		r = r.WithContext(context.WithValue(r.Context(), faultKey{}, f))
		trip(r.Context(), "handler")
		if later != "" {
			http.SetCookie(w, &http.Cookie{Name: "authjs.later", Value: later, Path: "/"})
		}
		auth.ServeHTTP(w, r)
	}))
}

// State describes an instance that is otherwise idle.
type State struct {
	Goroutines, Pending int
	Memory              uint64 // bytes that the instance has taken
	Booted              string // tells instances apart
}

func state(w http.ResponseWriter) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	_ = json.NewEncoder(w).Encode(State{runtime.NumGoroutine(), int(pending.Load()), m.Sys, booted})
}

type faultKey struct{}

type fault struct{ place, kind string }

// trip lets happen what the request asks for at this place, once.
func trip(ctx context.Context, place string) {
	f, ok := ctx.Value(faultKey{}).(*fault)
	if !ok || f.place != place {
		return
	}
	f.place = ""
	switch f.kind {
	case "map":
		var none map[string]int
		none["x"]++
	case "index":
		kept[len(kept)] = nil
	case "assertion":
		_ = any(place).(int)
	case "panic":
		panic("site: on demand")
	case "goroutine":
		go panic("site: on demand, in a goroutine")
		runtime.Gosched()
		select {}
	case "exit":
		os.Exit(3)
	case "recursion":
		fmt.Print(deeper(1))
	case "grow":
		for range 80 {
			kept = append(kept, make([]byte, 1<<20))
		}
	case "loop":
		for {
		}
	}
}

func deeper(n int) int { return deeper(n+1) + n }

type transport struct{}

func (transport) RoundTrip(r *http.Request) (*http.Response, error) {
	trip(r.Context(), "provider")
	return edge.Transport.RoundTrip(r)
}

// authorize takes anybody.
func authorize(_ context.Context, fields map[string]any, _ *http.Request) (*core.User, error) {
	name, _ := fields["username"].(string)
	return &core.User{ID: name, Name: name}, nil
}

// profile keeps so many bytes with the user as the provider's claim says.
func profile(_ context.Context, claims core.Profile, _ *core.Account) (*core.User, error) {
	name, _ := claims["sub"].(string)
	user := &core.User{ID: name, Name: name, Email: name + "@example.com"}
	if size := number(claims["size"]); size > 0 {
		user.Extra = map[string]any{"data": strings.Repeat("x", size)}
	}
	return user, nil
}

// jwt keeps as many bytes in the token as the client asks for.
func jwt(ctx context.Context, p core.JWTParams) (core.JWT, error) {
	trip(ctx, "callback")
	if later != "" {
		p.Token["later"] = later
	}
	if data, ok := p.Session.(map[string]any); ok {
		p.Token["data"] = strings.Repeat("x", number(data["size"]))
	}
	return p.Token, nil
}

// session shows what there is.
func session(ctx context.Context, p core.SessionParams) (*core.Session, error) {
	trip(ctx, "callback")
	if p.Token != nil {
		p.Session.Extra = map[string]any{"data": len(p.Token.String("data"))}
	}
	return p.Session, nil
}

func number(v any) int {
	switch v := v.(type) {
	case float64:
		return int(v)
	case json.Number:
		n, _ := v.Int64()
		return int(n)
	}
	return 0
}
