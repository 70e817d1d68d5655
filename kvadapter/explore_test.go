package kvadapter_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// The explorer runs operations of the adapter at once, each as a program of its own over one store.
// Before each store call an operation waits; what goes on next, and what befalls it, is a choice.
// So an order of calls is a list of choices: all of them can be tried, or random ones.

// A fate is what befalls a store call.
type fate int

const (
	answered  fate = iota // it is done, and answered
	diesFirst             // its program ends before it
	diesAfter             // its program ends when it is done
	diesLate              // its program ends, and it is done at some later moment
	fails                 // it is not done, and its program is told that it failed
	lostAfter             // it is done, and its program is told that it failed
	lostLate              // its program is told that it failed, and it is done at some later moment
)

var (
	fatesOfGet    = []fate{diesFirst, fails}
	fatesOfCommit = []fate{diesFirst, diesAfter, diesLate, fails, lostAfter, lostLate}
)

func (f fate) String() string {
	return [...]string{"", " dies first", " dies after", " dies, done late", " fails", " done, answer lost", " answer lost, done late"}[f]
}

// A breakage is a way in which a store can be wrong, to see that the rules notice it. The zero
// value breaks nothing.
type breakage struct {
	unchecked string // kind of key of which a commit makes no check
	onlyWith  string // such a commit writes this kind of key, too; empty: any
	isTorn    bool   // a commit is two, and others come in between
}

// A program is an operation that is under way.
type program struct {
	name  string
	next  func() (call string, waits bool)
	stop  func()
	waits string // the store call that it waits before; empty: it is over
	fate  fate   // of this call
}

// A world is a store, the programs that use it, and what they were told.
type world struct {
	store    *memory.Store
	broken   breakage
	programs []*program
	late     []func() // commits that are still to be done
	faults   int      // that may still happen
	hadFault bool
	story    []string // of the calls
	now      int      // grows with every step and every event
	facts
}

// died ends a program from within a store call.
type died struct{}

// begin makes an operation a program. It runs until its first store call.
func (w *world) begin(o operation) {
	p := &program{name: o.name}
	p.next, p.stop = iter.Pull(func(yield func(string) bool) {
		defer func() {
			if reason := recover(); reason != nil && reason != (died{}) {
				panic(reason)
			}
		}()
		records := kvadapter.Open(&turns{w, p, yield}, kvadapter.Options{})
		o.do(&actor{world: w, records: records, Adapter: records.Adapter(), name: o.name})
	})
	w.programs = append(w.programs, p)
	p.goOn()
}

func (p *program) goOn() { p.waits, _ = p.next() }

// An option is a step that can be next.
type option struct {
	program *program // nil: a late commit
	late    int
	fate    fate
}

// options gives all that can be next. The first ones, so many, are without a fault.
func (w *world) options() (all []option, plain int) {
	for _, p := range w.programs {
		if p.waits != "" {
			all = append(all, option{program: p})
		}
	}
	for i := range w.late {
		all = append(all, option{late: i})
	}
	plain = len(all)
	if w.faults == 0 {
		return all, plain
	}
	for _, p := range w.programs {
		fates := fatesOfGet
		switch p.waits {
		case "":
			fates = nil
		case "Commit":
			fates = fatesOfCommit
		}
		for _, f := range fates {
			all = append(all, option{program: p, fate: f})
		}
	}
	return all, plain
}

// A chooser says which of n options is next. The first ones, so many, are without a fault.
type chooser func(n, plain int) int

// run runs operations until all are over.
func (w *world) run(operations []operation, choose chooser) {
	for _, o := range operations {
		w.begin(o)
	}
	for options, plain := w.options(); len(options) > 0; options, plain = w.options() {
		next := options[choose(len(options), plain)]
		w.now++
		if p := next.program; p != nil {
			w.story = append(w.story, fmt.Sprintf("%s: %s%v", p.name, p.waits, next.fate))
			if p.fate = next.fate; p.fate != answered {
				w.faults, w.hadFault = w.faults-1, true
			}
			p.goOn()
			continue
		}
		w.story = append(w.story, "a late commit is done")
		w.late[next.late]()
		w.late = append(w.late[:next.late:next.late], w.late[next.late+1:]...)
	}
	for _, p := range w.programs {
		p.stop()
	}
}

// turns is the store as one program sees it.
type turns struct {
	world *world
	*program
	yield func(string) bool
}

func (s *turns) wait(call string) fate {
	s.fate = answered
	if !s.yield(call) || s.fate == diesFirst {
		panic(died{})
	}
	return s.fate
}

func (s *turns) Get(ctx context.Context, keys ...string) ([]kvadapter.Entry, error) {
	if s.wait("Get") == fails {
		return nil, errLab
	}
	return s.world.store.Get(ctx, keys...)
}

func (s *turns) Commit(ctx context.Context, checks []kvadapter.Check, writes []kvadapter.Write) (bool, error) {
	f := s.wait("Commit")
	commit := func() (bool, error) {
		return s.world.store.Commit(context.WithoutCancel(ctx), s.world.broken.drop(checks, writes), writes)
	}
	switch f {
	case diesLate, lostLate:
		s.world.late = append(s.world.late, func() { _, _ = commit() })
	case answered, diesAfter, lostAfter:
		if half := len(writes) / 2; s.world.broken.isTorn && half > 0 && f == answered {
			if ok, err := s.world.store.Commit(ctx, checks, writes[:half]); !ok || err != nil {
				return ok, err
			}
			s.wait("Commit")
			return s.world.store.Commit(ctx, nil, writes[half:])
		}
		ok, err := commit()
		if f == answered {
			return ok, err
		}
	}
	if f == diesAfter || f == diesLate {
		panic(died{})
	}
	return false, errLab
}

// Sleep returns at once: how long a pause is says nothing about who goes on next.
func (s *turns) Sleep(context.Context, time.Duration) error { return nil }

// drop gives the checks that a broken store makes.
func (b breakage) drop(checks []kvadapter.Check, writes []kvadapter.Write) (made []kvadapter.Check) {
	concerned := b.onlyWith == ""
	for _, w := range writes {
		concerned = concerned || strings.HasPrefix(w.Key, b.onlyWith+".")
	}
	for _, c := range checks {
		if b.unchecked == "" || !concerned || !strings.HasPrefix(c.Key, b.unchecked+".") {
			made = append(made, c)
		}
	}
	return made
}

// An exploration is what is run, in which orders.
type exploration struct {
	broken breakage
	faults int // at most, in one order
}

// once runs operations in one order, and gives an error for a rule that was broken.
func (e exploration) once(choose chooser, operations ...operation) error {
	w := newWorld()
	w.broken, w.faults = e.broken, e.faults
	w.run(operations, choose)
	if err := w.verify(); err != nil {
		return fmt.Errorf("%w\n\t%s", err, strings.Join(w.story, "\n\t"))
	}
	return nil
}

// all runs operations in all orders, or in the first ones up to a bound.
func (e exploration) all(most int, operations ...operation) (orders int, err error) {
	var path, width []int
	for orders < most {
		depth := 0
		err := e.once(func(n, _ int) int {
			if depth == len(path) {
				path, width = append(path, 0), append(width, n)
			}
			depth++
			if width[depth-1] != n {
				panic("the same choices don't lead to the same order")
			}
			return path[depth-1]
		}, operations...)
		if orders++; err != nil {
			return orders, err
		}
		last := len(path) - 1
		for ; last >= 0 && path[last]+1 == width[last]; last-- {
		}
		if last < 0 {
			return orders, nil
		}
		path, width = path[:last+1], width[:last+1]
		path[last]++
	}
	return orders, nil
}

// random runs two or three of the operations, in an order that a seed decides. One order in two
// has faults.
func (e exploration) random(seed uint64, of []operation) error {
	r := rand.New(rand.NewPCG(seed, 0))
	var operations []operation
	for range 2 + r.IntN(2) {
		operations = append(operations, of[r.IntN(len(of))])
	}
	if r.IntN(2) == 0 {
		e.faults = 0
	}
	choose := func(n, plain int) int {
		if r.IntN(6) == 0 {
			return r.IntN(n)
		}
		return r.IntN(plain)
	}
	if err := e.once(choose, operations...); err != nil {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	return nil
}

// An actor is who does an operation.
type actor struct {
	*world
	*core.Adapter
	records *kvadapter.Records
	name    string
}
