package edge

import (
	"context"
	"errors"

	"github.com/edgeauth/edgeauth/edge/abi"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// Store returns the host's store for binding, which is a [kv.Lister]. Naming a store can't fail; a host that has none
// under this name reports it on every call. A call may take 10 seconds; later its error is a *[kv.TimeoutError]. The options
// are for Durable Objects.
func Store(binding string, _ ...StoreOptions) kv.Store {
	return onHost(abi.Store{Binding: binding})
}

// KV returns the host's cache for binding, which is not the store of that name. It is as Store in all else.
func KV(binding string) kv.Cache {
	return kv.CacheOf(onHost(abi.Store{Cache: true, Binding: binding}))
}

// onHost gives a store that the host keeps.
func onHost(store abi.Store) remote {
	functions := map[string]hostFunction{"get": hostStoreGet, "commit": hostStoreCommit, "list": hostStoreList}
	name := "Store " + store.Binding
	if store.Cache {
		name = "KV " + store.Binding
	}
	return remote{func(_ context.Context, operation string, message []byte) ([]byte, error) {
		question := abi.Call{Store: store, Message: message}
		answer, err := call(functions[operation], question.Append(nil))
		failure, ok := errors.AsType[*abi.Error](err)
		switch {
		case ok && failure.Code == abi.CodeTimeout:
			return nil, &kv.TimeoutError{Store: name, After: kv.Timeout}
		case ok:
			return nil, &hostError{name + ": " + operation, failure}
		}
		return answer, err
	}}
}
