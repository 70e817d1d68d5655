package edge

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"github.com/edgeauth/edgeauth/edge/abi"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// KV returns the host's store for binding. Naming a store can't fail; a host that has none under this name reports it
// on every call.
func KV(binding string) Store {
	return kv{binding}
}

type kv struct{ binding string }

func (s kv) Get(ctx context.Context, key string) ([]byte, bool, error) {
	message := abi.Key{Binding: s.binding, Key: key}
	answer, err := s.call(ctx, "kv get", key, hostKVGet, message.Append(nil))
	if err != nil {
		return nil, false, err
	}
	var value abi.Value
	if err := value.Decode(answer); err != nil {
		return nil, false, errMalformed
	}
	return value.Bytes, value.Bytes != nil, nil
}

func (s kv) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	message := abi.Put{Binding: s.binding, Key: key, Value: value, Expires: expires}
	_, err := s.call(ctx, "kv put", key, hostKVPut, message.Append(nil))
	return err
}

func (s kv) Delete(ctx context.Context, key string) error {
	message := abi.Key{Binding: s.binding, Key: key}
	_, err := s.call(ctx, "kv delete", key, hostKVDelete, message.Append(nil))
	return err
}

func (s kv) List(ctx context.Context, prefix, cursor string) ([]string, string, error) {
	message := abi.List{Binding: s.binding, Prefix: prefix, Cursor: cursor}
	answer, err := s.call(ctx, "kv list", "any", hostKVList, message.Append(nil))
	if err != nil {
		return nil, "", err
	}
	var page abi.Page
	if err := page.Decode(answer); err != nil {
		return nil, "", errMalformed
	}
	return page.Keys, page.Next, nil
}

func (s kv) call(ctx context.Context, operation, key string, function func(unsafe.Pointer, uint32) uint64, message []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := memory.CheckKey(key); err != nil {
		return nil, err
	}
	answer, err := call(function, message)
	if failure, ok := errors.AsType[*abi.Error](err); ok {
		return nil, &hostError{operation, failure}
	}
	return answer, err
}
