package postgres_test

import (
	"testing"

	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/flowtest"
)

func TestFlows(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("flows", func(t *testing.T) {
		flowtest.Run(t, flowtest.Options{Open: func(t testing.TB) (kvadapter.Store, kvadapter.Cache) { return s.open(t), nil }, Rounds: 1})
	})
}

func TestCrowds(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("crowds", func(t *testing.T) {
		flowtest.Crowds(t, func(t testing.TB) kvadapter.Store { return s.open(t) }, 1)
	})
}
