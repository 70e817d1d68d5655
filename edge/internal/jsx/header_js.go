package jsx

import (
	"net/http"
	"syscall/js"
)

// HeaderOf copies a JavaScript Headers object. It is flattened there, so that
// it crosses as one string however many fields it has.
func (c Charset) HeaderOf(headers js.Value) (http.Header, error) {
	pairs := js.Global().Get("Array").Call("from", headers)
	if pairs.Length() == 0 {
		return http.Header{}, nil
	}
	return c.Header(pairs.Call("flat").Call("join", "\n").String() + "\n")
}
