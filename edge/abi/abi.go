// Package abi is the contract between a wasip1 guest and the host that runs it: function names, signatures and the
// bytes of every message. This comment is the specification; package edge is the guest's side, package wasmtest a host.
//
// # Version
//
// The version is part of the name of the import module, [Module]. A host that does not offer that name can't
// instantiate the guest, so two sides that disagree never exchange a byte. Any change to what follows, an added
// function included, gets a new name.
//
// # Functions
//
// A guest is a WASI preview 1 reactor: it exports its memory as "memory" and is started with "_initialize".
// It also exports
//
//	edge_start() -> i32                          once, after _initialize: runs the program up to the point where it serves
//	edge_handle(handle i32, length i32) -> i32   serves one request; the host never overlaps two calls
//	edge_usage() -> i64                          optional, for tests: collects garbage; gives goroutines<<32 | bytes of the heap
//
// and imports from [Module]
//
//	take(handle i32, ptr i32, length i32) -> i32   copies a result into the guest and releases it
//	respond(ptr i32, length i32) -> i32            the Response to the request being handled
//	fetch(ptr i32, length i32) -> i64              Fetch  → Response
//	store_get(ptr i32, length i32) -> i64          Call of a Get     → Entries
//	store_commit(ptr i32, length i32) -> i64       Call of a Commit  → Done
//	store_list(ptr i32, length i32) -> i64         Call of a List    → Page
//
// An i32 returned is a [Code]; 0 is success. edge_start returns [CodeState] when the program's main function returned
// without serving, or when it is called twice. edge_handle returns [CodeMalformed] when it could not read the request.
// A guest calls respond exactly once in each edge_handle that returns 0, with a status of at least 200, and may go on
// working until it returns: the host can send the response meanwhile. A guest that exits or traps loses its instance and answers no
// further call.
//
// # Memory
//
// A ptr is an offset into the guest's memory. The guest owns the bytes; the host reads or writes them during the call
// only and keeps no pointer. What the host has for the guest it keeps under a handle: an i64 is handle<<32 | length.
// The guest makes room for exactly length bytes and calls take. Handles are never 0, are not used twice by one instance,
// and end with take or with the edge_handle they belong to. The i64 0 means that the host has no room for another
// result ([MaxResults] are waiting). take returns [CodeState] for an unknown handle and [CodeMalformed] for a wrong
// length or a range outside the guest's memory. respond returns [CodeState] when there is nothing to respond to, or
// for the second time.
//
// # Messages
//
// Integers are little-endian. A string is its length (u32) and its bytes, which may have any value unless a rule below
// says otherwise. A flag is one byte, 0 or 1. A list is its length (u32) and its elements.
//
//	Request    method string, url string, remote string, fields, body
//	Fetch      timeout u32 (milliseconds, 0: the host's), method string, url string, fields, body
//	Response   status u16, fields, body
//	fields     list of (name string, value string)
//	body       flag; when 1, string
//	Call       flag (1: edge.KV, 0: edge.Store), binding string, then a Get, Commit or List without a length
//	Get        keys list of string
//	Commit     checks list of (key string, version string), writes
//	List       prefix string, cursor string
//	Entries    list of (key string, value string, version string)
//	Done       flag
//	Page       writes, next string (empty: the last page)
//	writes     list of (key string, value string (empty: a deletion), ref string (empty: none), expiry)
//	expiry     milliseconds u64 since 1970, at most 253402300799999, the end of the year 9999; 0: never
//
// What a Get, Commit and List do is in the documentation of kv.Store and kv.Lister; the flag of a Done is Commit's ok. With
// edge.KV, whose calls are those of kv.Cache, the entries of a Get have no version that means anything, but an empty one where
// there is no value, a Commit has no checks, and there is no List: both are malformed otherwise.
//
// The same Get, Commit and List, and their answers, go between a worker and its Durable Object, as the bodies of requests and
// responses (worker/records.mjs).
//
// edge_handle's argument is a Request. The i64 of the other functions is a result: one byte [Code], then for 0 the
// message named above, and for any other code a text for people, at most [MaxText] bytes.
//
// A body that is absent and one that is empty are two things: only the second was sent with a length.
// The url is absolute, "http" or "https", with the target as the client sent it. Fields keep their order, repeated names and
// the bytes of their values; the Host field is not among them, it is the url's host. Lengths of a body follow from the
// body: a Content-Length field is information, and in a response to anything but HEAD the receiver replaces it.
//
// # Limits and malformed input
//
// No message is longer than [MaxMessage]; the receiver answers [CodeTooLarge] without reading it. The body of a Request,
// and of the Response to a fetch, is at most [MaxBody]: the host answers 413 to the client, or [CodeTooLarge] to the guest.
// Decoding is strict: a length past the end, bytes left over, a flag or an expiry out of range, a status outside
// 100 to 999, a method or field name that is not a token (RFC 9110, 5.6.2), CR, LF or NUL in a field value, a control
// character or space in a url or remote address, make the whole message malformed ([CodeMalformed]). Every accepted
// message has exactly one encoding.
package abi

// Module is the name of the import module and holds the version of the contract.
const Module = "edge_abi_2"

// Names of the exported functions of a guest.
const (
	ExportStart  = "edge_start"
	ExportHandle = "edge_handle"
)

// Names of the functions a guest imports from Module.
const (
	ImportTake        = "take"
	ImportRespond     = "respond"
	ImportFetch       = "fetch"
	ImportStoreGet    = "store_get"
	ImportStoreCommit = "store_commit"
	ImportStoreList   = "store_list"
)

// Limits, in bytes unless said otherwise.
const (
	MaxBody    = 1 << 20  // body of a Request, and of the Response to a fetch
	MaxMessage = 32 << 20 // one encoded message
	MaxText    = 1 << 10  // text of a failed result
	MaxResults = 64       // results one instance has not taken yet
)

// Code tells how a call ended.
type Code uint8

// The codes.
const (
	CodeOK        Code = 0
	CodeMalformed Code = 1 // the message, a pointer or a length is not what this package describes
	CodeTooLarge  Code = 2 // a limit of the host was exceeded
	CodeTimeout   Code = 3 // the time allowed for the operation was over
	CodeFailed    Code = 4 // the operation itself failed: network or store
	CodeState     Code = 5 // a call at the wrong time, or an unknown handle
)

func (c Code) String() string {
	switch c {
	case CodeOK:
		return "ok"
	case CodeMalformed:
		return "malformed"
	case CodeTooLarge:
		return "too large"
	case CodeTimeout:
		return "timeout"
	case CodeState:
		return "wrong state"
	}
	return "failed"
}

// Error is a result whose code is not CodeOK.
type Error struct {
	Code Code
	Text string // for people; may be empty
}

func (e *Error) Error() string {
	if e.Text == "" {
		return "abi: " + e.Code.String()
	}
	return "abi: " + e.Code.String() + ": " + e.Text
}

// Result returns the result that carries an encoded message.
func Result(message []byte) []byte {
	return append([]byte{byte(CodeOK)}, message...)
}

// Fail returns the result that reports a failure; text is cut at MaxText bytes. CodeOK is reported as CodeFailed.
func Fail(code Code, text string) []byte {
	if code == CodeOK {
		code = CodeFailed
	}
	return append([]byte{byte(code)}, text[:min(len(text), MaxText)]...)
}

// Open returns the message in a result, sharing its memory, or the *Error it reports. An empty result, a code this
// version doesn't know and a text over MaxText are ErrMalformed.
func Open(result []byte) ([]byte, error) {
	if len(result) == 0 {
		return nil, ErrMalformed
	}
	code, rest := Code(result[0]), result[1:]
	switch {
	case code == CodeOK:
		return rest, nil
	case code > CodeState || len(rest) > MaxText:
		return nil, ErrMalformed
	}
	return nil, &Error{Code: code, Text: string(rest)}
}
