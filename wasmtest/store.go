package wasmtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/edgeauth/edgeauth/edge/abi"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// store returns what stands behind edge.Store.
func (m *Module) store(binding string) kv.Store {
	if m.config.Store != nil {
		return m.config.Store(binding)
	}
	return m.memory(abi.Store{Binding: binding})
}

// cacheOf returns what stands behind edge.KV.
func (m *Module) cacheOf(binding string) kv.Cache {
	if m.config.Cache != nil {
		return m.config.Cache(binding)
	}
	return kv.CacheOf(m.memory(abi.Store{Cache: true, Binding: binding}))
}

func (m *Module) memory(name abi.Store) *memory.Store {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.stores[name]
	if !ok {
		now := m.config.Now
		if now == nil {
			now = time.Now
		}
		s = memory.New(now)
		m.stores[name] = s
	}
	return s
}

// A codec is a message of package abi.
type codec interface {
	Append([]byte) []byte
	Decode([]byte) error
}

// onStore makes an ABI function of what answers a message that was asked of a store.
func onStore[Q any, P interface {
	*Q
	codec
}](answer func(context.Context, abi.Store, P) (codec, error)) func(context.Context, []byte) []byte {
	return func(ctx context.Context, encoded []byte) []byte {
		var call abi.Call
		asked := P(new(Q))
		if call.Decode(encoded) != nil || asked.Decode(call.Message) != nil {
			return abi.Fail(abi.CodeMalformed, "")
		}
		ctx, cancel := context.WithTimeout(ctx, kv.Timeout)
		defer cancel()
		return await(ctx, func() []byte { // a store need not mind the context
			given, err := answer(ctx, call.Store, asked)
			if errors.Is(err, abi.ErrMalformed) {
				return abi.Fail(abi.CodeMalformed, "")
			}
			if err != nil {
				return failure(ctx, err)
			}
			result := abi.Result(given.Append(nil))
			if len(result) > abi.MaxMessage {
				return abi.Fail(abi.CodeTooLarge, fmt.Sprintf("the store's answer is over %d bytes", abi.MaxMessage))
			}
			return result
		})
	}
}

func (m *Module) get(ctx context.Context, name abi.Store, get *abi.Get) (codec, error) {
	if !name.Cache {
		entries, err := m.store(name.Binding).Get(ctx, get.Keys...)
		return &abi.Entries{Entries: entries}, err
	}
	cache, entries := m.cacheOf(name.Binding), make([]kv.Entry, len(get.Keys))
	for i, key := range get.Keys {
		value, ok, err := cache.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		entries[i] = kv.Entry{Key: key, Value: value}
		if ok {
			entries[i].Version = "1"
		}
	}
	return &abi.Entries{Entries: entries}, nil
}

func (m *Module) commit(ctx context.Context, name abi.Store, commit *abi.Commit) (codec, error) {
	if !name.Cache {
		ok, err := m.store(name.Binding).Commit(ctx, commit.Checks, commit.Writes)
		return &abi.Done{OK: ok}, err
	}
	if len(commit.Checks) > 0 {
		return nil, abi.ErrMalformed
	}
	cache := m.cacheOf(name.Binding)
	for _, w := range commit.Writes {
		var err error
		if len(w.Value) > 0 {
			err = cache.Put(ctx, w.Key, w.Value, w.Expires)
		} else {
			err = cache.Delete(ctx, w.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	return &abi.Done{OK: true}, nil
}

var errNoList = errors.New("this host's store has no List")

func (m *Module) list(ctx context.Context, name abi.Store, list *abi.List) (codec, error) {
	if name.Cache {
		return nil, abi.ErrMalformed
	}
	lister, ok := m.store(name.Binding).(kv.Lister)
	if !ok {
		return nil, errNoList
	}
	page, next, err := lister.List(ctx, list.Prefix, list.Cursor)
	return &abi.Page{Writes: page, Next: next}, err
}
