package edge

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"github.com/edgeauth/edgeauth/edge/abi"
)

// KV returns the host's store for binding. Naming a store can't fail; a host that has none under this name reports it
// on every call.
func KV(binding string) Store {
	return kv{abi.Store{Binding: binding}}
}

// Atomic returns the host's atomic store for binding. Naming a store can't fail; a host that has none reports it on
// every call.
func Atomic(binding string) AtomicStore {
	return atomic{kv{abi.Store{Atomic: true, Binding: binding}}}
}

type kv struct{ store abi.Store }

func (s kv) Get(ctx context.Context, key string) ([]byte, bool, error) {
	return s.value(ctx, "kv get", key, hostKVGet)
}

func (s kv) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	message := abi.Put{Store: s.store, Key: key, Value: value, Expires: expires}
	_, err := s.at(ctx, "kv put", key, hostKVPut, message.Append(nil))
	return err
}

func (s kv) Delete(ctx context.Context, key string) error {
	message := abi.Key{Store: s.store, Key: key}
	_, err := s.at(ctx, "kv delete", key, hostKVDelete, message.Append(nil))
	return err
}

func (s kv) List(ctx context.Context, prefix, cursor string) ([]string, string, error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, "", err
	}
	message := abi.List{Store: s.store, Prefix: prefix, Cursor: cursor}
	answer, err := s.call(ctx, "kv list", hostKVList, message.Append(nil))
	if err != nil {
		return nil, "", err
	}
	var page abi.Page
	if err := page.Decode(answer); err != nil {
		return nil, "", errMalformed
	}
	return page.Keys, page.Next, nil
}

type atomic struct{ kv }

func (s atomic) Insert(ctx context.Context, key string, value []byte, expires time.Time) (bool, error) {
	message := abi.Put{Store: s.store, Key: key, Value: value, Expires: expires}
	return s.done(ctx, "kv insert", key, hostKVInsert, message.Append(nil))
}

func (s atomic) Take(ctx context.Context, key string) ([]byte, bool, error) {
	return s.value(ctx, "kv take", key, hostKVTake)
}

func (s atomic) Swap(ctx context.Context, key string, old, new []byte, expires time.Time) (bool, error) {
	message := abi.Swap{Store: s.store, Key: key, Old: old, New: new, Expires: expires}
	return s.done(ctx, "kv swap", key, hostKVSwap, message.Append(nil))
}

// hostFunction is one of the functions of host_wasip1.go.
type hostFunction = func(unsafe.Pointer, uint32) uint64

// value calls a function from Key to Value.
func (s kv) value(ctx context.Context, operation, key string, function hostFunction) ([]byte, bool, error) {
	message := abi.Key{Store: s.store, Key: key}
	answer, err := s.at(ctx, operation, key, function, message.Append(nil))
	if err != nil {
		return nil, false, err
	}
	var value abi.Value
	if err := value.Decode(answer); err != nil {
		return nil, false, errMalformed
	}
	return value.Bytes, value.Bytes != nil, nil
}

// done calls a function whose answer is Done.
func (s kv) done(ctx context.Context, operation, key string, function hostFunction, message []byte) (bool, error) {
	answer, err := s.at(ctx, operation, key, function, message)
	if err != nil {
		return false, err
	}
	var done abi.Done
	if err := done.Decode(answer); err != nil {
		return false, errMalformed
	}
	return done.OK, nil
}

// at is call for one key.
func (s kv) at(ctx context.Context, operation, key string, function hostFunction, message []byte) ([]byte, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	return s.call(ctx, operation, function, message)
}

func (s kv) call(ctx context.Context, operation string, function hostFunction, message []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answer, err := call(function, message)
	if failure, ok := errors.AsType[*abi.Error](err); ok {
		return nil, &hostError{operation, failure}
	}
	return answer, err
}
