package kvadapter_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

func quiet(context.Context, string, error) {}

// With 20 seconds of lag somebody who has just signed in is signed in everywhere, also where the
// cache has just said that there is no such session.
func TestLagAtASignIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, store, cache := t.Context(), memory.New(nil), newWorkersKV(1, 20*time.Second)
		here := kvadapter.New(store, kvadapter.Options{Cache: location{cache, "here"}, Log: quiet})
		there := kvadapter.New(store, kvadapter.Options{Cache: location{cache, "there"}, Log: quiet})
		if s, _, err := there.GetSessionAndUser(ctx, "one"); s != nil || err != nil {
			t.Fatalf("before: %v, %v", s, err)
		}
		if err := errors.Join(adaSignedUp(ctx, here, "one"), readAndExtend(ctx, here, "one", 0)); err != nil {
			t.Fatal(err)
		}
		for second := range 150 {
			for name, a := range map[string]*core.Adapter{"here": here, "there": there} {
				if err := readAndExtend(ctx, a, "one", 0); err != nil {
					t.Errorf("%s, %d seconds after the sign-in: %v", name, second, err)
				}
			}
			time.Sleep(time.Second)
		}
		if cache.hits[true] < 100 || cache.hits[false] == 0 {
			t.Errorf("of the reads, %d found a copy, and %d a miss that was kept: the test shows little", cache.hits[true], cache.hits[false])
		}
	})
}

// A cache that takes no more writes today stops nobody, and is filled again tomorrow.
func TestCacheTakesNoMoreWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cache := t.Context(), newWorkersKV(1, 20*time.Second)
		cache.quota = 10
		refused := 0
		a := kvadapter.New(memory.New(nil), kvadapter.Options{Cache: location{cache, "here"}, Log: func(_ context.Context, _ string, err error) {
			if errors.Is(err, errQuota) {
				refused++
			}
		}})
		must[*core.User](t)(a.CreateUser(ctx, ada))
		for i := range 30 {
			token := fmt.Sprint("session ", i)
			must[*core.AdapterSession](t)(a.CreateSession(ctx, sessionOf(ada, token)))
			if err := errors.Join(readAndExtend(ctx, a, token, 0), readAndExtend(ctx, a, token, 48*time.Hour), readAndExtend(ctx, a, token, 0)); err != nil {
				t.Fatalf("%s: %v", token, err)
			}
			if s, err := a.DeleteSession(ctx, token); s == nil || err != nil {
				t.Fatalf("sign-out of %s: %v, %v", token, s, err)
			}
			time.Sleep(time.Minute)
			if s, _, err := a.GetSessionAndUser(ctx, token); s != nil || err != nil {
				t.Errorf("a minute after the sign-out of %s: %v, %v", token, s, err)
			}
		}
		if refused < 60 {
			t.Errorf("%d writes were refused: the test shows little", refused)
		}
		time.Sleep(24 * time.Hour)
		must[*core.AdapterSession](t)(a.CreateSession(ctx, sessionOf(ada, "tomorrow")))
		before := refused
		if err := readAndExtend(ctx, a, "tomorrow", 0); err != nil || refused != before {
			t.Errorf("the next day: %v, %d writes were refused", err, refused-before)
		}
	})
}

// A delayedStore answers after a while, and looks at some moment in between.
type delayedStore struct {
	*memory.Store
	wait func()
	over func() // a commit with endingKey was made
}

// endingKey is in the context of what is measured.
type endingKey struct{}

func (s delayedStore) Get(ctx context.Context, keys ...string) ([]kvadapter.Entry, error) {
	s.wait()
	defer s.wait()
	return s.Store.Get(ctx, keys...)
}

func (s delayedStore) Commit(ctx context.Context, checks []kvadapter.Check, writes []kvadapter.Write) (bool, error) {
	s.wait()
	defer s.wait()
	ok, err := s.Store.Commit(ctx, checks, writes)
	if ok && ctx.Value(endingKey{}) != nil {
		s.over()
	}
	return ok, err
}

// What is over is seen for Options.CacheFor at most, as SCHEMA.md says, and until it ends a session is
// seen everywhere: over random reads, refreshes, lags, and copies and marks that come late.
func TestHowLongACopyIsSeen(t *testing.T) {
	t.Parallel()
	schedules := 1000
	if testing.Short() {
		schedules = 100
	}
	longest := map[string]time.Duration{}
	for seed := range uint64(schedules) {
		synctest.Test(t, func(t *testing.T) {
			s := &schedule{random: rand.New(rand.NewPCG(seed, 1))}
			kind, seen := s.run(t)
			longest[kind] = max(longest[kind], seen)
			if seen > cacheFor {
				t.Errorf("schedule %d: %s was over, and not seen so for %v", seed, kind, seen)
			}
		})
	}
	for kind, seen := range longest {
		if seen < cacheFor/2 {
			t.Errorf("%s was over after %v in all schedules: the test shows little", kind, seen)
		}
		t.Logf("%s: seen for %v at the longest, of %v", kind, seen, cacheFor)
	}
}

const cacheFor = time.Minute

// A schedule is who does what when at three locations, by chance.
type schedule struct {
	mu     sync.Mutex
	random *rand.Rand
}

func (s *schedule) upTo(d time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.random.IntN(3) == 0 {
		return 0
	}
	return time.Duration(s.random.Int64N(int64(d)))
}

func (s *schedule) oneOf(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

// run gives what ended, and for how long what was before was seen after that.
func (s *schedule) run(t *testing.T) (kind string, seen time.Duration) {
	ctx := t.Context()
	cache := newWorkersKV(uint64(s.oneOf(1<<30)), s.upTo(90*time.Second)+1)
	cache.delay = func(r *rand.Rand) float64 { return r.Float64() }
	var over time.Time // zero: not yet
	store := delayedStore{memory.New(nil), func() { time.Sleep(s.upTo(3 * time.Second)) }, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		over = time.Now()
	}}
	var places []*kvadapter.Records
	for i := range 3 {
		places = append(places, kvadapter.Open(store, kvadapter.Options{
			Cache: location{cache, fmt.Sprint(i)}, CacheFor: cacheFor, Log: quiet,
			WaitUntil: func(ctx context.Context, f func(context.Context)) {
				go func() {
					time.Sleep(s.upTo(40 * time.Second))
					f(ctx)
				}()
			},
		}))
	}
	if err := adaSignedUp(ctx, places[0].Adapter(), "one"); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	end := time.Now().Add(20*time.Second + s.upTo(2*time.Minute))
	stop := end.Add(3 * time.Minute)
	for _, place := range places {
		for range 2 {
			group.Go(func() {
				a := place.Adapter()
				for time.Now().Before(stop) {
					time.Sleep(s.upTo(15*time.Second) + time.Millisecond)
					began := time.Now()
					session, user, err := a.GetSessionAndUser(ctx, "one")
					if err != nil {
						t.Error(err)
						return
					}
					isOld := session != nil && user.Name == ada.Name
					s.mu.Lock()
					if isOld && !over.IsZero() && began.After(over) {
						seen = max(seen, began.Sub(over))
					}
					if !isOld && time.Now().Before(end) {
						t.Errorf("%v before its end the session is %v of %v", time.Until(end), session, user)
					}
					s.mu.Unlock()
					if isOld && s.oneOf(8) == 0 {
						_, err := a.UpdateSession(ctx, core.AdapterSession{SessionToken: "one", Expires: time.Now().Add(48 * time.Hour), Revision: session.Revision})
						if err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
	}
	time.Sleep(time.Until(end))
	ending := context.WithValue(ctx, endingKey{}, true)
	place := places[s.oneOf(len(places))]
	a := place.Adapter()
	var err error
	switch s.oneOf(4) {
	case 0:
		kind = "a session"
		_, err = a.DeleteSession(ending, "one")
	case 1:
		kind = "every session"
		err = place.SignOutEverywhere(ending, ada.ID)
	case 2:
		kind = "a user"
		err = a.DeleteUser(ending, ada.ID)
	case 3:
		kind = "a name"
		_, err = a.UpdateUser(ending, core.User{ID: ada.ID, Name: "Ada Lovelace"})
	}
	if err != nil {
		t.Error(err)
	}
	group.Wait()
	time.Sleep(time.Minute) // for what runs beside the answers
	return kind, seen
}
