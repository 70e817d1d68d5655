package adaptertest

import (
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

// Run runs every case as a subtest on an adapter of its own, which open must give empty.
func Run(t *testing.T, open func(t *testing.T) *core.Adapter, options Options) {
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
			adapter := open(t)
			if reason := one.lacks(adapter); reason != "" {
				t.Skip(reason)
			}
			if err := one.try(t.Context(), adapter, options); err != nil {
				t.Error(err)
			}
		})
	}
}
