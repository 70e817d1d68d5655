package redis_test

import (
	"testing"

	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/flowtest"
)

func TestFlows(t *testing.T) {
	t.Parallel()
	s := start(t)
	flowtest.Run(t, flowtest.Options{
		Open:    func(t testing.TB) (kvadapter.Store, kvadapter.Atomic) { return s.open(t), nil },
		Clients: 300, // who wants to write one record waits for all others: a thousand take minutes
	})
}
