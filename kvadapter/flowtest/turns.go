package flowtest

import (
	"context"
	"math/rand/v2"
	"slices"
)

type turnKey struct{}

// withTurns gives the context of a request that takes turns. Nil is nobody.
func withTurns(ctx context.Context, task any) context.Context {
	if task == nil {
		return ctx
	}
	return context.WithValue(ctx, turnKey{}, task)
}

// interleave runs tasks that take turns at the stores: before each call a task waits, and the
// seed says who goes on. Each task is given the scope that its browser needs.
func (w *world) interleave(seed uint64, tasks ...func(scope any)) {
	type event struct {
		task   int
		isOver bool
	}
	events := make(chan event)
	turns := make([]chan struct{}, len(tasks))
	seen := make([]error, len(tasks))
	w.probe.gate = func(ctx context.Context) {
		if task, ok := ctx.Value(turnKey{}).(int); ok {
			events <- event{task, false}
			<-turns[task]
		}
	}
	for i, task := range tasks {
		turns[i] = make(chan struct{})
		go func() {
			defer func() {
				seen[i] = caught(recover())
				events <- event{i, true}
			}()
			task(i)
		}()
	}
	random := rand.New(rand.NewPCG(seed, 0))
	var waiting []int
	for running := len(tasks); running > 0; {
		for len(waiting) < running {
			if e := <-events; e.isOver {
				running--
			} else {
				waiting = append(waiting, e.task)
			}
		}
		if running > 0 {
			slices.Sort(waiting)
			next := random.IntN(len(waiting))
			task := waiting[next]
			waiting = slices.Delete(waiting, next, next+1)
			turns[task] <- struct{}{}
		}
	}
	w.probe.gate = nil
	for _, err := range seen {
		if err != nil {
			panic(failure{err})
		}
	}
}
