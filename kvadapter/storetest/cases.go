package storetest

// cases is the contract of kvadapter.Store and kvadapter.Atomic, rule by rule.
var cases = [...]testCase{
	{"keys/distinct", "keys are compared byte by byte, and none is read as a path or a pattern", keysDistinct},
	{"keys/length", "a key has 1 to 512 bytes, and every byte counts", keysLength},
	{"keys/refused", "a key that is empty, . or .., has more than 512 bytes, or a byte that is not printable ASCII, is an error for every method", keysRefused},

	{"values/bytes", "a value comes back byte by byte, whatever its bytes; an empty one is a value", valuesBytes},
	{"values/large", "a value may have 1 MiB", valuesLarge},
	{"values/absent", "an unknown key is absent without an error", valuesAbsent},
	{"values/overwrite", "Put replaces the value", valuesOverwrite},
	{"values/delete", "Delete removes that key, and no other; an absent key is no error", valuesDelete},
	{"values/sharing", "values that were given or came back are not shared with the store", valuesSharing},
	{"values/concurrent", "methods may be called at once, and each caller sees what it wrote", valuesConcurrent},

	{"expiry/never", "with the zero time a value stays", expiryNever},
	{"expiry/end", "a value is there until it expires, to the second, and absent from then on", expiryEnd},
	{"expiry/past", "a value that has expired when it is put is absent, and what it replaced too", expiryPast},
	{"expiry/renewed", "Put replaces the expiry with the value", expiryRenewed},
	{"expiry/list", "List leaves out what has expired", expiryList},

	{"list/prefix", "List gives the keys that begin with prefix, byte by byte, and no other; all keys for an empty one", listPrefix},
	{"list/order", "List gives keys in the order of their bytes", listOrder},
	{"list/pages", "the pages together have every key once, in order, and end", listPages},
	{"list/deleted", "List leaves out what was deleted", listDeleted},
	{"list/changes", "keys that stay are listed once, whatever is put and deleted between two pages", listChanges},
	{"list/sharing", "keys that came back are not shared with the store", listSharing},

	{"context/read", "Get and List fail when the context has ended", contextRead},
	{"context/write", "Put and Delete fail and change nothing when the context has ended", contextWrite},

	{"atomic/keys", "Insert, Take and Swap refuse the keys that Put refuses", atomicKeys},
	{"atomic/insert", "Insert stores a value where there is none, and changes nothing where there is one", atomicInsert},
	{"atomic/insert-expired", "Insert replaces a value that has expired, from that moment on, and for one caller", atomicInsertExpired},
	{"atomic/insert-expiry", "what Insert stored expires", atomicInsertExpiry},
	{"atomic/take", "Take gives the value and removes it; an absent key is no error", atomicTake},
	{"atomic/take-expired", "Take of a value that has expired gives nothing", atomicTakeExpired},
	{"atomic/swap", "Swap replaces the old value, compared byte by byte, and nothing else", atomicSwap},
	{"atomic/swap-expired", "Swap of a value that has expired stores nothing", atomicSwapExpired},
	{"atomic/swap-expiry", "Swap replaces the expiry with the value", atomicSwapExpiry},
	{"atomic/sharing", "values that were given or came back are not shared with the store", atomicSharing},
	{"atomic/context", "a call whose context has ended fails and changes nothing", atomicContext},
	{"atomic/insert-race", "of concurrent callers of Insert one stores its value", atomicInsertRace},
	{"atomic/take-race", "of concurrent callers of Take one gets the value", atomicTakeRace},
	{"atomic/take-put-race", "Take removes no value but the one it gave", atomicTakePutRace},
	{"atomic/swap-race", "of concurrent callers of Swap with one old value one succeeds, and no update is lost", atomicSwapRace},
	{"atomic/swap-gone-race", "a value that was deleted or taken while it was swapped is gone", atomicSwapGoneRace},
}
