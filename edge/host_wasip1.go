package edge

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/edgeauth/edgeauth/edge/abi"
)

// The functions of the host, as package abi names them. Their module name is abi.Module.

//go:wasmimport edge_abi_2 take
//go:noescape
func hostTake(id uint32, ptr unsafe.Pointer, length uint32) uint32

//go:wasmimport edge_abi_2 respond
//go:noescape
func hostRespond(ptr unsafe.Pointer, length uint32) uint32

//go:wasmimport edge_abi_2 fetch
//go:noescape
func hostFetch(ptr unsafe.Pointer, length uint32) uint64

//go:wasmimport edge_abi_2 store_get
//go:noescape
func hostStoreGet(ptr unsafe.Pointer, length uint32) uint64

//go:wasmimport edge_abi_2 store_commit
//go:noescape
func hostStoreCommit(ptr unsafe.Pointer, length uint32) uint64

//go:wasmimport edge_abi_2 store_list
//go:noescape
func hostStoreList(ptr unsafe.Pointer, length uint32) uint64

// hostFunction is one of those that give a result.
type hostFunction = func(unsafe.Pointer, uint32) uint64

var (
	errMalformed = errors.New("edge: the host's answer is malformed")
	errTooLarge  = errors.New("edge: the host refuses a message of this size")
	errNoRoom    = errors.New("edge: too many calls to the host at once")
)

// call gives an encoded message to a function of the host and returns the message it answers. The errors of package
// edge that a caller may ask for stay in the chain.
func call(function hostFunction, message []byte) ([]byte, error) {
	if len(message) > abi.MaxMessage {
		return nil, errTooLarge
	}
	result := function(unsafe.Pointer(unsafe.SliceData(message)), uint32(len(message)))
	runtime.KeepAlive(message)
	if result == 0 {
		return nil, errNoRoom
	}
	encoded, err := taken(uint32(result>>32), uint32(result))
	if err != nil {
		return nil, err
	}
	answer, err := abi.Open(encoded)
	if failure, ok := errors.AsType[*abi.Error](err); ok {
		return nil, failure
	}
	if err != nil {
		return nil, errMalformed
	}
	return answer, nil
}

// taken copies what the host keeps under id. The length comes from the host, which this program trusts.
func taken(id, length uint32) ([]byte, error) {
	b := make([]byte, length)
	if code := hostTake(id, unsafe.Pointer(unsafe.SliceData(b)), length); abi.Code(code) != abi.CodeOK {
		return nil, errMalformed
	}
	return b, nil
}

func respond(response *abi.Response) abi.Code {
	message := response.Append(nil)
	if len(message) > abi.MaxMessage {
		message = plain(500).Append(nil)
	}
	code := hostRespond(unsafe.Pointer(unsafe.SliceData(message)), uint32(len(message)))
	runtime.KeepAlive(message)
	return abi.Code(code)
}
