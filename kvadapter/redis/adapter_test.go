package redis_test

import (
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
	"github.com/edgeauth/edgeauth/kvadapter"
)

func TestAdapter(t *testing.T) {
	t.Parallel()
	s := start(t)
	adaptertest.Run(t, func(t *testing.T) *core.Adapter {
		return kvadapter.New(s.open(t), kvadapter.Options{})
	}, adaptertest.Options{})
}
