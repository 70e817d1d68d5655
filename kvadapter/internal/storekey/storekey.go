// Package storekey says which keys the stores of package kvadapter take.
package storekey

import "errors"

// Err is the error for a key that not every store can hold.
var Err = errors.New("a key has 1 to 512 bytes of printable ASCII and is neither . nor ..")

// Check gives Err for such a key. One that is not UTF-8, for instance, could become another
// key's on the way to a store that is reached by JSON.
func Check(key string) error {
	if key == "" || len(key) > 512 || key == "." || key == ".." {
		return Err
	}
	for i := range len(key) {
		if key[i] < 0x20 || key[i] > 0x7e {
			return Err
		}
	}
	return nil
}
