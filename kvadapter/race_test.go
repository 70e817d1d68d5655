package kvadapter_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
)

type taskKey struct{}

// interleave runs tasks that take turns at the store: before each of its calls a task waits,
// and the seed says who goes on. The same seed is the same order.
func interleave(ctx context.Context, b *bench, seed uint64, tasks ...func(ctx context.Context)) {
	type event struct {
		task int
		over bool
	}
	events := make(chan event)
	turns := make([]chan struct{}, len(tasks))
	b.hook(func(ctx context.Context, _, _ string) error {
		if task, ok := ctx.Value(taskKey{}).(int); ok {
			events <- event{task, false}
			<-turns[task]
		}
		return nil
	}, nil)
	for i, task := range tasks {
		turns[i] = make(chan struct{})
		go func() {
			task(context.WithValue(ctx, taskKey{}, i))
			events <- event{i, true}
		}()
	}
	random := rand.New(rand.NewPCG(seed, 0))
	var waiting []int
	for running := len(tasks); running > 0; {
		for len(waiting) < running {
			if e := <-events; e.over {
				running--
			} else {
				waiting = append(waiting, e.task)
			}
		}
		if running == 0 {
			break
		}
		slices.Sort(waiting)
		next := random.IntN(len(waiting))
		task := waiting[next]
		waiting = slices.Delete(waiting, next, next+1)
		turns[task] <- struct{}{}
	}
	b.hook(nil, nil)
}

// seeds is how many orders are tried on each kind of store, over all scenes.
func seeds() int {
	if testing.Short() {
		return 500
	}
	return 10_000
}

// TestResurrection is K-13: whatever the order, a session that was ended is dead when all
// calls are done. Where sessions are in an Atomic store it is dead as soon as the call that
// ended it has returned.
func TestResurrection(t *testing.T) {
	t.Parallel()
	type scene struct {
		name  string
		tasks func(b *bench, seen func()) []func(context.Context)
		after func(ctx context.Context, b *bench) error
	}
	refresh := func(b *bench) func(context.Context) {
		return func(ctx context.Context) {
			_ = readAndExtend(ctx, b, "one")
		}
	}
	rename := func(b *bench) func(context.Context) {
		return func(ctx context.Context) { _, _ = b.UpdateUser(ctx, core.User{ID: ada.ID, Name: "renamed"}) }
	}
	signIn := func(b *bench) func(context.Context) {
		return func(ctx context.Context) { _, _ = b.CreateSession(ctx, sessionOf(ada, "three")) }
	}
	ends := func(b *bench, seen func(), end func(ctx context.Context) error) func(context.Context) {
		return func(ctx context.Context) {
			if err := end(ctx); err != nil {
				panic(err)
			}
			seen()
		}
	}
	signOut := func(b *bench, seen func()) func(context.Context) {
		return ends(b, seen, func(ctx context.Context) error { _, err := b.DeleteSession(ctx, "one"); return err })
	}
	scenes := []scene{
		{"sign-out, two refreshes", func(b *bench, seen func()) []func(context.Context) {
			return []func(context.Context){signOut(b, seen), refresh(b), refresh(b)}
		}, nil},
		{"sign-out, refresh, sign-in, new name", func(b *bench, seen func()) []func(context.Context) {
			return []func(context.Context){signOut(b, seen), refresh(b), signIn(b), rename(b)}
		}, func(ctx context.Context, b *bench) error {
			return errors.Join(shows(ctx, b, "two", core.User{Name: "renamed", Email: ada.Email}), shows(ctx, b, "three", core.User{Name: "renamed", Email: ada.Email}))
		}},
		{"sign-out everywhere, refresh, new name", func(b *bench, seen func()) []func(context.Context) {
			everywhere := ends(b, seen, func(ctx context.Context) error { return b.SignOutEverywhere(ctx, ada.ID) })
			return []func(context.Context){everywhere, refresh(b), rename(b)}
		}, func(ctx context.Context, b *bench) error { return isDead(ctx, b, "two") }},
		{"delete user, sign-in, refresh, new name, new account", func(b *bench, seen func()) []func(context.Context) {
			remove := ends(b, seen, func(ctx context.Context) error { return b.DeleteUser(ctx, ada.ID) })
			link := func(ctx context.Context) { _ = b.LinkAccount(ctx, githubOf(ada, "2")) }
			return []func(context.Context){remove, signIn(b), refresh(b), rename(b), link}
		}, func(ctx context.Context, b *bench) error {
			if left := b.alive(); len(left) > 0 {
				return fmt.Errorf("left: %v", left)
			}
			return isDead(ctx, b, "two", "three")
		}},
		{"delete user, sign-out, new address", func(b *bench, seen func()) []func(context.Context) {
			remove := ends(b, seen, func(ctx context.Context) error { return b.DeleteUser(ctx, ada.ID) })
			move := func(ctx context.Context) {
				_, _ = b.UpdateUser(ctx, core.User{ID: ada.ID, Email: "new@example.com"})
			}
			return []func(context.Context){remove, signOut(b, seen), move}
		}, func(ctx context.Context, b *bench) error {
			if left := b.alive(); len(left) > 0 {
				return fmt.Errorf("left: %v", left)
			}
			return isDead(ctx, b, "two")
		}},
	}
	forEachLayout(t, func(t *testing.T, open func(kvadapter.Options) *bench) {
		windows := 0
		for _, scene := range scenes {
			for seed := range seeds() / len(scenes) {
				b := open(kvadapter.Options{})
				if err := adaSignedIn(t.Context(), b); err != nil {
					t.Fatal(err)
				}
				var mu sync.Mutex
				early := false
				seen := func() {
					if isDead(t.Context(), b, "one") != nil {
						mu.Lock()
						early = true
						mu.Unlock()
					}
				}
				interleave(t.Context(), b, uint64(seed), scene.tasks(b, seen)...)
				if early {
					windows++
				}
				err := isDead(t.Context(), b, "one")
				if err == nil && scene.after != nil {
					err = scene.after(t.Context(), b)
				}
				if err != nil {
					t.Fatalf("%s, seed %d: %v", scene.name, seed, err)
				}
			}
		}
		if t.Logf("seen alive right after the call that ended it, while others were at work: %d of %d", windows, seeds()); windows > 0 && !strings.HasPrefix(t.Name(), "TestResurrection/plain_sessions") {
			t.Errorf("a session outlived the call that ended it")
		}
	})
}

// TestOneAddress has users who want one address, in every order: one gets it.
func TestOneAddress(t *testing.T) {
	t.Parallel()
	const address = "wanted@example.com"
	for seed := range seeds() {
		b := layouts["one atomic store"](kvadapter.Options{})
		must[*core.User](t)(b.CreateUser(t.Context(), ada))
		must[*core.User](t)(b.CreateUser(t.Context(), bob))
		errs := make([]error, 4)
		change := func(i int, id string) func(context.Context) {
			return func(ctx context.Context) { _, errs[i] = b.UpdateUser(ctx, core.User{ID: id, Email: address}) }
		}
		create := func(i int, id string) func(context.Context) {
			return func(ctx context.Context) { _, errs[i] = b.CreateUser(ctx, core.User{ID: id, Email: address}) }
		}
		interleave(t.Context(), b, uint64(seed), change(0, ada.ID), create(1, "c"), change(2, bob.ID), create(3, "d"))
		owner, err := b.GetUserByEmail(t.Context(), address)
		if err != nil || owner == nil {
			t.Fatalf("seed %d: the address is %v's: %v; %v", seed, owner, err, errs)
		}
		for i, id := range []string{ada.ID, "c", bob.ID, "d"} {
			user := must[*core.User](t)(b.GetUser(t.Context(), id))
			has := user != nil && user.Email == address
			if want := id == owner.ID; has != want || (errs[i] == nil) != want || !want && !errors.Is(errs[i], core.ErrConflict) {
				t.Fatalf("seed %d: the address is %s's; %s has it: %v, and was told %v", seed, owner.ID, id, has, errs[i])
			}
		}
	}
}

// TestFirstSignIns is K-12: a thousand first sign-ins at once, by one address and by one
// account, give one user.
func TestFirstSignIns(t *testing.T) {
	t.Parallel()
	forEachLayout(t, func(t *testing.T, open func(kvadapter.Options) *bench) {
		b := open(kvadapter.Options{})
		var all sync.WaitGroup
		users := make(chan string, 1000)
		for i := range 1000 {
			all.Go(func() {
				user := core.User{ID: fmt.Sprint(i), Email: ada.Email}
				if _, err := b.CreateUser(t.Context(), user); err == nil {
					users <- user.ID
				} else if !errors.Is(err, core.ErrConflict) {
					t.Errorf("CreateUser: %v", err)
				}
			})
		}
		all.Wait()
		if len(users) != 1 || alive(b, "user.") != 1 {
			t.Fatalf("%d users were created, %d are stored", len(users), alive(b, "user."))
		}
		owners := make(chan string, 1000)
		for i := range 1000 {
			must[*core.User](t)(b.CreateUser(t.Context(), core.User{ID: fmt.Sprint("other-", i)}))
			all.Go(func() {
				if err := b.LinkAccount(t.Context(), githubOf(core.User{ID: fmt.Sprint("other-", i)}, "1")); err == nil {
					owners <- fmt.Sprint("other-", i)
				} else if !errors.Is(err, core.ErrConflict) {
					t.Errorf("LinkAccount: %v", err)
				}
			})
		}
		all.Wait()
		owner, err := b.GetUserByAccount(t.Context(), "github", "1")
		if len(owners) != 1 || err != nil || owner == nil || owner.ID != <-owners {
			t.Fatalf("%d users have the account; it is %v's: %v", len(owners), owner, err)
		}
		// And a hundred sessions of one user begin at once, none of which is lost.
		for i := range 100 {
			all.Go(func() {
				if _, err := b.CreateSession(t.Context(), sessionOf(*owner, fmt.Sprint(i))); err != nil {
					t.Errorf("CreateSession: %v", err)
				}
			})
		}
		all.Wait()
		if got := alive(b, "session."); got != 100 {
			t.Errorf("%d sessions, want 100", got)
		}
	})
}

// A sign-out that stopped halfway on plain session stores is finished by whoever comes next.
func TestHalfASignOut(t *testing.T) {
	t.Parallel()
	for name, finish := range map[string]func(ctx context.Context, b *bench) error{
		"sign-out again": func(ctx context.Context, b *bench) error { _, err := b.DeleteSession(ctx, "one"); return err },
		"everywhere":     func(ctx context.Context, b *bench) error { return b.SignOutEverywhere(ctx, ada.ID) },
		"refresh":        func(ctx context.Context, b *bench) error { return readAndExtend(ctx, b, "one") },
		"repair": func(ctx context.Context, b *bench) error {
			done, err := b.Repair(ctx)
			if done.Removed != 1 {
				err = errors.Join(err, fmt.Errorf("Repair: %+v", done))
			}
			return err
		},
	} {
		b := layouts["plain sessions"](kvadapter.Options{})
		if err := adaSignedIn(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		b.sessions.before = func(_ context.Context, op, _ string) error {
			if op == "Put" {
				return errLab
			}
			return nil
		}
		if _, err := b.DeleteSession(t.Context(), "one"); !errors.Is(err, errLab) {
			t.Fatalf("%s: DeleteSession: %v", name, err)
		}
		b.hook(nil, nil)
		if err := shows(t.Context(), b, "one", ada); err != nil {
			t.Errorf("%s: the test is pointless: %v", name, err)
		}
		if err := errors.Join(finish(t.Context(), b), isDead(t.Context(), b, "one")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
