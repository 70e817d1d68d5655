package memory_test

import (
	"testing"

	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/flowtest"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// plain hides that a store is Atomic, as Workers KV is not.
type plain struct{ kvadapter.Store }

func TestFlows(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) (kvadapter.Store, kvadapter.Atomic){
		"one atomic store":   func(testing.TB) (kvadapter.Store, kvadapter.Atomic) { return memory.New(nil), nil },
		"a plain one beside": func(testing.TB) (kvadapter.Store, kvadapter.Atomic) { return plain{memory.New(nil)}, memory.New(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flowtest.Run(t, flowtest.Options{Open: open, Bubble: true})
		})
	}
}
