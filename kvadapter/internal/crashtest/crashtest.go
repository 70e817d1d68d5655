// Package crashtest kills the server of a store while people sign in and out, and looks at what
// is there afterwards.
package crashtest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// Run has clients sign in 500 people, and every third out again, with a commit of several keys
// each, while restart ends the server with SIGKILL, and starts it again, every 100 commits. What
// was acknowledged must be there as a whole, and nothing may be there in part.
func Run(t *testing.T, store kv.Store, restart func()) {
	const clients, signIns, between = 8, 500, 100
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var (
		mu      sync.Mutex
		people  []*person
		group   sync.WaitGroup
		done    atomic.Int64                             // acknowledged commits
		kills   = make(chan struct{}, signIns*2/between) // one each time that it is due
		unknown atomic.Int64                             // commits without an answer
	)
	attempt := func(checks []kv.Check, writes []kv.Write) bool {
		ok, err := store.Commit(ctx, checks, writes)
		if err != nil {
			unknown.Add(1)
			select {
			case <-time.After(10 * time.Millisecond): // the server is down
			case <-ctx.Done():
			}
			return false
		}
		if !ok {
			t.Error("a commit that nobody competes with was not made")
			return false
		}
		if done.Add(1)%between == 0 {
			kills <- struct{}{}
		}
		return true
	}
	signedIn := atomic.Int64{}
	for range clients {
		group.Go(func() {
			for signedIn.Load() < signIns && ctx.Err() == nil {
				mu.Lock()
				p := &person{number: len(people)}
				people = append(people, p)
				mu.Unlock()
				if p.in = attempt(p.signIn()); !p.in {
					continue
				}
				signedIn.Add(1)
				if p.number%3 == 0 {
					p.tried = true
					p.out = attempt(p.signOut())
				}
			}
		})
	}
	killed := make(chan int)
	go func() {
		n := 0
		for range kills {
			restart()
			n++
		}
		restart()
		killed <- n + 1
	}()
	group.Wait()
	close(kills)
	n := <-killed
	if ctx.Err() != nil {
		t.Fatalf("%d people have signed in after two minutes", signedIn.Load())
	}
	if unknown.Load() == 0 {
		t.Error("no commit was under way when the server was killed")
	}
	t.Logf("killed %d times: %d commits acknowledged, %d without an answer", n, done.Load(), unknown.Load())
	for _, p := range people {
		if err := p.verify(ctx, store); err != nil {
			t.Error(err)
		}
	}
}

// A person is somebody who signs in, and perhaps out again.
type person struct {
	number int
	in     bool // the sign-in was acknowledged
	tried  bool // to sign out
	out    bool // the sign-out was acknowledged
}

func (p *person) key(kind string) string { return fmt.Sprintf("%s:%d", kind, p.number) }

func (p *person) signIn() ([]kv.Check, []kv.Write) {
	user := p.key("user")
	return []kv.Check{{Key: p.key("address")}, {Key: p.key("account")}}, []kv.Write{
		{Key: user, Value: []byte("in")},
		{Key: p.key("address"), Value: []byte("x"), Ref: user},
		{Key: p.key("account"), Value: []byte("x"), Ref: user},
		{Key: p.key("session"), Value: []byte("x"), Ref: user, Expires: time.Now().Add(time.Hour)},
	}
}

func (p *person) signOut() ([]kv.Check, []kv.Write) {
	return nil, []kv.Write{{Key: p.key("session")}, {Key: p.key("user"), Value: []byte("out")}}
}

// verify gives an error for what must not be left of a person.
func (p *person) verify(ctx context.Context, store kv.Store) error {
	entries, err := store.Get(ctx, p.key("user"), p.key("address"), p.key("account"), p.key("session"))
	if err != nil {
		return err
	}
	user, address, account, session := entries[0], entries[1], entries[2], entries[3]
	is := "half"
	switch {
	case user.Version == "" && address.Version == "" && account.Version == "" && session.Version == "":
		is = "absent"
	case address.Version == "" || account.Version == "":
	case string(user.Value) == "in" && session.Version != "":
		is = "in"
	case string(user.Value) == "out" && session.Version == "":
		is = "out"
	}
	switch {
	case is == "absent" && !p.in, is == "in" && !p.out, is == "out" && p.tried:
		return nil
	}
	return fmt.Errorf("person %d is %s: sign-in acknowledged %v, sign-out tried %v, acknowledged %v", p.number, is, p.in, p.tried, p.out)
}
