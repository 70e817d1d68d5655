package wasmtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/edgeauth/edgeauth/edge/abi"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

var errNotAtomic = errors.New("this host has no store for edge.Atomic: wasmtest.Config.Store gives no wasmtest.AtomicStore")

// store returns what stands behind a binding.
func (m *Module) store(name abi.Store) (Store, error) {
	if name.Atomic {
		return m.atomic(name)
	}
	if m.config.Store != nil {
		return m.config.Store(name.Binding, false), nil
	}
	return m.memory(name), nil
}

func (m *Module) atomic(name abi.Store) (AtomicStore, error) {
	if m.config.Store == nil {
		return m.memory(name), nil
	}
	if store, ok := m.config.Store(name.Binding, true).(AtomicStore); ok {
		return store, nil
	}
	return nil, errNotAtomic
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

func (m *Module) kvGet(ctx context.Context, encoded []byte) []byte {
	var key abi.Key
	if err := key.Decode(encoded); err != nil {
		return abi.Fail(abi.CodeMalformed, "")
	}
	store, err := m.store(key.Store)
	if err != nil {
		return failure(ctx, err)
	}
	return value(ctx, key.Key, store.Get)
}

func (m *Module) kvPut(ctx context.Context, encoded []byte) []byte {
	var put abi.Put
	if err := put.Decode(encoded); err != nil {
		return abi.Fail(abi.CodeMalformed, "")
	}
	store, err := m.store(put.Store)
	if err == nil {
		err = store.Put(ctx, put.Key, put.Value, put.Expires)
	}
	if err != nil {
		return failure(ctx, err)
	}
	return abi.Result(nil)
}

func (m *Module) kvDelete(ctx context.Context, encoded []byte) []byte {
	var key abi.Key
	if err := key.Decode(encoded); err != nil {
		return abi.Fail(abi.CodeMalformed, "")
	}
	store, err := m.store(key.Store)
	if err == nil {
		err = store.Delete(ctx, key.Key)
	}
	if err != nil {
		return failure(ctx, err)
	}
	return abi.Result(nil)
}

func (m *Module) kvList(ctx context.Context, encoded []byte) []byte {
	var list abi.List
	if err := list.Decode(encoded); err != nil {
		return abi.Fail(abi.CodeMalformed, "")
	}
	store, err := m.store(list.Store)
	if err != nil {
		return failure(ctx, err)
	}
	keys, next, err := store.List(ctx, list.Prefix, list.Cursor)
	if err != nil {
		return failure(ctx, err)
	}
	answer := abi.Page{Keys: keys, Next: next}
	return bounded(abi.Result(answer.Append(nil)))
}

func (m *Module) kvInsert(ctx context.Context, encoded []byte) []byte {
	var put abi.Put
	if err := put.Decode(encoded); err != nil || !put.Store.Atomic {
		return abi.Fail(abi.CodeMalformed, "")
	}
	store, err := m.atomic(put.Store)
	if err != nil {
		return failure(ctx, err)
	}
	ok, err := store.Insert(ctx, put.Key, put.Value, put.Expires)
	return done(ctx, ok, err)
}

func (m *Module) kvTake(ctx context.Context, encoded []byte) []byte {
	var key abi.Key
	if err := key.Decode(encoded); err != nil || !key.Store.Atomic {
		return abi.Fail(abi.CodeMalformed, "")
	}
	store, err := m.atomic(key.Store)
	if err != nil {
		return failure(ctx, err)
	}
	return value(ctx, key.Key, store.Take)
}

func (m *Module) kvSwap(ctx context.Context, encoded []byte) []byte {
	var swap abi.Swap
	if err := swap.Decode(encoded); err != nil || !swap.Store.Atomic {
		return abi.Fail(abi.CodeMalformed, "")
	}
	store, err := m.atomic(swap.Store)
	if err != nil {
		return failure(ctx, err)
	}
	ok, err := store.Swap(ctx, swap.Key, swap.Old, swap.New, swap.Expires)
	return done(ctx, ok, err)
}

// value answers with what read, a store's Get or Take, gives for key.
func value(ctx context.Context, key string, read func(context.Context, string) ([]byte, bool, error)) []byte {
	content, ok, err := read(ctx, key)
	if err != nil {
		return failure(ctx, err)
	}
	var answer abi.Value
	if ok {
		answer.Bytes = append([]byte{}, content...)
	}
	return bounded(abi.Result(answer.Append(nil)))
}

func done(ctx context.Context, ok bool, err error) []byte {
	if err != nil {
		return failure(ctx, err)
	}
	answer := abi.Done{OK: ok}
	return abi.Result(answer.Append(nil))
}

func bounded(result []byte) []byte {
	if len(result) > abi.MaxMessage {
		return abi.Fail(abi.CodeTooLarge, fmt.Sprintf("the store's answer is over %d bytes", abi.MaxMessage))
	}
	return result
}
