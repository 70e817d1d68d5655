package flowtest

// cases are the rules. The numbers are those that the tests of kvadapter and simstore have for
// the same hazards, seen there without a browser.
func cases() []testCase {
	nobodysAddress := ada
	nobodysAddress.address = ""
	return []testCase{
		{"K-2", "records that have changed places sign nobody in as somebody else", swappedRecords},
		{"K-11", "of all who follow one sign-in link at once, one gets a session, the others the Verification page", linkRace},
		{"K-11/code", "of all who type one code at once, one gets a session, and no more than five codes are compared", codeRace},
		{"K-12/address", "first sign-ins at once with one address, each by its own link, make one user", crowds(firstByAddress)},
		{"K-12/account", "first sign-ins at once with one account make one user with one account, and losers get in at their next try", crowds(firstByAccount(ada))},
		{"K-12/account-without-address", "the same, if the provider tells no address", crowds(firstByAccount(nobodysAddress))},
		{"K-12/two-providers", "first sign-ins at once with one address at two providers make one user, whom the other provider doesn't sign in", crowds(firstByProviders)},
		{"K-15", "first sign-ins with one address make one user, in whatever order their calls go", firstInEveryOrder},
		{"K-16", "a crowd at the edge of updateAge is answered, and writes a handful of times", crowds(updateAgeEdge)},
		{"K-17/each", "a write that the store refuses, whichever, is no crash, and sessions are still read", eachWriteRefused},
		{"K-17/all", "while the store refuses all writes sessions are still read, and nothing is half done", allWritesRefused},
		{"K-20", "sessions, links and check cookies end when they say, and no store is asked to keep a value for less than a minute", ends},
		{"K-22", "while the store is down nobody is signed out, jwt sessions go on, and no restart is needed", storeDown},
		{"K-23", "of counters that come at once those are accepted that grow, and the largest stays", counters},
		{"cost", "a session check is one read, its refresh one more call, and a sign-in 20 at most", cost},
		{"dump", "nothing that is in the store signs anybody in", dumped},
		{"faults/error-before", "a store call that fails, whichever, gives nobody a wrong session and locks nobody out", faults(failBefore)},
		{"faults/error-after", "nor does one that has worked and says that it failed", faults(failAfter)},
		{"faults/throttled", "nor does one that is refused for its rate", faults(throttled)},
		{"faults/timeout", "nor does one in which the request's time is over", faults(timedOut)},
		{"faults/stale", "nor does a read of what was there before", faults(stale)},
		{"faults/corrupt", "nor does a read of half a value", faults(corrupt)},
	}
}
