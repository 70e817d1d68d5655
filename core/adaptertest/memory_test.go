package adaptertest

import (
	"testing"

	"github.com/edgeauth/edgeauth/core"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	Run(t, func(t *testing.T) *core.Adapter {
		t.Parallel()
		return Memory()
	}, Options{})
}
