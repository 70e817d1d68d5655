package bolt_test

import (
	"path/filepath"
	"testing"

	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/flowtest"
)

func TestFlows(t *testing.T) {
	t.Parallel()
	flowtest.Run(t, flowtest.Options{Open: func(t testing.TB) (kvadapter.Store, kvadapter.Cache) {
		return fast(t, filepath.Join(t.TempDir(), "store")), nil
	}})
}

func TestCrowds(t *testing.T) {
	t.Parallel()
	flowtest.Crowds(t, func(t testing.TB) kvadapter.Store { return fast(t, filepath.Join(t.TempDir(), "store")) }, 1)
}
