package postgres_test

import (
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/kvadapter"
)

func TestAdapter(t *testing.T) {
	if testing.Short() {
		t.Skip("its races take two minutes on a server with as few connections as there are by default")
	}
	t.Parallel()
	s := start(t, "-c", "fsync=off") // which is half of the time
	adaptertest.Run(t, func(t *testing.T) *core.Adapter {
		return kvadapter.New(s.open(t), kvadapter.Options{})
	}, adaptertest.Options{Crowd: 30})
}
