package storetest

import (
	"testing"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// Run runs every case as a subtest on a store of its own, which open must return empty. open
// may call t.Parallel, unless Options.Advance is set: the cases share that clock.
func Run(t *testing.T, open func(t *testing.T) kv.Store, options Options) {
	t.Helper()
	if err := options.validate(); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		one := &cases[i]
		t.Run(one.name, func(t *testing.T) {
			if reason := options.reason(one.name); reason != "" {
				t.Skip(reason)
			}
			if err := one.try(t.Context(), open(t), options); err != nil {
				t.Error(err)
			}
		})
	}
}
