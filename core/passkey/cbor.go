package passkey

import "unicode/utf8"

// CBOR as authenticators have to write it (CTAP 2.1, section 8, "Message encoding"): definite
// lengths, integers as short as can be, no tags, no key twice. Maps are taken in any order.

// maxDepth is how deeply lists and maps may be nested. A compound attestation statement needs 5.
const maxDepth = 5

// The major types (RFC 8949, section 3.1).
const (
	majorUint   = 0
	majorNegint = 1
	majorBytes  = 2
	majorText   = 3
	majorArray  = 4
	majorMap    = 5
	majorSimple = 7
)

// cutHead cuts off an item's head: its major type and argument.
func cutHead(b []byte) (major byte, arg uint64, rest []byte, err error) {
	if len(b) == 0 {
		return 0, 0, nil, malformed("the CBOR ends too early")
	}
	major, info, b := b[0]>>5, b[0]&0x1f, b[1:]
	switch {
	case info < 24:
		return major, uint64(info), b, nil
	case info > 27:
		return 0, 0, nil, malformed("the CBOR has an indefinite length")
	}
	size := 1 << (info - 24)
	if len(b) < size {
		return 0, 0, nil, malformed("the CBOR ends too early")
	}
	for _, c := range b[:size] {
		arg = arg<<8 | uint64(c)
	}
	if arg < 24 || size > 1 && arg>>(4*size) == 0 {
		return 0, 0, nil, malformed("the CBOR has a number that could be shorter")
	}
	return major, arg, b[size:], nil
}

// cut cuts the first item off, and checks it to its ground.
func cut(b []byte, depth int) (item, rest []byte, err error) {
	major, arg, rest, err := cutHead(b)
	if err != nil {
		return nil, nil, err
	}
	switch major {
	case majorUint, majorNegint:
	case majorBytes, majorText:
		if arg > uint64(len(rest)) {
			return nil, nil, malformed("the CBOR ends too early")
		}
		if major == majorText && !utf8.Valid(rest[:arg]) {
			return nil, nil, malformed("the CBOR has text that is not UTF-8")
		}
		rest = rest[arg:]
	case majorArray:
		if depth == 0 {
			return nil, nil, malformed("the CBOR is nested too deeply")
		}
		for ; arg > 0; arg-- {
			if _, rest, err = cut(rest, depth-1); err != nil {
				return nil, nil, err
			}
		}
	case majorMap:
		if _, rest, err = cutMap(b, depth); err != nil {
			return nil, nil, err
		}
	case majorSimple:
		if arg < 20 || arg > 22 { // false, true and null; floats have no use here
			return nil, nil, malformed("the CBOR has a value that is not known")
		}
	default:
		return nil, nil, malformed("the CBOR has a tag")
	}
	return b[:len(b)-len(rest)], rest, nil
}

// cutMap cuts a map off and gives its values by its keys, both still encoded. Since no number
// has two encodings, neither has a key.
func cutMap(b []byte, depth int) (members map[string][]byte, rest []byte, err error) {
	major, size, rest, err := cutHead(b)
	switch {
	case err != nil:
		return nil, nil, err
	case major != majorMap:
		return nil, nil, malformed("the CBOR has no map where one belongs")
	case depth == 0:
		return nil, nil, malformed("the CBOR is nested too deeply")
	}
	members = map[string][]byte{}
	for ; size > 0; size-- {
		var key, value []byte
		if key, rest, err = cut(rest, depth-1); err != nil {
			return nil, nil, err
		}
		if value, rest, err = cut(rest, depth-1); err != nil {
			return nil, nil, err
		}
		if _, twice := members[string(key)]; twice {
			return nil, nil, malformed("the CBOR has a key twice")
		}
		members[string(key)] = value
	}
	return members, rest, nil
}

// readMap reads a map that is all there is.
func readMap(b []byte) (map[string][]byte, error) {
	members, rest, err := cutMap(b, maxDepth)
	if err == nil && len(rest) > 0 {
		err = malformed("the CBOR goes on after its end")
	}
	return members, err
}

// textKey is the encoding of a map's key of fewer than 24 characters.
func textKey(name string) string { return string(rune(majorText<<5|len(name))) + name }

// asInt gives an integer that fits, asBytes and asText what is in a string. The item has been cut.
func asInt(item []byte) (int64, bool) {
	major, arg, rest, err := cutHead(item)
	if err != nil || len(rest) > 0 || arg > 1<<62 {
		return 0, false
	}
	switch major {
	case majorUint:
		return int64(arg), true
	case majorNegint:
		return -1 - int64(arg), true
	}
	return 0, false
}

func asBytes(item []byte) ([]byte, bool) { return content(item, majorBytes) }

func asText(item []byte) (string, bool) {
	text, ok := content(item, majorText)
	return string(text), ok
}

// content gives nothing if the string is of the other kind, for callers who don't ask.
func content(item []byte, kind byte) ([]byte, bool) {
	major, _, rest, err := cutHead(item)
	if err != nil || major != kind {
		return nil, false
	}
	return rest, true
}
