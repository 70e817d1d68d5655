package simstore_test

import (
	"os"
	"testing"
)

// known are the cases in which the adapter does not keep its promise yet, and why. An entry
// goes when its reason does; SIMSTORE_KNOWN=1 runs them.
var known = map[string]string{
	"TestK13NoResurrection/sign-out_refresh/kv":              lostTombstone,
	"TestK13NoResurrection/sign-out_refresh_refresh_here/kv": lostTombstone,
	"TestK13NoResurrection/delete-user_refresh_sign-in/kv":   lostTombstone,
	"TestK15OneUserWhateverTheOrder/kv":                      copyThrottled,
	"TestK17EachWriteThrottled/kv":                           writtenTwice,
	"TestK18CrashAtEachCall/kv":                              writtenTwice,
	"TestK19EachCallInDoubt/FailBefore/kv":                   writtenTwice,
	"TestK19EachCallInDoubt/FailAfter/kv":                    writtenTwice,
}

const (
	lostTombstone = "a refresh that is written after the tombstone has to be taken back within the second, which the store refuses with 429"
	copyThrottled = "a sign-in fails if another session of the user was written within the second"
	writtenTwice  = "after a sign-out that failed halfway a sign-in writes the ended session twice at once, and fails with 429 each time"
)

// skipKnown skips a case that is known to fail.
func skipKnown(t *testing.T) {
	t.Helper()
	if reason, ok := known[t.Name()]; ok && os.Getenv("SIMSTORE_KNOWN") == "" {
		t.Skip(reason)
	}
}
