//go:build !js && !wasip1

package faults_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/edge/abi"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
	"github.com/go-jose/go-jose/v4"
)

// A world is what a site can reach: its records and one OpenID provider. Both run in the test,
// which knows of each call before it is answered.
type world struct {
	records  *memory.Store
	provider string // the issuer
	door     string // where workerd gets to the records
	signer   jose.Signer
	keys     jose.JSONWebKeySet

	offset atomic.Int64 // of everybody's clock, in nanoseconds
	delay  atomic.Int64 // of every answer, in nanoseconds
	calls  atomic.Int64
	before atomic.Pointer[func(call string) error] // sees each call; an error is its answer
}

var errRefused = errors.New("the world refuses the call")

// signingKey is made once: it takes a noticeable part of a second.
var signingKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newWorld(t testing.TB) *world {
	t.Helper()
	key, err := signingKey()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{keys: jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}}}
	if w.signer, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "k"}}, nil); err != nil {
		t.Fatal(err)
	}
	w.records = memory.New(w.now)
	for url, h := range map[*string]http.HandlerFunc{&w.provider: w.serveProvider, &w.door: w.serveRecords} {
		server := httptest.NewServer(h)
		t.Cleanup(server.CloseClientConnections) // before Close, which would wait for what a test holds back
		t.Cleanup(server.Close)
		*url = server.URL
	}
	return w
}

func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.offset.Load())) }

// watch has f see each call from now on; nil: nobody.
func (w *world) watch(f func(call string) error) {
	if f == nil {
		w.before.Store(nil)
		return
	}
	w.before.Store(&f)
}

// take counts a call, and lets it pass, late.
func (w *world) take(ctx context.Context, call string) error {
	w.calls.Add(1)
	if before := w.before.Load(); before != nil {
		if err := (*before)(call); err != nil {
			return err
		}
	}
	if delay := time.Duration(w.delay.Load()); delay > 0 {
		timer := time.NewTimer(delay) // a slow world, not a test that waits
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// serveProvider plays the provider. The code names who signs in, "ada", or "ada.20000" for
// somebody of whom so many bytes are kept.
func (w *world) serveProvider(rw http.ResponseWriter, r *http.Request) {
	if err := w.take(r.Context(), "provider "+r.URL.Path); err != nil {
		http.Error(rw, err.Error(), http.StatusServiceUnavailable)
		return
	}
	var answer any
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		answer = map[string]any{
			"issuer": w.provider, "authorization_endpoint": w.provider + "/auth", "token_endpoint": w.provider + "/token",
			"userinfo_endpoint": w.provider + "/me", "jwks_uri": w.provider + "/jwks",
		}
	case "/jwks":
		answer = w.keys
	case "/token":
		code := r.PostFormValue("code")
		if code == "deep" {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(rw, deep)
			return
		}
		name, size, _ := strings.Cut(code, ".")
		bytes, _ := strconv.Atoi(size)
		now := w.now().Unix()
		claims, _ := json.Marshal(map[string]any{"iss": w.provider, "aud": "demo", "sub": name, "iat": now, "exp": now + 600, "size": bytes})
		signed, err := w.signer.Sign(claims)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusInternalServerError)
			return
		}
		token, _ := signed.CompactSerialize()
		answer = map[string]any{"access_token": "a", "token_type": "bearer", "id_token": token}
	default:
		http.NotFound(rw, r)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(answer)
}

// serveRecords is the other side of testdata/store.mjs: the messages of a worker to its object.
func (w *world) serveRecords(rw http.ResponseWriter, r *http.Request) {
	message, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s, ctx := store{w}, context.WithoutCancel(r.Context())
	var answer interface{ Append([]byte) []byte }
	switch r.URL.Path {
	case "/get":
		var get abi.Get
		var entries []kv.Entry
		if err = get.Decode(message); err == nil {
			entries, err = s.Get(ctx, get.Keys...)
		}
		answer = &abi.Entries{Entries: entries}
	case "/commit":
		var commit abi.Commit
		var ok bool
		if err = commit.Decode(message); err == nil {
			ok, err = s.Commit(ctx, commit.Checks, commit.Writes)
		}
		answer = &abi.Done{OK: ok}
	default:
		err = fmt.Errorf("no operation %s", r.URL.Path)
	}
	if err != nil {
		http.Error(rw, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = rw.Write(answer.Append(nil))
}

// A store is the world's records as a site reaches them.
type store struct{ w *world }

func (s store) Get(ctx context.Context, keys ...string) ([]kv.Entry, error) {
	if err := s.w.take(ctx, "get "+keys[0]); err != nil {
		return nil, err
	}
	return s.w.records.Get(ctx, keys...)
}

func (s store) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
	if err := s.w.take(ctx, "commit "+writes[0].Key); err != nil {
		return false, err
	}
	return s.w.records.Commit(ctx, checks, writes)
}

// kinds counts the records by what their keys begin with.
func (w *world) kinds(t testing.TB) map[string]int {
	t.Helper()
	count := map[string]int{}
	for cursor := ""; ; {
		page, next, err := w.records.List(t.Context(), "", cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range page {
			kind, _, _ := strings.Cut(record.Key, ".")
			count[kind]++
		}
		if cursor = next; cursor == "" {
			return count
		}
	}
}
