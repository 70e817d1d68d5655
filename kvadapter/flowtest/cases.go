package flowtest

// cases are the rules.
func cases() []testCase {
	return []testCase{
		{name: "links", rule: "of all who follow one sign-in link at once, one gets a session, the others the Verification page", try: linkRace},
		{name: "first/address", rule: "first sign-ins at once with one address, each by its own link, make one user", try: firstByAddress},
		{name: "first/account", rule: "first sign-ins at once with one account make one user, as whom all are signed in", try: firstByAccount},
		{name: "first/two-providers", rule: "first sign-ins at once with one address at two providers make one user, whom the other provider doesn't sign in", try: firstByProviders},
		{name: "refresh", rule: "a crowd whose session is due is answered, extends it, and writes a handful of times", try: refreshRace},
		{name: "sign-out", rule: "a session that was signed out is over, here and wherever else its cookie is, and no other one", try: signOut},
		{name: "down", rule: "while the store is down nobody is signed out, jwt sessions go on, and no restart is needed", try: storeDown},
		{name: "cost", rule: "each flow makes no more calls to the store than it needs, and Server-Timing says how many", try: cost},
		{name: "dump", rule: "nothing that is in the store, or in the cache, signs anybody in", try: dumped},
		{name: "faults/error-before", rule: "a store call that fails, whichever, gives nobody a wrong session and locks nobody out", try: faults(failBefore)},
		{name: "faults/error-after", rule: "nor does one that has worked and says that it failed", try: faults(failAfter)},
		{name: "faults/timeout", rule: "nor does one in which the request's time is over", try: faults(timedOut)},
		{name: "faults/crash-before", rule: "nor does one before which the process dies", try: faults(crashBefore)},
		{name: "faults/crash-after", rule: "nor does one after which the process dies", try: faults(crashAfter)},
	}
}
