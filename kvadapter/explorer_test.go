package kvadapter_test

import (
	"flag"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

var (
	orders    = flag.Int("orders", 100_000, "how many random orders of store calls are explored")
	faultsToo = flag.Bool("faults", false, "explore all orders of two operations with a fault, which takes minutes")
)

// explore fails the test if a rule is broken in one of all orders.
func explore(t *testing.T, faults int, operations ...operation) {
	t.Helper()
	n, err := exploration{faults: faults}.all(1_000_000, operations...)
	if err != nil {
		t.Errorf("%s: %v", operations[0].name, err)
	}
	t.Logf("%d orders", n)
}

// A sign-in beside a sign-out everywhere leaves no session that a later sign-out everywhere, or
// the user's deletion, doesn't end; whoever dies, and whatever is refreshed meanwhile.
func TestSignInBesideSignOutEverywhere(t *testing.T) {
	t.Parallel()
	explore(t, 1, returning, everywhere)
	explore(t, 0, returning, refreshing, everywhere)
	explore(t, 0, returning, everywhere, deleting)
}

// Whoever dies before or after any call of a first sign-in can sign in at once.
func TestCrashAtEachCallOfAFirstSignIn(t *testing.T) {
	t.Parallel()
	explore(t, 2, firstSignIn)
	explore(t, 1, firstSignIn, firstOfOther)
	explore(t, 1, firstByLink, firstSignIn)
}

// A session shows what its user is, also if UpdateUser dies, and after a refresh.
func TestHalfAnUpdateUser(t *testing.T) {
	t.Parallel()
	explore(t, 2, renaming)
	explore(t, 1, renaming, refreshing)
	w := newWorld()
	a := kvadapter.New(w.store, kvadapter.Options{})
	must[*core.User](t)(a.UpdateUser(t.Context(), core.User{ID: "ada", Extra: map[string]any{"role": "admin"}}))
	w.faults = 1
	demoting := operation{"a demotion", func(x *actor) {
		_, _ = x.UpdateUser(background, core.User{ID: "ada", Extra: map[string]any{"role": "reader"}})
	}}
	// It dies when the store has done all it was asked to.
	w.run([]operation{demoting}, func(n, plain int) int {
		if w.programs[0].waits == "Commit" {
			return plain + 1
		}
		return 0
	})
	if err := readAndExtend(t.Context(), a, "ada-1", 48*time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, u, err := a.GetSessionAndUser(t.Context(), "ada-1"); err != nil || u.Extra["role"] != "reader" {
		t.Errorf("after the refresh the session shows %v, %v", u, err)
	}
}

// A DeleteUser that dies deletes all or nothing, and three who take one another's addresses keep
// to one each.
func TestHalfADeleteUserAndAddressesThatGoRound(t *testing.T) {
	t.Parallel()
	explore(t, 2, deleting)
	explore(t, 1, deleting, returning)
	explore(t, 0, adaToBob, bobToCarol, carolToAda)
	explore(t, 1, moving, carolToAda)
	explore(t, 0, moving, carolToAda, bobToCarol)
}

// Two operations at once, whichever, in all orders of their store calls.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	e := exploration{}
	if *faultsToo {
		e.faults = 1
	}
	total := 0
	for i, one := range operations {
		for _, other := range operations[i:] {
			n, err := e.all(100_000, one, other)
			if total += n; err != nil {
				t.Errorf("%s beside %s: %v", one.name, other.name, err)
			}
		}
		if testing.Short() && i > 2 {
			break
		}
	}
	t.Logf("%d orders", total)
}

// An operation alone that crashes, failures and lost answers befall, before and after each of its
// store calls, up to two of them.
func TestFaultsAtEachCall(t *testing.T) {
	t.Parallel()
	total := 0
	for _, one := range operations {
		n, err := exploration{faults: 2}.all(100_000, one)
		if total += n; err != nil {
			t.Errorf("%s: %v", one.name, err)
		}
	}
	t.Logf("%d orders", total)
}

// Two and three operations at once in random orders, half of them with up to two faults.
func TestRandomOrders(t *testing.T) {
	t.Parallel()
	n := *orders
	if testing.Short() {
		n = min(n, 3000)
	}
	var next, failed atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for seed := next.Add(1); seed <= int64(n) && failed.Load() < 3; seed = next.Add(1) {
				if err := (exploration{faults: 2}).random(uint64(seed), operations); err != nil {
					failed.Add(1)
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// The rules notice a store that doesn't make a check, or makes two commits of one. The check of a
// session is not among them: whatever changes a session changes its user.
func TestRulesNoticeBrokenStores(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]breakage{
		"a user is not checked":             {unchecked: "user"},
		"a sign-in does not check its user": {unchecked: "user", onlyWith: "session"},
		"an address is not checked":         {unchecked: "address"},
		"an account is not checked":         {unchecked: "account"},
		"a passkey is not checked":          {unchecked: "passkey"},
		"a link is not checked":             {unchecked: "token"},
		"a commit is two":                   {isTorn: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20_000) {
				if err := (exploration{faults: 2, broken: broken}).random(seed, operations); err != nil {
					t.Logf("noticed in order %d", seed)
					return
				}
			}
			t.Error("nobody has noticed")
		})
	}
}
