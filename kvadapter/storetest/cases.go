package storetest

// cases is the contract of kv.Store and kv.Lister, rule by rule.
var cases = [...]testCase{
	{"get/absent", "an absent key has an entry with its key, no value and no version, and is no error", getAbsent},
	{"get/many", "Get gives one entry for each key, in the order of the keys; none for no keys", getMany},
	{"get/twice", "a key that is asked for twice is answered twice", getTwice},

	{"ref/follow", "Get gives the entry of what an entry refers to, as it is when it is read", refFollow},
	{"ref/once", "what several entries refer to is given once, and not at all if it was asked for", refOnce},
	{"ref/absent", "a reference to an absent key gives no entry", refAbsent},
	{"ref/one-step", "references are followed one step", refOneStep},
	{"ref/replaced", "a write replaces the reference with the value", refReplaced},

	{"commit/all", "a Commit makes all its writes", commitAll},
	{"commit/none", "a Commit of which one check fails, at any position, changes nothing", commitNone},
	{"commit/absence", "a check without a version holds while the key is absent", commitAbsence},
	{"commit/version", "a check with a version holds while the key has that version, byte by byte", commitVersion},
	{"commit/unwritten", "a check may be of a key that the Commit doesn't write, and doesn't change it", commitUnwritten},
	{"commit/unchecked", "a write without a check replaces whatever is there", commitUnchecked},
	{"commit/delete", "a write without a value deletes its key and no other; an absent key is no error", commitDelete},
	{"commit/twice", "two writes of one key are refused; two checks of one key must both hold", commitTwice},

	{"version/changes", "a version changes with every write of the key, also of the same bytes, and with nothing else", versionChanges},
	{"version/back", "a version never comes back, not even after the key was deleted or has expired", versionBack},

	{"value/bytes", "a value comes back byte by byte, whatever its bytes", valueBytes},
	{"value/size", "a value has up to 64 KiB; a larger one is a *kv.LimitError and changes nothing", valueSize},

	{"key/distinct", "keys are compared byte by byte, and none is read as a path, a pattern or an escape", keyDistinct},
	{"key/length", "a key has up to 512 bytes, and every byte counts", keyLength},
	{"key/refused", "a key that is empty, . or .., has over 512 bytes or one that is not printable ASCII is a *kv.LimitError", keyRefused},

	{"limit/most", "a Get may have 256 keys, with as many references, and a Commit 256 checks and 256 writes", limitMost},
	{"limit/more", "257 keys, checks or writes are a *kv.LimitError and change nothing", limitMore},

	{"expiry/never", "with the zero time a value stays", expiryNever},
	{"expiry/end", "a value is there until it expires, to the millisecond, and absent from then on", expiryEnd},
	{"expiry/past", "a value that has expired when it is written is absent, and what it replaced too", expiryPast},
	{"expiry/renewed", "a write replaces the expiry with the value", expiryRenewed},
	{"expiry/check", "what has expired is absent for a check", expiryCheck},
	{"expiry/ref", "what has expired refers to nothing, and a reference to it gives no entry", expiryRef},

	{"context/ended", "a call whose context has ended returns the context's error and changes nothing", contextEnded},
	{"memory/given", "what a caller passed in is not shared with the store", memoryGiven},
	{"memory/returned", "what a call returned is not shared with the store", memoryReturned},

	{"race/counter", "of concurrent changes of one value none is lost", raceCounter},
	{"race/claim", "of concurrent callers who find a key absent one writes it", raceClaim},
	{"race/transfer", "concurrent changes of several keys happen as a whole, and don't lock each other out", raceTransfer},
	{"race/crossed", "a check of a key that another Commit writes at the same time is part of the one step", raceCrossed},

	{"list/pages", "List gives every key once, in pages of up to 1,000, and comes to an end", listPages},
	{"list/prefix", "List gives the keys that begin with prefix, byte by byte; all for an empty one", listPrefix},
	{"list/again", "List gives writes that store the same again", listAgain},
	{"list/gone", "List leaves out what was deleted or has expired", listGone},
}
