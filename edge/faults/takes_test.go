//go:build !js && !wasip1

package faults_test

import (
	"flag"
	"testing"
)

var isLong = flag.Bool("long", false, "as many requests as the rows of the table name; takes many minutes")

// takes is how often something is done: in the suite, and with -long.
func takes(t testing.TB, often, long int) int {
	t.Helper()
	if *isLong {
		return long
	}
	return often
}
