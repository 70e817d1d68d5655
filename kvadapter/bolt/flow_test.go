package bolt_test

import (
	"path/filepath"
	"testing"

	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/flowtest"
)

func TestFlows(t *testing.T) {
	t.Parallel()
	flowtest.Run(t, flowtest.Options{
		Open: func(t testing.TB) (kvadapter.Store, kvadapter.Atomic) {
			return fast(t, filepath.Join(t.TempDir(), "store")), nil
		},
		Bubble:  true,
		Clients: 200, // who wants to write one record waits for all others: a thousand take minutes
	})
}
